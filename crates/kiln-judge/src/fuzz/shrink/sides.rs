//! Sides of a shape made smaller, in the sizes that rules admit. Each is first tried at its least, which is enough for those
//! that do not matter; then at every edge from the least on, and between the last edge that passes and the first that fails by
//! halves. Sides of one length also shrink together: what fails only for squares stays one. So do sides that rules tie.

use kiln_core::Value;

use crate::fuzz::axis::Axis;
use crate::fuzz::case::FuzzCase;
use crate::fuzz::line::Line;
use crate::fuzz::shrink::Search;

/// Sizes tried right below the smallest that fails, where others were skipped.
const NEIGHBOURS: usize = 3;

impl<'s, E, F: FnMut(&FuzzCase) -> Result<bool, E>> Search<'_, 's, F> {
    pub(super) fn smaller_sides(&mut self) -> Result<(), E> {
        for place in 0..self.best.shape.len() {
            if let Some(axis) = self.axis(&[place])
                && let Some(least) = self.line(&axis).above(axis.low())
                && least < axis.at()
            {
                self.at(&axis, least)?;
            }
        }
        let mut places: Vec<usize> = (0..self.best.shape.len()).collect();
        places.sort_by_key(|place| std::cmp::Reverse(self.size(*place)));
        for place in places {
            let size = self.size(place);
            let Some(axis) = self.axis(&[place]) else { continue };
            self.lower(&axis)?;
            // Only where it could not shrink alone.
            if self.size(place) < size {
                continue;
            }
            let is_fixed = self.line(&axis).is_fixed();
            for tied in Axis::tied(self.how.room, &self.best.shape, place) {
                if (is_fixed || tied.is_square()) && self.size(place) == size {
                    self.lower(&tied)?;
                }
            }
        }
        Ok(())
    }

    /// What a side is; 0 for what is none.
    fn size(&self, place: usize) -> i64 {
        if let Some((_, Value::Int(size))) = self.best.shape.get(place) { *size } else { 0 }
    }

    fn axis(&self, places: &[usize]) -> Option<Axis> {
        Axis::of(self.how.room, &self.best.shape, places)
    }

    fn line(&self, axis: &Axis) -> Line<'s> {
        let tiles = (self.how.tiles)(&self.best.config, &self.best.shape);
        let sizes = (0..self.best.shape.len()).map(|place| self.size(place)).filter(|size| *size > 0);
        let likely: Vec<i64> = sizes.chain(tiles).collect();
        axis.line(&self.best.shape, &self.best.config, &likely, self.how.admits)
    }

    /// Tries another size along an axis.
    fn at(&mut self, axis: &Axis, size: i64) -> Result<bool, E> {
        let case = FuzzCase { shape: axis.set(&self.best.shape, size), ..self.best.clone() };
        self.take(case)
    }

    /// Goes down an axis as far as it fails.
    fn lower(&mut self, axis: &Axis) -> Result<(), E> {
        let (low, mut size) = (axis.low(), axis.at());
        if size <= low {
            return Ok(());
        }
        let line = self.line(axis);
        let tiles = (self.how.tiles)(&self.best.config, &self.best.shape);
        let mut passes = low - 1;
        for edge in line.edges_below(size, &tiles) {
            if self.at(axis, edge)? {
                size = edge;
                break;
            }
            passes = edge;
        }
        while let Some(middle) = line.between(passes, size) {
            if self.at(axis, middle)? { size = middle } else { passes = middle }
        }
        // Failures come and go with the remainder of a division: a look at what was skipped.
        let mut near = size;
        for _ in 0..NEIGHBOURS {
            let Some(lower) = near.checked_sub(1).and_then(|lower| line.below(lower)) else { break };
            near = lower;
            self.at(axis, near)?;
        }
        Ok(())
    }
}
