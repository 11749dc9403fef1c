//! A record that is kept in memory, and can be cut as a crash would cut it.

use std::cell::RefCell;

use kiln_core::Fault;
use kiln_store::{Measurement, Note, Trial};
use kiln_study::Archive;

/// A record in memory.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) trials: RefCell<Vec<(Trial, Vec<Measurement>)>>,
    pub(crate) notes: RefCell<Vec<Note>>,
}

impl Memory {
    /// What it would be if the study had been killed after so many trials.
    pub(crate) fn cut(&self, trials: usize) -> Memory {
        let trials: Vec<_> = self.trials.borrow().iter().take(trials).cloned().collect();
        // Remarks are made as the study goes: the baseline's name before the first trial, ends when they come.
        let phases: Vec<&str> = trials.iter().map(|(trial, _)| trial.phase.as_str()).collect();
        let there = |note: &&Note| note.kind == "baseline" || phases.iter().any(|p| note.text.starts_with(p));
        let notes = self.notes.borrow().iter().filter(there).cloned().collect();
        Memory { trials: RefCell::new(trials), notes: RefCell::new(notes) }
    }

    pub(crate) fn len(&self) -> usize {
        self.trials.borrow().len()
    }
}

impl Archive for Memory {
    fn trials(&self, _study: &str) -> Result<Vec<Trial>, Fault> {
        Ok(self.trials.borrow().iter().map(|(trial, _)| trial.clone()).collect())
    }

    fn measurements(&self, _study: &str) -> Result<Vec<Measurement>, Fault> {
        Ok(self.trials.borrow().iter().flat_map(|(_, rows)| rows.clone()).collect())
    }

    fn notes(&self, _study: &str) -> Result<Vec<Note>, Fault> {
        Ok(self.notes.borrow().clone())
    }

    fn record(&self, _study: &str, trial: &Trial, measurements: &[Measurement]) -> Result<(), Fault> {
        let again = self.trials.borrow().iter().any(|(t, _)| (&t.phase, t.number) == (&trial.phase, trial.number));
        assert!(!again, "{} {} is recorded twice", trial.phase, trial.number);
        self.trials.borrow_mut().push((trial.clone(), measurements.to_vec()));
        Ok(())
    }

    fn note(&self, _study: &str, at_ms: i64, kind: &str, text: &str) -> Result<(), Fault> {
        self.notes.borrow_mut().push(Note { at_ms, kind: kind.into(), text: text.into() });
        Ok(())
    }
}
