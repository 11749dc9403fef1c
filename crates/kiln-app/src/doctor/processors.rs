//! Processors, and whether a thread can be kept to one.

use crate::doctor::Finding;
use kiln_run::pin_thread;
use kiln_study::Machine;

const ID: &str = "processors";
const WHY: &str = "measurement keeps to one processor and builds to the others, so that they do not disturb each other";

/// Pins a thread of its own, and asks the system whether that is so.
pub(crate) fn look() -> Finding {
    let cpus = Machine::look().cpus;
    let count = cpus.len();
    if let Err(why) = pinned(*cpus.last().unwrap_or(&0)) {
        let what = format!("{count} available, but a thread cannot be kept to one: {why}");
        return Finding::warn(ID, WHY, what, "allow sched_setaffinity here, or measure with --no-pin");
    }
    match count {
        1 => Finding::warn(ID, WHY, "only 1 available: builds and measurement share it", "give kiln at least 2"),
        _ => Finding::ok(ID, WHY, format!("{count} available, pinning works")),
    }
}

fn pinned(cpu: usize) -> Result<(), String> {
    let keep = move || {
        pin_thread(&[cpu])?;
        let status = std::fs::read_to_string("/proc/thread-self/status").map_err(|e| e.to_string())?;
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).map(str::trim);
        match list {
            Some(list) if list != cpu.to_string() => Err(format!("the system still allows {list}")),
            _ => Ok(()),
        }
    };
    std::thread::spawn(keep).join().unwrap_or_else(|_| Err("the thread ended early".into()))
}
