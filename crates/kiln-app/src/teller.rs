//! Who tells the listener: every event gets its moment and, once one has begun, its study. The operation says it and goes on;
//! it never waits for a screen.

use std::sync::{Arc, OnceLock};

use kiln_core::Report;

use crate::ending::Ends;
use crate::event::{Event, What};
use crate::failure::Failure;

/// Who is told. It may be called from several threads.
pub type Listener<'a> = &'a (dyn Fn(&Event) + Sync);

/// One operation's voice.
pub(crate) struct Teller<'a> {
    listener: Listener<'a>,
    study: OnceLock<Arc<str>>,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(listener: Listener<'a>) -> Teller<'a> {
        Teller { listener, study: OnceLock::new() }
    }

    /// From here on everything belongs to this study.
    pub(crate) fn belongs_to(&self, study: &str) {
        self.study.get_or_init(|| study.into());
    }

    pub(crate) fn tell(&self, what: What) {
        let event = Event { at_ms: jiff::Timestamp::now().as_millisecond(), study: self.study.get().cloned(), what };
        (self.listener)(&event);
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
