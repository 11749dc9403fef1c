//! What the superuser may beyond others: a candidate run by root would otherwise read every process's memory, which
//! Landlock does not keep from those who may watch the whole system.

/// Reading whatever file there is, as before, and locking memory, as GPU drivers do.
const KEPT: u32 = 1 << DAC_OVERRIDE | 1 << DAC_READ_SEARCH | 1 << IPC_LOCK;
const DAC_OVERRIDE: u32 = 1;
const DAC_READ_SEARCH: u32 = 2;
const IPC_LOCK: u32 = 14;

/// As the kernel lays them out; the second half is for numbers from 32 on.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Capabilities {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

#[repr(C)]
struct Header {
    version: u32,
    thread: i32,
}

/// Drops them for this thread and those it starts. Where there is nothing to drop, nothing changes.
pub(super) fn drop_privileges() {
    const VERSION: u32 = 0x2008_0522;
    let header = Header { version: VERSION, thread: 0 };
    let mut sets = [Capabilities::default(); 2];
    // SAFETY: the kernel reads the header and fills in two sets, which is what there is room for.
    if unsafe { libc::syscall(libc::SYS_capget, &header, sets.as_mut_ptr()) } != 0 {
        return;
    }
    let [first, second] = &mut sets;
    let keep = |set: &mut u32, kept: u32| *set &= kept;
    for (sets, kept) in [(first, KEPT), (second, 0)] {
        keep(&mut sets.effective, kept);
        keep(&mut sets.permitted, kept);
        sets.inheritable = 0;
    }
    // SAFETY: the kernel only reads the header and the two sets.
    unsafe { libc::syscall(libc::SYS_capset, &header, sets.as_ptr()) };
}
