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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let pieces: Vec<u64> = (0..1000).collect();
        assert_eq!(in_parallel(&pieces, |p| p * p), pieces.iter().map(|p| p * p).collect::<Vec<_>>());
        assert!(in_parallel(&[], |p: &u64| *p).is_empty());
    }
}
