//! The abilities, one file each. In: a project, a request, for long ones a listener. Out: a typed result.

mod bench;
mod bisect;
mod cache;
mod capture;
mod case;
mod check;
mod ci;
mod claims;
mod compare;
mod debug;
mod diagnose;
mod explain;
mod export;
mod forge;
mod from;
mod fuzz;
mod gate;
mod given;
mod history;
mod importance;
mod init;
mod launch;
mod lessons;
mod look;
mod look_kernel;
mod look_studies;
mod next;
mod profile;
mod report;
mod reproduce;
mod review;
mod sanitize;
pub(crate) mod session;
mod show;
mod simulate;
mod space;
mod studies;
mod suppose;
mod sweep;
mod t4;
mod tune;
mod versions;
mod watch;
mod worker;

pub use bench::{Baselined, BenchRequest, Benched, baselines, bench};
pub use bisect::{BisectOutcome, BisectRequest, BisectUntil, Bisected, JudgedCommit, Slowdown, bisect};
pub use cache::{CacheHolds, cache};
pub use capture::{CaptureRequest, capture};
pub use check::{CheckRequest, Checked, check};
pub use ci::{CiAgainst, CiKernel, CiRequest, CiState, CiStep, CiVerdict, CiWorkload, Guarded, ci};
pub use claims::{CheckedClaim, ClaimVerdict, Claimed, ClaimsRequest, claims};
pub use compare::{CompareRequest, CompareVerdict, Compared, ComparedWorkload, compare, compare_stored};
pub use debug::{DebugRequest, Debugged, DebuggedBecause, FailedAssertion, debug};
pub use diagnose::calibration::{CalibratedCause, Calibration, calibration};
pub use diagnose::comparison::{ComparedProfiles, ProfileCompareRequest, compare_profiles};
pub use diagnose::pictures::write_pictures;
pub use diagnose::prediction::{PredictRequest, Predicted, PredictedWorkload, predict_kernel};
pub use diagnose::profile::{DiagnosedProfile, ProfileDiagnoseRequest, diagnose_profile, diagnose_profile_of};
pub use diagnose::{DiagnoseRequest, diagnose, diagnose_of};
pub use explain::{Explained, explain, explained};
pub use export::{ExportRequest, Exported, ExportedBinary, export};
pub use forge::{ForgeRequest, Forgings, forge};
pub use from::{Begun, Compiled, FromRequest, OpenQuestion, init_from};
pub use fuzz::{FuzzFailure, FuzzRequest, Fuzzed, KeptNow, KeptResult, VALIDATED, fuzz};
pub use gate::{GateRequest, Gated, GatedEverywhere, Way, gate, gate_everywhere};
pub use history::{
    Changes, ChangesRequest, FileChange, FileChanges, FileSeriesChanges, History, HistoryFilter, HistoryRequest,
    LastGood, Series, SeriesChange, SeriesKey, SeriesPoint, changes, history, last_good, series_changes,
};
pub use importance::{Important, importance};
pub use init::init;
pub use launch::{Launch, LaunchNow, StudyStop, launch_study, launched, stop_study};
pub use lessons::{
    AddLessonRequest, AddedLesson, ExportedLessons, GainCalibration, GainSpreads, ImportedLesson, Lessons,
    PhaseDuration, add_lesson, export_lessons, gain_calibration, import_lessons, lesson_count, lessons, retire_lesson,
    show_lesson,
};
pub use look::filter::{TRIALS_A_PAGE, TrialFilter, TrialOrder};
pub use look::{
    Against, CHALLENGER, Duel, FasterCandidate, Grain, Improvement, KernelSince, LookDepth, PairedWorkload, RivalKind,
    StudyLook, Succession, WhyNot, interval_of, kernel_since, look, winners, workloads_together,
};
pub use look_kernel::{KernelLook, MetLesson, TunedEntry, look_kernel, look_named_kernel};
pub use look_studies::{STUDIES_A_PAGE, StudiesFilter, StudiesLook, StudiesOrder, StudyRow, look_studies};
pub use next::{NextRequest, NextStep, next};
pub use profile::{FoundLimit, ProfileLevel, ProfileRequest, Profiled, profile};
pub use report::{ReportFormat, Reported, figures_folder, reported, write_picture, write_report};
pub use reproduce::{Difference, ReproduceRequest, Reproduced, reproduce};
pub use review::{
    AddedRemarks, NewRemark, Review, ReviewedStudy, WrittenReview, add_note, add_remark, add_remarks, file_remarks,
    remarks_about, review, write_review,
};
pub use sanitize::{SanitizeRequest, Sanitized, SanitizerRun, ToolOutcome, sanitize};
pub use session::{
    DecideRequest, RetireRequest, SessionDefaults, StartSessionRequest, any_session, decide, end_session, past_session,
    past_sessions, retire, retired_kernel, session_defaults, session_status, start_session,
};
pub use show::{Shown, Story, show};
pub use simulate::{
    Convergence, SimulateRequest, Simulated, SimulatedFigures, SimulatedSearch, SimulatedSpace, simulate,
};
pub use space::{SpaceRequest, Spaced, space};
pub use studies::{Deletable, Labelled, deletable, delete, rename, retag};
pub use suppose::{Supposed, suppose, supposed};
pub use sweep::{Crossover, MOST_CELLS, SweepCount, SweepEnd, SweepExtreme, SweepRequest, SweepStory, Swept, sweep};
pub use t4::export_t4;
pub use tune::{TuneRequest, Tuned, tune, variants};
pub use watch::{Changed, Watch, study_stamp};
pub use worker::{WorkerKind, worker};
