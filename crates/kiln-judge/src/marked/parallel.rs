//! The same look at many pieces, on several processors where that is quicker. In: pieces and what to do with each. Out: the
//! results in order, the same whatever the number of processors.

use std::sync::OnceLock;
use std::thread;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Threads at most: memory is not read faster by more.
const MOST: usize = 8;

/// Does `work` for every piece. One piece, or one processor, is done here.
pub(crate) fn in_parallel<T: Sync, R: Send>(pieces: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    match pool().filter(|_| pieces.len() > 1) {
        Some(pool) => pool.install(|| pieces.par_iter().map(&work).collect()),
        None => pieces.iter().map(work).collect(),
    }
}

/// Fills memory in pieces of so many elements; `fill` is told the number of a piece's first element.
pub(crate) fn fill_in_parallel<T: Send>(memory: &mut [T], piece: usize, fill: impl Fn(usize, &mut [T]) + Sync) {
    let piece = piece.max(1);
    match pool().filter(|_| memory.len() > piece) {
        Some(pool) => pool
            .install(|| memory.par_chunks_mut(piece).enumerate().for_each(|(number, part)| fill(number * piece, part))),
        None => memory.chunks_mut(piece).enumerate().for_each(|(number, part)| fill(number * piece, part)),
    }
}

/// The same where work is arithmetic and not memory: every processor helps.
pub(crate) fn compute_in_parallel<T: Send>(memory: &mut [T], piece: usize, fill: impl Fn(usize, &mut [T]) + Sync) {
    let piece = piece.max(1);
    match all().filter(|_| memory.len() > piece) {
        Some(pool) => pool
            .install(|| memory.par_chunks_mut(piece).enumerate().for_each(|(number, part)| fill(number * piece, part))),
        None => memory.chunks_mut(piece).enumerate().for_each(|(number, part)| fill(number * piece, part)),
    }
}

/// Bytes copied or compared at a time by one processor.
const PIECE: usize = 1 << 20;

/// Copies bytes to memory of the same length.
pub(crate) fn copy_in_parallel(from: &[u8], to: &mut [u8]) {
    match pool().filter(|_| from.len() > PIECE && from.len() == to.len()) {
        Some(pool) => pool.install(|| {
            to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE)).for_each(|(to, from)| to.copy_from_slice(from));
        }),
        None => to.copy_from_slice(from),
    }
}

/// Whether two stretches of bytes are the same.
pub(crate) fn same_in_parallel(a: &[u8], b: &[u8]) -> bool {
    match pool().filter(|_| a.len() > PIECE && a.len() == b.len()) {
        Some(pool) => pool.install(|| a.par_chunks(PIECE).zip(b.par_chunks(PIECE)).all(|(a, b)| a == b)),
        None => a == b,
    }
}

/// Threads that wait for the next look: making new ones takes longer than looking at a few megabytes.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let start = || {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let threads = (processors / 2).clamp(1, MOST);
        // Without threads everything is done by whoever asks.
        if threads > 1 { ThreadPoolBuilder::new().num_threads(threads).build().ok() } else { None }
    };
    POOL.get_or_init(start).as_ref()
}

/// One thread for each processor.
fn all() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let start = || {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        if processors > 1 { ThreadPoolBuilder::new().num_threads(processors).build().ok() } else { None }
    };
    POOL.get_or_init(start).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let pieces: Vec<u64> = (0..1000).collect();
        assert_eq!(in_parallel(&pieces, |p| p * p), pieces.iter().map(|p| p * p).collect::<Vec<_>>());
        assert!(in_parallel(&[], |p: &u64| *p).is_empty());
    }

    #[test]
    fn memory_is_filled_to_its_last_element() {
        for length in [0, 1, 7, 8, 20] {
            let mut memory = vec![usize::MAX; length];
            fill_in_parallel(&mut memory, 8, |first, part| {
                part.iter_mut().enumerate().for_each(|(i, value)| *value = first + i);
            });
            assert_eq!(memory, (0..length).collect::<Vec<_>>());
        }
    }

    #[test]
    fn long_stretches_are_copied_and_compared_to_their_last_byte() {
        let from: Vec<u8> = (0..2 * PIECE + 5).map(|i| (i % 251) as u8).collect();
        let mut to = vec![0; from.len()];
        copy_in_parallel(&from, &mut to);
        assert!(to == from && same_in_parallel(&from, &to));
        for at in [0, PIECE, from.len() - 1] {
            to[at] ^= 1;
            assert!(!same_in_parallel(&from, &to), "{at}");
            to[at] ^= 1;
        }
        assert!(!same_in_parallel(&from, &to[1..]));
    }
}
