//! How addresses follow from threads. In: which thread touched which address, and how wide an access is. Out: the step from
//! one thread to the next, and the stride from one row to the next, where a row is a run of threads whose accesses touch.
//! Only differences count: shared memory starts at 0x400 on Hopper, and logs show the threads that failed, not all.

use std::collections::BTreeMap;

/// One access: block, thread, address.
pub(super) type Touch = ([u32; 3], [u32; 3], u64);

/// What the addresses have in common.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Bytes from one thread's address to its right neighbour's.
    pub(super) step: Option<i64>,
    /// Bytes from one row to the next.
    pub(super) stride: Option<i64>,
    /// Threads in a row, if it has more than one.
    pub(super) threads_per_row: Option<u32>,
    /// Bytes from one block's addresses to those of the block with the next x.
    pub(super) block_step: Option<i64>,
    /// Bytes from one block's addresses to those of the block with the next y.
    pub(super) block_row_step: Option<i64>,
}

/// Finds the pattern of accesses of one size.
pub(super) fn pattern(touches: &[Touch], size: u64) -> Pattern {
    // A thread that failed more than once, in a loop, counts with its first address.
    let mut first: BTreeMap<([u32; 3], [u32; 3]), u64> = BTreeMap::new();
    for (block, [x, y, z], address) in touches {
        // In the order in which threads are numbered: x fastest.
        first.entry((*block, [*z, *y, *x])).or_insert(*address);
    }
    let right = steps(&first, |(_, thread)| &mut thread[2]);
    let below = steps(&first, |(_, thread)| &mut thread[1]);
    let next_block = steps(&first, |(block, _)| &mut block[0]);
    let block_below = steps(&first, |(block, _)| &mut block[1]);
    let step = most(&right);
    let touching = i64::try_from(size).ok().filter(|size| *size > 0);
    let rows = rows(&first, touching);
    let (stride, threads_per_row) = match (step, rows) {
        // Neighbours touch: rows are what lies between gaps.
        (Some(step), Some((stride, threads))) if Some(step) == touching => (Some(stride), Some(threads)),
        (Some(step), None) if Some(step) == touching => (most(&below), None),
        // Each thread has a row of its own.
        (Some(step), _) if step != 0 => (Some(step), None),
        _ => (most(&below), None),
    };
    Pattern { step, stride, threads_per_row, block_step: most(&next_block), block_row_step: most(&block_below) }
}

type Key = ([u32; 3], [u32; 3]);

/// Bytes from one to the next along one of the dimensions. Of those between two that failed nothing is known, so that the
/// bytes are shared among them.
fn steps(first: &BTreeMap<Key, u64>, axis: fn(&mut Key) -> &mut u32) -> Vec<i64> {
    let mut lines: BTreeMap<Key, Vec<(u32, u64)>> = BTreeMap::new();
    for (&(mut key), &address) in first {
        let along = std::mem::take(axis(&mut key));
        lines.entry(key).or_default().push((along, address));
    }
    let mut steps = Vec::new();
    for pair in lines.values().flat_map(|line| line.windows(2)) {
        let gap = i64::from(pair[1].0) - i64::from(pair[0].0);
        let bytes = pair[1].1.wrapping_sub(pair[0].1).cast_signed();
        if gap > 0 && bytes % gap == 0 {
            steps.push(bytes / gap);
        }
    }
    steps
}

/// The value that most of them have; none if less than half agree.
fn most(values: &[i64]) -> Option<i64> {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(*value).or_default() += 1;
    }
    let (value, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (2 * count >= values.len()).then_some(value)
}

/// Bytes from row to row, and threads in a row. Rows in which nothing failed are missing: the number of threads between two
/// rows says how many.
fn rows(first: &BTreeMap<Key, u64>, touching: Option<i64>) -> Option<(i64, u32)> {
    let touching = touching?.cast_unsigned();
    // Starts of runs: block, thread, address, and how many threads the run has.
    let mut runs: Vec<(Key, u64, u32)> = Vec::new();
    let mut last: Option<(Key, u64)> = None;
    for (&key, &address) in first {
        let ([block, [z, y, x]], goes_on) = ([key.0, key.1], last);
        let previous = (block, [z, y, x.wrapping_sub(1)]);
        match (goes_on, runs.last_mut()) {
            (Some((before, at)), Some(run)) if before == previous && at.wrapping_add(touching) == address => run.2 += 1,
            _ => runs.push((key, address, 1)),
        }
        last = Some((key, address));
    }
    // Runs that are cut at a warp's edge are short; whole ones agree.
    let threads = runs.iter().map(|run| run.2).max()?;
    if threads < 2 {
        return None;
    }
    let mut strides = Vec::new();
    for pair in runs.windows(2) {
        let [((block, [z, y, x]), address, _), ((next_block, [next_z, next_y, next_x]), next, _)] = [pair[0], pair[1]];
        if (block, z, y) != (next_block, next_z, next_y) || next_x <= x || (next_x - x) % threads != 0 {
            continue;
        }
        let rows = i64::from((next_x - x) / threads);
        let bytes = next.wrapping_sub(address).cast_signed();
        if bytes % rows == 0 {
            strides.push(bytes / rows);
        }
    }
    // Where one row begins where the last one ends there are no rows; warps that were printed look like them.
    let whole = i64::from(threads).wrapping_mul(touching.cast_signed());
    most(&strides).filter(|stride| *stride != whole).map(|stride| (stride, threads))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touches(threads: impl Iterator<Item = u32>, address: impl Fn(u32) -> u64) -> Vec<Touch> {
        threads.map(|x| ([0; 3], [x, 0, 0], address(x))).collect()
    }

    #[test]
    fn rows_of_eight_threads_have_a_stride() {
        // Rows of 130 bytes, 16 bytes a thread; every eighth row is aligned and therefore missing.
        let misaligned = (32..128).filter(|x| (x / 8) % 8 != 0);
        let found = pattern(&touches(misaligned, |x| 0x400 + u64::from(x / 8) * 130 + u64::from(x % 8) * 16), 16);
        assert_eq!((found.step, found.stride, found.threads_per_row), (Some(16), Some(130), Some(8)));
    }

    #[test]
    fn a_thread_may_have_a_row_of_its_own() {
        let found = pattern(&touches(1..32, |x| 0x7f00 + u64::from(x) * 132), 16);
        assert_eq!((found.step, found.stride, found.threads_per_row), (Some(132), Some(132), None));
    }

    #[test]
    fn neighbours_that_touch_have_no_stride() {
        let found = pattern(&touches(0..32, |x| 0x7f04 + u64::from(x) * 16), 16);
        assert_eq!((found.step, found.stride), (Some(16), None));
    }

    #[test]
    fn rows_may_be_the_second_dimension() {
        let touches: Vec<Touch> =
            (0..4).flat_map(|y| (0..8).map(move |x| ([0; 3], [x, y, 0], u64::from(y * 100 + x * 4)))).collect();
        assert_eq!(pattern(&touches, 4).stride, Some(100));
    }

    #[test]
    fn every_other_row_may_be_aligned() {
        // 136 bytes a row: only odd threads, or odd rows, fail.
        let found = pattern(&touches((0..32).filter(|x| x % 2 == 1), |x| 0x7f00 + u64::from(x) * 136), 16);
        assert_eq!((found.step, found.stride), (Some(136), Some(136)));
        let rows = |y: u32, x: u32| ([0; 3], [x, y, 0], u64::from(y * 136 + x * 16));
        let touches: Vec<Touch> = (1..16).step_by(2).flat_map(|y| (0..8).map(move |x| rows(y, x))).collect();
        assert_eq!(pattern(&touches, 16).stride, Some(136));
    }

    #[test]
    fn blocks_may_be_rows() {
        let touches: Vec<Touch> = (0..8_u32)
            .flat_map(|b| (0..8_u32).map(move |x| ([b, 0, 0], [x, 0, 0], u64::from(b * 130 + x * 16))))
            .collect();
        let found = pattern(&touches, 16);
        assert_eq!((found.step, found.stride, found.block_step), (Some(16), None, Some(130)));
    }

    #[test]
    fn warps_that_touch_are_no_rows() {
        let printed = (96..128).chain(32..40);
        assert_eq!(pattern(&touches(printed, |x| 0x7f04 + u64::from(x) * 16), 16).stride, None);
    }

    #[test]
    fn scattered_addresses_have_no_pattern() {
        let found = pattern(&touches(0..32, |x| u64::from(x * x * 7919 % 4096)), 4);
        assert_eq!((found.step, found.stride), (None, None));
        assert_eq!(pattern(&[], 4), Pattern::default());
    }
}
