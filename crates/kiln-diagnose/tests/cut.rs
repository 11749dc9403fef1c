//! Every recorded log, cut at every line and at many bytes. What is left gives the whole log's findings or some of them, with facts
//! that the whole log has, or is inconclusive: never clean where the whole log is not, never a cause that the whole log does not
//! have, and never a fact that it contradicts.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use kiln_diagnose::{Cause, Diagnosis, Finding, Sources, Verdict, asan, sanitizer};
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sanitizer");
/// Bytes at which a log is cut beside its lines.
const CUTS: usize = 25;
/// Facts that add up over records: less of a log has less of them, or none.
const SUMS: [&str; 20] = [
    "threads",
    "blocks",
    "printed",
    "hazards",
    "bytes_outside",
    "bytes_read",
    "address_range_bytes",
    "allocations",
    "leaked_bytes",
    "leaked_after_abort",
    "leaked_bytes_after_abort",
    "farthest_byte_past_end",
    "bytes_before_start",
    "addresses",
    "bytes_off_alignment",
    "writes_at",
    "reads_at",
    "allocated_in",
    "first_threads",
    "runs_without_end",
];
/// Facts that need many records: with few of them there is another pattern, or none.
const PATTERNS: [&str; 7] = [
    "thread_step_bytes",
    "stride_bytes",
    "threads_per_row",
    "rows_in_allocation",
    "row_bytes_off_alignment",
    "aligned_stride_bytes",
    "bytes_past_end",
];

struct Log {
    name: String,
    text: String,
    sources: Sources,
    of_compiler: bool,
}

impl Log {
    fn diagnose(&self, text: &str) -> Diagnosis {
        match self.of_compiler {
            true => asan::diagnose(&asan::read(text), &self.sources),
            false => sanitizer::diagnose(&sanitizer::read(text), &self.sources),
        }
    }
}

fn logs(folder: &str) -> Vec<Log> {
    let read = |file: &Path| String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
    let mut files: Vec<PathBuf> =
        fs::read_dir(format!("{FOLDER}/{folder}")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let is_log = |file: &PathBuf| {
        let name = file.to_string_lossy();
        (name.ends_with(".txt") || name.ends_with(".xml")) && !name.contains(".native.")
    };
    let logs = files.into_iter().filter(is_log).map(|file| {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let program = name.split('.').next().unwrap().trim_end_matches("_planted").trim_end_matches("_fixed");
        let mut sources = Sources::none();
        for source in [format!("h200/{program}.cu"), format!("programs/{program}.cu"), format!("cpu/{program}.c")] {
            if let Ok(text) = fs::read_to_string(format!("{FOLDER}/{source}")) {
                sources = sources.with(source, text);
            }
        }
        Log { text: read(&file), sources, of_compiler: folder == "cpu", name }
    });
    logs.collect()
}

/// Where a log is cut: after every line, before the end of some, and at bytes in between. In the middle of a long log records repeat
/// themselves, and some of the lines will do.
fn cuts(text: &str) -> Vec<usize> {
    let middle = |at: usize| at > 5000 && at + 2500 < text.len();
    let ends =
        || text.match_indices('\n').map(|(at, _)| at).enumerate().filter(move |(n, at)| !middle(*at) || n % 7 == 0);
    let ends = || ends().map(|(_, at)| at);
    let step = (text.len() / CUTS).max(1);
    let near = |from: usize| from..(from + 40).min(text.len());
    let bytes = (0..text.len()).step_by(step).chain(near(0)).chain(near(text.len().saturating_sub(40)));
    let all = ends().map(|at| at + 1).chain(ends().step_by(3)).chain(bytes);
    let mut cuts: Vec<usize> = all.filter(|at| *at < text.len() && text.is_char_boundary(*at)).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// What a finding of a part says that the whole log does not.
fn contradicted(found: &Finding, whole: &Diagnosis) -> Option<String> {
    // Both of a compiler's sanitizers may see one access; the whole log names it once, by the one that knows more.
    let also = |known: &&Finding| {
        known.line == found.line
            && known.facts.text("undefined_behaviour").is_some_and(|said| found.facts.text("message") == Some(said))
    };
    if whole.findings.iter().any(|known| also(&known)) {
        return None;
    }
    let same = |known: &&Finding| (known.cause, known.line, &known.file) == (found.cause, found.line, &found.file);
    let Some(known) = whole.findings.iter().find(same) else {
        return Some(format!("{} at {:?}:{:?}", found.cause, found.file, found.line));
    };
    if found.kernel.is_some() && found.kernel != known.kernel {
        return Some(format!("kernel {:?}", found.kernel));
    }
    if found.count > known.count {
        return Some(format!("count {}", found.count));
    }
    let wrong = found.facts.iter().find(|(name, value)| match known.facts.get(name) {
        Some(expected) if SUMS.contains(name) => !is_part(value, expected),
        Some(expected) => *value != expected && !PATTERNS.contains(name),
        None => !SUMS.contains(name) && !PATTERNS.contains(name),
    });
    wrong.map(|(name, value)| format!("{name} {value}"))
}

fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Number(part), Value::Number(whole)) => part.as_u64() <= whole.as_u64(),
        (Value::Array(part), Value::Array(whole)) => part.iter().all(|item| whole.contains(item)),
        (part, whole) => part == whole,
    }
}

fn wrong_in(folder: &str) -> Vec<String> {
    let all = logs(folder);
    let parts = all.chunks(all.len().div_ceil(2));
    std::thread::scope(|scope| {
        let running: Vec<_> = parts.map(|logs| scope.spawn(move || wrong_of(logs))).collect();
        running.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

fn wrong_of(logs: &[Log]) -> Vec<String> {
    let mut wrong = Vec::new();
    for log in logs {
        let whole = log.diagnose(&log.text);
        for cut in cuts(&log.text) {
            let part = &log.text[..cut];
            let found = log.diagnose(part);
            let mut say = |what: String| wrong.push(format!("{} at {cut} of {}: {what}", log.name, log.text.len()));
            let fitting = match found.verdict {
                Verdict::Clean => whole.verdict == Verdict::Clean,
                Verdict::NotRun => whole.verdict == Verdict::NotRun || !is_signed(log, part),
                Verdict::Inconclusive | Verdict::BugsFound => true,
            };
            if !fitting {
                say(format!("{:?} instead of {:?}", found.verdict, whole.verdict));
            }
            let inconclusive = found.verdict == Verdict::Inconclusive;
            let reasons = found.findings.iter().filter(|finding| finding.facts.text("reason").is_some()).count();
            if reasons != usize::from(inconclusive) || inconclusive && found.findings.len() != 1 {
                say(format!("{reasons} reasons for {:?}", found.verdict));
            }
            // The header alone may be a hang.
            let hang = |finding: &Finding| is_header(part) && finding.facts.get("hangs").is_some();
            let known = |finding: &&Finding| finding.cause != Cause::Inconclusive && !hang(finding);
            found.findings.iter().filter(known).filter_map(|finding| contradicted(finding, &whole)).for_each(say);
        }
    }
    wrong
}

fn is_header(part: &str) -> bool {
    part.trim_end() == "========= COMPUTE-SANITIZER"
}

/// Whether anything in it is a tool's.
fn is_signed(log: &Log, part: &str) -> bool {
    match log.of_compiler {
        true => asan::read(part).is_signed(),
        false => !sanitizer::read(part).runs.is_empty(),
    }
}

fn check(folder: &str) {
    fail_on(&wrong_in(folder));
}

fn fail_on(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}

#[test]
fn logs_of_a_processor() {
    for log in logs("cpu").iter().filter(|log| !log.name.starts_with("clean")) {
        // Without a sign of a sanitizer there is nothing to diagnose; every other part is not clean.
        for cut in cuts(&log.text) {
            let read = asan::read(&log.text[..cut]);
            let verdict = asan::diagnose(&read, &log.sources).verdict;
            assert!(verdict != Verdict::Clean || !read.is_signed(), "{} at {cut}", log.name);
        }
    }
    let wrong: Vec<String> = wrong_in("cpu").into_iter().filter(|wrong| !wrong.contains("Clean instead")).collect();
    fail_on(&wrong);
}

#[test]
fn logs_of_a_gpu() {
    check("h200");
}

#[test]
fn logs_of_planted_programs() {
    check("planted");
}
