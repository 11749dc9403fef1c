//! Allocations that a run mentions. In: its records; memory that was never freed is listed with address and size, and after an
//! error that ends the context that is everything the program had. Out: the allocation nearest to an address, which XML does
//! not name; and whether the tool was told to pad allocations, which no log says.

use crate::sanitizer::{Nearest, Run, Side, What};

/// Small allocations share pages and begin at multiples of this.
pub(super) const SMALL_GRANULE: u64 = 512;
const SMALL: u64 = 1 << 20;
const LARGE_GRANULE: u64 = 2 << 20;
/// More than this between two allocations is no padding, but another place in memory.
const LARGEST_PADDING: u64 = 1 << 16;

/// Where allocations begin, and their sizes.
pub(super) struct Allocations {
    known: Vec<(u64, u64)>,
}

impl Allocations {
    /// Collects what a run's records mention.
    pub(super) fn of(run: &Run) -> Self {
        let mut known: Vec<(u64, u64)> = run
            .records
            .iter()
            .filter_map(|record| match &record.what {
                What::Leak { bytes, address, device_heap: false } => Some(((*address)?, *bytes)),
                What::Access(access) => access.nearest.map(|nearest| (nearest.base, nearest.size)),
                _ => None,
            })
            .collect();
        known.sort_unstable();
        known.dedup();
        Allocations { known }
    }

    /// The allocation nearest to an address, and where the address is, seen from it.
    pub(super) fn nearest(&self, address: u64) -> Option<Nearest> {
        let seen = |&(base, size): &(u64, u64)| {
            let end = base.saturating_add(size);
            let (side, distance) = match address {
                _ if address < base => (Side::Before(base - address), base - address),
                _ if address < end => (Side::Inside, 0),
                // The tool counts the first byte outside as 1.
                _ => (Side::After((address - end).saturating_add(1)), (address - end).saturating_add(1)),
            };
            (distance, Nearest { side, base, size })
        };
        self.known.iter().map(seen).min_by_key(|(distance, _)| *distance).map(|(_, nearest)| nearest)
    }

    /// Whether the tool padded allocations; none if those that are known do not show it.
    pub(super) fn padded(&self) -> Option<bool> {
        let gaps = self.known.windows(2).filter_map(|pair| {
            let [(base, size), (next, _)] = [pair[0], pair[1]];
            let end = base.checked_add(size)?;
            // What does not fill its place leaves a gap of its own, and padding may fit into it.
            let unpadded = base.checked_add(size.checked_next_multiple_of(granule(size))?)?;
            match next {
                _ if next > unpadded && next - end <= LARGEST_PADDING => Some(true),
                _ if next == end => Some(false),
                _ => None,
            }
        });
        // Memory that was freed leaves a gap too; memory that touches was never padded.
        gaps.reduce(|a, b| a && b).or_else(|| self.known.iter().find_map(|&(base, size)| spaced(base, size)))
    }
}

/// Buffers often have one size. Where one lies in its pages then shows how far apart they are: by as much as they take, or by a
/// usual padding more.
fn spaced(base: u64, size: u64) -> Option<bool> {
    let before = base % LARGE_GRANULE;
    if before == 0 || size >= SMALL || !fills_its_place(size) {
        return None;
    }
    let by = |distance: u64| before.is_multiple_of(distance);
    match by(size) {
        true => Some(false),
        false => (by(size + SMALL_GRANULE) || by(size + 2 * SMALL_GRANULE)).then_some(true),
    }
}

/// Bytes between an allocation's end and where the next one may begin.
pub(super) fn slack(size: u64) -> u64 {
    size.checked_next_multiple_of(granule(size)).map_or(0, |place| place - size)
}

/// Whether an allocation ends where the next one may begin.
pub(super) fn fills_its_place(size: u64) -> bool {
    size > 0 && size.is_multiple_of(granule(size))
}

fn granule(size: u64) -> u64 {
    if size < SMALL { SMALL_GRANULE } else { LARGE_GRANULE }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocations(known: &[(u64, u64)]) -> Allocations {
        Allocations { known: known.to_vec() }
    }

    #[test]
    fn the_nearest_is_seen_as_the_tool_sees_it() {
        let known = allocations(&[(0x1000, 0x100), (0x4000, 0x100)]);
        let side = |address| known.nearest(address).unwrap();
        assert_eq!(side(0x1100), Nearest { side: Side::After(1), base: 0x1000, size: 0x100 });
        assert_eq!(side(0x10ff).side, Side::Inside);
        assert_eq!(side(0x3fff), Nearest { side: Side::Before(1), base: 0x4000, size: 0x100 });
        assert_eq!(allocations(&[]).nearest(1), None);
    }

    #[test]
    fn gaps_show_padding() {
        assert_eq!(allocations(&[(0, 4096), (0x1200, 4096), (0x2400, 4096)]).padded(), Some(true));
        assert_eq!(allocations(&[(0, 16896), (0x4200, 16896)]).padded(), Some(false));
        assert_eq!(allocations(&[(0, 4096), (0x1000, 4096), (0x3000, 512)]).padded(), Some(false), "one was freed");
        // 4,000 bytes take 4,096 with or without 32 bytes of padding.
        assert_eq!(allocations(&[(0, 4000), (4096, 4000)]).padded(), None);
        assert_eq!(allocations(&[(0, 4096)]).padded(), None);
        // One alone, where its neighbours would be.
        assert_eq!(allocations(&[(0x20_1200, 4096)]).padded(), Some(true));
        assert_eq!(allocations(&[(0x20_4200, 16896)]).padded(), Some(false));
        assert_eq!(allocations(&[(0x20_5600, 4096)]).padded(), None);
    }
}
