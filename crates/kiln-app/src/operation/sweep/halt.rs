//! The end of a shape that takes longer than there is time for: nothing is known of a first one that would say so before, and a
//! large one takes longer than those before it. In: the flag that says to stop, and how long each shape may take. Out: a flag
//! for what measures, set by either.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
    /// The time is up, and the shape is not done.
    up: AtomicBool,
    began: Instant,
    /// When the current shape must be done, in milliseconds from the beginning.
    until: AtomicU64,
    over: AtomicBool,
}

impl Halt<'_> {
    /// The flag for what measures.
    pub(super) fn flag(&self) -> &AtomicBool {
        self.flag.as_ref().unwrap_or(self.asked)
    }

    /// The next shape may take so long from now on.
    pub(super) fn allow(&self, most: Duration) {
        self.until.store(milliseconds(self.began.elapsed().saturating_add(most)), Ordering::Relaxed);
    }

    /// Whether the time was up before a shape was done.
    pub(super) fn is_up(&self) -> bool {
        self.up.load(Ordering::Relaxed)
    }

    fn watch(&self, flag: &AtomicBool) {
        while !self.over.load(Ordering::Relaxed) {
            if self.asked.load(Ordering::Relaxed) {
                flag.store(true, Ordering::Relaxed);
            }
            if milliseconds(self.began.elapsed()) > self.until.load(Ordering::Relaxed) {
                self.up.store(true, Ordering::Relaxed);
                flag.store(true, Ordering::Relaxed);
            }
            thread::sleep(LOOK);
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
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
    let until = AtomicU64::new(most.map_or(u64::MAX, milliseconds));
    let halt = Halt { asked, flag, up: none(), began: Instant::now(), until, over: none() };
    thread::scope(|scope| {
        let _over = Over(&halt.over);
        if let Some(flag) = &halt.flag {
            let halt = &halt;
            scope.spawn(move || halt.watch(flag));
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
    fn the_time_ends_the_first_shape_and_any_after_it_that_takes_too_long() {
        let asked = AtomicBool::new(false);
        assert!(halting(&asked, Some(Duration::ZERO), wait));
        let second = |most: Duration| {
            move |halt: &Halt<'_>| {
                halt.allow(most);
                thread::sleep(5 * LOOK);
                halt.is_up() && halt.flag().load(Ordering::Relaxed)
            }
        };
        assert!(halting(&asked, Some(Duration::from_secs(600)), second(LOOK)));
        assert!(!halting(&asked, Some(Duration::from_secs(5)), second(Duration::from_secs(600))));
        assert!(!halting(&asked, None, second(Duration::ZERO)));
    }

    #[test]
    fn whoever_asks_to_stop_is_heard_with_and_without_a_limit() {
        let asked = AtomicBool::new(true);
        assert!(!halting(&asked, Some(Duration::from_secs(600)), wait));
        assert!(!halting(&asked, None, wait));
    }
}
