//! Everything kiln can do, for whoever asks: the command line today, a page and assistants later. In: a [`Project`] (the
//! folder `.kiln`, the store, the build cache, a way to be stopped), and a request with typed arguments. Out: a typed
//! result, and on the way [`Event`]s for whoever listens. Nothing here prints, parses arguments or ends the process.
//!
//! One operation for each ability: [`space`], [`gate`], [`tune`], [`forge`] (build only), [`check`], [`fuzz`], [`bench`], [`sweep`], [`baselines`], [`compare`], [`bisect`], [`sanitize`], [`profile`], [`debug`], [`ci`], [`claims`], [`reproduce`], [`diagnose`],
//! [`history`], [`look`], [`look_kernel`], [`look_studies`], [`rename`], [`retag`], [`delete`], [`show`], [`explain`], [`importance`], [`export`], [`export_t4`], [`simulate`], [`doctor`], [`init`], [`init_from`], [`schema`], [`cache`], [`capture`], [`lessons`], [`next`], [`review`], [`Watch`], and [`worker`], the, [`launch_study`], [`stop_study`],
//! process that candidates run in. A mistake in what was asked for is [`Failure::Input`]; a fault of the environment is
//! [`Failure::Fault`]. That a candidate was refused is a result, not a failure: see [`Ending`].

mod attempt;
mod doctor;
mod ending;
mod event;
mod failure;
mod kernel;
mod lessons;
mod operation;
mod place;
mod project;
mod record;
mod repository;
mod seed;
mod teller;

pub use attempt::environment;
pub use doctor::{Examined, Finding, Health, doctor};
pub use ending::{Ending, Ends};
pub use event::{Count, EVENT_VERSION, Event, What};
pub use failure::Failure;
pub use kernel::{KernelFile, Measuring, Selecting};
pub use lessons::{SHARED as LESSONS_VARIABLE, Shelf, Symptomatic, Taught, lesson, lesson_for};
pub use operation::{
    AddLessonRequest, AddedLesson, AddedRemarks, Against, Baselined, Begun, BenchRequest, Benched, BisectOutcome,
    BisectRequest, BisectUntil, Bisected, CHALLENGER, CacheHolds, CalibratedCause, Calibration, CaptureRequest,
    Changed, Changes, ChangesRequest, CheckRequest, Checked, CheckedClaim, CiAgainst, CiKernel, CiRequest, CiState,
    CiStep, CiVerdict, CiWorkload, ClaimVerdict, Claimed, ClaimsRequest, CompareRequest, CompareVerdict, Compared,
    ComparedProfiles, ComparedWorkload, Compiled, Convergence, Crossover, DebugRequest, Debugged, DebuggedBecause,
    DecideRequest, Deletable, DiagnoseRequest, DiagnosedProfile, Difference, Duel, Explained, ExportRequest, Exported,
    ExportedBinary, ExportedLessons, FailedAssertion, FasterCandidate, FileChange, FileChanges, FileSeriesChanges,
    ForgeRequest, Forgings, FoundLimit, FromRequest, FuzzFailure, FuzzRequest, Fuzzed, GainCalibration, GainSpreads,
    GateRequest, Gated, GatedEverywhere, Grain, Guarded, History, HistoryFilter, HistoryRequest, Important,
    ImportedLesson, Improvement, JudgedCommit, KeptNow, KeptResult, KernelLook, KernelSince, Labelled, LastGood,
    Launch, LaunchNow, Lessons, LookDepth, MOST_CELLS, MetLesson, NewRemark, NextRequest, NextStep, OpenQuestion,
    PairedWorkload, PhaseDuration, PredictRequest, Predicted, PredictedWorkload, ProfileCompareRequest,
    ProfileDiagnoseRequest, ProfileLevel, ProfileRequest, Profiled, ReportFormat, Reported, ReproduceRequest,
    Reproduced, RetireRequest, Review, ReviewedStudy, RivalKind, STUDIES_A_PAGE, SanitizeRequest, Sanitized,
    SanitizerRun, Series, SeriesChange, SeriesKey, SeriesPoint, SessionDefaults, Shown, SimulateRequest, Simulated,
    SimulatedFigures, SimulatedSearch, SimulatedSpace, Slowdown, SpaceRequest, Spaced, StartSessionRequest, Story,
    StudiesFilter, StudiesLook, StudiesOrder, StudyLook, StudyRow, StudyStop, Succession, Supposed, SweepCount,
    SweepEnd, SweepExtreme, SweepRequest, SweepStory, Swept, TRIALS_A_PAGE, ToolOutcome, TrialFilter, TrialOrder,
    TuneRequest, Tuned, TunedEntry, VALIDATED, Watch, Way, WhyNot, WorkerKind, WrittenReview, add_lesson, add_note,
    add_remark, add_remarks, any_session, baselines, bench, bisect, cache, calibration, capture, changes, check, ci,
    claims, compare, compare_profiles, compare_stored, debug, decide, deletable, delete, diagnose, diagnose_of,
    diagnose_profile, diagnose_profile_of, end_session, explain, explained, export, export_lessons, export_t4,
    figures_folder, file_remarks, forge, fuzz, gain_calibration, gate, gate_everywhere, history, import_lessons,
    importance, init, init_from, interval_of, kernel_since, last_good, launch_study, launched, lesson_count, lessons,
    look, look_kernel, look_named_kernel, look_studies, next, past_session, past_sessions, predict_kernel, profile,
    remarks_about, rename, reported, reproduce, retag, retire, retire_lesson, retired_kernel, review, sanitize,
    series_changes, session_defaults, session_status, show, show_lesson, simulate, space, start_session, stop_study,
    study_stamp, suppose, supposed, sweep, tune, variants, winners, worker, workloads_together, write_picture,
    write_pictures, write_report, write_review,
};
pub use place::writable;
pub use project::{Project, Stop, program_name};
pub use record::profiles::{AppliedFix, FixKind, PromiseVerdict};
pub use record::{StudyNow, configurations_tried};
pub use repository::Commit;
pub use teller::Listener;

pub use camino::{Utf8Path, Utf8PathBuf};
pub use kiln_core::{Fault, Outcome, Report};
pub use kiln_diagnose::coarse::{CoarseCause, CoarseDiagnosis, HotLoop};
pub use kiln_diagnose::lessons::{
    Kept as KeptLesson, Lesson, Origin as LessonOrigin, Pattern as LessonPattern, Range as LessonRange, Symptoms,
    Words as LessonWords, write as lesson_file,
};
pub use kiln_diagnose::model::{
    Asked as AskedGain, Duration as ExpectedDuration, Expected as ExpectedGain, GainModel, LeftOut as LeftOutGains,
};
pub use kiln_diagnose::next::{
    Advice, Answer, Item as ChecklistItem, ItemState as ChecklistState, Leaf as TreeAdvice, Question as TreeQuestion,
    Step as TreeStep, Tree as DecisionTree, tree as decision_tree,
};
pub use kiln_diagnose::profile::hot::Blamed as HotLine;
pub use kiln_diagnose::profile::{
    Applied as AppliedRule, Changed as ChangedCause, Comparison as ProfileComparison, Difference as MetricDifference,
    Position as RoofPosition, ProfileDiagnosis, Stall as WarpStall, at_roofline,
};
pub use kiln_diagnose::{Cause as DiagnosedCause, Diagnosis, Finding as DiagnosedFinding, Verdict as DiagnosisVerdict};
pub use kiln_formats::{Claim, ClaimedFigure, RemarkAbout, RunFile, remark_keys, write_remarks};
pub use kiln_run::{Pad, prefault};
pub use kiln_search::LEAST_TIMED;
pub use kiln_session::{
    AttemptOutcome, Attempted, Best, Budgeted, Cost as SessionCost, Decision, DecisionKind, DecisionOption, Hypothesis,
    Judged as JudgedTarget, LessonCount, PhaseTime, Session, SessionPhase, SessionReport, SessionRow, SessionState,
    StopRule, StopWarning, budgeted,
};
pub use kiln_spec::schema;
pub use kiln_stats::Thresholds;
pub use kiln_store::{Remark, RemarkSubject};
pub use kiln_study::{Summary, TuneVerdict, write_whole};
