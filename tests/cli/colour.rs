//! Colour: none without a terminal, some when it is asked for, and never in what is for machines.

use std::process::Command;

use crate::run::{kiln, root};

const ESCAPE: char = '\x1b';
const GATE: &str = "gate fixtures/attention_original --arch sm_80 --static \
                    --config BLOCK_M=64,BLOCK_N=64,BLOCK_K=32,NUM_WARPS=4,STAGES=2,UNROLL=1,CP_ASYNC=1,SWIZZLE=1,HALF2=0";

#[test]
fn without_a_terminal_there_are_no_escape_codes() {
    for line in [GATE, "space kernels/softmax", "explain", "history nothing_of_this_name", "gate nowhere"] {
        let ran = kiln(line);
        assert!(!ran.out.contains(ESCAPE) && !ran.err.contains(ESCAPE), "{line}: {:?}{:?}", ran.out, ran.err);
    }
}

#[test]
fn colour_comes_when_it_is_asked_for_and_changes_no_word() {
    let (plain, coloured) = (kiln(GATE), kiln(&format!("{GATE} --color always")));
    assert_eq!(plain.code, coloured.code);
    assert!(coloured.out.contains("\x1b[1m") && coloured.out.contains("\x1b[31mrefuses\x1b[0m"), "{}", coloured.out);
    let mut words = coloured.out.clone();
    for code in ["\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m"] {
        words = words.replace(code, "");
    }
    assert_eq!(words, plain.out);
    let failed = kiln("--color always gate nowhere");
    assert!(failed.err.starts_with("\x1b[31merror\x1b[0m: nowhere does not exist"), "{:?}", failed.err);
}

#[test]
fn the_environment_decides_where_no_flag_does() {
    let run = |variables: &[(&str, &str)], more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
        command.args(GATE.split_whitespace()).args(more).current_dir(root()).envs(variables.iter().copied());
        String::from_utf8(command.output().unwrap().stdout).unwrap().contains(ESCAPE)
    };
    assert!(run(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(!run(&[("CLICOLOR_FORCE", "1")], &["--color", "never"]));
    assert!(!run(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[]));
    assert!(run(&[("NO_COLOR", "1")], &["--color", "always"]));
}

#[test]
fn what_is_for_machines_has_no_colour() {
    for line in [&format!("{GATE} --json"), "space kernels/softmax --list", "completions bash", "man"] {
        let ran = kiln(&format!("--color always {line}"));
        // A man page has escapes of its own, which begin otherwise.
        assert!(!ran.out.is_empty() && !ran.out.contains("\x1b["), "{line}");
    }
}
