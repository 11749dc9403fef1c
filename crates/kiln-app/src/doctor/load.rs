//! Other work on this machine.

use crate::doctor::Finding;

const ID: &str = "load";
const WHY: &str = "other work makes times noisy: intervals widen, and verdicts become too_noisy";
/// Of the processors, busy with other things.
const SHARE: f64 = 0.5;

/// Compares the load of the last minute with the processors there are.
pub(crate) fn look() -> Finding {
    let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let load = text("/proc/loadavg").split(' ').next().and_then(|v| v.parse::<f64>().ok());
    // The load is the whole machine's, and so must be the count, even where kiln may use only some of them.
    let online = count(text("/sys/devices/system/cpu/online").trim());
    let processors = online.or(std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let Some(load) = load else { return Finding::ok(ID, WHY, "the system does not say") };
    let s = if processors == 1 { "" } else { "s" };
    let what = format!("{load:.1} on {processors} processor{s} over the last minute");
    if load > SHARE * processors as f64 {
        return Finding::warn(ID, WHY, what, "wait until the machine is quiet, or stop other programs");
    }
    Finding::ok(ID, WHY, what)
}

/// How many a list such as `0-2,5` names; none when it is no such list.
fn count(list: &str) -> Option<usize> {
    list.split(',').try_fold(0, |sum, part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
        Some(sum + (to + 1).checked_sub(from)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_counted() {
        assert_eq!(count("0-2,5"), Some(4));
        assert_eq!(count("7"), Some(1));
        assert_eq!(count(""), None);
        assert_eq!(count("5-2"), None);
    }
}
