//! kernel.toml to a checked [`KernelSpec`] with spans. In: a file's name and bytes. Out: the spec and warnings, or every
//! error found in one go, each with its line, a caret, what was expected and a hint.

mod argument;
mod argument_type;
mod callable;
mod check;
mod configuration;
mod coverage;
mod default;
mod draft;
mod dtype;
mod environment;
mod file;
mod filling;
mod formula;
mod item;
mod kernel;
mod launch;
mod layer;
mod log;
mod merge;
mod model;
mod namespace;
mod naming;
mod order;
mod parse;
mod reference;
mod required;
mod section;
mod select;
mod settings;
mod sites;
mod syntax;
mod target;
mod tensormap;
mod tunable;
mod tuned;
mod usage;
mod workload;

pub use environment::{Part, Requirement, VersionRange};
pub use file::{LARGEST_FILE, too_large};
pub use model::*;
pub use parse::parse;
pub use reference::BUILTINS;
pub use required::instance;
pub use select::{Choice, Selection};
pub use tuned::{Tuned, TunedTable, read_tuned};
