//! `[sweep]`: the grid of shapes that `kiln sweep` measures unless told otherwise, and the words for one dimension of a grid,
//! in the file and on the command line: `512,1024`, `128..8192` (doubling), `128..8192:x4`, `64..1024:+64`, or the name of
//! another dimension, which it then equals. In: the table or the words. Out: values, in order, each once. Refuses dimensions
//! that no workload has, ranges without a value in them, and more values than anybody measures.

use std::sync::Arc;

use kiln_core::{Report, Value};
use toml::de::DeValue;

use crate::reading::item::Item;
use crate::reading::section::Section;
use crate::tables::fuzz::{SuiteDim, each, entries, known};

/// What the table may hold.
pub(crate) const KEYS: [&str; 1] = ["dims"];
/// Values of one dimension at most.
pub const MOST_SWEPT: usize = 1000;

/// What `kiln sweep` measures by default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sweep {
    /// Dimensions by name, in the order of the file.
    pub dims: Vec<(Arc<str>, SuiteDim)>,
}

pub(crate) fn read_sweep(item: &Item, dims: &[&str]) -> Sweep {
    let Some(section) = Section::open(item, &KEYS) else { return Sweep::default() };
    let Some(stated) = section.require("dims", "dims = { S = \"128..8192:x2\" }") else { return Sweep::default() };
    let stated = Section::free(stated);
    let mut sweep = Sweep::default();
    for entry in entries(&stated).filter(|entry| known(entry, dims)) {
        let Some(dim) = dim(&entry.item, entry.key, dims) else { continue };
        sweep.dims.push((entry.key.into(), dim));
    }
    for (name, like) in sweep.dims.iter().filter_map(|(name, dim)| Some((name, like(dim)?))) {
        if sweep.dims.iter().any(|(other, dim)| other == like && self::like(dim).is_some()) {
            let report = Report::error(format!("{name} equals {like}, which equals another dimension itself"));
            item.error(report.label("expected a dimension with values of its own"));
        }
    }
    sweep
}

fn like(dim: &SuiteDim) -> Option<&Arc<str>> {
    match dim {
        SuiteDim::Like(like) => Some(like),
        SuiteDim::Each(_) => None,
    }
}

fn dim(item: &Item, name: &str, dims: &[&str]) -> Option<SuiteDim> {
    match item.raw() {
        DeValue::Array(_) => each(item).map(|values| SuiteDim::Each(in_order(values))),
        DeValue::String(words) => match sweep_dim(words, name, dims) {
            Ok(dim) => Some(dim),
            Err(report) => {
                item.error(report);
                None
            }
        },
        _ => Some(SuiteDim::Each(vec![item.scalar()?])),
    }
}

/// What is typed for dimension `name` of a kernel with the dimensions `dims`.
pub fn sweep_dim(words: &str, name: &str, dims: &[&str]) -> Result<SuiteDim, Report> {
    let words = words.trim();
    if words != name && dims.contains(&words) {
        return Ok(SuiteDim::Like(words.into()));
    }
    let mut values = Vec::new();
    for part in words.split(',').map(str::trim) {
        if part.is_empty() {
            let report = Report::error(format!("{name} has an empty value in `{words}`"));
            return Err(report.label("expected values such as 128,256, or a range such as 128..8192:x2"));
        }
        match part.split_once("..") {
            Some((from, rest)) => values.extend(range(name, part, from, rest)?),
            None => values.push(Value::from_typed(part)),
        }
        if values.len() > MOST_SWEPT {
            return Err(too_many(name));
        }
    }
    Ok(SuiteDim::Each(in_order(values)))
}

/// How a range goes from value to value.
enum Step {
    Times(i64),
    Plus(i64),
}

impl Step {
    /// What follows; none where no number does.
    fn next(&self, value: i64) -> Option<i64> {
        match self {
            Step::Times(factor) => value.checked_mul(*factor),
            Step::Plus(step) => value.checked_add(*step),
        }
    }
}

/// `128..8192`, `128..8192:x2`, `64..1024:+64`.
fn range(name: &str, part: &str, from: &str, rest: &str) -> Result<Vec<Value>, Report> {
    let wrong = |label: &str| Report::error(format!("{name} is `{part}`")).label(label.to_string());
    let (to, step) = rest.split_once(':').map_or((rest, None), |(to, step)| (to, Some(step.trim())));
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| wrong("expected FROM..TO in whole numbers"));
    let (from, to) = (number(from)?, number(to)?);
    if from < 1 {
        return Err(wrong("expected a range that begins at 1 or more"));
    }
    if from > to {
        return Err(wrong("expected the lowest first").hint(format!("write {to}..{from}")));
    }
    let step = match step {
        None => Step::Times(2),
        Some(step) => match (step.strip_prefix(['x', '*']), step.strip_prefix('+')) {
            (Some(factor), _) => match factor.trim().parse() {
                Ok(factor) if factor >= 2 => Step::Times(factor),
                _ => return Err(wrong("expected a factor of 2 or more behind `:x`, as in 128..8192:x2")),
            },
            (None, Some(plus)) => match plus.trim().parse() {
                Ok(plus) if plus >= 1 => Step::Plus(plus),
                _ => return Err(wrong("expected a step of 1 or more behind `:+`, as in 64..1024:+64")),
            },
            (None, None) => return Err(wrong("expected :xFACTOR or :+STEP behind the range")),
        },
    };
    let mut values = Vec::new();
    let mut next = Some(from);
    while let Some(value) = next.filter(|value| *value <= to) {
        if values.len() == MOST_SWEPT {
            return Err(too_many(name));
        }
        values.push(Value::Int(value));
        next = step.next(value);
    }
    Ok(values)
}

fn too_many(name: &str) -> Report {
    let report = Report::error(format!("{name} has more than {MOST_SWEPT} values"));
    report.label(format!("expected at most {MOST_SWEPT}")).hint("take a larger step: 128..8192:x2")
}

/// Each once; numbers from the smallest to the largest, words as they are given.
fn in_order(values: Vec<Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::with_capacity(values.len());
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    if kept.iter().all(|value| matches!(value, Value::Int(_) | Value::Float(_))) {
        kept.sort();
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DIMS: [&str; 3] = ["S", "K", "LAYOUT"];

    fn read(words: &str) -> Result<String, String> {
        match sweep_dim(words, "S", &DIMS) {
            Ok(SuiteDim::Like(like)) => Ok(format!("like {like}")),
            Ok(SuiteDim::Each(values)) => Ok(values.iter().map(Value::to_string).collect::<Vec<_>>().join(" ")),
            Err(report) => Err(format!("{}: {}", report.message, report.label)),
        }
    }

    #[test]
    fn values_and_ranges_are_read() {
        assert_eq!(read("512, 128,512").as_deref(), Ok("128 512"));
        assert_eq!(read("128..1024").as_deref(), Ok("128 256 512 1024"));
        assert_eq!(read("100..1000:x3").as_deref(), Ok("100 300 900"));
        assert_eq!(read("64..256:+64,65").as_deref(), Ok("64 65 128 192 256"));
        assert_eq!(read("K").as_deref(), Ok("like K"));
        assert_eq!(read("bshd,bhsd").as_deref(), Ok("bshd bhsd"));
        assert_eq!(read("7..7").as_deref(), Ok("7"));
        assert_eq!(read(&format!("{}..{}", i64::MAX - 1, i64::MAX)), Ok((i64::MAX - 1).to_string()));
    }

    #[test]
    fn mistakes_are_named() {
        for (words, expected) in [
            ("", "expected values such as"),
            ("1,,2", "expected values such as"),
            ("1..x", "whole numbers"),
            ("0..8", "begins at 1"),
            ("8..4", "lowest first"),
            ("1..8:x1", "factor of 2 or more"),
            ("1..8:+0", "step of 1 or more"),
            ("1..8:2", ":xFACTOR or :+STEP"),
            ("1..9999:+1", "at most 1000"),
        ] {
            assert!(read(words).unwrap_err().contains(expected), "{words}: {:?}", read(words));
        }
    }

    proptest! {
        #[test]
        fn any_words_are_read_or_refused(words in "[0-9SKx.:+*,a-c -]{0,24}") {
            if let Ok(SuiteDim::Each(values)) = sweep_dim(&words, "S", &DIMS) {
                prop_assert!(!values.is_empty() && values.len() <= MOST_SWEPT, "{}", words);
            }
        }

        #[test]
        fn ranges_of_any_numbers_stay_within(from in any::<i64>(), to in any::<i64>(), step in any::<i64>(), times: bool) {
            let words = format!("{from}..{to}:{}{step}", if times { "x" } else { "+" });
            if let Ok(SuiteDim::Each(values)) = sweep_dim(&words, "S", &DIMS) {
                prop_assert!(values.len() <= MOST_SWEPT);
                for pair in values.windows(2) {
                    prop_assert!(pair[0] < pair[1]);
                }
                prop_assert!(values.iter().all(|v| (Value::Int(from)..=Value::Int(to)).contains(v)));
            }
        }
    }
}
