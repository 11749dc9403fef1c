//! The grid of shapes. In: what was typed for dimensions, or what the kernel file says, and the shape that stands for the rest.
//! Out: axes, dimensions that equal others, and the shape of every cell. Refuses dimensions that the kernel does not have,
//! values of another kind, and more cells than anybody measures.

use std::sync::Arc;

use kiln_core::{Config, Report, Use, Value, Workload, nearest};
use kiln_spec::{SuiteDim, sweep_dim};
use kiln_store::{SweepAxis, SweepLink, SweepPlan};

/// Cells at most.
pub const MOST_CELLS: usize = 1000;

/// Axes, dimensions that equal another one, and every dimension of the base.
pub(super) struct Grid {
    pub(super) axes: Vec<SweepAxis>,
    pub(super) linked: Vec<SweepLink>,
    pub(super) base: Config,
}

impl Grid {
    /// The grid that was typed, as `NAME=WORDS` each; without any, the file's.
    pub(super) fn new(typed: &[String], stated: &[(Arc<str>, SuiteDim)], base: &Workload) -> Result<Grid, Report> {
        let dims: Vec<&str> = base.dims.iter().map(|(name, _)| &**name).collect();
        let chosen = if typed.is_empty() { stated.to_vec() } else { read(typed, &dims)? };
        if chosen.is_empty() {
            let name = dims.first().copied().unwrap_or("N");
            return Err(Report::error("there is no grid to sweep over")
                .label(format!("expected --dim for some of {}", dims.join(", ")))
                .hint(format!("such as --dim {name}=128..8192:x2, or [sweep] dims = {{ {name} = \"128..8192:x2\" }} in kernel.toml")));
        }
        let mut grid = Grid { axes: Vec::new(), linked: Vec::new(), base: Config::new(base.dims.clone()) };
        for (name, dim) in &chosen {
            let Some(usual) = base.dim(name) else { return Err(unknown(name, &dims)) };
            match dim {
                SuiteDim::Like(like) => {
                    alike(name, usual, like, base)?;
                    grid.linked.push(SweepLink { name: name.to_string(), like: like.to_string() });
                }
                SuiteDim::Each(values) => {
                    let values = values.iter().map(|value| as_usual(name, value, usual)).collect::<Result<_, _>>()?;
                    grid.axes.push(SweepAxis { name: name.to_string(), values });
                }
            }
        }
        if let Some(link) = grid.linked.iter().find(|link| grid.linked.iter().any(|other| other.name == link.like)) {
            let report = Report::error(format!("{} equals {}, which equals another one", link.name, link.like));
            return Err(report.label("expected a dimension with values of its own"));
        }
        if grid.axes.is_empty() {
            let report = Report::error("no dimension has values of its own");
            return Err(report.label("expected at least one such as --dim NAME=128,256"));
        }
        let cells = grid.axes.iter().try_fold(1usize, |cells, axis| cells.checked_mul(axis.values.len()));
        match cells {
            Some(cells) if cells <= MOST_CELLS => Ok(grid),
            many => {
                let many = many.map_or_else(|| "far too many".into(), |many| many.to_string());
                let report = Report::error(format!("the grid has {many} shapes"))
                    .label(format!("expected at most {MOST_CELLS}"));
                Err(report.hint("take larger steps, or sweep over fewer dimensions at a time"))
            }
        }
    }
}

/// `NAME=WORDS`, each dimension once.
fn read(typed: &[String], dims: &[&str]) -> Result<Vec<(Arc<str>, SuiteDim)>, Report> {
    let mut chosen: Vec<(Arc<str>, SuiteDim)> = Vec::new();
    let flagged = |report: Report| Report { message: format!("--dim: {}", report.message), ..report };
    for words in typed {
        let Some((name, values)) = words.split_once('=').map(|(name, values)| (name.trim(), values)) else {
            let report = Report::error(format!("--dim: `{words}` has no `=`"));
            return Err(report.label("expected NAME=128,256 or NAME=128..8192:x2"));
        };
        if !dims.contains(&name) {
            return Err(flagged(unknown(name, dims)));
        }
        if chosen.iter().any(|(other, _)| **other == *name) {
            let report = Report::error(format!("--dim: {name} is given twice"));
            return Err(report.label("expected each dimension once").hint(format!("join them: --dim {name}=A,B")));
        }
        chosen.push((name.into(), sweep_dim(values, name, dims).map_err(flagged)?));
    }
    Ok(chosen)
}

fn unknown(name: &str, dims: &[&str]) -> Report {
    let near = nearest(name, dims.iter().copied()).map(|near| format!("did you mean {near}?"));
    let report = Report::error(format!("there is no dimension `{name}`"));
    report.label(format!("expected one of {}", dims.join(", "))).maybe_hint(near)
}

/// Refuses a dimension that is to equal one of another kind.
fn alike(name: &str, usual: &Value, like: &str, base: &Workload) -> Result<(), Report> {
    match base.dim(like) {
        Some(other) if other.kind() == usual.kind() => Ok(()),
        other => {
            let kind = other.map_or("no dimension", Value::kind);
            let report = Report::error(format!("{name} cannot equal {like}"));
            Err(report.label(format!("{name} is a {}, {like} is a {kind}", usual.kind())))
        }
    }
}

/// A value of the kind the dimension has.
fn as_usual(name: &str, value: &Value, usual: &Value) -> Result<Value, Report> {
    let value = match (value, usual) {
        (Value::Int(whole), Value::Float(_)) => Value::Float(*whole as f64),
        // A word may look like a number.
        (other, Value::Str(_)) => Value::from(other.to_string().as_str()),
        (other, _) => other.clone(),
    };
    if value.kind() == usual.kind() {
        return Ok(value);
    }
    let report = Report::error(format!("{name} is {value}"));
    Err(report.label(format!("expected {}, as in {name}={usual}", usual.kind())))
}

/// Every cell of a grid: the axes' values, the last axis fastest.
pub(super) fn cells(axes: &[SweepAxis]) -> Vec<Config> {
    let mut cells: Vec<Vec<(Arc<str>, Value)>> = vec![Vec::new()];
    for axis in axes {
        let name: Arc<str> = axis.name.as_str().into();
        let with = |cell: &Vec<(Arc<str>, Value)>| {
            let longer = |value: &Value| cell.iter().cloned().chain([(name.clone(), value.clone())]).collect();
            axis.values.iter().map(longer).collect::<Vec<_>>()
        };
        cells = cells.iter().flat_map(with).collect();
    }
    cells.into_iter().map(Config::new).collect()
}

/// The shape of a cell, as a workload of its own.
pub(super) fn workload(plan: &SweepPlan, dims: &Config) -> Workload {
    let own = |name: &str| dims.get(name);
    let value = |name: &Arc<str>, base: &Value| {
        let like = plan.linked.iter().find(|link| *link.name == **name).map(|link| link.like.as_str());
        let linked = like.and_then(|like| own(like).or_else(|| plan.base.get(like)));
        own(name).or(linked).unwrap_or(base).clone()
    };
    let all = plan.base.iter().map(|(name, base)| (name.clone(), value(name, base))).collect();
    Workload { name: dims.to_string().into(), dims: all, use_for: Use::Tune, targets: Vec::new(), weight: 1.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base() -> Workload {
        let dims = vec![
            ("S".into(), Value::Int(128)),
            ("K".into(), Value::Int(128)),
            ("SCALE".into(), Value::Float(1.0)),
            ("LAYOUT".into(), Value::from("bhsd")),
        ];
        Workload { name: "w".into(), dims, use_for: Use::Tune, targets: Vec::new(), weight: 1.0 }
    }

    fn grid(typed: &[&str]) -> Result<Grid, String> {
        let typed: Vec<String> = typed.iter().map(ToString::to_string).collect();
        Grid::new(&typed, &[], &base()).map_err(|report| report.to_string())
    }

    #[test]
    fn cells_are_all_combinations_and_the_rest_is_the_bases() {
        let Grid { axes, linked, base } = grid(&["S=64..256:x2", "K=S", "LAYOUT=bhsd,bshd"]).unwrap();
        let cells = cells(&axes);
        assert_eq!(cells.len(), 6);
        assert_eq!(cells[1].to_string(), "S=64,LAYOUT=bshd");
        let plan = SweepPlan {
            axes,
            linked,
            base,
            baselines: Vec::new(),
            config: String::new(),
            implementation: None,
            sources: String::new(),
            samples: (25, 25),
            width: 1.0,
            dead_zone: 0.0,
            early: false,
        };
        let shape = workload(&plan, &cells[5]);
        assert_eq!((&*shape.name, shape.shape()), ("S=256,LAYOUT=bshd", "S=256 K=256 SCALE=1.0 LAYOUT=bshd".into()));
        // Numbers are of the kind the workload has.
        let scales = grid(&["SCALE=1,2"]).unwrap();
        assert_eq!(scales.axes[0].values, [Value::Float(1.0), Value::Float(2.0)]);
    }

    #[test]
    fn mistakes_are_named() {
        for (typed, expected) in [
            (&[][..], "there is no grid to sweep over"),
            (&["S"], "has no `=`"),
            (&["T=1"], "expected one of S, K, SCALE, LAYOUT"),
            (&["S=1", "S=2"], "--dim: S is given twice"),
            (&["S=bhsd"], "expected integer, as in S=128"),
            (&["S=1..x"], "--dim: S is `1..x`"),
            (&["K=S"], "no dimension has values of its own"),
            (&["LAYOUT=S", "S=1,2"], "LAYOUT cannot equal S"),
            (&["S=K", "K=S"], "which equals another one"),
            (&["S=1..500:+1", "K=1..500:+1"], "the grid has 250000 shapes"),
        ] {
            let said = grid(typed).err().unwrap();
            assert!(said.contains(expected), "{typed:?}: {said}");
        }
    }

    proptest! {
        #[test]
        fn a_grid_never_has_more_cells_than_it_may(
            s in "[0-9.:x+,]{1,12}", k in "[0-9.:x+,S]{1,12}", layout in "[a-z,]{1,9}"
        ) {
            let typed = [format!("S={s}"), format!("K={k}"), format!("LAYOUT={layout}")];
            if let Ok(grid) = Grid::new(&typed, &[], &base()) {
                let cells = cells(&grid.axes);
                prop_assert!(!cells.is_empty() && cells.len() <= MOST_CELLS);
            }
        }
    }
}
