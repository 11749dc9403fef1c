//! Configurations as columns: every tunable with the values that occur, and which trial has which. In: trials. Out: columns in the order of the
//! configurations; those with one value only differ in nothing.

use std::collections::HashMap;

use kiln_core::{Config, Value};
use kiln_store::Trial;

/// Tunables of trials.
pub(crate) struct Columns {
    columns: Vec<TunableColumn>,
}

/// One tunable.
pub(crate) struct TunableColumn {
    /// Its name.
    pub(crate) name: String,
    /// Its values: numbers from the smallest to the largest, then the others as they came.
    pub(crate) values: Vec<ColumnValue>,
    /// For each trial which of them it has; none where the tunable is not in its configuration.
    pub(crate) of: Vec<Option<usize>>,
}

/// A value of a tunable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnValue(pub(crate) Value);

impl ColumnValue {
    /// As it is read, without quotes.
    pub(crate) fn shown(&self) -> String {
        match &self.0 {
            Value::Str(text) => text.to_string(),
            other => other.to_string(),
        }
    }

    /// The number it is.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.0 {
            Value::Int(number) => Some(number as f64),
            Value::Float(number) => Some(number),
            Value::Bool(_) | Value::Str(_) => None,
        }
    }
}

impl Columns {
    /// The columns of trials. Equal texts are read once.
    pub(crate) fn of(trials: &[Trial]) -> Columns {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut columns: Vec<(TunableColumn, HashMap<String, usize>)> = Vec::new();
        for (place, trial) in trials.iter().enumerate() {
            let Ok(config) = Config::parse(&trial.config) else { continue };
            for (name, value) in config.iter() {
                let column = *places.entry(name.to_string()).or_insert_with(|| {
                    let of = vec![None; trials.len()];
                    columns.push((TunableColumn { name: name.to_string(), values: Vec::new(), of }, HashMap::new()));
                    columns.len() - 1
                });
                let (column, known) = &mut columns[column];
                let at = *known.entry(value.to_string()).or_insert_with(|| {
                    column.values.push(ColumnValue(value.clone()));
                    column.values.len() - 1
                });
                column.of[place] = Some(at);
            }
        }
        Columns { columns: columns.into_iter().map(|(column, _)| column.sorted()).collect() }
    }

    /// Those in which trials differ.
    pub(crate) fn varying(&self) -> impl Iterator<Item = &TunableColumn> {
        self.columns.iter().filter(|column| column.values.len() > 1)
    }

    /// Those in which they do not, with their value.
    pub(crate) fn fixed(&self) -> impl Iterator<Item = (&str, String)> {
        let alike = self.columns.iter().filter(|column| column.values.len() == 1);
        alike.map(|column| (column.name.as_str(), column.values[0].shown()))
    }

    /// That of one tunable.
    pub(crate) fn get(&self, name: &str) -> Option<&TunableColumn> {
        self.columns.iter().find(|column| column.name == name)
    }
}

impl TunableColumn {
    fn sorted(mut self) -> TunableColumn {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        let key = |at: &usize| self.values[*at].number().unwrap_or(f64::INFINITY);
        order.sort_by(|a, b| key(a).total_cmp(&key(b)));
        let mut new = vec![0; order.len()];
        for (to, from) in order.iter().enumerate() {
            new[*from] = to;
        }
        self.values = order.iter().map(|from| self.values[*from].clone()).collect();
        self.of.iter_mut().flatten().for_each(|at| *at = new[*at]);
        self
    }

    /// Whether its values lie evenly on a logarithmic axis better than on a plain one: positive numbers over a wide range.
    pub(crate) fn is_logarithmic(&self) -> bool {
        let numbers: Option<Vec<f64>> = self.values.iter().map(ColumnValue::number).collect();
        let wide = |numbers: Vec<f64>| {
            let (low, high) = (numbers.first().copied().unwrap_or(0.0), numbers.last().copied().unwrap_or(0.0));
            numbers.len() > 2 && low > 0.0 && high / low >= 8.0
        };
        numbers.is_some_and(wide)
    }

    /// Where each value lies on an axis, from 0 to 1: by its size where all are numbers, else evenly.
    pub(crate) fn places(&self) -> Vec<f64> {
        let count = self.values.len();
        let numbers: Option<Vec<f64>> = self.values.iter().map(ColumnValue::number).collect();
        let scaled = numbers.map(|numbers| match self.is_logarithmic() {
            true => numbers.iter().map(|number| number.ln()).collect::<Vec<f64>>(),
            false => numbers,
        });
        match scaled {
            Some(all) if count > 1 && all[count - 1] > all[0] && all.iter().all(|one| one.is_finite()) => {
                all.iter().map(|one| (one - all[0]) / (all[count - 1] - all[0])).collect()
            }
            _ => (0..count).map(|at| if count > 1 { at as f64 / (count - 1) as f64 } else { 0.5 }).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::trial;

    #[test]
    fn values_are_sorted_and_lie_where_they_belong() {
        let configs = ["LANES=64,MODE=b,X=1", "LANES=1,MODE=a,X=1", "LANES=8,X=1", "what", "LANES=8,MODE=b,X=1"];
        let trials: Vec<_> =
            configs.iter().enumerate().map(|(at, config)| trial("search", at as u64, config, 1.0)).collect();
        let columns = Columns::of(&trials);
        assert_eq!(columns.varying().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["LANES", "MODE"]);
        assert_eq!(columns.fixed().collect::<Vec<_>>(), [("X", "1".to_string())]);
        let lanes = columns.get("LANES").unwrap();
        assert_eq!(lanes.of, [Some(2), Some(0), Some(1), None, Some(1)]);
        assert!(lanes.is_logarithmic());
        assert_eq!(lanes.places(), [0.0, 0.5, 1.0]);
        assert_eq!(columns.get("MODE").unwrap().places(), [0.0, 1.0]);
    }
}
