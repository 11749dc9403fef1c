//! How a launch stands. In: the events it wrote, its result, whether its process is there. Out: study, phase, counts, and once it is
//! over how it ended. A line that is not whole yet is left for the next look.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use serde_json::Value;

use super::Launch;

/// What was launched, by whom, as it was typed.
pub(super) const ABOUT: &str = "launch.json";
/// Its events.
pub(super) const EVENTS: &str = "events.jsonl";
/// What it printed: the object of `kiln tune --json`, or its errors.
pub(super) const RESULT: &str = "result.json";
/// What it said beside that.
pub(super) const LOG: &str = "log.txt";

/// How a launch stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LaunchNow {
    /// The study's id, once it is recorded.
    pub study: Option<String>,
    /// The phase it is in, or was in last.
    pub phase: Option<String>,
    /// Steps of that phase at most.
    pub planned: u64,
    /// Steps of that phase that are done.
    pub done: u64,
    /// Configurations that were tried.
    pub tried: u64,
    /// Those that were refused.
    pub refused: u64,
    /// The shortest time so far, in milliseconds.
    pub best_ms: Option<f64>,
    /// The last remark.
    pub note: Option<String>,
    /// Whether its process is gone.
    pub over: bool,
    /// How it ended, once it has said so.
    pub ending: Option<String>,
    /// What it printed: the object of `kiln tune --json`, or its errors.
    pub result: Option<Value>,
}

impl Launch {
    /// How it stands.
    pub fn now(&self) -> LaunchNow {
        let mut now = LaunchNow::default();
        self.catch_up(&mut now, &mut 0);
        now
    }

    /// Reads on from where it was read to: what waits for an end shares the machine with what is measured.
    pub(super) fn catch_up(&self, now: &mut LaunchNow, read: &mut u64) {
        // Asked first: what it wrote before its end is then there to be read.
        now.over = !self.is_running();
        let new = File::open(self.folder.join(EVENTS)).and_then(|mut file| {
            file.seek(SeekFrom::Start(*read))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_| bytes)
        });
        for line in new.unwrap_or_default().split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
        {
            *read += line.len() as u64;
            serde_json::from_slice(line).iter().for_each(|event| now.hear(event));
        }
        if now.over {
            let printed = std::fs::read_to_string(self.folder.join(RESULT)).ok();
            now.result = printed.and_then(|text| serde_json::from_str(&text).ok());
        }
    }

    /// The study's id, once it is recorded.
    pub(super) fn study(&self) -> Option<String> {
        self.now().study
    }

    /// What it said on standard error, without what controls a terminal.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.folder.join(LOG)).unwrap_or_default()
    }

    /// Whether the process is there and is this launch's: numbers of processes are used again.
    pub(super) fn is_running(&self) -> bool {
        let place = format!("/proc/{}", self.about.process);
        let Ok(line) = std::fs::read(format!("{place}/cmdline")) else { return false };
        if !line.is_empty() {
            return String::from_utf8_lossy(&line).contains(self.id.as_str());
        }
        // One that has only just begun has no command line yet; one that is over and not asked about has no program any more.
        std::fs::read_link(format!("{place}/exe")).is_ok()
    }
}

impl LaunchNow {
    fn hear(&mut self, event: &Value) {
        let text = |key: &str| event[key].as_str().map(String::from);
        let number = |key: &str| event[key].as_u64().unwrap_or_default();
        self.study = self.study.take().or_else(|| text("study"));
        match event["event"].as_str() {
            Some("phase") => (self.phase, self.planned, self.done) = (text("phase"), number("planned"), 0),
            Some("step") => (self.done, self.planned) = (number("done"), number("planned")),
            Some("trial") => {
                (self.tried, self.done) = (self.tried + 1, self.done + 1);
                self.refused += u64::from(event["state"] == "refused");
                let cost = event["cost_ms"].as_f64();
                self.best_ms = self.best_ms.into_iter().chain(cost).reduce(f64::min);
            }
            Some("note") => self.note = text("text"),
            Some("end") => self.ending = text("ending"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_tell_the_study_its_phase_and_the_best_so_far() {
        let mut now = LaunchNow::default();
        let heard = [
            json!({ "event": "note", "text": "hm", "study": null }),
            json!({ "event": "study", "study": "abc" }),
            json!({ "event": "phase", "phase": "seed", "planned": 20, "study": "abc" }),
            json!({ "event": "trial", "state": "passed", "cost_ms": 2.0, "study": "abc" }),
            json!({ "event": "trial", "state": "refused", "cost_ms": null, "study": "abc" }),
            json!({ "event": "trial", "state": "passed", "cost_ms": 3.0, "study": "abc" }),
            json!({ "event": "end", "ending": "done", "study": "abc" }),
        ];
        heard.iter().for_each(|event| now.hear(event));
        assert_eq!(
            (now.study.as_deref(), now.phase.as_deref(), now.ending.as_deref()),
            (Some("abc"), Some("seed"), Some("done"))
        );
        assert_eq!((now.tried, now.refused, now.done, now.planned, now.best_ms), (3, 1, 3, 20, Some(2.0)));
    }
}
