//! The recorded logs in other clothes: what a terminal, a paste, another build or another option makes of the same run. The cause
//! and its place stay the same.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use kiln_diagnose::{Diagnosis, Finding, Sources, Verdict, sanitizer};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sanitizer");

/// Every recorded text log: name and text.
fn logs() -> Vec<(String, String)> {
    let mut logs = Vec::new();
    for folder in ["h200", "planted"] {
        for entry in fs::read_dir(format!("{FOLDER}/{folder}")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".txt") && !name.contains(".native.") {
                let text = fs::read_to_string(format!("{FOLDER}/{folder}/{name}")).unwrap();
                logs.push((name, text));
            }
        }
    }
    logs.sort();
    assert!(logs.len() > 100);
    logs
}

fn diagnose(log: &str) -> Diagnosis {
    sanitizer::diagnose(&sanitizer::read(log), &Sources::none())
}

/// Cause, line, count.
type Core = (String, Option<u32>, u64);

/// What must not change.
fn core(diagnosis: &Diagnosis) -> (Verdict, Vec<Core>) {
    let finding = |finding: &Finding| (finding.cause.to_string(), finding.line, finding.count);
    (diagnosis.verdict, diagnosis.findings.iter().map(finding).collect())
}

fn same_after(change: impl Fn(&str) -> String) {
    for (name, log) in logs() {
        let changed = change(&log);
        assert_eq!(core(&diagnose(&changed)), core(&diagnose(&log)), "{name}\n{}", &changed[..changed.len().min(2000)]);
    }
}

fn each_line(log: &str, change: impl Fn(&str) -> String) -> String {
    log.lines().map(|line| change(line) + "\n").collect()
}

#[test]
fn terminals_and_pipes_change_nothing() {
    same_after(|log| log.replace('\n', "\r\n"));
    same_after(|log| each_line(log, |line| format!("\u{1b}[1;31m{line}\u{1b}[0m")));
    same_after(|log| each_line(log, |line| line.replacen("=========", "\u{1b}[33m=========\u{1b}[0m", 1)));
    same_after(|log| format!("\u{feff}{log}"));
}

/// mpirun, GitHub's runners and container logs write before each line.
#[test]
fn prefixes_change_nothing() {
    same_after(|log| each_line(log, |line| format!("[1,0]<stdout>: {line}")));
    same_after(|log| each_line(log, |line| format!("2026-11-17T07:25:01.1234567Z {line}")));
    same_after(|log| each_line(log, |line| format!("app-1  | {line}")));
}

/// Issues and chats lose indentation.
#[test]
fn pastes_change_nothing() {
    same_after(|log| {
        each_line(log, |line| match line.strip_prefix("=========") {
            Some(rest) => format!("========= {}", rest.trim()),
            None => line.into(),
        })
    });
    same_after(|log| each_line(log, |line| format!("    {line}")));
}

/// `--strip-paths no`.
#[test]
fn full_paths_change_nothing() {
    same_after(|log| {
        let with = |line: &str| match (line.starts_with("========="), line.rsplit_once(" in ")) {
            (true, Some((place, file))) if file.contains(".cu") => format!("{place} in /home/a user/src v2/{file}"),
            (true, Some((place, file))) if file.contains(".hpp") => {
                format!("{place} in /usr/local/cuda/targets/x86_64-linux/include/{file}")
            }
            _ => line.into(),
        };
        each_line(log, with)
    });
}

/// Runs of several tools in one file: what one found stands, whatever the others did not find.
#[test]
fn clean_runs_beside_it_change_nothing() {
    let clean = "========= COMPUTE-SANITIZER\nstep 1\n========= ERROR SUMMARY: 0 errors\n";
    for (name, log) in logs() {
        let expected = core(&diagnose(&log));
        if expected.0 == Verdict::NotRun {
            continue;
        }
        for joined in [format!("{clean}{log}"), format!("{log}{clean}")] {
            assert_eq!(core(&diagnose(&joined)), expected, "{name}");
        }
    }
}

/// Kernels are templates in namespaces.
#[test]
fn names_with_templates_are_read() {
    for (name, log) in logs() {
        let change = |line: &str| {
            let Some(at) = line.find(" at ").filter(|_| line.starts_with("=========     ")) else { return line.into() };
            match line[at..].contains("+0x")
                && !line.contains("__")
                && !line.contains("[clone")
                && !line.contains("atomic")
            {
                true => {
                    let (before, place) = line.split_at(at + 4);
                    format!("{before}void app::detail::{}", place.replacen('(', "<float, (int)128, app::Tag<2>>(", 1))
                }
                false => line.into(),
            }
        };
        let changed = each_line(&log, change);
        let (expected, found) = (diagnose(&log), diagnose(&changed));
        assert_eq!(core(&found), core(&expected), "{name}");
        for (a, b) in found.findings.iter().zip(&expected.findings) {
            let short = |finding: &Finding| finding.kernel.clone().unwrap_or_default().replace("app::detail::", "");
            assert_eq!(short(a), short(b), "{name}");
        }
    }
}

/// Built without -lineinfo: the kernel is known, the line is not.
#[test]
fn causes_do_not_need_lines() {
    for (name, log) in logs() {
        let change = |line: &str| match line.rsplit_once(" in ") {
            Some((place, file)) if line.contains("+0x") && file.contains(':') => {
                let hazards = file.find(" [").map_or("", |at| &file[at..]);
                format!("{place}{hazards}")
            }
            _ => line.into(),
        };
        let (expected, found) = (diagnose(&log), diagnose(&each_line(&log, change)));
        let causes = |diagnosis: &Diagnosis| -> Vec<String> {
            diagnosis.findings.iter().map(|finding| format!("{} {:?}", finding.cause, finding.kernel)).collect()
        };
        assert_eq!((found.verdict, causes(&found)), (expected.verdict, causes(&expected)), "{name}");
    }
}

/// The log of the same run with `--print-limit`: the first records, and the others counted.
fn limited(log: &str, limit: usize) -> Option<String> {
    let mut kept = String::new();
    let (mut records, mut inside) = (0, false);
    for line in log.lines() {
        let body = line.strip_prefix("=========").map(str::trim);
        let starts = body.is_some_and(|body| {
            let other = ["COMPUTE", "ERROR SUMMARY", "LEAK SUMMARY", "RACECHECK SUMMARY", "Target"];
            !inside && !body.is_empty() && !other.iter().any(|word| body.starts_with(word))
        });
        if starts {
            (records, inside) = (records + 1, true);
        }
        if !inside || records <= limit {
            kept.push_str(line);
            kept.push('\n');
        }
        inside &= body != Some("");
    }
    let summary = kept.lines().position(|line| line.contains("ERROR SUMMARY") && !line.contains("not printed"))?;
    let hidden: usize = kept
        .lines()
        .filter(|line| line.contains("not printed"))
        .find_map(|line| line.split(' ').nth(3)?.parse().ok())
        .unwrap_or(0);
    let hidden = hidden + records.checked_sub(limit).filter(|dropped| *dropped > 0)?;
    let mut lines: Vec<String> = kept.lines().filter(|line| !line.contains("not printed")).map(Into::into).collect();
    lines.insert(summary + 1, format!("========= ERROR SUMMARY: {hidden} errors were not printed. Use --print-limit option to adjust the number of printed errors"));
    Some(lines.join("\n"))
}

#[test]
fn a_print_limit_hides_no_cause() {
    for (name, log) in logs() {
        for limit in [1, 2, 3, 10, 33] {
            let Some(short) = limited(&log, limit) else { continue };
            let (expected, found) = (core(&diagnose(&log)), core(&diagnose(&short)));
            // Errors of calls that were not printed are counted as if they were in kernels.
            let close = |(a, b): (&Core, &Core)| (&a.0, a.1) == (&b.0, b.1) && a.2.abs_diff(b.2) <= 1;
            let same = found.1.len() == expected.1.len() && found.1.iter().zip(&expected.1).all(close);
            assert!(same && found.0 == expected.0, "{name}, {limit} printed: {found:?} instead of {expected:?}");
        }
    }
}
