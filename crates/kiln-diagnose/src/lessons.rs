//! What was learned from failures, found again when they happen. In: lesson files (TOML) and the [`Symptoms`] of something
//! that went wrong. Out: the lessons that fit, the most specific first. Refuses a lesson file with mistakes, each with its
//! line and what was expected. Pure: files are somebody else's to read.

mod finding;
mod habit;
mod lesson;
mod library;
mod matching;
mod parse;
mod pattern;
mod shipped;
mod symptoms;
mod write;

pub use finding::FINDINGS;
pub use habit::Habit;
pub use lesson::{Lesson, is_id};
pub use library::{Kept, Library, Origin};
pub use matching::{Match, USEFUL, matching};
pub use parse::parse;
pub use pattern::{Pattern, Range, Words};
pub use shipped::shipped;
pub use symptoms::Symptoms;
pub use write::write;
