//! `[environment]`: which versions of what a kernel is made for. In: a table of ranges, `numpy = ">=1.26,<3"`. Out: each part
//! with its range. Refuses parts it does not know and ranges it cannot read.

use std::cmp::Ordering;

use kiln_core::Report;

use crate::reading::item::Item;
use crate::reading::section::Section;

/// A part of the environment whose version can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The Python interpreter.
    Python,
    /// NumPy.
    Numpy,
    /// PyTorch.
    Torch,
    /// Triton.
    Triton,
    /// The GPU's driver; asked for where something runs on a GPU.
    Driver,
    /// What the target is compiled with; asked for where it is compiled.
    Compiler,
}

impl Part {
    /// All of them, as the file writes them.
    pub const ALL: [(&'static str, Part); 6] = [
        ("python", Part::Python),
        ("numpy", Part::Numpy),
        ("torch", Part::Torch),
        ("triton", Part::Triton),
        ("driver", Part::Driver),
        ("compiler", Part::Compiler),
    ];

    /// Its name in the file.
    pub fn name(self) -> &'static str {
        Part::ALL.iter().find(|(_, part)| *part == self).map_or("", |(name, _)| name)
    }
}

/// One requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Of what.
    pub part: Part,
    /// Which versions.
    pub range: VersionRange,
}

/// Versions that will do: all comparisons must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRange {
    /// As the file writes it.
    pub text: String,
    comparisons: Vec<(&'static str, Vec<u64>)>,
}

/// Longer ones first: `>=` begins with `>`.
const OPERATORS: [&str; 6] = [">=", "<=", "==", "!=", ">", "<"];

impl VersionRange {
    /// Reads `>=1.26,<3`; none where a part is no comparison with a version.
    pub fn parse(text: &str) -> Option<VersionRange> {
        let comparison = |part: &str| {
            let part = part.trim();
            let operator = OPERATORS.into_iter().find(|operator| part.starts_with(operator))?;
            let digits = part[operator.len()..].trim();
            let numbers: Option<Vec<u64>> = digits.split('.').map(|number| number.parse().ok()).collect();
            Some((operator, numbers?))
        };
        let comparisons: Option<Vec<_>> = text.split(',').map(comparison).collect();
        Some(VersionRange { text: text.trim().into(), comparisons: comparisons? })
    }

    /// Whether a version is within; none where it does not begin with a number. What follows the numbers, such as `+cu130`,
    /// does not count.
    pub fn holds(&self, version: &str) -> Option<bool> {
        let version = numbers(version)?;
        Some(self.comparisons.iter().all(|(operator, limit)| {
            let order = compare(&version, limit);
            match *operator {
                ">=" => order != Ordering::Less,
                "<=" => order != Ordering::Greater,
                "==" => order == Ordering::Equal,
                "!=" => order != Ordering::Equal,
                ">" => order == Ordering::Greater,
                _ => order == Ordering::Less,
            }
        }))
    }
}

/// The numbers a version begins with.
fn numbers(version: &str) -> Option<Vec<u64>> {
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
    let found: Vec<u64> = version[..end].split('.').map_while(|number| number.parse().ok()).collect();
    (!found.is_empty()).then_some(found)
}

/// Numbers that are left out are 0.
fn compare(a: &[u64], b: &[u64]) -> Ordering {
    let at = |of: &[u64], i: usize| of.get(i).copied().unwrap_or(0);
    let pairs = (0..a.len().max(b.len())).map(|i| at(a, i).cmp(&at(b, i)));
    pairs.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// What the table may hold.
pub(crate) const KEYS: [&str; 6] = ["python", "numpy", "torch", "triton", "driver", "compiler"];

pub(crate) fn read_environment(root: &Section) -> Vec<Requirement> {
    let Some(section) = root.get("environment").and_then(|item| Section::open(item, &KEYS)) else { return Vec::new() };
    let known = |key: &str| Part::ALL.iter().find(|(name, _)| *name == key).map(|(_, part)| *part);
    let entries = section.entries.iter();
    entries.filter_map(|entry| Some(Requirement { part: known(entry.key)?, range: read_range(&entry.item)? })).collect()
}

fn read_range(item: &Item) -> Option<VersionRange> {
    let text = item.string()?;
    let range = VersionRange::parse(text);
    if range.is_none() {
        let report = Report::error(format!("{} is {}", item.path, item.spelling()));
        item.error(report.label("expected versions, such as \">=1.26,<3\""));
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_held_against_every_comparison() {
        let holds = |range: &str, version: &str| VersionRange::parse(range).unwrap().holds(version);
        for version in ["1.26", "1.26.4", "2.0", "2.9.1rc1"] {
            assert_eq!(holds(">=1.26,<3", version), Some(true), "{version}");
        }
        for version in ["1.25.9", "3", "3.0.0", "10.1"] {
            assert_eq!(holds(" >= 1.26 , < 3 ", version), Some(false), "{version}");
        }
        assert_eq!(holds("==2.11", "2.11.0+cu130"), Some(true));
        assert_eq!(
            (holds("!=2.11", "2.11"), holds(">2", "2.0.1"), holds("<=2", "2.0.1")),
            (Some(false), Some(true), Some(false))
        );
        assert_eq!(holds(">=1", "of unknown version"), None);
        for wrong in ["", "1.26", ">=", ">=1.x", "~=1.2", ">=1,,<2", "latest"] {
            assert!(VersionRange::parse(wrong).is_none(), "{wrong}");
        }
    }
}
