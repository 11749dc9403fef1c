//! Where a study's record is kept: in a store, or in whatever plays one.

use kiln_core::Fault;
use kiln_store::{Measurement, Note, Store, Trial};

/// Trials, samples and remarks of studies, written and read back.
pub trait Archive {
    /// All finished trials of a study.
    fn trials(&self, study: &str) -> Result<Vec<Trial>, Fault>;
    /// All samples of a study.
    fn measurements(&self, study: &str) -> Result<Vec<Measurement>, Fault>;
    /// All remarks of a study.
    fn notes(&self, study: &str) -> Result<Vec<Note>, Fault>;
    /// Keeps a trial with its samples, both or neither.
    fn record(&self, study: &str, trial: &Trial, measurements: &[Measurement]) -> Result<(), Fault>;
    /// Keeps a remark.
    fn note(&self, study: &str, at_ms: i64, kind: &str, text: &str) -> Result<(), Fault>;
}

impl Archive for Store {
    fn trials(&self, study: &str) -> Result<Vec<Trial>, Fault> {
        Store::trials(self, study)
    }

    fn measurements(&self, study: &str) -> Result<Vec<Measurement>, Fault> {
        Store::measurements(self, study)
    }

    fn notes(&self, study: &str) -> Result<Vec<Note>, Fault> {
        Store::notes(self, study)
    }

    fn record(&self, study: &str, trial: &Trial, measurements: &[Measurement]) -> Result<(), Fault> {
        Store::record(self, study, trial, measurements)
    }

    fn note(&self, study: &str, at_ms: i64, kind: &str, text: &str) -> Result<(), Fault> {
        Store::note(self, study, at_ms, kind, text)
    }
}
