//! Fresh numbers for one sample after another on a device, and how many calls a sample has there. In: what calls take. Out:
//! drawings, each under a seed that nobody knows before it is used: the device's worker makes the numbers, and a kernel
//! sees those of its own call alone.

use kiln_core::Fault;
use kiln_judge::{Drawn, Key, Rules};
use kiln_run::{Drawing, Fill, Numbers};

use crate::questions::layout::Layout;
use crate::settings::CacheState;

/// Sets of arguments at most: making a graph takes time for each call.
pub(crate) const MOST_SETS: usize = 64;
/// The same for samples that shall be long.
pub(crate) const MANY_SETS: usize = 256;

/// Seeds that nobody knows.
pub(crate) struct Lots {
    key: Key,
    next: u64,
}

impl Lots {
    pub(crate) fn new() -> Result<Lots, Fault> {
        Ok(Lots { key: Key::secret()?, next: 0 })
    }

    /// The next seed.
    pub(crate) fn seed(&mut self) -> u64 {
        self.next += 1;
        self.key.number(self.next)
    }
}

/// What is drawn for every call, over the image of a question.
pub(crate) fn fills(layout: &Layout, rules: &Rules) -> Vec<Fill> {
    let drawn = Drawn::of(&layout.signature, rules);
    let slots = layout.signature.slots.iter().zip(&layout.slots).zip(drawn);
    let fill = |((slot, place), drawn): ((&kiln_judge::Slot, &kiln_run::MappedSlot), Option<Drawn>)| {
        let numbers = match drawn? {
            Drawn::Normal => Numbers::Normal,
            Drawn::Real(low, high) => Numbers::Real(low, high),
            Drawn::Whole(low, high) => whole(low, high),
        };
        (slot.elements() > 0).then(|| Fill {
            offset: place.offset,
            dtype: place.dtype.clone(),
            shape: place.shape.clone(),
            strides: place.strides.clone(),
            numbers,
        })
    };
    slots.filter_map(fill).collect()
}

/// Integers as a worker is told of them. Those of 64 bits without a sign have the same bits with one.
fn whole(low: i128, high: i128) -> Numbers {
    Numbers::Whole(low as i64, u64::try_from(high.saturating_sub(low)).unwrap_or(u64::MAX))
}

/// A drawing for a sample.
pub(crate) fn drawing(image: u64, seed: u64, fills: &[Fill]) -> Drawing {
    Drawing { image, seed, first: 0, least: 0, fills: fills.to_vec() }
}

/// Sets of arguments for the calls of a sample, of so many bytes each: no more than so many, and within `most` bytes; where
/// caches are to be warm within half of a second-level cache of `l2`, so that what was drawn is still in it when the calls
/// come.
pub(crate) fn sets(bytes: usize, cache: CacheState, l2: u64, (most, count): (usize, usize)) -> u32 {
    let bytes = bytes.max(1);
    let near = l2 as usize / 2 / bytes;
    // What does not fit twice is not warm, whatever is done.
    let fits = if cache == CacheState::Warm && near > 1 { near } else { most / bytes };
    fits.clamp(1, count) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_as_many_as_can_be_afforded() {
        let (cold, warm) = (CacheState::Cold, CacheState::Warm);
        assert_eq!(sets(12 << 20, cold, 50 << 20, (1 << 30, 64)), 64);
        assert_eq!(sets(96 << 20, cold, 50 << 20, (1 << 30, 64)), 10);
        assert_eq!(sets(2 << 30, cold, 50 << 20, (1 << 30, 64)), 1);
        assert_eq!(sets(4 << 10, cold, 50 << 20, (1 << 30, 64)), 64);
        // Within half of the cache, unless nothing is.
        assert_eq!(sets(1 << 20, warm, 50 << 20, (1 << 30, 64)), 25);
        assert_eq!(sets(24 << 20, warm, 50 << 20, (1 << 30, 64)), 42);
    }

    #[test]
    fn integers_keep_their_bits() {
        assert_eq!(whole(-3, 3), Numbers::Whole(-3, 6));
        assert_eq!(whole(i64::MIN.into(), i64::MAX.into()), Numbers::Whole(i64::MIN, u64::MAX));
        assert_eq!(whole(0, u64::MAX.into()), Numbers::Whole(0, u64::MAX));
    }

    #[test]
    fn seeds_are_never_the_same() {
        let (mut one, mut other) = (Lots::new().unwrap(), Lots::new().unwrap());
        let seeds = [one.seed(), one.seed(), other.seed(), other.seed()];
        assert!((0..4).all(|i| !seeds[i + 1..].contains(&seeds[i])));
    }
}
