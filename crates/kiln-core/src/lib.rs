//! The nouns every kiln crate shares. In: nothing. Out: plain data types that carry no behaviour beyond parsing,
//! printing and comparing themselves. Nothing here knows a kernel file, a compiler or a device.

mod config;
mod fault;
mod gate;
mod kernel_name;
mod nearest;
mod number;
mod outcome;
mod report;
mod samples;
mod shell;
mod value;
mod workload;

pub use config::{Config, ConfigError, IMPLEMENTATION};
pub use fault::Fault;
pub use gate::Gate;
pub use kernel_name::{is_kernel, kernel_list, kernel_matches, readable_kernel};
pub use nearest::nearest;
pub use number::{counted, grouped, size};
pub use outcome::{Outcome, Refusal};
pub use report::{Place, Report, Severity, Span};
pub use samples::{CANDIDATE, DeviceState, MeasuredSide, MeasuredWorkload};
pub use shell::{pasted, quoted};
pub use value::Value;
pub use workload::{Use, Workload};
