//! Sizes that one side of a shape may have while the others stay as they are. In: the size it has, a range, and somebody who
//! says whether a size is admitted. Out: admitted sizes near any other one. Nobody reads the rules behind it: the step
//! (every multiple of 64) and the ends (at least one tile) are found by asking, a few times for each side. A set without a
//! step is a list of what was found.

use std::collections::BTreeSet;

use crate::fuzz::edges::edges;

/// Steps and sizes that are tried one by one.
const EVERY: i64 = 256;
/// The largest number looked for among divisors.
const DIVISOR: i64 = 1 << 12;

/// On which side of a size to look first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// At or below it.
    Below,
    /// At or above it.
    Above,
}

/// The admitted sizes of a side.
pub(crate) struct Line<'a> {
    at: i64,
    low: i64,
    high: i64,
    kind: Kind,
    admits: Box<dyn Fn(i64) -> bool + 'a>,
}

enum Kind {
    /// So far apart, with ends where they are found.
    Steps(i64),
    /// These, smallest first.
    Listed(Vec<i64>),
}

impl<'a> Line<'a> {
    /// The line through `at`, which is admitted, from `low` to `high`. Numbers that rules are likely to be about help.
    pub(crate) fn new(at: i64, (low, high): (i64, i64), likely: &[i64], admits: impl Fn(i64) -> bool + 'a) -> Line<'a> {
        let mut line = Line { at, low, high, kind: Kind::Listed(Vec::new()), admits: Box::new(admits) };
        if let Some(step) = line.quick_step().or_else(|| (1..=EVERY).find(|step| line.is_step(*step))) {
            line.kind = Kind::Steps(step);
            return line;
        }
        let mut all: BTreeSet<i64> = match high.saturating_sub(low) < EVERY {
            true => (low..=high).collect(),
            false => edges(low, high, likely).into_iter().collect(),
        };
        all.extend([at].iter().chain(likely).flat_map(|number| divisors(*number)));
        all.extend((2..8).map(|times| at.saturating_mul(times)));
        all.insert(at);
        let found = all.into_iter().filter(|size| *size == at || line.is_in(*size));
        line.kind = Kind::Listed(found.filter(|size| (low..=high).contains(size)).collect());
        line
    }

    /// The same for sizes that are not likely to have one: only steps that are quickly found.
    pub(crate) fn quick(at: i64, (low, high): (i64, i64), admits: impl Fn(i64) -> bool + 'a) -> Option<Line<'a>> {
        let mut line = Line { at, low, high, kind: Kind::Listed(Vec::new()), admits: Box::new(admits) };
        line.kind = Kind::Steps(line.quick_step()?);
        Some(line)
    }

    /// Whether there is nothing but the size it has.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(&self.kind, Kind::Listed(found) if found.iter().all(|size| *size == self.at))
    }

    /// A step that divides the size, or is a power of two: what rules about multiples come to.
    fn quick_step(&self) -> Option<i64> {
        let powers = (0..62).map(|power| 1i64 << power);
        let room = self.high.saturating_sub(self.low);
        let steps: BTreeSet<i64> = divisors(self.at).into_iter().chain(powers).filter(|step| *step <= room).collect();
        steps.into_iter().find(|step| self.is_step(*step))
    }

    /// Whether sizes so far apart are admitted: two of the four nearest, in a row.
    fn is_step(&self, step: i64) -> bool {
        let has = |times: i64| {
            let size = step.checked_mul(times).and_then(|way| self.at.checked_add(way));
            size.is_some_and(|size| self.is_in(size))
        };
        match has(1) {
            true => has(2) || has(-1),
            false => has(-1) && has(-2),
        }
    }

    fn is_in(&self, size: i64) -> bool {
        (self.low..=self.high).contains(&size) && (self.admits)(size)
    }

    /// An admitted size near another: on this side of it, else on the other; the one it has where there is none.
    pub(crate) fn near(&self, size: i64, side: Side) -> i64 {
        let found = match side {
            Side::Below => self.below(size).or_else(|| self.above(size)),
            Side::Above => self.above(size).or_else(|| self.below(size)),
        };
        found.unwrap_or(self.at)
    }

    /// The largest admitted size up to another.
    pub(crate) fn below(&self, size: i64) -> Option<i64> {
        let size = size.min(self.high);
        match &self.kind {
            Kind::Listed(found) => found.iter().rev().find(|found| **found <= size).copied(),
            Kind::Steps(_) if self.is_in(size) => Some(size),
            Kind::Steps(step) => self.step_to(size, *step, Side::Below),
        }
    }

    /// The smallest admitted size from another on.
    pub(crate) fn above(&self, size: i64) -> Option<i64> {
        let size = size.max(self.low);
        match &self.kind {
            Kind::Listed(found) => found.iter().find(|found| **found >= size).copied(),
            Kind::Steps(_) if self.is_in(size) => Some(size),
            Kind::Steps(step) => self.step_to(size, *step, Side::Above),
        }
    }

    /// The size so many steps from the one it has that lies on this side of another. Beyond the last that is admitted: that.
    fn step_to(&self, size: i64, step: i64, side: Side) -> Option<i64> {
        let (at, way, step) = (i128::from(self.at), i128::from(size) - i128::from(self.at), i128::from(step));
        let steps = match side {
            Side::Below => way.div_euclid(step),
            Side::Above => -(-way).div_euclid(step),
        };
        let is_in = |steps: i128| i64::try_from(at + steps * step).is_ok_and(|size| self.is_in(size));
        let found = match is_in(steps) {
            true => steps,
            // What is beyond it is not asked for.
            false if (side == Side::Below) == (steps < 0) => return None,
            false => {
                // Between the size it has, which is admitted, and one that is not, by halves.
                let (mut inside, mut outside) = (0, steps);
                while (outside - inside).abs() > 1 {
                    let middle = inside + (outside - inside) / 2;
                    if is_in(middle) { inside = middle } else { outside = middle }
                }
                inside
            }
        };
        let found = i64::try_from(at + found * step).ok()?;
        (self.low..=self.high).contains(&found).then_some(found)
    }

    /// An admitted size between two others, neither of them, near the middle.
    pub(crate) fn between(&self, low: i64, high: i64) -> Option<i64> {
        let middle = low + (high - low) / 2;
        let inside = |size: &i64| low < *size && *size < high;
        self.below(middle).filter(inside).or_else(|| self.above(middle).filter(inside))
    }

    /// Admitted sizes at and around the edges from the least on, below another.
    pub(crate) fn edges_below(&self, size: i64, tiles: &[i64]) -> BTreeSet<i64> {
        let near = |edge: i64| [self.below(edge), self.above(edge)];
        let all = edges(self.low, size.saturating_sub(1), tiles).into_iter().flat_map(near).flatten();
        all.filter(|found| *found < size).collect()
    }
}

/// The divisors of a number, as far as they are looked for: small ones, and what they leave.
fn divisors(number: i64) -> Vec<i64> {
    let least = (1..=DIVISOR).take_while(|d| d.saturating_mul(*d) <= number).filter(|d| number % d == 0);
    least.flat_map(|divisor| [divisor, number / divisor]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(at: i64, high: i64, admits: impl Fn(i64) -> bool + 'static) -> Line<'static> {
        assert!(admits(at));
        Line::new(at, (1, high), &[], admits)
    }

    fn step(line: &Line<'_>) -> Option<i64> {
        if let Kind::Steps(step) = line.kind { Some(step) } else { None }
    }

    #[test]
    fn multiples_are_found_by_asking() {
        let line = line(512, 1025, |d| d % 64 == 0);
        assert_eq!(step(&line), Some(64));
        assert_eq!([63, 64, 65, 129].map(|size| line.near(size, Side::Above)), [64, 64, 128, 192]);
        assert_eq!([63, 127, 128, 2000].map(|size| line.near(size, Side::Below)), [64, 64, 128, 1024]);
        assert_eq!(line.between(0, 128), Some(64));
        assert_eq!(line.between(64, 128), None);
    }

    #[test]
    fn ends_remainders_and_both_are_found_too() {
        let from = line(100, 5000, |n| n >= 48);
        assert_eq!((step(&from), from.near(1, Side::Below), from.near(47, Side::Above)), (Some(1), 48, 48));
        let both = line(960, 100_000, |n| n % 48 == 0 && (96..=1920).contains(&n));
        assert_eq!((step(&both), both.near(1, Side::Below), both.near(99_999, Side::Above)), (Some(48), 96, 1920));
        let odd = line(65, 1000, |n| n % 64 == 1);
        assert_eq!((step(&odd), odd.near(66, Side::Above), odd.near(2, Side::Below)), (Some(64), 129, 1));
        assert_eq!(step(&line(49, 3000, |n| n % 48 == 1)), Some(48));
    }

    #[test]
    fn what_has_no_step_is_listed() {
        let powers = line(64, 8193, |n| n.count_ones() == 1);
        assert_eq!((step(&powers), powers.near(65, Side::Above), powers.near(65, Side::Below)), (None, 128, 64));
        assert_eq!(powers.near(8193, Side::Above), 8192);
        let divides = line(4, 33, |n| 32 % n == 0);
        assert_eq!([3, 5, 9, 17].map(|size| divides.near(size, Side::Above)), [4, 8, 16, 32]);
        assert!(line(64, 129, |n| n == 64).is_fixed() && !divides.is_fixed());
        assert_eq!(line(64, 129, |n| n == 64).near(65, Side::Above), 64);
    }

    #[test]
    fn the_largest_numbers_are_survived() {
        let most = Line::new(i64::MAX, (1, i64::MAX), &[i64::MAX], |_| true);
        assert_eq!(most.near(1, Side::Below), 1);
        let far = Line::new(1 << 40, (1, i64::MAX), &[], |n| n % (1 << 40) == 0);
        assert_eq!((far.near(1, Side::Below), far.near((1 << 41) + 1, Side::Above)), (1 << 40, 3 << 40));
    }

    proptest! {
        #[test]
        fn what_is_given_is_admitted_and_as_near_as_the_step(
            modulus in 1..200i64, rest in 0..200i64, least in 1..300i64, times in 0..40i64, size in 1..9000i64,
        ) {
            let rest = rest % modulus;
            let admits = move |n: i64| n % modulus == rest && n >= least;
            let at = (least..).find(|n| admits(*n)).unwrap() + times * modulus;
            let line = Line::new(at, (1, 9000), &[], admits);
            prop_assert_eq!(step(&line), Some(modulus));
            for side in [Side::Below, Side::Above] {
                let near = line.near(size, side);
                prop_assert!(admits(near) && near <= 9000, "{near}");
                let inside = (1..=9000).filter(|n| admits(*n));
                let nearest = match side {
                    Side::Below => inside.filter(|n| *n <= size).max(),
                    Side::Above => inside.filter(|n| *n >= size).min(),
                };
                prop_assert!(nearest.is_none_or(|nearest| nearest == near), "{near} for {size}, not {nearest:?}");
            }
        }
    }
}
