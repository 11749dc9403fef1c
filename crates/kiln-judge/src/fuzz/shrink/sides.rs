//! Sides of a shape made smaller. Each is first tried at its least, which is enough for those that do not matter; then at
//! every edge from the least on, and between the last edge that passes and the first that fails by halves. Sides of one
//! length also shrink together: what fails only for squares stays one.

use kiln_core::Value;

use crate::fuzz::case::FuzzCase;
use crate::fuzz::edges::edges;
use crate::fuzz::room::Extent;
use crate::fuzz::shrink::Search;

/// Sizes tried right below the smallest that fails, where others were skipped.
const NEIGHBOURS: i64 = 3;

impl<E, F: FnMut(&FuzzCase) -> Result<bool, E>> Search<'_, '_, F> {
    pub(super) fn smaller_sides(&mut self) -> Result<(), E> {
        for place in 0..self.best.shape.len() {
            if let Some((low, size)) = self.side(place)
                && size > low
            {
                self.at(&[place], low)?;
            }
        }
        let mut places: Vec<usize> = (0..self.best.shape.len()).collect();
        places.sort_by_key(|place| std::cmp::Reverse(self.side(*place).map_or(0, |(_, size)| size)));
        for place in places {
            let Some((low, size)) = self.side(place) else { continue };
            self.lower(&[place], low)?;
            let same = |other: &usize| self.side(*other).is_some_and(|(_, other)| other == size);
            let twins: Vec<usize> = (0..self.best.shape.len()).filter(same).collect();
            // Only where it could not shrink alone.
            if twins.len() > 1 && twins.contains(&place) {
                let low = twins.iter().filter_map(|place| self.side(*place)).map(|(low, _)| low).max().unwrap_or(low);
                self.lower(&twins, low)?;
            }
        }
        Ok(())
    }

    /// The least a side may be, and what it is; none for what is no side.
    fn side(&self, place: usize) -> Option<(i64, i64)> {
        let (name, value) = self.best.shape.get(place)?;
        match (self.how.room.extent(name)?, value) {
            (Extent::Whole(low, _), Value::Int(size)) => Some((*low, *size)),
            _ => None,
        }
    }

    /// Tries some sides at a size.
    fn at(&mut self, places: &[usize], size: i64) -> Result<bool, E> {
        let mut case = self.best.clone();
        for place in places {
            case.shape[*place].1 = Value::Int(size);
        }
        self.take(case)
    }

    /// Makes some sides, all of one length, as small as they get.
    fn lower(&mut self, places: &[usize], low: i64) -> Result<(), E> {
        let Some((_, mut size)) = places.first().and_then(|place| self.side(*place)) else { return Ok(()) };
        if size <= low {
            return Ok(());
        }
        let tiles = (self.how.tiles)(&self.best.config, &self.best.shape);
        let mut passes = low - 1;
        for edge in edges(low, size - 1, &tiles) {
            if self.at(places, edge)? {
                size = edge;
                break;
            }
            passes = edge;
        }
        while size - passes > 1 {
            let middle = passes + (size - passes) / 2;
            if self.at(places, middle)? { size = middle } else { passes = middle }
        }
        // Failures come and go with the remainder of a division: a look at what was skipped.
        for near in ((size - NEIGHBOURS).max(low)..size).rev() {
            self.at(places, near)?;
        }
        Ok(())
    }
}
