//! kernel.toml to a checked [`KernelSpec`] with spans. In: a file's name and bytes. Out: the spec and warnings, or every
//! error found in one go, each with its line, a caret, what was expected and a hint.

mod changes;
mod configuration;
mod implementations;
mod merge;
mod model;
mod names;
mod parse;
mod reading;
mod required;
mod schema;
mod select;
mod tables;

pub use changes::changed_tables;
pub use model::*;
pub use names::bindings::Bindings;
pub use names::constants::Constants;
pub use names::resolver::Resolver;
pub use parse::parse;
pub use reading::file::{LARGEST_FILE, too_large};
pub use required::instance;
pub use schema::schema;
pub use select::{Choice, Selection};
pub use tables::environment::{Part, Requirement, VersionRange};
pub use tables::export::Export;
pub use tables::fuzz::{DimRoom, Fuzz, FuzzSuite, SuiteDim};
pub use tables::reference::BUILTINS;
pub use tables::sweep::{MOST_SWEPT, Sweep, sweep_dim};
pub use tables::tuned::{Tuned, TunedTable, read_tuned};
