//! The configurations that must not be proposed again: told, or proposed and pending. In: their indices in the space. Out:
//! whether one is among them, the k-th that is not, and a digest of the set that does not depend on the order it grew in.

/// A set of indices.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// In ascending order.
    indices: Vec<u128>,
    digest: u64,
}

impl Seen {
    pub(crate) fn len(&self) -> usize {
        self.indices.len()
    }

    pub(crate) fn contains(&self, index: u128) -> bool {
        self.indices.binary_search(&index).is_ok()
    }

    /// Adds an index; false if it was there.
    pub(crate) fn insert(&mut self, index: u128) -> bool {
        let Err(place) = self.indices.binary_search(&index) else { return false };
        self.indices.insert(place, index);
        // A sum, so that the same set has the same digest however it came about.
        self.digest = self.digest.wrapping_add(mix(index as u64 ^ mix((index >> 64) as u64)));
        true
    }

    /// The index that has exactly `rank` smaller ones outside the set. With a uniform rank this is a uniform draw from
    /// all that is left, without a second try however little that is.
    pub(crate) fn outside(&self, rank: u128) -> u128 {
        // Before the k-th member lie `member - k` indices that are not in the set, and that number never falls.
        let (mut low, mut high) = (0, self.indices.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.indices[middle] - middle as u128 <= rank {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        rank + low as u128
    }

    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }
}

/// The output function of SplitMix64 (Steele, Lea and Flood, 2014): every bit of the input moves every bit of the output.
fn mix(word: u64) -> u64 {
    let mut word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_what_is_not_in_the_set() {
        let mut seen = Seen::default();
        for index in [7, 0, 3, 4] {
            assert!(seen.insert(index));
        }
        assert!(!seen.insert(3));
        assert_eq!(seen.len(), 4);
        let outside: Vec<u128> = (0..5).map(|rank| seen.outside(rank)).collect();
        assert_eq!(outside, [1, 2, 5, 6, 8]);
        assert!(outside.iter().all(|index| !seen.contains(*index)));
    }
}
