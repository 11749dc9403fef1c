//! Ctrl-C and SIGTERM: the first asks the operation to stop, the second ends the process at once, and its workers with it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use kiln_app::Stop;

use crate::args::Verb;
use crate::exit::INTERRUPTED;

static STOPPED: AtomicBool = AtomicBool::new(false);

/// How a verb is asked to stop. Until its operation looks at the flag, Ctrl-C ends the process as it always does.
pub(crate) fn stop(verb: &Verb) -> Stop {
    Stop::new(&STOPPED, if let Verb::Simulate(_) = verb { heed_simulating } else { heed_saving })
}

fn heed_saving() {
    heed("stopping after this step; what is done is saved (Ctrl-C again to end at once)");
}

fn heed_simulating() {
    heed("stopping: searches under way come to their end, nothing is written");
}

fn heed(words: &'static str) {
    static WATCHED: OnceLock<()> = OnceLock::new();
    WATCHED.get_or_init(|| {
        // Where it cannot be watched for, Ctrl-C ends the process as it always does.
        let _ = ctrlc::set_handler(move || {
            if STOPPED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(INTERRUPTED));
            }
            eprintln!("\n{words}");
        });
    });
}
