//! What a process has spent of processor time, all its threads together, as the system accounts it. It is read from outside:
//! nothing the process does can change it. In: a process. Out: its time so far.
//!
//! The figure is exact while the process is blocked. While it runs it may lag by a tick of the system's clock, so it is
//! read when the process waits for its next question.

use std::time::Duration;

/// Processor time of a process so far; none when it is gone or the system does not tell.
pub(crate) fn processor_time(pid: u32) -> Option<Duration> {
    let pid = libc::pid_t::try_from(pid).ok()?;
    let mut clock: libc::clockid_t = 0;
    // SAFETY: fills in one number, which outlives the call.
    if unsafe { libc::clock_getcpuclockid(pid, &mut clock) } != 0 {
        return None;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills in one record, which outlives the call.
    if unsafe { libc::clock_gettime(clock, &mut time) } != 0 {
        return None;
    }
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_the_process_and_only_grows() {
        let before = processor_time(std::process::id()).unwrap();
        let mut sum = 0_u64;
        // As long as it takes: the figure may lag by a tick.
        while processor_time(std::process::id()).unwrap() < before + Duration::from_millis(20) {
            sum = std::hint::black_box((0..100_000).fold(sum, |sum, i| sum.wrapping_mul(31).wrapping_add(i)));
        }
        let asleep = std::process::Command::new("sleep").arg("5").spawn();
        if let Ok(mut child) = asleep {
            std::thread::sleep(Duration::from_millis(50));
            assert!(processor_time(child.id()).unwrap() < Duration::from_millis(50));
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(processor_time(child.id()), None);
        }
    }
}
