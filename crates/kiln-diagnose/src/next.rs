//! What to do next. In: [`Evidence`] (what is known of a kernel: its environment, refusals, results, profiles, searches, commits)
//! and [`Thresholds`]. Out: one [`Advice`] with the way that led to it, and three checklists filled in. The tree is data, in
//! `next/tree.toml`; nothing here decides. What is not known is told as such, and is never taken for true.

mod advice;
mod checklist;
mod evidence;
mod fact;
mod fill;
mod thresholds;
mod tree;
mod walk;

pub use advice::{Advice, Step};
pub use checklist::{Item, ItemState, checklists};
pub use evidence::{
    Evidence, FixTried, GitState, KernelAt, LastFault, LastResult, LastSearch, Look, OpenRefusal, ProfileNow,
    RefusalKind, SessionNow,
};
pub use fact::{Datum, FACTS, Facts};
pub use kiln_core::quoted;
pub use thresholds::{Threshold, Thresholds};
pub use tree::{ItemNode, Leaf, Question, Tree, tree};
pub use walk::{Answer, advise, answer};

#[cfg(test)]
mod tests;
