//! What a bisection knows so far, in a file of `.kiln`. In: what was found of each commit. Out: the same after a crash or Ctrl-C:
//! the bisection is asked again, and what is known is not looked for twice. A file of another version, or one that cannot be
//! read, is passed over.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use kiln_core::Refusal;
use kiln_study::write_whole;
use serde::{Deserialize, Serialize};

use super::evidence::Slowdown;
use crate::failure::Failure;
use crate::project::Project;

/// The version of the file.
const VERSION: u32 = 1;

/// What one look at a commit found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "found", rename_all = "snake_case")]
pub(super) enum Found {
    /// It passed.
    Passed {
        /// In words.
        words: String,
    },
    /// A gate refused it.
    Refused {
        /// By what.
        refusal: Refusal,
        /// On which workload, where there was one.
        workload: String,
    },
    /// It was measured in turns with another commit.
    Measured {
        /// What the other holds, as in [`State::holds`].
        against: String,
        /// On each workload.
        workloads: Vec<Slowdown>,
    },
    /// It cannot be judged.
    Unjudged {
        /// Why.
        why: String,
    },
}

/// What is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    version: u32,
    /// What each commit holds of the kernel: commits that hold the same are the same to it.
    pub(super) holds: BTreeMap<String, String>,
    /// What was found, by what they hold, in the order found.
    pub(super) found: BTreeMap<String, Vec<Found>>,
    /// Commits that were really looked at, in order.
    pub(super) evaluated: Vec<String>,
    /// Seconds spent before this process.
    pub(super) seconds: f64,
    #[serde(skip)]
    file: Utf8PathBuf,
}

impl State {
    /// What is known of a question; nothing where it is asked for the first time, or anew.
    pub(super) fn of(project: &Project, question: &str, anew: bool) -> State {
        let name = &blake3::hash(question.as_bytes()).to_hex()[..16];
        let file = project.folder().join("bisect").join(format!("{name}.json"));
        let read = || -> Option<State> { serde_json::from_slice(&fs_err::read(&file).ok()?).ok() };
        let known = if anew { None } else { read().filter(|state| state.version == VERSION) };
        let nothing = State {
            version: VERSION,
            holds: BTreeMap::new(),
            found: BTreeMap::new(),
            evaluated: Vec::new(),
            seconds: 0.0,
            file: Utf8PathBuf::new(),
        };
        State { file, ..known.unwrap_or(nothing) }
    }

    /// What was found of a commit so far.
    pub(super) fn of_commit(&self, commit: &str) -> &[Found] {
        let held = self.holds.get(commit);
        held.and_then(|held| self.found.get(held)).map_or(&[], Vec::as_slice)
    }

    /// Adds what was found of a commit, and writes it down.
    pub(super) fn add(&mut self, commit: &str, found: Found, seconds: f64) -> Result<(), Failure> {
        let held = self.holds.entry(commit.into()).or_insert_with(|| commit.into()).clone();
        self.found.entry(held).or_default().push(found);
        if !self.evaluated.iter().any(|known| known == commit) {
            self.evaluated.push(commit.into());
        }
        State { seconds: self.seconds + seconds, ..self.clone() }.write()
    }

    fn write(&self) -> Result<(), Failure> {
        if let Some(folder) = self.file.parent() {
            fs_err::create_dir_all(folder)?;
        }
        let text = serde_json::to_string_pretty(self).map_err(|e| kiln_core::Fault::new("saving the bisection", e))?;
        Ok(write_whole(&self.file, text.as_bytes())?)
    }

    /// The question is answered.
    pub(super) fn done(&self) {
        // One that stays is a question answered at once the next time.
        let _ = fs_err::remove_file(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Stop;

    #[test]
    fn what_is_found_is_known_to_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let place = Utf8PathBuf::from_path_buf(folder.path().into()).unwrap();
        let project = Project::here(None, Stop::never()).in_folder(&place);
        let mut state = State::of(&project, "a question", false);
        state.holds.insert("c1".into(), "tree".into());
        state.holds.insert("c2".into(), "tree".into());
        state.add("c1", Found::Unjudged { why: "no".into() }, 2.5).unwrap();
        let again = State::of(&project, "a question", false);
        assert_eq!((again.of_commit("c2").len(), again.seconds), (1, 2.5));
        assert_eq!((again.of_commit("c3").len(), again.evaluated.as_slice()), (0, &["c1".to_string()][..]));
        assert_eq!(State::of(&project, "another", false).evaluated.len(), 0);
        assert_eq!(State::of(&project, "a question", true).evaluated.len(), 0);
        // A file that cannot be read is none.
        fs_err::write(&again.file, "{").unwrap();
        assert_eq!(State::of(&project, "a question", false).evaluated.len(), 0);
        again.done();
        assert!(!again.file.exists());
    }
}
