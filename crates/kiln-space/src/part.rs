//! One implementation's share of a space of several. In: its own space, and the tunables of all. Out: points of the one as
//! points of the other, and back. A tunable that the implementation does not have stays at its first value, so that a
//! configuration is one point and no other.

use std::sync::Arc;

use kiln_core::{Config, IMPLEMENTATION, Value};

use crate::problem::Dimension;
use crate::space::{Point, Space};

/// An implementation's configurations among those of all.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) name: Arc<str>,
    /// Its place among the implementations.
    pub(crate) place: usize,
    pub(crate) space: Space,
    /// The index of its first configuration.
    pub(crate) first: u128,
    /// For each of its tunables, the place among those of all, and the places of its values there.
    columns: Vec<(usize, Vec<u32>)>,
}

impl Part {
    pub(crate) fn new(name: Arc<str>, place: usize, space: Space, first: u128, all: &[Dimension]) -> Part {
        let column = |own: &Dimension| {
            let at = all.iter().position(|d| d.name == own.name).unwrap_or_default();
            let of = |value: &Value| all[at].values.iter().position(|v| v == value).unwrap_or_default() as u32;
            (at, own.values.iter().map(of).collect())
        };
        let columns = space.dimensions().iter().map(column).collect();
        Part { name, place, space, first, columns }
    }

    /// The places of its tunables: in its own space, and among all.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.columns.iter().enumerate().map(|(own, (at, _))| (own, *at))
    }

    /// One of its points among all.
    pub(crate) fn lifted(&self, own: &[u32], tunables: usize) -> Point {
        let mut point = vec![0; tunables].into_boxed_slice();
        if let Some(first) = point.first_mut() {
            *first = self.place as u32;
        }
        for (value, (at, values)) in own.iter().zip(&self.columns) {
            point[*at] = values.get(*value as usize).copied().unwrap_or_default();
        }
        point
    }

    /// A point among all as one of its own; none when a value is not in its list, or another implementation's tunable is not
    /// at its first value.
    pub(crate) fn lowered(&self, point: &[u32]) -> Option<Point> {
        let ours = |at: usize| at == 0 || self.columns.iter().any(|(own, _)| *own == at);
        if point.iter().enumerate().any(|(at, value)| *value != 0 && !ours(at)) {
            return None;
        }
        let value = |(at, values): &(usize, Vec<u32>)| values.iter().position(|v| v == &point[*at]).map(|v| v as u32);
        self.columns.iter().map(value).collect()
    }

    /// All of its points among all.
    pub(crate) fn points(&self, tunables: usize) -> impl Iterator<Item = Point> + '_ {
        self.space.iter().map(move |own| self.lifted(&own, tunables))
    }

    /// The names and values of a point among all: the implementation, then its tunables.
    pub(crate) fn config(&self, point: &[u32], all: &[Dimension]) -> Config {
        let name = (Arc::from(IMPLEMENTATION), Value::Str(self.name.clone()));
        let value = |(at, _): &(usize, Vec<u32>)| {
            let dimension = &all[*at];
            (dimension.name.clone(), dimension.values[point[*at] as usize].clone())
        };
        Config::new(std::iter::once(name).chain(self.columns.iter().map(value)).collect())
    }
}
