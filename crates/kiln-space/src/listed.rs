//! A space that is a list: exactly the configurations somebody wrote down, whatever rules were behind them. In: tunables and
//! rows of places in their lists of values, in any order, repeated or not. Out: a [`Space`] of the distinct rows, in the
//! order of their values. Refuses a row that is not a place in those lists.

use crate::building::tabulate::Trie;
use crate::problem::Dimension;
use crate::space::{Point, Space};

impl Space {
    /// The space of these rows alone; none when a row does not fit the tunables.
    pub fn listed(dimensions: Vec<Dimension>, rows: &[Point]) -> Option<Space> {
        let fits = |row: &Point| {
            row.len() == dimensions.len()
                && row.iter().zip(&dimensions).all(|(value, dimension)| (*value as usize) < dimension.values.len())
        };
        if dimensions.is_empty() || !rows.iter().all(fits) {
            return None;
        }
        let mut sorted: Vec<&[u32]> = rows.iter().map(|row| &**row).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let tunables: Vec<usize> = (0..dimensions.len()).collect();
        let mut trie = Trie::new(&tunables);
        sorted.into_iter().for_each(|row| trie.add(row));
        Some(Space::of_diagram(dimensions, trie.finish()?))
    }
}

#[cfg(test)]
mod tests {
    use kiln_core::Value;

    use super::*;

    fn dimensions() -> Vec<Dimension> {
        let dimension = |name: &str| Dimension { name: name.into(), values: (0..4).map(Value::Int).collect() };
        vec![dimension("A"), dimension("B")]
    }

    #[test]
    fn exactly_the_rows_are_in_it() {
        let rows: Vec<Point> = [[3, 1], [0, 2], [0, 0], [3, 1]].map(|row| row.into()).to_vec();
        let space = Space::listed(dimensions(), &rows).unwrap();
        assert_eq!(space.len(), 3);
        let listed: Vec<Point> = space.iter().collect();
        assert_eq!(listed, [[0, 0], [0, 2], [3, 1]].map(Point::from));
        assert!((0..3).all(|index| space.index(&space.point(index).unwrap()) == Some(index)));
        assert!(!space.contains(&[3, 0]) && !space.contains(&[1, 1]));
        assert_eq!(space.neighbours(&[0, 0], crate::Step::Any), [Point::from([0, 2])]);
    }

    #[test]
    fn rows_that_do_not_fit_are_refused_and_none_is_an_empty_space() {
        assert!(Space::listed(dimensions(), &[Box::new([0])]).is_none());
        assert!(Space::listed(dimensions(), &[Box::new([0, 4])]).is_none());
        let empty = Space::listed(dimensions(), &[]).unwrap();
        assert!(empty.is_empty() && empty.point(0).is_none() && empty.index(&[0, 0]).is_none());
        assert!(empty.latin(3, 1).is_empty());
    }
}
