//! The parent's ear at the kernel: which forbidden call a confined worker is held at. The call is never made; the worker is
//! ended.

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};

/// A listener that a worker has handed over.
#[derive(Debug)]
pub(crate) struct Watch(File);

/// A thread that is held.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// The number of the call it wants to make.
    pub(crate) call: i64,
    id: u64,
}

impl Watch {
    pub(crate) fn over(listener: File) -> Watch {
        Watch(listener)
    }

    /// The descriptor to wait for.
    pub(crate) fn number(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Who is held. To be asked when there is something to be heard.
    #[cfg(target_os = "linux")]
    pub(crate) fn held(&self) -> Option<Held> {
        /// Asks for a notification: `_IOWR('!', 0, struct seccomp_notif)`.
        const RECEIVE: u64 = 0xc050_2100;
        // SAFETY: a zeroed one is what the kernel wants to fill in.
        let mut told: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is a listener's, and the record outlives the call that fills it in.
        let failed = unsafe { libc::ioctl(self.number(), RECEIVE as _, &mut told) } != 0;
        (!failed).then_some(Held { call: i64::from(told.data.nr), id: told.id })
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn held(&self) -> Option<Held> {
        None
    }

    /// Lets the call fail.
    pub(crate) fn fail(&self, held: Held) {
        #[cfg(target_os = "linux")]
        {
            /// Answers a notification: `_IOWR('!', 1, struct seccomp_notif_resp)`.
            const ANSWER: u64 = 0xc018_2101;
            let mut answer = libc::seccomp_notif_resp { id: held.id, val: 0, error: -libc::EPERM, flags: 0 };
            // SAFETY: the descriptor is a listener's, and the record outlives the call that reads it.
            unsafe { libc::ioctl(self.number(), ANSWER as _, &mut answer) };
        }
        let _ = held;
    }
}

/// A call by its name, where it is one that is looked for.
pub(crate) fn name(number: i64) -> String {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    if let Some(name) = super::calls::name(number) {
        return name.into();
    }
    format!("system call {number}")
}
