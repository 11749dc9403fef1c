//! The tools, in one list: name, arguments, what they answer with, what they do to the world. In: a call. Out: an answer.

use std::sync::atomic::AtomicBool;

use kiln_app::{Ending, Failure, KernelFile, Listener, Measuring, Project, Selecting};
use serde_json::Value;

use super::answer::Answer;
use super::arguments::{Argument, Given, Kind, LARGEST, may, must};
use super::tools;

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It looks, and writes nothing.
    Looks,
    /// It runs the kernel, and records what came of it in the project's folder.
    Runs,
    /// It ends something that is going on.
    Stops,
}

/// One tool.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// What it does, what its answer means, and what may be claimed by it.
    pub(super) about: &'static str,
    pub(super) arguments: &'static [&'static [Argument]],
    /// Sections of docs/json.md: its result is one of their objects.
    pub(super) answers: &'static [&'static str],
    /// Another form its result may have.
    pub(super) own: Option<fn() -> Value>,
    pub(super) effect: Effect,
    /// Whether calling it twice is the same as calling it once.
    pub(super) repeatable: bool,
    /// Minutes that it may hold the project's lock, with these arguments; none where it measures nothing.
    pub(super) measures: fn(&Given) -> Option<f64>,
    pub(super) run: fn(&Call<'_>) -> Result<Answer, Failure>,
}

/// A call on its way.
pub(super) struct Call<'a> {
    pub(super) given: Given,
    pub(super) project: &'a Project,
    pub(super) listener: Listener<'a>,
    /// Takes a line of progress; it is no remark on the result.
    pub(super) tell: &'a (dyn Fn(String) + Sync),
    /// How kiln is called so that it finds the same store.
    pub(super) kiln: &'a str,
    /// Whether the client has given up.
    pub(super) cancelled: &'a AtomicBool,
}

/// Every tool, in the order a client sees them.
pub(super) static ALL: &[&Tool] = &[
    &tools::next::NEXT,
    &tools::describe::DESCRIBE,
    &tools::doctor::DOCTOR,
    &tools::gate::GATE,
    &tools::check::CHECK,
    &tools::check::FUZZ,
    &tools::sanitize::SANITIZE,
    &tools::bench::BENCH,
    &tools::bench::COMPARE,
    &tools::bench::CLAIMS,
    &tools::profile::PROFILE,
    &tools::profile::DIAGNOSE,
    &tools::tune::START,
    &tools::tune::STATUS,
    &tools::tune::STOP,
    &tools::records::HISTORY,
    &tools::records::SHOW,
    &tools::lessons::SEARCH,
    &tools::lessons::SHOW,
];

/// What is selected of a kernel.
pub(super) const SELECTING: &[Argument] = &[
    may(
        "path",
        Kind::File,
        "the kernel's folder or its kernel.toml, from the project's folder; default: the project's folder",
    ),
    may("target", Kind::Text(40), "cuda, cpu or python; default: the file's first that can run here"),
    may("arch", Kind::Text(40), "GPU architecture, such as sm_80 or sm_90a; default: this machine's GPU"),
    may("workload", Kind::Text(200), "one workload of the file; default: all"),
    may("variant", Kind::Text(200), "dtype of a type variable, such as T=bf16; default: the first of each"),
    may("implementation", Kind::Text(200), "one of the target's implementations; default: all"),
    may("device", Kind::Text(200), "GPU: its index or UUID; default: 0"),
];

/// Which configuration.
pub(super) const CONFIG: &[Argument] =
    &[may("config", Kind::Text(4000), "values as NAME=VALUE,...; tunables left out take their default")];

/// Whose configuration.
pub(super) const STUDY: &[Argument] =
    &[may("study", Kind::Text(200), "use the winner of this study instead of config: an id, a name, or `last`")];

/// What is drawn at random.
pub(super) const SEED: &[Argument] =
    &[may("seed", Kind::Whole(0, LARGEST, None), "seed of everything random; default: a new one, which is reported")];

/// How long it may take.
pub(super) const BOUNDED: &[Argument] = &[
    may(
        "minutes",
        Kind::Real(0.1, 120.0, Some(10.0)),
        "it is stopped after so many minutes; what is done by then is reported",
    ),
    may("build_limit_s", Kind::Real(1.0, 600.0, Some(120.0)), "a build that takes longer is refused"),
];

/// Samples on each side.
pub(super) const SAMPLES: Argument = may("samples", Kind::Whole(25, 2000, Some(100)), "samples on each side");

/// How times are taken.
pub(super) const MEASURING: &[Argument] = &[
    SAMPLES,
    may(
        "cache",
        Kind::OneOf(&["default", "cold", "warm"]),
        "caches before every sample; default: cold on a GPU, warm on a processor",
    ),
    may("threads", Kind::Whole(1, 1024, Some(1)), "threads a kernel may use, the same on both sides"),
];

/// A study that is meant.
pub(super) const NAMED: &[Argument] = &[must(
    "study",
    Kind::Text(200),
    "an id or a piece of its end, a name, `last`, a kernel's name for its newest study; or the launch that tune_start gave",
)];

impl Call<'_> {
    /// What is selected.
    pub(super) fn selecting(&self) -> Selecting {
        let given = &self.given;
        Selecting {
            path: given.path("path").unwrap_or_else(|| ".".into()),
            target: given.text("target"),
            arch: given.text("arch"),
            workload: given.text("workload"),
            variant: given.text("variant"),
            implementation: given.text("implementation"),
            device: given.text("device"),
        }
    }

    /// How times are taken.
    pub(super) fn measuring(&self) -> Measuring {
        let given = &self.given;
        let cache = given.words("cache");
        Measuring {
            samples: given.whole("samples").unwrap_or(kiln_show::Command::SAMPLES),
            cold: cache == "cold",
            warm: cache == "warm",
            threads: given.whole("threads").unwrap_or(1),
            pin: true,
            seed: self.given.whole("seed"),
        }
    }

    /// The kernel's file.
    pub(super) fn file(&self) -> Result<KernelFile, Failure> {
        KernelFile::read_heard(&self.selecting().path, self.listener)
    }
}

impl Answer {
    /// An answer that judges something.
    pub(super) fn judged(ending: Ending, result: Value, evidence: super::evidence::Evidence) -> Answer {
        Answer { ending, result, evidence: Some(evidence.json()) }
    }

    /// An answer that judges nothing.
    pub(super) fn found(result: Value) -> Answer {
        Answer { ending: Ending::Done, result, evidence: None }
    }
}

/// Nothing is measured.
pub(super) fn never(_: &Given) -> Option<f64> {
    None
}

/// Something is measured, whatever is asked.
pub(super) fn always(given: &Given) -> Option<f64> {
    given.real("minutes")
}
