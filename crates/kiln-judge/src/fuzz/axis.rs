//! Sides of a shape that change together: one alone, or several in the proportion they have, where rules tie them. In: what
//! shapes may be and a shape. Out: the shape with other sizes along the axis.

use kiln_core::{Config, Value};

use crate::fuzz::case::Shape;
use crate::fuzz::line::Line;
use crate::fuzz::room::{Extent, Room};

/// Who says whether a shape makes sense for a configuration, however large it is.
pub type Admits<'s> = &'s (dyn Fn(&Shape, &Config) -> bool + Sync);

/// Sides that change together: each is its own number times one they share.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    sides: Vec<(usize, i64)>,
    at: i64,
    range: (i64, i64),
}

impl Axis {
    /// The axis of some sides; none where one of them is no size with a range.
    pub(crate) fn of(room: &Room, shape: &Shape, places: &[usize]) -> Option<Axis> {
        let size = |place: &usize| match shape.get(*place)? {
            (name, Value::Int(size)) if *size > 0 => match room.extent(name)? {
                Extent::Whole(low, high) => Some((*place, *size, *low, *high)),
                Extent::Listed(_) => None,
            },
            _ => None,
        };
        let found: Vec<(usize, i64, i64, i64)> = places.iter().map(size).collect::<Option<_>>()?;
        let at = found.iter().fold(0, |shared, (_, size, ..)| gcd(shared, *size));
        let at = if at > 0 { at } else { return None };
        let low = found.iter().map(|(_, size, low, _)| low.div_euclid(size / at) + i64::from(low % (size / at) != 0));
        let high = found.iter().map(|(_, size, _, high)| high / (size / at));
        let range = (low.max()?, high.min()?);
        Some(Axis { sides: found.iter().map(|(place, size, ..)| (*place, size / at)).collect(), at, range })
    }

    /// The shared number as it is.
    pub(crate) fn at(&self) -> i64 {
        self.at
    }

    /// The least it may be.
    pub(crate) fn low(&self) -> i64 {
        self.range.0
    }

    /// Whether its sides are of one size.
    pub(crate) fn is_square(&self) -> bool {
        self.sides.iter().all(|(_, own)| *own == 1)
    }

    /// The shared number where a side has this size, or comes near it.
    pub(crate) fn for_size(&self, place: usize, size: i64) -> i64 {
        let own = self.sides.iter().find(|(side, _)| *side == place).map_or(1, |(_, own)| *own);
        size / own
    }

    /// A shape with another shared number.
    pub(crate) fn set(&self, shape: &Shape, to: i64) -> Shape {
        let mut shape = shape.clone();
        for (place, own) in &self.sides {
            shape[*place].1 = Value::Int(own.saturating_mul(to));
        }
        shape
    }

    /// The numbers that are admitted along the axis.
    pub(crate) fn line<'s>(&self, shape: &Shape, config: &Config, likely: &[i64], admits: Admits<'s>) -> Line<'s> {
        let (axis, shape, config) = (self.clone(), shape.clone(), config.clone());
        Line::new(self.at, self.range, likely, move |to| admits(&axis.set(&shape, to), &config))
    }

    /// The axis along which a side can change: alone, with those of its size, with one other, or with all.
    pub(crate) fn free<'s>(
        (room, shape): (&Room, &Shape),
        place: usize,
        config: &Config,
        likely: &[i64],
        admits: Admits<'s>,
    ) -> Option<(Axis, Line<'s>)> {
        let alone = Axis::of(room, shape, &[place])?;
        let line = alone.line(shape, config, likely, admits);
        if !line.is_fixed() {
            return Some((alone, line));
        }
        Axis::tied(room, shape, place).into_iter().find_map(|axis| {
            let (own, shape, config) = (axis.clone(), shape.clone(), config.clone());
            let line = Line::quick(axis.at, axis.range, move |to| admits(&own.set(&shape, to), &config))?;
            Some((axis, line))
        })
    }

    /// Axes of a side together with others.
    pub(crate) fn tied(room: &Room, shape: &Shape, place: usize) -> Vec<Axis> {
        let others: Vec<usize> =
            (0..shape.len()).filter(|other| *other != place && Axis::of(room, shape, &[*other]).is_some()).collect();
        let same: Vec<usize> = others.iter().copied().filter(|other| shape[*other].1 == shape[place].1).collect();
        let mut groups: Vec<Vec<usize>> = vec![same];
        groups.extend(others.iter().map(|other| vec![*other]));
        groups.push(others);
        groups.retain(|group| !group.is_empty());
        groups.iter().filter_map(|group| Axis::of(room, shape, &[&[place], group.as_slice()].concat())).collect()
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> Room {
        let dims = ["M", "N", "K"].map(|name| (name.into(), Extent::Whole(1, 1000)));
        Room { dims: dims.to_vec(), bases: vec![], scalars: vec![] }
    }

    fn shape(sizes: [i64; 3]) -> Shape {
        ["M", "N", "K"].into_iter().zip(sizes).map(|(name, size)| (name.into(), Value::Int(size))).collect()
    }

    #[test]
    fn sides_keep_their_proportion() {
        let begun = shape([64, 128, 7]);
        let axis = Axis::of(&room(), &begun, &[0, 1]).unwrap();
        assert_eq!((axis.at(), axis.range, axis.for_size(1, 200)), (64, (1, 500), 100));
        assert_eq!(axis.set(&begun, 100), shape([100, 200, 7]));
    }

    #[test]
    fn tied_sides_are_found_by_asking() {
        let size = |shape: &Shape, place: usize| if let Value::Int(size) = shape[place].1 { size } else { 0 };
        let (config, room, begun) = (Config::default(), room(), shape([64, 128, 7]));
        let half = |shape: &Shape, _: &Config| 2 * size(shape, 0) == size(shape, 1);
        let (axis, line) = Axis::free((&room, &begun), 0, &config, &[], &half).unwrap();
        assert_eq!(axis.set(&begun, line.near(65, crate::fuzz::line::Side::Above)), shape([65, 130, 7]));
        let (alone, _) = Axis::free((&room, &begun), 2, &config, &[], &half).unwrap();
        assert_eq!(alone.sides, [(2, 1)]);
        let stuck = |shape: &Shape, _: &Config| size(shape, 0) == 64;
        assert!(Axis::free((&room, &begun), 0, &config, &[], &stuck).is_none());
    }
}
