//! Records to text. In: results of the other crates. Out: text for a terminal, readable without colour, or JSON. Nothing
//! here measures or decides.

mod bench;
mod check;
mod doctor;
mod finding;
mod forge;
mod gate;
mod history;
mod ladder;
mod number;
mod outcome;
mod past;
mod progress;
mod refusal;
#[cfg(test)]
mod sample;
mod space;
mod study;
mod summary;
mod table;
mod time;

pub use bench::BenchView;
pub use check::CheckView;
pub use doctor::DoctorView;
pub use finding::{Finding, Health};
pub use forge::{BuiltView, ForgeView};
pub use gate::GateView;
pub use history::HistoryView;
pub use ladder::LadderView;
pub use number::{grouped, json_count, size};
pub use past::Past;
pub use progress::Progress;
pub use refusal::refusal;
pub use space::SpaceView;
pub use study::StudyView;
pub use summary::SummaryView;
