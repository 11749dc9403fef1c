//! The same look at many pieces, on several processors where that is quicker. In: pieces and what to do with each. Out: the
//! results in order, the same whatever the number of processors.

use std::thread;

/// Threads at most: memory is not read faster by more.
const MOST: usize = 8;

/// Does `work` for every piece. One piece, or one processor, is done here.
pub(crate) fn in_parallel<T: Sync, R: Send>(pieces: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = (processors / 2).clamp(1, MOST).min(pieces.len());
    if threads <= 1 {
        return pieces.iter().map(work).collect();
    }
    let share = pieces.len().div_ceil(threads);
    thread::scope(|scope| {
        let work = &work;
        let mut shares = pieces.chunks(share);
        let first = shares.next();
        let others: Vec<_> =
            shares.map(|share| scope.spawn(move || share.iter().map(work).collect::<Vec<R>>())).collect();
        let mut results: Vec<R> = first.into_iter().flatten().map(work).collect();
        for other in others {
            match other.join() {
                Ok(part) => results.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
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
