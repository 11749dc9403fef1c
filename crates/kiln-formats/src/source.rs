//! A user's kernel, read to begin a kernel.toml. In: the text of a C, C++ or CUDA source, or what [`READER`] says of a Python file.
//! Out: a [`Found`]: the signature, what may be tuned, how it is launched, and what only the author knows as questions; and the
//! kernel.toml it makes. Refuses a text without a kernel, or whose signature it cannot read; never guesses silently.

mod body;
mod c_file;
mod c_types;
mod conditional;
mod declared;
mod describe;
mod found;
mod guess;
mod launch;
mod lex;
mod python;
mod shapes;
mod text;
mod tuner;
mod write;

pub use c_file::{CFile, CFunction, chosen, read_c};
pub use describe::{CKernel, describe_c, signature};
pub use found::{Found, FoundArgument, FoundTarget, FoundTunable};
pub use python::{PythonFile, named, read_python};
pub use tuner::TunerCall;
pub use write::{QUESTION, call_py, kernel_toml, launch_py, questions};

#[cfg(test)]
mod tests;

/// The program for a Python interpreter that reads a Python file from its standard input and prints what [`read_python`] reads.
pub const READER: &str = concat!(
    include_str!("source/reader/values.py"),
    include_str!("source/reader/evaluate.py"),
    include_str!("source/reader/kernels.py")
);
