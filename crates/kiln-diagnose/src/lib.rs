//! From the output of tools to causes. In: logs of compute-sanitizer (text or XML), reports of a compiler's sanitizers (address,
//! undefined behaviour, leak, thread, memory), and the sources they speak of. Out: a [`Diagnosis`]: findings, each with a
//! [`Cause`] from one closed list, the place, the facts that support it, an explanation and a fix; and a [`Verdict`].
//! Refuses nothing: a log that is cut, mixed with other output or from a newer tool is read as far as it goes, and what is
//! missing makes the verdict weaker, never stronger. Tools that find nothing never make a program correct.
//!
//! Everything here is text in, values out: no files, no processes.

pub mod asan;
mod cause;
pub mod coarse;
mod decode;
mod documented;
mod fact;
mod finding;
mod inconclusive;
pub mod lessons;
mod lines;
mod listed;
pub mod model;
pub mod next;
pub mod prediction;
pub mod profile;
pub mod sanitizer;
mod source;

pub use cause::Cause;
pub use decode::decoded;
pub use fact::Facts;
pub use finding::{Diagnosis, Finding, Tool, Verdict};
pub use inconclusive::{Reason, inconclusive};
pub use source::{Sources, source_names};
