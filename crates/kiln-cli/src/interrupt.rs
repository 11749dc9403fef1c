//! Ctrl-C and SIGTERM: the first asks the operation to stop, the second ends the process at once, and its workers with it. A profile, which
//! has nothing to save, ends soon after the first.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kiln_app::Stop;

use crate::args::Verb;
use crate::exit::INTERRUPTED;

static STOPPED: AtomicBool = AtomicBool::new(false);

/// How a verb is asked to stop. Until its operation looks at the flag, Ctrl-C ends the process as it always does.
pub(crate) fn stop(verb: &Verb) -> Stop {
    let heed = match verb {
        Verb::Simulate(_) => heed_simulating,
        Verb::Profile(_) => heed_profiling,
        Verb::Capture(_) => heed_capturing,
        Verb::Serve(_) => heed_serving,
        Verb::Tune(_) | Verb::Sweep(_) | Verb::Fuzz(_) | Verb::Bisect(_) => heed_saving,
        _ => heed_stopping,
    };
    Stop::new(&STOPPED, heed)
}

/// So long a profile may take to come to an end of its own. Nothing of it is recorded before its end, so nothing is lost.
const GRACE: Duration = Duration::from_secs(2);

fn heed_saving() {
    heed("stopping after this step; what is done is saved (Ctrl-C again to end at once)", None);
}

fn heed_stopping() {
    heed("stopping after this step (Ctrl-C again to end at once)", None);
}

fn heed_simulating() {
    heed("stopping: searches under way come to their end, nothing is written", None);
}

fn heed_capturing() {
    heed("the program stops; what was captured is written", None);
}

fn heed_serving() {
    heed("the page is no longer served", None);
}

fn heed_profiling() {
    heed("stopping; nothing is recorded", Some(GRACE));
}

fn heed(words: &'static str, grace: Option<Duration>) {
    static WATCHED: OnceLock<()> = OnceLock::new();
    WATCHED.get_or_init(|| {
        // Where it cannot be watched for, Ctrl-C ends the process as it always does.
        let _ = ctrlc::set_handler(move || {
            if STOPPED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(INTERRUPTED));
            }
            eprintln!("\n{words}");
            if let Some(grace) = grace {
                std::thread::sleep(grace);
                std::process::exit(i32::from(INTERRUPTED));
            }
        });
    });
}
