//! What is known of a kernel. In: whatever somebody gathered. Out: [`Facts`] under the names that the tree uses. Plain data: nothing here
//! looks anything up.

mod facts;

/// Something that may be there, not be there, or not be known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Look<T> {
    /// Nobody looked, or nobody can.
    #[default]
    Unknown,
    /// It is known not to be there.
    Nothing,
    /// It is there.
    Found(T),
}

impl<T> Look<T> {
    /// What was found where somebody looked.
    pub fn of(found: Option<T>) -> Look<T> {
        found.map_or(Look::Nothing, Look::Found)
    }
}

/// A kernel and what its file says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KernelAt {
    /// Its name.
    pub name: String,
    /// Its folder or file, as it is typed.
    pub path: String,
    /// Its folder.
    pub folder: String,
    /// The target that was worked on last.
    pub target: Option<String>,
    /// The variant that was worked on last.
    pub variant: Option<String>,
    /// Whether the file names a baseline; none where it cannot be read.
    pub has_baseline: Option<bool>,
    /// Whether the file names a reference.
    pub has_reference: Option<bool>,
    /// The smallest workload that is tuned for.
    pub smallest_workload: Option<String>,
    /// Whether a ratchet guards it.
    pub guarded: Option<bool>,
}

/// What kind of gate refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// A rule of the file or a limit of the device.
    Rule,
    /// The compiler.
    Build,
    /// A crash, a hang, a bad address.
    Fault,
    /// A wrong result.
    Wrong,
    /// A result that cannot be believed.
    Unbelievable,
}

impl RefusalKind {
    /// The kind of a gate.
    pub fn of(gate: kiln_core::Gate) -> RefusalKind {
        use kiln_core::Gate;
        match gate {
            Gate::Constraint | Gate::SmemOverflow | Gate::LaunchLimits | Gate::OomRisk | Gate::Occupancy => {
                RefusalKind::Rule
            }
            Gate::BuildFailed | Gate::BuildTimeout | Gate::Spills => RefusalKind::Build,
            Gate::LaunchFailed
            | Gate::RuntimeFailed
            | Gate::Timeout
            | Gate::HostOom
            | Gate::WorkerProtocol
            | Gate::OutOfBounds
            | Gate::ForbiddenCall => RefusalKind::Fault,
            Gate::UnwrittenOutput | Gate::InputModified | Gate::Nonfinite | Gate::Numerics | Gate::Nondeterministic => {
                RefusalKind::Wrong
            }
            Gate::BelowRoofline | Gate::WrongKernel => RefusalKind::Unbelievable,
        }
    }

    /// Whether nothing ran yet.
    pub fn is_of_the_build(self) -> bool {
        matches!(self, RefusalKind::Rule | RefusalKind::Build)
    }

    fn name(self) -> &'static str {
        match self {
            RefusalKind::Rule => "rule",
            RefusalKind::Build => "build",
            RefusalKind::Fault => "fault",
            RefusalKind::Wrong => "wrong",
            RefusalKind::Unbelievable => "unbelievable",
        }
    }
}

/// A refusal that nothing has passed since.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRefusal {
    /// The gate's name.
    pub gate: String,
    /// What kind it is.
    pub kind: RefusalKind,
    /// What was measured.
    pub words: String,
    /// The configuration; none for the default.
    pub config: Option<String>,
    /// How many in a row were of the same cause, where attempts are logged.
    pub alike: Option<u64>,
    /// The cause that sanitizers name.
    pub cause: Option<String>,
    /// The smallest failing case.
    pub case: Option<String>,
}

/// A command that failed before it could judge the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastFault {
    /// What was typed: `bench`.
    pub verb: String,
    /// What kept it from judging.
    pub words: String,
}

/// The newest result against a baseline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LastResult {
    /// Baseline over kernel, on the slowest workload.
    pub speedup: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// The workload.
    pub workload: Option<String>,
    /// The baseline.
    pub baseline: String,
    /// The configuration; none for the winner of a study.
    pub config: Option<String>,
    /// The study, where it is one's result.
    pub study: Option<String>,
    /// Whether its figure is the study's own, and not that of a later benchmark of the same code.
    pub of_study: bool,
    /// Whether it is too noisy for a verdict.
    pub noisy: bool,
    /// Whether that is because its calls are too short, and not because the times scatter.
    pub too_short: bool,
    /// Another workload, which was not measured.
    pub other_workload: Look<String>,
}

/// The newest profile of what was measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProfileNow {
    /// What limits it, also where nothing can be done about it.
    pub limit: Option<String>,
    /// The cause to remove next and the speedup that promises; none at the roofline and where no rule applies.
    pub cause: Option<(String, f64)>,
    /// What to change, in words.
    pub fix: Option<String>,
}

/// A change that was measured after a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct FixTried {
    /// The cause it was for, where a profile named one, and the speedup that its removal promised.
    pub cause: Option<(String, f64)>,
    /// The workload on which that is.
    pub workload: String,
    /// The speedup that was measured.
    pub gain: f64,
    /// Seconds of a call before.
    pub before_s: f64,
    /// The configuration before.
    pub before: String,
    /// The command that brings the state before it back; none where that is not known exactly.
    pub revert: Option<String>,
    /// Whether that command stashes edits that were never committed.
    pub stashes: bool,
    /// The next cause of the profile that was not tried yet, and its promise.
    pub other: Option<(String, f64)>,
}

/// What searches came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LastSearch {
    /// A study that is running.
    pub running: Option<String>,
    /// A study that did not end and is the newest thing recorded.
    pub unfinished: Option<String>,
    /// Whether a study of this source ended.
    pub tuned: bool,
    /// Whether it reached its target.
    pub confirmed: bool,
    /// What it confirmed, in words.
    pub confirmation: Option<String>,
    /// Its target.
    pub target: Option<f64>,
    /// Seconds that the last study took.
    pub seconds: Option<f64>,
}

/// What git says of the kernel's folder.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GitState {
    /// Files that are not committed: how many, in words.
    pub uncommitted: Look<String>,
    /// Commits that are not pushed.
    pub unpushed: Look<String>,
    /// The newest commit that is recorded as good.
    pub last_good: Option<String>,
    /// Whether only what is not committed differs from that commit.
    pub broken_here: Option<bool>,
}

/// The session that is open.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionNow {
    /// Goal and budget, in words.
    pub goal: Option<String>,
    /// The best speedup in it and what it is over, in words.
    pub best: Option<(f64, String)>,
    /// Why it should end, in words: a stop rule, or a choice.
    pub stop_rule: Option<String>,
    /// Whether nothing is left to decide before it ends.
    pub settled: Option<bool>,
}

/// Everything that is known.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evidence {
    /// The kernel; none where there is none.
    pub kernel: Option<KernelAt>,
    /// Why it was retired.
    pub retired: Look<String>,
    /// The open session.
    pub session: Look<SessionNow>,
    /// The decision that was written last, in the open session or in the last one.
    pub decided: Look<String>,
    /// What is broken on this machine, and what helps.
    pub environment_fault: Look<(String, Option<String>)>,
    /// Whether the doctor passed this machine.
    pub examined: Option<bool>,
    /// Whether anything is recorded of the kernel.
    pub recorded: bool,
    /// The command that failed last, where the newest did.
    pub fault: Option<LastFault>,
    /// The refusal that is open.
    pub refusal: Option<OpenRefusal>,
    /// Whether the kernel as it is now was found correct.
    pub correct: Option<bool>,
    /// The newest result.
    pub result: Option<LastResult>,
    /// Whether a baseline was measured here.
    pub baseline_measured: Option<bool>,
    /// Whether sources changed after the newest result.
    pub edited: Option<bool>,
    /// Whether nobody checked that change.
    pub unchecked: Option<bool>,
    /// Several variables that were changed at once, in words.
    pub several_changed: Look<String>,
    /// Changes that were made blind, in words.
    pub blind_changes: Look<String>,
    /// The profile of what was measured, as it is now.
    pub profile: Option<ProfileNow>,
    /// The fix that was measured last.
    pub fix: Option<FixTried>,
    /// What searches came to.
    pub search: LastSearch,
    /// Whether the configuration is validated.
    pub validated: Option<bool>,
    /// What git says.
    pub git: GitState,
    /// Attempts that are logged, in words.
    pub logged: Look<String>,
    /// Whether the GPU is known to be stopped, or not to have been used; with words.
    pub gpu: (Option<bool>, Option<String>),
    /// Seconds that the last benchmark took.
    pub bench_seconds: Option<f64>,
}
