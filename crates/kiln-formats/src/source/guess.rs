//! Guesses that a question goes with: the values of a tunable around its default, and which numbers are sizes.

use kiln_core::Value;

/// Values worth trying around one that works.
pub(crate) fn around(name: &str, default: i64) -> Vec<Value> {
    let lower = name.to_ascii_lowercase();
    let is_switch = ["use_", "enable", "with_", "is_", "do_", "has_", "flag"].iter().any(|p| lower.starts_with(p));
    let mut values: Vec<i64> = match default {
        0 | 1 if is_switch || default == 0 => vec![0, 1],
        d if d >= 1 && d.count_ones() == 1 => vec![d / 4, d / 2, d, d * 2, d.saturating_mul(4)],
        d if d > 0 && d % 2 == 0 => vec![d / 2, d, d.saturating_mul(2)],
        d => vec![d],
    };
    let least = if is_threads(name) && default >= 32 { 32 } else { 1 };
    let most = if is_threads(name) { 1024.max(default) } else { i64::MAX };
    if default >= 1 && !is_switch {
        values.retain(|v| (least..=most).contains(v));
    }
    values.dedup();
    values.into_iter().map(Value::Int).collect()
}

/// Whether a tunable is a number of threads by its name.
pub(crate) fn is_threads(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["block_size", "blocksize", "threads", "block_dim", "blockdim", "tpb", "nthreads"]
        .iter()
        .any(|part| lower.contains(part))
        || ["block", "block_x", "block_y", "block_z"].contains(&lower.as_str())
}

/// The axis a name is about: `block_size_y` is about the second.
pub(crate) fn axis(name: &str) -> Option<usize> {
    match name.to_ascii_lowercase().as_bytes() {
        [.., b'x'] => Some(0),
        [.., b'y'] => Some(1),
        [.., b'z'] => Some(2),
        _ => None,
    }
}

/// Whether an integer is a size by its name.
pub(crate) fn is_size(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let whole = ["n", "m", "k", "l", "h", "w", "b", "c", "d", "s", "nx", "ny", "nz", "t"];
    let parts = [
        "size", "len", "count", "num", "row", "col", "width", "height", "depth", "batch", "dim", "elem", "total",
        "seq", "head", "channel",
    ];
    whole.contains(&lower.as_str()) || lower.starts_with("n_") || parts.iter().any(|part| lower.contains(part))
}

/// The usual value of a number that is no integer by its name, as it stands in a kernel.toml.
pub(crate) fn real(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split('_').collect();
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(part));
    if has(&["eps", "epsilon"]) {
        Some("1e-5")
    } else {
        has(&[
            "scale",
            "alpha",
            "beta",
            "gamma",
            "slope",
            "momentum",
            "temperature",
            "lr",
            "rate",
            "prob",
            "decay",
            "clip",
        ])
        .then_some("1.0")
    }
}

/// A name that expressions can use, and that is not taken.
pub(crate) fn free_name(wanted: &str, taken: &dyn Fn(&str) -> bool) -> String {
    let mut name = wanted.to_owned();
    let reserved = ["device", "true", "false", "min", "max", "abs", "int", "float", "round", "sqrt", "log2"];
    let lower = name.to_ascii_lowercase();
    if reserved.contains(&lower.as_str())
        || ["in", "is", "if", "or", "and", "not", "for", "from", "as"].contains(&name.as_str())
    {
        name.push_str("_DIM");
    }
    while taken(&name) {
        name.push_str("_DIM");
    }
    name
}
