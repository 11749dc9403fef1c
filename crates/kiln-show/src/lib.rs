//! Events and results to text. In: what `kiln-app` gives. Out: text for a terminal, readable without colour, or JSON. Nothing
//! here measures or decides.

mod bench;
mod check;
mod colour;
mod command;
mod doctor;
mod event;
mod explain;
mod figure;
mod forge;
mod gate;
mod history;
mod importance;
mod kernels;
mod ladder;
mod number;
mod outcome;
mod past;
mod progress;
mod refusal;
mod run;
#[cfg(test)]
mod sample;
mod scrutiny;
mod simulate;
mod space;
mod standing;
mod study;
mod summary;
mod table;
mod time;
mod warnings;

pub use bench::BenchView;
pub use check::CheckView;
pub use colour::{Colour, painted};
pub use command::{Command, quoted};
pub use doctor::DoctorView;
pub use event::{event_line, remark};
pub use explain::{explanation, explanations};
pub use figure::ConvergenceFigure;
pub use forge::{BuiltView, ForgeView};
pub use gate::GateView;
pub use history::HistoryView;
pub use importance::ImportanceView;
pub use ladder::LadderView;
pub use number::{grouped, json_count, size};
pub use past::Past;
pub use progress::Progress;
pub use refusal::refusal;
pub use run::RunView;
pub use simulate::SimulateView;
pub use space::SpaceView;
pub use standing::StandingView;
pub use study::{StudyView, repeat};
pub use summary::SummaryView;
