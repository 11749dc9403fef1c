//! Who tells the listener: every event gets its moment and, once one has begun, its study. The operation says it and goes on;
//! it never waits for a screen.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kiln_core::Report;
use kiln_session::SessionPhase;
use kiln_store::PhaseId;

use crate::ending::Ends;
use crate::event::{Event, What};
use crate::failure::Failure;

/// Who is told. It may be called from several threads.
pub type Listener<'a> = &'a (dyn Fn(&Event) + Sync);

/// One operation's voice.
pub(crate) struct Teller<'a> {
    listener: Listener<'a>,
    study: OnceLock<Arc<str>>,
    seen: Mutex<Seen>,
}

/// What a study's first look found.
#[derive(Debug, Clone)]
pub(crate) struct FirstLook {
    pub(crate) baseline: String,
    pub(crate) workload: String,
    pub(crate) ratio: f64,
}

/// What is remembered of events, for the record of the attempt.
#[derive(Default)]
struct Seen {
    /// When each phase began; an empty name for none.
    phases: Vec<(String, i64)>,
    first_look: Option<FirstLook>,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(listener: Listener<'a>) -> Teller<'a> {
        Teller { listener, study: OnceLock::new(), seen: Mutex::default() }
    }

    /// From here on everything belongs to this study.
    pub(crate) fn belongs_to(&self, study: &str) {
        self.study.get_or_init(|| study.into());
    }

    pub(crate) fn tell(&self, what: What) {
        let at_ms = jiff::Timestamp::now().as_millisecond();
        self.remember(at_ms, &what);
        let event = Event { at_ms, study: self.study.get().cloned(), what };
        (self.listener)(&event);
    }

    fn remember(&self, at_ms: i64, what: &What) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match what {
            What::Phase { phase, .. } => seen.phases.push((phase.clone(), at_ms)),
            What::PhaseEnd => seen.phases.push((String::new(), at_ms)),
            What::FirstLook { baseline, workload, ratio } => {
                let (baseline, workload) = (baseline.clone(), workload.clone());
                seen.first_look = Some(FirstLook { baseline, workload, ratio: *ratio });
            }
            _ => {}
        }
    }

    /// Seconds by the phase of the work that a study's phases are; what is going on counts up to now.
    pub(crate) fn parts(&self) -> BTreeMap<String, f64> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = jiff::Timestamp::now().as_millisecond();
        let ends = seen.phases.iter().skip(1).map(|(_, at_ms)| *at_ms).chain([now]);
        let mut parts = BTreeMap::new();
        for ((phase, began), ended) in seen.phases.iter().zip(ends) {
            let phase = match PhaseId::parse(phase).name {
                "" => continue,
                "baseline" => SessionPhase::Baseline,
                "confirm" => SessionPhase::Confirm,
                _ => SessionPhase::Tune,
            };
            *parts.entry(phase.name().to_string()).or_insert(0.0) += (ended - began).max(0) as f64 / 1e3;
        }
        parts
    }

    /// A study's first look.
    pub(crate) fn first_look(&self) -> Option<FirstLook> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).first_look.clone()
    }

    /// Passes on what the study or the apparatus says.
    pub(crate) fn pass_on(&self, event: &kiln_study::Event<'_>) {
        self.tell(event.into());
    }

    pub(crate) fn note(&self, text: impl Into<String>) {
        self.tell(What::Note { text: text.into() });
    }

    pub(crate) fn warn(&self, reports: &[Report]) {
        reports.iter().for_each(|report| self.tell(What::Warning { report: report.clone() }));
    }

    /// Tells how it ended, and hands the result on.
    pub(crate) fn end<T: Ends>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        match &result {
            Ok(value) => self.end_with(value),
            Err(failure) => self.end_with(failure),
        }
        result
    }

    /// Tells how it ended.
    pub(crate) fn end_with(&self, how: &impl Ends) {
        self.tell(What::End { ending: how.ending(), reason: how.reason() });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::ending::Ending;

    #[test]
    fn events_belong_to_the_study_once_it_has_begun_and_the_end_says_how() {
        let heard = Mutex::new(Vec::new());
        let listener = |event: &Event| heard.lock().unwrap().push(event.clone());
        let teller = Teller::new(&listener);
        teller.note("before");
        teller.belongs_to("abc");
        teller.note("after");
        let failed: Result<Failure, Failure> = teller.end(Err(Report::error("--config: no").into()));
        assert!(failed.is_err());
        let heard = heard.into_inner().unwrap();
        let studies: Vec<Option<&str>> = heard.iter().map(|event| event.study.as_deref()).collect();
        assert_eq!(studies, [None, Some("abc"), Some("abc")]);
        let end = What::End { ending: Ending::BadInput, reason: Some("--config: no".into()) };
        assert_eq!(heard[2].what, end);
        assert!(heard.is_sorted_by_key(|event| event.at_ms));
    }
}
