//! The numbers that questions compare with. In: those of the tree, and `[thresholds]` of a project's settings. Out: a value for each name.
//! Refuses a file that is not TOML, a table or a key that nobody knows, and a value out of range, each at its line.

use std::collections::BTreeMap;

use kiln_core::{Place, Report, Span, nearest};
use serde::{Deserialize, Serialize};
use toml::de::{DeTable, DeValue};

use super::tree::Tree;

/// Tables of a project's settings.
const TABLES: [&str; 1] = ["thresholds"];

/// Speedups at which the advice changes, the lowest first.
const BORDERS: [&str; 3] = ["profile_below", "warn_below", "next_bottleneck"];

/// A number with what it means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// The number.
    pub value: f64,
    /// The largest that makes sense; all are above 0.
    pub most: f64,
    /// `x`, `share`, `times` or `runs`.
    pub unit: String,
    /// What happens at it, in a line.
    pub means: String,
}

impl Threshold {
    /// Whether it counts something.
    fn counts(&self) -> bool {
        matches!(self.unit.as_str(), "times" | "runs")
    }

    /// For people and commands.
    pub fn shown(&self) -> String {
        match self.unit.as_str() {
            "x" => format!("{}x", self.value),
            "share" => format!("{} %", (1000.0 * self.value).round() / 10.0),
            _ => format!("{}", self.value),
        }
    }
}

/// Every threshold, by name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Thresholds(pub BTreeMap<String, Threshold>);

impl Thresholds {
    /// Those of the tree.
    pub fn usual(tree: &Tree) -> Thresholds {
        Thresholds(tree.threshold.clone())
    }

    /// Those of the tree as a project's settings change them.
    pub fn read(tree: &Tree, file: &str, text: &str) -> Result<Thresholds, Vec<Report>> {
        let (mut own, mut found) = (Thresholds::usual(tree), Vec::new());
        let mut places: BTreeMap<String, Span> = BTreeMap::new();
        let at = |span: Span| Place::of(file, text, span);
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let place = at(error.span().unwrap_or(text.len()..text.len()));
            found.push(Report::error(error.message()).label("expected TOML").at(place));
        }
        for (table, value) in document.get_ref().iter().filter(|_| errors.is_empty()) {
            let name: &str = table.get_ref();
            if !TABLES.contains(&name) {
                found.push(unknown(&format!("unknown table `{name}`"), name, TABLES.into_iter()).at(at(table.span())));
                continue;
            }
            let DeValue::Table(entries) = value.get_ref() else {
                let report = Report::error(format!("{name} is not a table")).label("expected [thresholds]");
                found.push(report.at(at(value.span())));
                continue;
            };
            for (key, value) in entries.iter() {
                let name: &str = key.get_ref();
                let Some(threshold) = own.0.get_mut(name) else {
                    let known = tree.threshold.keys().map(String::as_str);
                    found.push(unknown(&format!("unknown key thresholds.{name}"), name, known).at(at(key.span())));
                    continue;
                };
                let whole = threshold.counts();
                let fits =
                    |number: &f64| *number > 0.0 && *number <= threshold.most && (!whole || number.fract() == 0.0);
                match number(value.get_ref()).filter(fits) {
                    Some(number) => {
                        threshold.value = number;
                        places.insert(name.to_string(), value.span());
                    }
                    None => {
                        let report = Report::error(format!("thresholds.{name} is out of range"));
                        let kind = if whole { "whole number" } else { "number" };
                        let expected = format!("expected a {kind} above 0 and at most {}", threshold.most);
                        found.push(report.label(expected).hint(threshold.means.clone()).at(at(value.span())));
                    }
                }
            }
        }
        // Borders of one road: where a later one comes first, some advice can never be given.
        for pair in BORDERS.windows(2) {
            let (Some(low), Some(high)) = (own.value(pair[0]), own.value(pair[1])) else { continue };
            let changed = [pair[1], pair[0]].into_iter().find_map(|name| places.get(name));
            if let Some(span) = changed.filter(|_| low > high) {
                let report = Report::error(format!("thresholds.{} is above thresholds.{}", pair[0], pair[1]));
                found.push(report.label(format!("expected {low} <= {high}")).at(at(span.clone())));
            }
        }
        if found.is_empty() { Ok(own) } else { Err(found) }
    }

    /// The value of a name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.0.get(name).map(|threshold| threshold.value)
    }
}

fn unknown<'n>(message: &str, name: &str, known: impl Iterator<Item = &'n str> + Clone) -> Report {
    let near = nearest(name, known.clone()).map(|near| format!("did you mean {near}?"));
    let all: Vec<&str> = known.collect();
    Report::error(message).label(format!("expected {}", all.join(", "))).maybe_hint(near)
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    let digits = match value {
        DeValue::Integer(digits) => digits.as_str(),
        DeValue::Float(digits) => digits.as_str(),
        _ => return None,
    };
    digits.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::next::tree;

    fn read(text: &str) -> Result<Thresholds, String> {
        let words = |reports: Vec<Report>| reports.iter().map(Report::to_string).collect::<Vec<_>>().join("\n");
        Thresholds::read(tree().unwrap(), "config.toml", text).map_err(words)
    }

    #[test]
    fn a_project_changes_what_it_names() {
        let own = read("[thresholds]\nprofile_below = 0.7\nsame_failure = 5\n").unwrap();
        assert_eq!((own.value("profile_below"), own.value("same_failure")), (Some(0.7), Some(5.0)));
        assert_eq!(own.value("next_bottleneck"), Some(2.0));
        assert_eq!(read("").unwrap(), Thresholds::usual(tree().unwrap()));
    }

    #[test]
    fn every_mistake_is_told_at_its_line() {
        let said =
            read("[thresholds]\nprofile_bellow = 0.7\nworth = -1\nfix_share = \"a\"\n[threshold]\n").unwrap_err();
        for words in [
            "unknown key thresholds.profile_bellow",
            "did you mean profile_below?",
            "thresholds.worth is out of range",
            "thresholds.fix_share is out of range",
            "expected a number above 0 and at most 1",
            "unknown table `threshold`",
            "config.toml:2",
        ] {
            assert!(said.contains(words), "{words}\n{said}");
        }
        // What is counted is whole, and borders are in order.
        for (wrong, words) in [
            ("same_failure = 2.5", "expected a whole number above 0"),
            ("validated_runs = 0.5", "expected a whole number above 0"),
            ("warn_below = 0.3", "thresholds.profile_below is above thresholds.warn_below"),
            ("warn_below = 3", "expected 3 <= 2"),
        ] {
            let said = read(&format!("[thresholds]\n{wrong}\n")).unwrap_err();
            assert!(said.contains(words) && said.contains("config.toml:2"), "{said}");
        }
        assert!(read("[thresholds]\nprofile_below = 1.0\nwarn_below = 1.0\n").is_ok());
        assert!(read("thresholds = 3").unwrap_err().contains("thresholds is not a table"));
        assert!(read("[thresholds").unwrap_err().contains("expected TOML"));
    }
}
