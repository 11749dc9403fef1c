//! The end of a first shape that takes longer than there is time for: nothing is known of it that would say so before. In: the flag
//! that says to stop, and how long the first shape may take. Out: a flag for what measures, set by either.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often it is looked whether somebody asked to stop.
const LOOK: Duration = Duration::from_millis(20);

/// What measures looks at.
pub(super) struct Halt<'s> {
    /// Somebody asked to stop.
    asked: &'s AtomicBool,
    /// To stop, for whatever reason; looked at where there is a limit.
    flag: Option<AtomicBool>,
    /// The time is up, and the first shape is not done.
    up: AtomicBool,
    /// The first shape is done: what comes after it begins only where there is time for it.
    first: AtomicBool,
    over: AtomicBool,
}

impl Halt<'_> {
    /// The flag for what measures.
    pub(super) fn flag(&self) -> &AtomicBool {
        self.flag.as_ref().unwrap_or(self.asked)
    }

    /// From now on there is no limit.
    pub(super) fn first_is_done(&self) {
        self.first.store(true, Ordering::Relaxed);
    }

    /// Whether the time was up before the first shape was done.
    pub(super) fn is_up(&self) -> bool {
        self.up.load(Ordering::Relaxed)
    }

    fn watch(&self, flag: &AtomicBool, most: Duration) {
        let began = Instant::now();
        while !self.over.load(Ordering::Relaxed) {
            if self.asked.load(Ordering::Relaxed) {
                flag.store(true, Ordering::Relaxed);
            }
            if began.elapsed() > most && !self.first.load(Ordering::Relaxed) {
                self.up.store(true, Ordering::Relaxed);
                flag.store(true, Ordering::Relaxed);
            }
            thread::sleep(LOOK);
        }
    }
}

/// Says that it is over, also where it ends by a panic.
struct Over<'h>(&'h AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs what measures; without a limit, nobody watches.
pub(super) fn halting<T>(asked: &AtomicBool, most: Option<Duration>, measure: impl FnOnce(&Halt<'_>) -> T) -> T {
    let flag = most.map(|_| AtomicBool::new(false));
    let none = || AtomicBool::new(false);
    let halt = Halt { asked, flag, up: none(), first: none(), over: none() };
    thread::scope(|scope| {
        let _over = Over(&halt.over);
        if let (Some(flag), Some(most)) = (&halt.flag, most) {
            let halt = &halt;
            scope.spawn(move || halt.watch(flag, most));
        }
        measure(&halt)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits until the flag is set.
    fn wait(halt: &Halt<'_>) -> bool {
        while !halt.flag().load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        halt.is_up()
    }

    #[test]
    fn the_time_ends_the_first_shape_and_nothing_after_it() {
        let asked = AtomicBool::new(false);
        assert!(halting(&asked, Some(Duration::ZERO), wait));
        let done = |halt: &Halt<'_>| {
            halt.first_is_done();
            thread::sleep(3 * LOOK);
            halt.is_up() || halt.flag().load(Ordering::Relaxed)
        };
        assert!(!halting(&asked, Some(LOOK), done));
        assert!(!halting(&asked, None, done));
    }

    #[test]
    fn whoever_asks_to_stop_is_heard_with_and_without_a_limit() {
        let asked = AtomicBool::new(true);
        assert!(!halting(&asked, Some(Duration::from_secs(600)), wait));
        assert!(!halting(&asked, None, wait));
    }
}
