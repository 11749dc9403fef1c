//! A library's machine code. In: the library. Out: its functions, as objdump shows them; or why they cannot be had: another kind of processor, or
//! no objdump.

use std::process::Command;
use std::time::Duration;

use camino::Utf8Path;
use kiln_diagnose::coarse::{Function, functions};

use crate::doctor::{ask_program, find_program};

const PROGRAM: &str = "objdump";
const PATIENCE: Duration = Duration::from_secs(20);

/// The functions of a library.
pub(super) fn disassembled(library: &Utf8Path) -> Result<Vec<Function>, String> {
    if !cfg!(target_arch = "x86_64") {
        return Err("machine code is read on x86-64 alone: the diagnosis rests on the measured time".into());
    }
    let missing = "objdump was not found, so the machine code was not looked at: install binutils";
    let path = find_program(PROGRAM).ok_or(missing)?;
    let mut command = Command::new(path);
    command.args(["-d", "--no-show-raw-insn", "-M", "intel", library.as_str()]).env("LC_ALL", "C");
    let text = ask_program(command, PATIENCE).map_err(|why| format!("objdump cannot read the library: {why}"))?;
    Ok(functions(&text))
}

/// Bits of the widest vectors that this processor computes with.
pub(super) fn vector_bits() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            return 512;
        }
        if std::arch::is_x86_feature_detected!("avx") {
            return 256;
        }
    }
    128
}
