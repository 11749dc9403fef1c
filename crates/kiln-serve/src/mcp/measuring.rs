//! One measurement at a time. In: what is to be measured. Out: a hold on the project's lock, which lasts until it is dropped, or
//! until the process it was handed to is over; and a flag that stops whoever holds it. Refuses while another has it, and says who:
//! it never waits, since a client would give up first.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use kiln_app::{Failure, Fault, Report, Stop, Utf8Path};

/// The lock's file, under the project's folder.
const FILE: &str = "measuring.lock";

/// Set when whoever holds the lock is to stop.
static STOPPED: AtomicBool = AtomicBool::new(false);
/// Who holds it in this process.
static HOLDER: Mutex<Option<u64>> = Mutex::new(None);

/// The lock, held.
pub(super) struct Hold {
    file: Option<File>,
    number: u64,
}

/// How the operation that holds the lock is asked to stop.
pub(super) fn stop() -> Stop {
    Stop::new(&STOPPED, || {})
}

impl Hold {
    /// Takes the lock. `what`: the tool and the kernel, for whoever is refused.
    pub(super) fn take(folder: &Utf8Path, what: &str) -> Result<Hold, Failure> {
        let path = folder.join(FILE);
        let fault = |e: std::io::Error| Fault::new(format!("taking {path}"), e);
        std::fs::create_dir_all(folder).map_err(fault)?;
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(fault)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                let mut who = String::new();
                let _ = file.read_to_string(&mut who);
                let who = if who.trim().is_empty() { "another measurement" } else { who.trim() };
                return Err(Report::error(format!("busy: {who} is running in this project"))
                    .label("measurements at the same time disturb each other")
                    .hint("wait for it and call again; tune_status shows a study, tune_stop stops it")
                    .into());
            }
            Err(std::fs::TryLockError::Error(e)) => return Err(fault(e).into()),
        }
        // Words for people; the lock alone decides.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{what}"));
        let mut holder = HOLDER.lock().unwrap_or_else(PoisonError::into_inner);
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        *holder = Some(number);
        STOPPED.store(false, Ordering::Relaxed);
        Ok(Hold { file: Some(file), number })
    }

    /// Its number in this process.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The locked file, for a process that is to hold the lock from now on.
    pub(super) fn hand_over(mut self) -> Option<File> {
        self.file.take()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut holder = HOLDER.lock().unwrap_or_else(PoisonError::into_inner);
        *holder = holder.filter(|number| *number != self.number);
    }
}

/// Asks whoever has this number to stop; nobody else is disturbed.
pub(super) fn stop_holder(number: u64) {
    let holder = HOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    if *holder == Some(number) {
        STOPPED.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_one_is_refused_and_only_the_holder_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let first = Hold::take(folder, "bench of k").unwrap();
        let refused = Hold::take(folder, "check of k").err().unwrap().to_string();
        assert!(refused.contains("busy: bench of k is running in this project"), "{refused}");
        let stop = stop();
        stop_holder(first.number() + 1);
        assert!(!stop.is_asked());
        stop_holder(first.number());
        assert!(stop.is_asked());
        let number = first.number();
        // Handed over, the lock outlives the hold.
        let file = first.hand_over().unwrap();
        assert!(Hold::take(folder, "check of k").is_err());
        drop(file);
        let second = Hold::take(folder, "check of k").unwrap();
        assert!(!stop.is_asked(), "a new holder is not stopped by what was asked of the last");
        stop_holder(number);
        assert!(!stop.is_asked());
        drop(second);
    }
}
