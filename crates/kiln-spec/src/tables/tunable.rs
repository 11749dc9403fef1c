//! The values of one tunable. In: a list, or a table that says from where to where. Out: the values in order, without
//! doubles. Refuses an empty or endless choice, doubles, and lists that mix kinds.

use std::cell::Cell;
use std::collections::HashSet;

use kiln_core::{Report, Value};
use toml::de::DeValue;

use crate::reading::item::Item;
use crate::reading::section::Section;

/// More values than this are a mistake, and would make everything behind it slow.
const MOST_VALUES: i128 = 100_000;
/// What all tunables of a table may have together: a short file can ask for more values than fit in memory.
const MOST_IN_ALL: i128 = 1_000_000;

/// What a range may hold.
pub(crate) const RANGE_KEYS: [&str; 4] = ["from", "to", "step", "times"];

/// Reads the tunables of one table and counts their values.
#[derive(Default)]
pub(crate) struct ValueReader {
    in_all: Cell<i128>,
}

impl ValueReader {
    /// The values, or none when the log says why not.
    pub(crate) fn read(&self, item: &Item) -> Option<Vec<Value>> {
        match item.raw() {
            DeValue::Array(_) => self.list(item),
            DeValue::Table(_) => self.range(item),
            _ => {
                item.wrong("a list such as [16, 32], or { from = 1, to = 4 }");
                None
            }
        }
    }

    fn list(&self, item: &Item) -> Option<Vec<Value>> {
        let items = item.list()?;
        if items.is_empty() {
            item.error(Report::error(format!("{} has no values", item.path)).label("expected at least one value"));
            return None;
        }
        if !self.few_enough(item, items.len() as i128) {
            return None;
        }
        let read: Vec<(&Item, Value)> = items.iter().filter_map(|i| Some((i, i.scalar()?))).collect();
        let complete = read.len() == items.len();
        let floats = read.iter().any(|(_, v)| matches!(v, Value::Float(_)));
        let mut seen = HashSet::new();
        let mut values: Vec<Value> = Vec::new();
        for (item, value) in read {
            let value = match value {
                Value::Int(whole) if floats => Value::Float(whole as f64),
                value => value,
            };
            if let Some(first) = values.first()
                && first.kind() != value.kind()
            {
                let report = Report::error(format!("{} mixes kinds: {} and {}", item.path, first.kind(), value.kind()));
                item.error(report.label(format!("expected {} like the first value", article(first.kind()))));
                return None;
            }
            if !seen.insert(value.clone()) {
                let report = Report::error(format!("{} has the value {value} twice", item.path));
                item.error(report.label("expected each value once"));
                return None;
            }
            values.push(value);
        }
        complete.then_some(values)
    }

    /// `{ from, to, step }` counts, `{ from, to, times }` multiplies; both ends belong to it.
    fn range(&self, item: &Item) -> Option<Vec<Value>> {
        let section = Section::open(item, &RANGE_KEYS)?;
        let ends = (section.require("from", "from = ..."), section.require("to", "to = ..."));
        let integer = |key| section.get(key).map(Item::integer);
        let (step, times) = (integer("step"), integer("times"));
        let (from, to) = (ends.0?.integer()?, ends.1?.integer()?);
        if from > to {
            let report = Report::error(format!("{} has no values: from {from} is above to {to}", item.path));
            ends.1?.error(report.label(format!("expected at least {from}")));
            return None;
        }
        if let (Some(_), Some(times)) = (step, section.get("times")) {
            let report = Report::error(format!("{} has both step and times", item.path));
            times.error(report.label("expected only one of them"));
            return None;
        }
        if let Some(times) = times {
            return powers(&section, from, to, times?);
        }
        let step = step.unwrap_or(Some(1))?;
        if step < 1 {
            let report = Report::error(format!("{} has a step of {step}", item.path));
            section.get("step")?.error(report.label("expected at least 1"));
            return None;
        }
        let count = (i128::from(to) - i128::from(from)) / i128::from(step) + 1;
        // Counted in 128 bits: a step may be as wide as all of 64.
        let nth = |i: i128| Value::Int((i128::from(from) + i * i128::from(step)) as i64);
        self.few_enough(item, count).then(|| (0..count).map(nth).collect())
    }

    fn few_enough(&self, item: &Item, count: i128) -> bool {
        if count > MOST_VALUES {
            let report = Report::error(format!("{} has {count} values", item.path));
            item.error(report.label(format!("expected at most {MOST_VALUES}")));
            return false;
        }
        let before = self.in_all.replace(self.in_all.get() + count);
        // Only the one that crosses the limit is reported.
        if before <= MOST_IN_ALL && self.in_all.get() > MOST_IN_ALL {
            let report = Report::error(format!("more than {MOST_IN_ALL} values up to {}", item.path));
            item.error(report.label(format!("expected at most {MOST_IN_ALL} in all tunables together")));
        }
        self.in_all.get() <= MOST_IN_ALL
    }
}

fn article(kind: &str) -> String {
    let article = if kind.starts_with('i') { "an" } else { "a" };
    format!("{article} {kind}")
}

fn powers(section: &Section, from: i64, to: i64, times: i64) -> Option<Vec<Value>> {
    let path = &section.path;
    if times < 2 {
        let report = Report::error(format!("{path} never grows: times is {times}"));
        section.get("times")?.error(report.label("expected at least 2"));
        return None;
    }
    if from < 1 {
        let report = Report::error(format!("{path} multiplies from {from}"));
        section.get("from")?.error(report.label("expected at least 1 where times is given"));
        return None;
    }
    let grow = |value: &i64| value.checked_mul(times);
    Some(std::iter::successors(Some(from), grow).take_while(|v| *v <= to).map(Value::Int).collect())
}
