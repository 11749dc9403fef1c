//! Two rows of numbers held against each other. In: what was found and what is right, a stretch at a time. Out: the worst
//! element in units of what is allowed, the length of the error, and the first number that is no number. This is the inner
//! loop of the judge: it is written so that the compiler can use vectors, and looks closer only where something is off.

use crate::right::allowed::Allowed;

/// What has been seen so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tally {
    allowed: Allowed,
    /// The largest share of the allowed error used, and where.
    pub(crate) worst: f64,
    pub(crate) at: usize,
    /// The largest error.
    pub(crate) max_abs: f64,
    /// The sum of errors, and of how many elements.
    total: f64,
    elements: usize,
    /// The sums of the squares of error and right answer.
    error: f64,
    right: f64,
    /// The first element that is NaN or infinite and should not be.
    pub(crate) nonfinite: Option<usize>,
}

impl Tally {
    pub(crate) fn new(allowed: Allowed) -> Tally {
        Tally {
            allowed,
            worst: 0.0,
            at: 0,
            max_abs: 0.0,
            total: 0.0,
            elements: 0,
            error: 0.0,
            right: 0.0,
            nonfinite: None,
        }
    }

    /// The length of the error over the length of the correct answer.
    pub(crate) fn rel_l2(&self) -> f64 {
        if self.error == 0.0 { 0.0 } else { (self.error / self.right).sqrt() }
    }

    /// The mean error of an element; 0 where none was compared.
    pub(crate) fn mean_abs(&self) -> f64 {
        if self.elements == 0 { 0.0 } else { self.total / self.elements as f64 }
    }

    /// Both together; `other` was seen after this.
    pub(crate) fn and(mut self, other: Tally) -> Tally {
        if other.worst > self.worst {
            (self.worst, self.at) = (other.worst, other.at);
        }
        self.max_abs = self.max_abs.max(other.max_abs);
        self.total += other.total;
        self.elements += other.elements;
        self.error += other.error;
        self.right += other.right;
        self.nonfinite = self.nonfinite.or(other.nonfinite);
        self
    }

    /// Adds elements from `base` on.
    pub(crate) fn add(&mut self, found: &[f64], right: &[f64], base: usize) {
        const LANES: usize = 8;
        let Allowed { abs, rel } = self.allowed;
        // What an element must exceed to be the worst so far.
        let (abs, rel) = (abs * self.worst, rel * self.worst);
        let (mut totals, mut errors, mut rights) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let (mut most, mut over) = ([0.0; LANES], [0.0; LANES]);
        let ((found_chunks, found_rest), (right_chunks, right_rest)) =
            (found.as_chunks::<LANES>(), right.as_chunks::<LANES>());
        for (found, right) in found_chunks.iter().zip(right_chunks) {
            for i in 0..LANES {
                let error = (found[i] - right[i]).abs();
                totals[i] += error;
                errors[i] += error * error;
                rights[i] += right[i] * right[i];
                most[i] = if error > most[i] { error } else { most[i] };
                let excess = error - (abs + rel * right[i].abs());
                over[i] = if excess > over[i] { excess } else { over[i] };
            }
        }
        let (error, square) = (errors.iter().sum::<f64>(), rights.iter().sum::<f64>());
        let tail = found.len() - found_rest.len();
        if !(error.is_finite() && square.is_finite()) {
            return self.look(found, right, base);
        }
        self.total += totals.iter().sum::<f64>();
        self.elements += tail;
        self.error += error;
        self.right += square;
        self.max_abs = most.into_iter().fold(self.max_abs, f64::max);
        if over.iter().any(|o| *o > 0.0) {
            self.seek(&found[..tail], &right[..tail], base);
        }
        self.look(found_rest, right_rest, base + tail);
    }

    /// Finds the worst element of a stretch in which all is finite.
    fn seek(&mut self, found: &[f64], right: &[f64], base: usize) {
        for (i, (found, right)) in found.iter().zip(right).enumerate() {
            let error = (found - right).abs();
            if error > self.worst * self.allowed.at(*right) {
                // Anything over nothing allowed is infinitely over.
                (self.worst, self.at) = (error / self.allowed.at(*right), base + i);
            }
        }
    }

    /// Adds elements one by one: infinities may be right, and NaN never is.
    fn look(&mut self, found: &[f64], right: &[f64], base: usize) {
        for (i, (found, right)) in found.iter().zip(right).enumerate() {
            if found == right && !right.is_finite() {
                continue;
            }
            if !found.is_finite() {
                self.nonfinite = self.nonfinite.or(Some(base + i));
                continue;
            }
            if !right.is_finite() {
                // No number is near infinity, whatever is allowed relative to it.
                (self.worst, self.at, self.max_abs) = (f64::INFINITY, base + i, f64::INFINITY);
                continue;
            }
            self.max_abs = self.max_abs.max((found - right).abs());
            self.total += (found - right).abs();
            self.elements += 1;
            self.error += (found - right).powi(2);
            self.right += right * right;
            self.seek(&[*found], &[*right], base + i);
        }
    }

    /// Adds integers that a double might not hold.
    pub(crate) fn add_integers(&mut self, found: &[i128], right: &[i128], base: usize) {
        for (i, (found, right)) in found.iter().zip(right).enumerate() {
            let (error, right) = ((found - right).unsigned_abs() as f64, *right as f64);
            self.max_abs = self.max_abs.max(error);
            self.total += error;
            self.elements += 1;
            self.error += error * error;
            self.right += right * right;
            if error > self.worst * self.allowed.at(right) {
                (self.worst, self.at) = (error / self.allowed.at(right), base + i);
            }
        }
    }

    /// Adds elements of which nothing is known but that they are numbers.
    pub(crate) fn add_unknown(&mut self, found: &[f64], base: usize) {
        // Zero for every number, NaN for all else; several sums at once, as they need not wait for each other.
        let (chunks, rest) = found.as_chunks::<8>();
        let mut sums = [0.0; 8];
        chunks.iter().for_each(|chunk| sums.iter_mut().zip(chunk).for_each(|(sum, v)| *sum += v * 0.0));
        if sums.iter().chain(rest).any(|v| v * 0.0 != 0.0) {
            let at = found.iter().position(|v| !v.is_finite());
            self.nonfinite = self.nonfinite.or(at.map(|at| base + at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(found: &[f64], right: &[f64], abs: f64, rel: f64) -> Tally {
        let mut tally = Tally::new(Allowed { abs, rel });
        // In two parts, so that positions are those of the whole.
        let half = found.len() / 2;
        tally.add(&found[..half], &right[..half], 0);
        tally.add(&found[half..], &right[half..], half);
        tally
    }

    #[test]
    fn the_worst_element_is_found_wherever_it_is() {
        let right: Vec<f64> = (0..37).map(|i| f64::from(i) - 18.0).collect();
        for at in 0..right.len() {
            let mut found = right.clone();
            found.iter_mut().for_each(|v| *v += 0.01);
            found[at] += 0.5;
            let tally = tally(&found, &right, 0.1, 0.0);
            assert_eq!(tally.at, at);
            assert!((tally.worst - 5.1).abs() < 1e-9 && (tally.max_abs - 0.51).abs() < 1e-9);
            assert!((tally.mean_abs() - (0.01 + 0.5 / 37.0)).abs() < 1e-9);
            found[at] = f64::NAN;
            assert_eq!(self::tally(&found, &right, 0.1, 0.0).nonfinite, Some(at));
        }
    }

    #[test]
    fn nothing_allowed_and_infinities() {
        let right = [1.0, f64::INFINITY, 3.0];
        assert_eq!(tally(&right, &right, 0.0, 0.0).worst, 0.0);
        assert_eq!(tally(&[1.0, f64::INFINITY, 3.5], &right, 0.0, 0.0).worst, f64::INFINITY);
        assert_eq!(tally(&[1.0, 1e300, 3.0], &right, 1.0, 1.0).worst, f64::INFINITY);
        assert_eq!(tally(&[1.0, f64::NEG_INFINITY, 3.0], &right, 1.0, 1.0).nonfinite, Some(1));
        let half = tally(&[1.0, 2.0, 3.0, 4.2], &[1.0, 2.0, 3.0, 4.0], 0.0, 0.1);
        assert!((half.mean_abs() - 0.05).abs() < 1e-9);
        assert!((half.worst - 0.5).abs() < 1e-9 && (half.rel_l2() - 0.2 / 30f64.sqrt()).abs() < 1e-9);
    }
}
