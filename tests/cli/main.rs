//! The binary as a user runs it: real files, real processes, what is printed and the exit code.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bisect;
mod capture;
mod changes;
mod check;
mod ci;
mod claims;
mod colour;
mod compare;
mod compilers;
mod debug;
mod diagnose;
mod diagnose_more;
mod diagnose_ncu;
mod doctor;
mod errors;
mod events;
mod export;
mod export_implementations;
mod faults;
mod filled;
mod from;
mod fuzz;
mod fuzz_ends;
mod fuzz_scalars;
mod fuzz_shapes;
mod gate;
mod history;
mod init;
mod kernel_tuner;
mod learning;
mod lessons;
mod next;
mod parts;
mod planted;
mod profile;
mod profile_refused;
mod report;
mod reproduce;
mod review;
mod run;
mod sanitize;
mod schema;
mod simulate;
mod space;
mod store;
mod studies;
mod triton;
mod twice;
mod unseen;
mod variants;
mod whose;
mod words;
