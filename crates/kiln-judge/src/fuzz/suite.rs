//! Suites: shapes by name, from the kernel file or kiln's own. In: a selection and a name. Out: every shape, with the
//! dimensions it leaves out from the first workload. Refuses a name that is none, with those there are, and a suite that is
//! too large to be meant.

use std::sync::Arc;

use kiln_core::{Report, Value, nearest};
use kiln_spec::{Origin, Selection, SuiteDim};

use crate::fuzz::case::Shape;

/// What kiln calls the shapes it knows for attention.
const ATTENTION: &str = "attention";
/// Shapes of a suite at most.
const MOST: usize = 10_000;

type Table = Vec<(Arc<str>, SuiteDim)>;

/// The suites of a selection: the file's own, then kiln's.
pub fn suite_names(selection: &Selection<'_>) -> Vec<String> {
    let mut names: Vec<String> = selection.spec.fuzz.suites.iter().map(|suite| suite.name.clone()).collect();
    if attention(selection, &usual(selection)).is_some() && !names.iter().any(|name| name == ATTENTION) {
        names.push(ATTENTION.into());
    }
    names
}

/// The shapes of a suite.
pub fn suite(selection: &Selection<'_>, name: &str, base: &Shape) -> Result<Vec<Shape>, Report> {
    let stated = selection.spec.fuzz.suites.iter().find(|suite| suite.name == name).map(|suite| suite.shapes.clone());
    let own = || if name == ATTENTION { attention(selection, base) } else { None };
    let Some(tables) = stated.or_else(own) else { return Err(unknown(name, &suite_names(selection))) };
    let mut shapes: Vec<Shape> = Vec::new();
    for table in &tables {
        for shape in combined(table, base, name)? {
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
    }
    Ok(shapes)
}

fn unknown(name: &str, known: &[String]) -> Report {
    let report = Report::error(format!("--suite: there is no suite `{name}`"));
    if known.is_empty() {
        return report.label("the kernel file has none").hint("add one: [fuzz.suites.NAME] with shapes = [{ ... }]");
    }
    let near = nearest(name, known.iter().map(String::as_str)).map(|near| format!("did you mean {near}?"));
    report.label(format!("expected one of {}", known.join(", "))).maybe_hint(near)
}

/// Every combination of a table's values.
fn combined(table: &Table, base: &Shape, name: &str) -> Result<Vec<Shape>, Report> {
    let mut shapes = vec![base.clone()];
    for (dim, values) in table.iter().filter_map(|(dim, value)| match value {
        SuiteDim::Each(values) => Some((dim, values)),
        SuiteDim::Like(_) => None,
    }) {
        let with = |shape: &Shape| values.iter().map(|value| set(shape, dim, value)).collect::<Vec<_>>();
        shapes = shapes.iter().flat_map(with).collect();
        if shapes.len() > MOST {
            let report = Report::error(format!("--suite: {name} has more than {MOST} shapes"));
            return Err(report.label("expected fewer values, or several tables"));
        }
    }
    for (dim, value) in table {
        let SuiteDim::Like(like) = value else { continue };
        for shape in &mut shapes {
            let value = shape.iter().find(|(n, _)| n == like).map(|(_, value)| value.clone());
            *shape = value.map_or(shape.clone(), |value| set(shape, dim, &value));
        }
    }
    Ok(shapes)
}

/// A shape with one dimension set.
fn set(shape: &Shape, dim: &Arc<str>, value: &Value) -> Shape {
    shape.iter().map(|(n, v)| (n.clone(), if n == dim { value } else { v }.clone())).collect()
}

fn usual(selection: &Selection<'_>) -> Shape {
    selection.workloads.first().map(|w| w.dims.clone()).unwrap_or_default()
}

/// Batches, heads and lengths around those that attention is run on, and lengths around one and two tiles; for kernels that
/// name their dimensions as everybody does.
fn attention(selection: &Selection<'_>, base: &Shape) -> Option<Vec<Table>> {
    let origin = selection.spec.reference.as_ref().map(|reference| &reference.origin);
    let is_attention = matches!(origin, Some(Origin::Builtin(name)) if name == ATTENTION);
    let has = |name: &str| base.iter().any(|(n, _)| &**n == name);
    let length = ["S", "SQ"].into_iter().find(|name| has(name))?;
    if !is_attention || !has("B") || !has("H") {
        return None;
    }
    let each = |name: &str, values: &[i64]| -> (Arc<str>, SuiteDim) {
        (name.into(), SuiteDim::Each(values.iter().map(|v| Value::Int(*v)).collect()))
    };
    let like = |name: &str, other: &str| has(name).then(|| (name.into(), SuiteDim::Like(other.into())));
    let tied = || like("SK", length).into_iter().chain(like("HK", "H"));
    let mut around = vec![each(length, &[448, 512, 640]), each("B", &[16, 32, 48]), each("H", &[4, 8, 16])];
    let mut lengths = vec![each(length, &[4, 64, 65, 128, 192, 256, 512])];
    around.extend(tied());
    lengths.extend(tied());
    Some(vec![lengths, around])
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_spec::Choice;

    const FILE: &str = "[kernel]\nname = \"k\"\n[tunables]\nA = [1, 2]\n[target.cpu]\nsource = \"k.c\"\n\
        [[arguments]]\nname = \"q\"\ntype = \"f32[B, H, SQ, D]\"\nrole = \"in\"\n\
        [[arguments]]\nname = \"k\"\ntype = \"f32[B, HK, SK, D]\"\nrole = \"in\"\n\
        [[arguments]]\nname = \"v\"\ntype = \"f32[B, HK, SK, D]\"\nrole = \"in\"\n\
        [[arguments]]\nname = \"o\"\ntype = \"f32[B, H, SQ, D]\"\nrole = \"out\"\n\
        [[workloads]]\nname = \"a\"\ndims = { B = 1, H = 2, HK = 2, SQ = 100, SK = 100, D = 64 }\n\
        [fuzz.suites.edges]\nshapes = [{ SQ = [63, 65], SK = \"SQ\", H = [1, 2], HK = \"H\" }, { SQ = 1 }]\n";

    fn with<T>(text: &str, ask: impl Fn(&Selection<'_>, &Shape) -> T) -> T {
        let (spec, _) = kiln_spec::parse("kernel.toml", text.as_bytes()).unwrap();
        let selection = spec.select(Choice::default()).unwrap();
        ask(&selection, &usual(&selection))
    }

    #[test]
    fn a_suite_is_every_combination_and_the_rest_is_the_first_workloads() {
        let shapes = with(FILE, |selection, base| suite(selection, "edges", base).unwrap());
        let words: Vec<String> = shapes.iter().map(crate::fuzz::case::shape_text).collect();
        assert_eq!(words[0], "B=1,H=1,HK=1,SQ=63,SK=63,D=64");
        assert_eq!(words[3], "B=1,H=2,HK=2,SQ=65,SK=65,D=64");
        assert_eq!((words.len(), words[4].as_str()), (5, "B=1,H=2,HK=2,SQ=1,SK=100,D=64"));
        let report = with(FILE, |selection, base| suite(selection, "edge", base).unwrap_err().to_string());
        assert!(report.contains("expected one of edges") && report.contains("did you mean edges?"), "{report}");
    }

    #[test]
    fn attention_has_a_suite_of_its_own() {
        let text = format!("{FILE}[reference]\nbuiltin = \"attention\"\n");
        let shapes = with(&text, |selection, base| suite(selection, "attention", base).unwrap());
        assert_eq!(shapes.len(), 27 + 7);
        assert_eq!(with(&text, |selection, _| suite_names(selection)), ["edges", "attention"]);
        assert_eq!(with(FILE, |selection, _| suite_names(selection)), ["edges"]);
        assert!(with(FILE, |selection, base| suite(selection, "attention", base).is_err()));
    }
}
