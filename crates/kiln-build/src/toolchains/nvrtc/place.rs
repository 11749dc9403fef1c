//! Where a thread runs, as far as processes it starts inherit that: its processors and its niceness. A builder that was started
//! beside a measurement must not compile on the processor that measures, nor one that steps back be taken for one that does not.

use std::fs::read_to_string;

/// None of both where the system does not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    processors: Option<String>,
    niceness: Option<String>,
}

impl Place {
    /// That of the calling thread.
    pub(super) fn of_thread() -> Place {
        let status = read_to_string("/proc/thread-self/status").unwrap_or_default();
        let stat = read_to_string("/proc/thread-self/stat").unwrap_or_default();
        // Behind the name, which may hold anything, the niceness is the seventeenth field.
        let niceness = stat.rsplit(')').next().and_then(|rest| rest.split_ascii_whitespace().nth(16));
        Place { processors: field(&status, "Cpus_allowed:").map(String::from), niceness: niceness.map(String::from) }
    }
}

/// Resident bytes of a process; none when it is gone or the system does not tell.
pub(super) fn resident(process: u32) -> Option<u64> {
    let status = read_to_string(format!("/proc/{process}/status")).ok()?;
    let kilobytes: u64 = field(&status, "VmRSS:")?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_where_a_thread_runs_and_what_a_process_holds() {
        let place = Place::of_thread();
        assert!(place.processors.is_some() && place == Place::of_thread());
        let niceness: i32 = place.niceness.unwrap().parse().unwrap();
        assert!((-20..=19).contains(&niceness));
        assert!(resident(std::process::id()).unwrap() > 1 << 20);
        assert_eq!(resident(u32::MAX), None);
    }
}
