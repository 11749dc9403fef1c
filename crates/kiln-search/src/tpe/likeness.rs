//! How alike two values of a tunable are. In: its list of values. Out: a table of numbers in (0, 1], 1 for a value and
//! itself. Numbers are ordered: they are the more alike the closer they are, by place and by logarithm, since tile sizes
//! double as often as they step. Strings, booleans and mixed lists have no order: any two values are equally unlike.

use kiln_core::Value;

use crate::proposing::metric::SIZE;
use crate::tpe::settings::TpeSettings;

/// No two values are so unlike that their likeness cannot be divided by.
const LEAST: f64 = 1e-30;

/// The likeness of every two values of one tunable.
#[derive(Debug, Clone)]
pub(crate) struct Likeness {
    values: usize,
    table: Vec<f64>,
}

impl Likeness {
    pub(crate) fn new(values: &[Value], settings: &TpeSettings) -> Likeness {
        let places = places(values);
        // Among sizes; small numbers are counts.
        let sizes = values.iter().any(|value| matches!(value, Value::Int(number) if *number >= SIZE as i64));
        let round =
            |value: &Value| sizes && matches!(value, Value::Int(number) if *number > 0 && number.count_ones() == 1);
        let round: Vec<bool> = values.iter().map(round).collect();
        let likeness = |a: usize, b: usize| {
            let distance = match &places {
                _ if a == b => 0.0,
                None => 1.0,
                Some(places) => {
                    let (rank, log) = (places[a].0 - places[b].0, places[a].1 - places[b].1);
                    let between = (1.0 - settings.logarithm) * rank.abs() + settings.logarithm * log.abs();
                    let odd = if round[a] == round[b] { 0.0 } else { settings.odd };
                    settings.jump + (1.0 - settings.jump) * between + odd
                }
            };
            rounded((-settings.falloff * distance).exp()).max(LEAST)
        };
        let pairs = (0..values.len()).flat_map(|a| (0..values.len()).map(move |b| (a, b)));
        Likeness { values: values.len(), table: pairs.map(|(a, b)| likeness(a, b)).collect() }
    }

    /// The likeness of one value to each.
    pub(crate) fn row(&self, value: u32) -> &[f64] {
        let start = value as usize * self.values;
        &self.table[start..start + self.values]
    }

    pub(crate) fn values(&self) -> usize {
        self.values
    }
}

/// Without the last bits: machines differ in those of `exp` and `ln`, and proposals should not.
pub(crate) fn rounded(number: f64) -> f64 {
    f64::from(number as f32)
}

/// Where each value lies between the least and the greatest, by rank and by logarithm; none where there is no order.
fn places(values: &[Value]) -> Option<Vec<(f64, f64)>> {
    let numbers: Vec<f64> = values
        .iter()
        .map(|value| match value {
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) if number.is_finite() => Some(*number),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let mut sorted = numbers.clone();
    sorted.sort_by(f64::total_cmp);
    // Shifted by one, so that 0 has a logarithm; below 0 mirrored.
    let logarithm = |number: f64| number.signum() * number.abs().ln_1p();
    let (first, last) = (logarithm(*sorted.first()?), logarithm(*sorted.last()?));
    let place = |number: &f64| {
        let rank = sorted.partition_point(|other| other < number) as f64;
        let log = (logarithm(*number) - first) / (last - first);
        (rank / (sorted.len() - 1).max(1) as f64, if log.is_finite() { log } else { 0.0 })
    };
    Some(numbers.iter().map(place).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(values: &[Value]) -> Likeness {
        Likeness::new(values, &TpeSettings::default())
    }

    #[test]
    fn numbers_are_the_more_alike_the_closer_they_are() {
        let sizes = likeness(&[16, 32, 48, 64, 128, 256].map(Value::Int));
        assert!(sizes.row(0).windows(2).all(|w| w[0] > w[1]));
        assert!((0..6).all(|v| sizes.row(v)[v as usize] == 1.0));
        // A doubling at the small end is further than a step of the same width at the large end.
        let even = likeness(&[16, 32, 48, 64, 80, 96].map(Value::Int));
        assert!(even.row(0)[1] < even.row(4)[5]);
        // The order of the list does not matter, only that of the numbers.
        let turned = likeness(&[256, 128, 64, 48, 32, 16].map(Value::Int));
        assert_eq!(turned.row(5)[4], sizes.row(0)[1]);
    }

    #[test]
    fn names_and_switches_have_no_order() {
        for values in [["row", "column", "tile"].map(Value::from).to_vec(), vec![1.into(), "auto".into(), 2.into()]] {
            let table = likeness(&values);
            assert_eq!(table.row(0)[1], table.row(0)[2]);
            assert!(table.row(0)[1] < 1.0);
        }
        let (switch, number) = (likeness(&[false, true].map(Value::from)), likeness(&[0, 1].map(Value::Int)));
        assert_eq!(switch.row(0)[1], number.row(0)[1]);
    }

    #[test]
    fn odd_numbers_have_a_likeness_too() {
        for values in [
            vec![Value::Int(5)],
            vec![Value::Int(-4), Value::Int(0), Value::Int(i64::MAX)],
            vec![Value::Float(f64::NAN), Value::Float(1.0)],
            vec![Value::Float(-1e300), Value::Float(1e300)],
        ] {
            let table = likeness(&values);
            assert!((0..values.len() as u32).all(|v| table.row(v).iter().all(|l| *l > 0.0 && *l <= 1.0)), "{values:?}");
        }
    }
}
