//! Rows become a recording. In: values and outcomes, one configuration after the other. Out: places in the lists of values,
//! each configuration once, and a word about everything that was passed over. Refuses to end without a row.

use std::sync::Arc;

use kiln_core::{Report, Value};
use rustc_hash::FxHashMap;

use super::{Recorded, Recording, Row};

#[derive(Default)]
pub(crate) struct Collection {
    names: Vec<Arc<str>>,
    values: Vec<Vec<Value>>,
    rows: Vec<Row>,
    /// Where each configuration is among the rows.
    places: FxHashMap<Box<[u32]>, usize>,
    unlisted: usize,
    repeated: usize,
    incomplete: usize,
}

impl Collection {
    /// A tunable with its list of values.
    pub(crate) fn tunable(&mut self, name: Arc<str>, values: Vec<Value>) {
        self.names.push(name);
        self.values.push(values);
    }

    /// The tunables, in order, for a format that does not list their values.
    pub(crate) fn set_names(&mut self, names: Vec<Arc<str>>) {
        self.values = vec![Vec::new(); names.len()];
        self.names = names;
    }

    pub(crate) fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// How many configurations are in.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The place of a value of a tunable; one the file does not list is added.
    fn place(&mut self, tunable: usize, value: Value) -> u32 {
        let list = &mut self.values[tunable];
        if let Some(place) = list.iter().position(|known| same(known, &value)) {
            return place as u32;
        }
        self.unlisted += 1;
        list.push(value);
        (list.len() - 1) as u32
    }

    /// Takes a configuration in, if it has a value for every tunable; of two outcomes the later counts.
    pub(crate) fn add(&mut self, values: Vec<Option<Value>>, outcome: Recorded) {
        // Looked up only when all are there: a record cut in two must leave no trace.
        let Some(values) = values.into_iter().collect::<Option<Vec<Value>>>() else {
            self.incomplete += 1;
            return;
        };
        let point: Box<[u32]> = values.into_iter().enumerate().map(|(at, value)| self.place(at, value)).collect();
        if let Some(place) = self.places.get(&point) {
            self.repeated += 1;
            self.rows[*place].outcome = outcome;
            return;
        }
        self.places.insert(point.clone(), self.rows.len());
        self.rows.push(Row { point, outcome });
    }

    /// Puts every list of values in ascending order, for a format that gives none.
    pub(crate) fn sort_values(&mut self) {
        self.unlisted = 0;
        let mut moved: Vec<Vec<u32>> = Vec::with_capacity(self.values.len());
        for list in &mut self.values {
            let mut order: Vec<usize> = (0..list.len()).collect();
            order.sort_by(|a, b| ascending(&list[*a], &list[*b]));
            let mut to = vec![0; list.len()];
            order.iter().enumerate().for_each(|(new, old)| to[*old] = new as u32);
            *list = order.iter().map(|old| list[*old].clone()).collect();
            moved.push(to);
        }
        for row in &mut self.rows {
            row.point.iter_mut().zip(&moved).for_each(|(place, to)| *place = to[*place as usize]);
        }
        self.places.clear();
    }

    pub(crate) fn finish(
        self,
        name: &str,
        kernel: Option<String>,
        device: Option<String>,
        mut warnings: Vec<Report>,
    ) -> Result<Recording, Vec<Report>> {
        let mut warn = |count: usize, what: &str| {
            if count > 0 {
                warnings.push(Report::warning(format!("{name}: {count} {what}")));
            }
        };
        warn(self.unlisted, "values are not among those the file lists for their tunable; they are used anyway");
        warn(self.repeated, "configurations are recorded again; the last outcome counts");
        warn(self.incomplete, "records lack the value of a tunable; they are left out");
        if self.rows.is_empty() {
            return Err(vec![
                Report::error(format!("{name} records no configurations")).label("expected at least one with its time"),
            ]);
        }
        Ok(Recording { kernel, device, names: self.names, values: self.values, rows: self.rows, warnings })
    }
}

/// The same value, also where one file writes 1 and another 1.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        _ => a == b,
    }
}

/// Numbers by size whatever their kind, the rest by kind.
fn ascending(a: &Value, b: &Value) -> std::cmp::Ordering {
    match (a, b) {
        (Value::Int(a), Value::Float(b)) => (*a as f64).total_cmp(b),
        (Value::Float(a), Value::Int(b)) => a.total_cmp(&(*b as f64)),
        _ => a.cmp(b),
    }
}
