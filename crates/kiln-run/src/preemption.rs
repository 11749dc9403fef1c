//! How often the system took the processor away from this thread: a sample during which it did measured something else too.

/// Times so far; none when the system does not tell.
pub(crate) fn preempted() -> Option<u64> {
    // SAFETY: a zeroed record is a valid one.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the record is ours and as large as the call expects.
    let told = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) } == 0;
    told.then_some(usage.ru_nivcsw as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_only_grows() {
        let before = preempted().unwrap();
        assert!(preempted().unwrap() >= before);
    }
}
