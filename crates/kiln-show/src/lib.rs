//! Events and results to text. In: what `kiln-app` gives. Out: text for a terminal, readable without colour, or JSON. Nothing
//! here measures or decides.

mod event;
mod picture;
mod progress;
mod results;
#[cfg(test)]
mod sample;
mod studies;
mod words;

pub use event::{event_line, remark};
pub use picture::{ProfilePictures, SweepPictures};
pub use progress::Progress;
pub use results::begun::BegunView;
pub use results::bench::BenchView;
pub use results::bisect::BisectView;
pub use results::calibration::CalibrationView;
pub use results::check::CheckView;
pub use results::ci::CiView;
pub use results::claims::ClaimsView;
pub use results::compare::CompareView;
pub use results::compared_profiles::ComparedProfilesView;
pub use results::debug::DebugView;
pub use results::diagnosed_profile::DiagnosedProfileView;
pub use results::diagnosis::DiagnosisView;
pub use results::doctor::DoctorView;
pub use results::everywhere::EverywhereView;
pub use results::explain::{explanation, explanations};
pub use results::export::ExportView;
pub use results::figure::ConvergenceFigure;
pub use results::forge::{BuiltView, ForgeView};
pub use results::fuzz::FuzzView;
pub use results::gate::GateView;
pub use results::importance::ImportanceView;
pub use results::ladder::LadderView;
pub use results::lessons::{LessonView, LessonsView};
pub use results::predicted::PredictedView;
pub use results::profile::ProfileView;
pub use results::reproduce::ReproduceView;
pub use results::run::RunView;
pub use results::sanitize::SanitizeView;
pub use results::simulate::SimulateView;
pub use results::space::SpaceView;
pub use results::standing::StandingView;
pub use results::sweep::SweepView;
pub use results::variants::{VariantRow, VariantsView};
pub use studies::changes::{ChangesView, FileChangesView, LastGoodView};
pub use studies::history::HistoryView;
pub use studies::past::Past;
pub use studies::study::{StudyView, repeat};
pub use studies::summary::SummaryView;
pub use words::colour::{Colour, painted};
pub use words::command::{Command, quoted};
pub use words::lesson::{lesson_line, taught, with_lesson};
pub use words::number::{grouped, json_count, size};
pub use words::refusal::refusal;
pub use words::visible::visible;
