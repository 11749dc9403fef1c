//! How much memory a process holds. Resident pages are what can exhaust a machine; reserved addresses cannot, which is
//! why no limit on the address space is set.

/// Resident bytes of a process; none when it is gone or the system does not tell.
pub(crate) fn resident(pid: u32) -> Option<u64> {
    field(pid, "VmRSS:")
}

/// The most bytes of a process that were ever resident.
pub(crate) fn peak(pid: u32) -> Option<u64> {
    field(pid, "VmHWM:")
}

fn field(pid: u32, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kb| kb * 1024)
}
