//! Configurations as small numbers a tree can cut. In: the tunables with their values. Out: for any point a row of features,
//! one byte each: every tunable's place, how often two divides it, and the places of products and ratios of pairs, which are
//! what tile sizes act through. Names and switches keep their place in the list.

use kiln_core::Value;
use kiln_space::{Dimension, Space};

/// One feature: a table over the values of one tunable, or of two.
#[derive(Debug, Clone)]
struct Feature {
    first: usize,
    /// The other tunable of a pair; the first again for a feature of one.
    second: usize,
    /// How many values the second has in the table; 0 for a feature of one.
    width: usize,
    codes: Vec<u8>,
}

/// The features of a space.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    list: Vec<Feature>,
}

/// With more tunables of numbers than this, pairs would crowd out everything else.
const MOST_PAIRED: usize = 10;
/// Codes are bytes, and the last is kept free for comparisons.
const MOST_CODES: usize = 255;

impl Features {
    pub(crate) fn new(space: &Space) -> Features {
        let mut list = Vec::new();
        let mut logarithms: Vec<(usize, Vec<f64>)> = Vec::new();
        for (tunable, dimension) in space.dimensions().iter().enumerate().filter(|(_, d)| d.values.len() > 1) {
            let single = |numbers: &[f64]| Feature { first: tunable, second: tunable, width: 0, codes: codes(numbers) };
            let Some(numbers) = numbers(dimension) else {
                list.push(single(&(0..dimension.values.len()).map(|place| place as f64).collect::<Vec<_>>()));
                continue;
            };
            list.push(single(&numbers));
            if numbers.len() < 3 {
                continue;
            }
            let twos: Vec<f64> = numbers.iter().map(|number| twos(*number)).collect();
            // Where every number is a power of two this says nothing new.
            if !ascends(&numbers, &twos) {
                list.push(single(&twos));
                list.push(single(&numbers.iter().map(|n| f64::from(u8::from(is_round(*n)))).collect::<Vec<_>>()));
            }
            if numbers.iter().all(|number| *number > 0.0) {
                logarithms.push((tunable, numbers.iter().map(|number| number.log2()).collect()));
            }
        }
        logarithms.truncate(MOST_PAIRED);
        for (at, (first, of_first)) in logarithms.iter().enumerate() {
            for (second, of_second) in &logarithms[at + 1..] {
                for sign in [1.0, -1.0] {
                    let sums = of_first.iter().flat_map(|a| of_second.iter().map(move |b| a + sign * b));
                    let codes = codes(&sums.collect::<Vec<_>>());
                    list.push(Feature { first: *first, second: *second, width: of_second.len(), codes });
                }
            }
        }
        Features { list }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The features of points, column by column.
    pub(crate) fn columns<'a>(&self, points: impl Iterator<Item = &'a [u32]>) -> Vec<u8> {
        let mut rows = Vec::new();
        points.for_each(|point| self.encode(point, &mut rows));
        let count = rows.len() / self.len().max(1);
        let mut columns = vec![0; rows.len()];
        for (row, values) in rows.chunks_exact(self.len().max(1)).enumerate() {
            values.iter().enumerate().for_each(|(feature, value)| columns[feature * count + row] = *value);
        }
        columns
    }

    /// Appends the features of a point to a row.
    pub(crate) fn encode(&self, point: &[u32], row: &mut Vec<u8>) {
        row.extend(self.list.iter().map(|feature| {
            let first = point[feature.first] as usize;
            match feature.width {
                0 => feature.codes[first],
                width => feature.codes[first * width + point[feature.second] as usize],
            }
        }));
    }
}

/// The values as numbers; none when one is not.
pub(crate) fn numbers(dimension: &Dimension) -> Option<Vec<f64>> {
    let number = |value: &Value| match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) if number.is_finite() => Some(*number),
        _ => None,
    };
    dimension.values.iter().map(number).collect()
}

/// Each number's place among the distinct ones; those of long lists share places.
fn codes(numbers: &[f64]) -> Vec<u8> {
    // Logarithms of equal products differ in their last bits.
    let near = |a: &f64, b: &f64| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup_by(|a, b| near(a, b));
    let shared = sorted.len().div_ceil(MOST_CODES);
    let place = |number: &f64| sorted.partition_point(|other| other < number && !near(other, number)) / shared;
    numbers.iter().map(|number| place(number) as u8).collect()
}

/// Whether a number is a power of two.
pub(crate) fn is_round(number: f64) -> bool {
    number > 0.0 && number.fract() == 0.0 && number < 1e15 && (number as u64).is_power_of_two()
}

/// How often two divides a whole number.
fn twos(number: f64) -> f64 {
    if number == 0.0 || number.fract() != 0.0 || number.abs() > 1e15 {
        return 0.0;
    }
    f64::from((number.abs() as u64).trailing_zeros())
}

/// Whether one list never falls while the other rises.
fn ascends(numbers: &[f64], others: &[f64]) -> bool {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
    order.windows(2).all(|pair| others[pair[0]] <= others[pair[1]])
}

#[cfg(test)]
mod tests {
    use kiln_space::Problem;
    use kiln_spec::Constants;

    use super::*;

    fn rows(lists: &[&[Value]]) -> Vec<Vec<u8>> {
        let dimension =
            |(at, values): (usize, &&[Value])| Dimension { name: format!("T{at}").into(), values: values.to_vec() };
        let dimensions = lists.iter().enumerate().map(dimension).collect();
        let problem = Problem {
            dimensions,
            constants: vec![Constants::default()],
            derived: vec![],
            rules: vec![],
            alternatives: vec![],
        };
        let space = Space::build(&problem).unwrap();
        let features = Features::new(&space);
        space
            .iter()
            .map(|point| {
                let mut row = Vec::new();
                features.encode(&point, &mut row);
                assert_eq!(row.len(), features.len());
                row
            })
            .collect()
    }

    #[test]
    fn products_and_ratios_of_equal_size_are_equal() {
        let sizes = [16, 32, 64].map(Value::Int);
        let rows = rows(&[&sizes, &sizes, &[Value::Int(7)], &[false.into(), true.into()]]);
        // Two places, the switch, the product and the ratio; a tunable without a choice has none.
        assert!(rows.iter().all(|row| row.len() == 5), "{:?}", rows[0]);
        // 16 x 64, 32 x 32 and 64 x 16 have one product and three ratios.
        let same: Vec<&Vec<u8>> = rows.iter().filter(|row| row[0] + row[1] == 2 && row[2] == 0).collect();
        assert_eq!(same.len(), 3);
        assert!(same.iter().all(|row| row[3] == same[0][3]));
        assert_eq!([same[0][4], same[1][4], same[2][4]], [0, 2, 4]);
    }

    #[test]
    fn numbers_that_two_divides_often_are_told_from_their_neighbours() {
        let rows = rows(&[&[32, 48, 64, 80].map(Value::Int)]);
        // Place, how often two divides it, whether it is a power of two.
        assert_eq!(rows, [[0, 1, 1], [1, 0, 0], [2, 2, 1], [3, 0, 0]]);
    }

    #[test]
    fn long_lists_and_odd_ones_fit_in_a_byte() {
        let long: Vec<Value> = (-500..500).map(Value::Int).collect();
        let rows = rows(&[&long, &["row".into(), 1.into()]]);
        assert!(rows.windows(3).all(|w| w[0][0] <= w[2][0]));
        assert!(rows.iter().all(|row| row[0] < 255));
    }
}
