//! A sign of life for steps that take long. In: what is being done, and the step. Out: what the step gives, and on the way an
//! event for every pause that passes without an end.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::event::{Event, Listener};

/// How long a step may say nothing.
pub(crate) const PAUSE: Duration = Duration::from_secs(60);

/// Does a step, and says what it is about after each pause.
pub(crate) fn watched<T>(listener: Listener<'_>, pause: Duration, doing: &str, step: impl FnOnce() -> T) -> T {
    let (over, awaited) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let began = Instant::now();
            while awaited.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                listener(&Event::Silence { doing, seconds: began.elapsed().as_secs_f64() });
            }
        });
        let done = step();
        // The other end sees it go, also when the step panics.
        drop(over);
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_long_step_says_what_it_is_about_and_a_short_one_nothing() {
        let heard = AtomicUsize::new(0);
        let listener = |event: &Event<'_>| match event {
            Event::Silence { doing: "checking small", .. } => {
                heard.fetch_add(1, Ordering::SeqCst);
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(watched(&listener, Duration::from_secs(3600), "checking small", || 7), 7);
        assert_eq!(heard.load(Ordering::SeqCst), 0);
        watched(&listener, Duration::from_millis(1), "checking small", || {
            while heard.load(Ordering::SeqCst) < 2 {
                thread::yield_now();
            }
        });
        assert!(heard.load(Ordering::SeqCst) >= 2);
    }
}
