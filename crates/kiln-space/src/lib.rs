//! The constrained configuration space. In: tunables with their values, constants, derived values and rules. Out: a
//! [`Space`] that knows exactly how many configurations keep every rule, and can index, find, sample and walk them
//! without ever listing them.
//!
//! How it is done. Every rule is split at its `and`s into clauses. Tunables that share clauses form a group; groups are
//! independent, so the space is their product and only groups are ever built. Within a group the tunables are bound one
//! after another, and two partial assignments are the *same* when everything the remaining clauses need of them is equal:
//! of `A * B * C <= 1024`, once A and B are bound, only the product matters. Each group becomes a layered graph of such
//! states, whose paths are its valid assignments; counts of paths give the index of every configuration.

mod building;
mod choosing;
mod error;
mod from_spec;
mod listed;
mod part;
mod problem;
mod rules;
mod space;

pub use choosing::draw::{below, shuffle};
pub use choosing::neighbour::Step;
pub use error::SpaceError;
pub use problem::{Alternative, Dimension, Problem, Rule};
pub use rules::judge::Judgement;
pub use rules::removal::{PROJECTION_LIMIT, Removal, removals};
pub use rules::warn::warnings;
pub use space::{Point, Space};
