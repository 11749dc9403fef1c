//! Numbers at which kernels go wrong: the ends of a range, the first few, odd ones, powers of two and tiles with their
//! neighbours. In: a range and the sizes of tiles. Out: those in the range, smallest first.

/// Numbers that nothing divides, and the first few.
const ODD: [i64; 11] = [1, 2, 3, 4, 5, 7, 11, 13, 17, 100, 1000];

/// The edges from `low` to `high`.
pub(crate) fn edges(low: i64, high: i64, tiles: &[i64]) -> Vec<i64> {
    let powers = (3..62).map(|power| 1i64 << power).take_while(|power| power / 2 <= high);
    let powers = powers.flat_map(|power| [power - 1, power, power + 1]);
    let mut all: Vec<i64> = [low, low + 1, high - 1, high].into_iter().chain(ODD).chain(powers).collect();
    all.extend(around(tiles));
    all.retain(|edge| (low..=high).contains(edge));
    all.sort_unstable();
    all.dedup();
    all
}

/// One less than a tile, a tile, one more, and one more than two.
pub(crate) fn around(tiles: &[i64]) -> impl Iterator<Item = i64> + '_ {
    tiles.iter().flat_map(|tile| [tile - 1, *tile, tile.saturating_add(1), tile.saturating_mul(2).saturating_add(1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_have_their_neighbours_and_everything_is_in_the_range() {
        let found = edges(2, 150, &[48]);
        for edge in [2, 3, 47, 48, 49, 97, 63, 64, 65, 127, 128, 129, 149, 150] {
            assert!(found.contains(&edge), "{edge}: {found:?}");
        }
        assert!(found.iter().all(|edge| (2..=150).contains(edge)) && found.is_sorted());
        assert_eq!(edges(5, 5, &[]), [5]);
        assert_eq!(edges(1, i64::MAX, &[i64::MAX]).last(), Some(&i64::MAX));
    }
}
