//! What a configuration plausibly cuts dimensions into. In: a selection, a configuration and a shape. Out: the integers
//! among its tunables and derived values, from 2 on: whether one is a tile, kiln cannot know, and a number too many costs
//! little.

use kiln_core::{Config, Value};
use kiln_spec::{Resolver, Selection};

use crate::fuzz::case::{Shape, workload_of};

/// Sizes beyond this are bytes or bits, and no tiles.
const LARGEST: i64 = 1 << 16;

/// The tiles of a configuration, smallest first; those of every value of every tunable where it is empty.
pub fn tiles(selection: &Selection<'_>, config: &Config, shape: &Shape) -> Vec<i64> {
    let whole = |value: &Value| match value {
        Value::Int(v) => Some(*v),
        _ => None,
    };
    let mut all: Vec<i64> = match config.is_empty() {
        true => {
            let tunables = selection.implementations.iter().flat_map(|one| &one.tunables);
            tunables.flat_map(|t| &t.values).filter_map(whole).collect()
        }
        false => {
            let workload = workload_of(shape);
            let resolver = Resolver::new(selection, Some(&workload), Some(config));
            let derived = selection.implementation(config).derived.iter().filter_map(|d| resolver.value(&d.name));
            config.iter().filter_map(|(_, value)| whole(value)).chain(derived.filter_map(|v| whole(&v))).collect()
        }
    };
    all.retain(|tile| (2..=LARGEST).contains(tile));
    all.sort_unstable();
    all.dedup();
    all
}
