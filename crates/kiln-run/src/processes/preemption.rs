//! What the system did with this thread besides running it: how often it took the processor away, and how long the thread
//! could have run and had none. A batch during which that happened measured something else too.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Times so far that the processor was given to somebody else; none when the system does not tell.
pub(crate) fn preempted() -> Option<u64> {
    // SAFETY: a zeroed record is a valid one.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the record is ours and as large as the call expects.
    let told = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) } == 0;
    told.then_some(usage.ru_nivcsw as u64)
}

/// Where the system tells how long this thread waited for a processor.
pub(crate) struct Waits(Option<File>);

impl Waits {
    /// Of the calling thread.
    pub(crate) fn open() -> Waits {
        Waits(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Nanoseconds so far; 0 where the system does not tell.
    pub(crate) fn nanoseconds(&self) -> u64 {
        let read = |file: &File| {
            let mut text = [0; 96];
            let length = file.read_at(&mut text, 0).ok()?;
            std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
        };
        self.0.as_ref().and_then(read).unwrap_or(0)
    }
}

/// Nanoseconds of processor time that this process has had so far, all its threads together.
pub(crate) fn process() -> u64 {
    processor(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// The same of other threads than this one. While they run, this one may wait for a processor, and that is time the function
/// takes all the same.
pub(crate) fn siblings() -> u64 {
    process().saturating_sub(processor(libc::CLOCK_THREAD_CPUTIME_ID))
}

fn processor(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills in one record, which outlives the call.
    let known = unsafe { libc::clock_gettime(clock, &mut time) } == 0;
    if known { time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_only_grow() {
        let (before, waits) = (preempted().unwrap(), Waits::open());
        let waited = waits.nanoseconds();
        assert!(preempted().unwrap() >= before && waits.nanoseconds() >= waited);
    }
}
