//! Which workloads a slow tool is run on. In: a kernel and a configuration. Out: the smallest workload, and one with sizes that
//! no tile divides: that is where indices go wrong. Tools take a hundred times as long as a call, so both are small.

use kiln_core::{Config, Value, Workload};

use crate::kernel::Kernel;
use crate::questions::stage::{Stage, cost};

/// Floating-point operations above which a workload takes a tool too long.
const MUCH_WORK: f64 = 5e8;
/// Bytes that stand for as much, where the file states no operations.
const MUCH_MEMORY: u128 = 64 << 20;
/// The least value of a tunable that is taken for a tile.
const LEAST_TILE: i64 = 4;

/// Workloads for tools, the smallest first; none for a file without any.
pub fn tool_workloads<'a>(kernel: &Kernel<'a>, config: &Config) -> Vec<Option<&'a Workload>> {
    let mut fitting = every_workload(kernel, config);
    if fitting.is_empty() {
        return vec![None];
    }
    let ragged = |workload: &Workload| ragged(workload, config);
    let small = fitting.iter().filter(|w| !is_large(kernel, w));
    // Of several with as many such sizes, the first is the smallest.
    let edge = small.fold(None, |best: Option<&'a Workload>, next| match best {
        Some(best) if ragged(best) >= ragged(next) => Some(best),
        _ => Some(*next),
    });
    let edge = edge.filter(|workload| ragged(workload) > 0 && workload.name != fitting[0].name);
    fitting.truncate(1);
    fitting.into_iter().chain(edge).map(Some).collect()
}

/// Every workload of a target that a configuration can be used on, the smallest first.
pub fn every_workload<'a>(kernel: &Kernel<'a>, config: &Config) -> Vec<&'a Workload> {
    let selection = &kernel.selection;
    let listed = selection.spec.workloads.iter().filter(|w| w.is_for(kernel.target()) && selection.answers(w));
    let mut fitting: Vec<&Workload> = listed.filter(|w| kernel.unfit(config, Some(w)).is_none()).collect();
    fitting.sort_by_key(|workload| bytes(kernel, workload));
    fitting
}

fn bytes(kernel: &Kernel<'_>, workload: &Workload) -> u128 {
    Stage::needed(kernel, Some(workload), 1).unwrap_or(u128::MAX)
}

fn is_large(kernel: &Kernel<'_>, workload: &Workload) -> bool {
    let flops = kernel.selection.spec.cost.flops.as_ref();
    let flops = flops.and_then(|formula| cost(&kernel.selection, Some(workload), formula));
    flops.map_or_else(|| bytes(kernel, workload) > MUCH_MEMORY, |flops| flops > MUCH_WORK)
}

/// How many dimensions are longer than some tile and not divided by it.
fn ragged(workload: &Workload, config: &Config) -> usize {
    let tiles: Vec<i64> = config
        .iter()
        .filter_map(|(_, value)| match value {
            Value::Int(tile) if *tile >= LEAST_TILE => Some(*tile),
            _ => None,
        })
        .collect();
    let beyond = |length: i64| tiles.iter().any(|tile| length > *tile && length % tile != 0);
    workload.dims.iter().filter(|(_, value)| matches!(value, Value::Int(length) if beyond(*length))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = r#"
[kernel]
name = "k"
entry = "f"
[target.cpu]
source = "f.c"
[tunables]
TILE = [16, 32]
[[arguments]]
name = "x"
type = "f32[N, M]"
role = "in"
[[arguments]]
name = "y"
type = "f32[N, M]"
role = "out"
[reference]
builtin = "softmax"
"#;

    /// The workloads chosen among these, by name.
    fn chosen(workloads: &str) -> Vec<String> {
        let (spec, _) = kiln_spec::parse("k", format!("{KERNEL}{workloads}").as_bytes()).unwrap();
        let selection = spec.select(kiln_spec::Choice::default()).unwrap();
        let kernel = Kernel::new(selection, camino::Utf8Path::new(".")).unwrap();
        let config = Config::parse("TILE=16").unwrap();
        tool_workloads(&kernel, &config).into_iter().map(|w| w.map_or("", |w| &w.name).to_string()).collect()
    }

    fn workload(name: &str, n: u64, m: u64) -> String {
        format!("[[workloads]]\nname = \"{name}\"\ndims = {{ N = {n}, M = {m} }}\nuse = \"check\"\n")
    }

    #[test]
    fn the_smallest_and_one_that_no_tile_divides() {
        let all = [workload("large", 4096, 4096), workload("one", 1, 1), workload("tail", 16, 33)].concat();
        assert_eq!(chosen(&all), ["one", "tail"]);
        // Both sizes beat one of them, and the smallest of several is enough.
        let more = [all.clone(), workload("both", 17, 33), workload("both_too", 35, 35)].concat();
        assert_eq!(chosen(&more), ["one", "both"]);
        // The smallest may be the one itself, and there may be none.
        assert_eq!(chosen(&workload("tail", 16, 33)), ["tail"]);
        assert_eq!(chosen(&[workload("one", 1, 1), workload("even", 32, 32)].concat()), ["one"]);
        // What takes too long is not chosen for its sizes.
        assert_eq!(chosen(&[workload("one", 1, 1), workload("far", 4097, 4097)].concat()), ["one"]);
    }
}
