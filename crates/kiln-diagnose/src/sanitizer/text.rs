//! Text logs. In: everything that was printed, the tool's lines (`========= ...`) and the program's. Out: runs with their
//! records. A header begins a run; without one, the first line of the tool does. A record begins with a line that names
//! what happened, and goes on until an empty line or the next such line. Indentation is not needed: pasted logs lose it. A log may
//! end anywhere, also within a line: half a line is not read, and half a record does not count.

mod detail;
mod head;

use super::{Record, Run, SanitizerLog, Severity, What};
use crate::Tool;
use crate::lines::{lines, without_colours};

pub(super) use head::head;

/// Reads a text log.
pub(super) fn read(log: &str) -> SanitizerLog {
    let mut reader = Reader::default();
    let plain = without_colours(log);
    for line in lines(&plain) {
        match split(line.text) {
            Some((before, body)) => {
                if !before.trim().is_empty() {
                    reader.output(before);
                }
                match line.cut {
                    true => reader.cut_line(body),
                    false => reader.tool_line(body),
                }
            }
            None if line.cut => reader.cut_output(line.text),
            None => reader.output(line.text),
        }
    }
    reader.finish()
}

/// The program's part of a line, and the tool's after exactly nine equal signs.
fn split(line: &str) -> Option<(&str, &str)> {
    const MARK: &str = "=========";
    let at = line.find(MARK)?;
    let after = &line[at + MARK.len()..];
    let is_rule = after.starts_with('=');
    (!is_rule && (after.is_empty() || after.starts_with([' ', '\t', '\r']))).then_some((&line[..at], after))
}

#[derive(Default)]
struct Reader {
    log: SanitizerLog,
    /// The record that details belong to.
    open: Option<Record>,
    /// A tool named before its header, in a command line or a file's name.
    announced: Option<Tool>,
}

impl Reader {
    fn output(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        // `==> kernel.racecheck.txt <==`, `$ compute-sanitizer --tool racecheck ./kernel`
        if line.starts_with("==> ") || line.contains("--tool") || line.contains("compute-sanitizer ") {
            self.announced = Tool::named_in(line).or(self.announced);
            return;
        }
        self.log.program.line(line);
        if let Some(run) = self.log.runs.last_mut() {
            run.output_lines += 1;
        }
    }

    fn run(&mut self) -> &mut Run {
        if self.log.runs.is_empty() {
            self.begin();
        }
        let last = self.log.runs.len() - 1;
        &mut self.log.runs[last]
    }

    fn begin(&mut self) {
        self.close();
        let tool = self.announced.take().unwrap_or(Tool::ComputeSanitizer);
        self.log.runs.push(Run::new(tool));
    }

    fn close(&mut self) {
        if let Some(record) = self.open.take() {
            let tool = tool_of(&record.what);
            let run = self.run();
            if run.tool == Tool::ComputeSanitizer {
                run.tool = tool.unwrap_or(run.tool);
            }
            run.records.push(record);
        }
    }

    fn tool_line(&mut self, body: &str) {
        let indented = body.starts_with("    ");
        let body = body.trim();
        if body.is_empty() {
            return self.close();
        }
        if is_header(body) {
            self.begin();
            self.run().header = true;
            return;
        }
        if let Some(record) = &mut self.open
            && detail::take(record, body)
        {
            return;
        }
        if summary(self.run(), body) || is_trace(body) {
            return self.close();
        }
        match head(body) {
            Some(record) => {
                self.close();
                self.open = Some(record);
            }
            // A line that belongs to a record, but says nothing kiln uses.
            None if self.open.is_some() && (indented || detail::is_frame(body)) => {}
            None => {
                self.close();
                self.open = Some(Record::new(What::Unrecognised { words: body.into() }, severity(body).0));
            }
        }
    }

    /// The last line of a log, which nothing ends. Only what cannot go on is read.
    fn cut_line(&mut self, body: &str) {
        let plain = body.trim();
        if is_header(plain) || is_whole_summary(plain) {
            return self.tool_line(body);
        }
        // It is the tool's all the same.
        self.run().cut = true;
    }

    fn cut_output(&mut self, line: &str) {
        self.log.program.cut_line(line);
        self.log.runs.last_mut().into_iter().for_each(|run| run.cut = true);
    }

    fn finish(mut self) -> SanitizerLog {
        // The log ends in the middle of a record: half of it may say something else than the whole. One that was copied out of
        // a log ends like this too; it has no header, and counts if it is all there is.
        let run = self.log.runs.last();
        if self.open.is_some() && run.is_some_and(|run| !run.ended && (run.header || !run.records.is_empty())) {
            let last = self.open.take().and_then(|record| unread(&record));
            let run = self.run();
            run.cut = true;
            run.remarks.extend(last);
        }
        self.close();
        self.log
    }
}

/// Where a record is that was cut: its place is certain, its cause is not.
fn unread(record: &Record) -> Option<String> {
    let place = record.place.as_ref()?;
    let (function, source) = (place.function.as_str(), place.source()?);
    let named = if function.is_empty() { String::new() } else { format!("{function}, ") };
    Some(format!("the log ends within a record about {named}{source}"))
}

fn is_header(body: &str) -> bool {
    body == "COMPUTE-SANITIZER" || body == "CUDA-MEMCHECK"
}

/// `ERROR SUMMARY: 0 errors`, `RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)`: no count can be missing.
fn is_whole_summary(body: &str) -> bool {
    let (_, plain) = severity(body);
    match (plain.strip_prefix("ERROR SUMMARY:"), plain.strip_prefix("RACECHECK SUMMARY:")) {
        (Some(count), _) => count.contains(" error"),
        (_, Some(counts)) => counts.ends_with("warnings)") || counts.ends_with("warning)"),
        _ => false,
    }
}

/// The word before a colon that grades a line, and the rest.
pub(super) fn severity(body: &str) -> (Severity, &str) {
    for (word, severity) in [("error:", Severity::Error), ("warning:", Severity::Warning), ("info:", Severity::Info)] {
        if body.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)) {
            return (severity, body[word.len()..].trim_start());
        }
    }
    (Severity::Error, body)
}

/// Which tool makes such records.
pub(super) fn tool_of(what: &What) -> Option<Tool> {
    Some(match what {
        What::Access(_) | What::Leak { .. } | What::Api(_) | What::HeapCall { .. } => Tool::Memcheck,
        What::Uninitialised(_) | What::UninitialisedCopy { .. } => Tool::Initcheck,
        What::Race { .. } | What::Hazard(_) => Tool::Racecheck,
        What::Barrier { .. } | What::Warpgroup { .. } => Tool::Synccheck,
        What::Fault { .. } | What::Unrecognised { .. } => return None,
    })
}

/// A number with or without separators of thousands.
pub(super) fn number(text: &str) -> Option<u64> {
    let digits: String = text.trim().chars().filter(|c| !matches!(c, ',' | '\'' | '\u{a0}' | '\u{202f}')).collect();
    digits.parse().ok()
}

/// The number that comes right after a phrase.
pub(super) fn number_after(text: &str, phrase: &str) -> Option<u64> {
    let after = &text[text.find(phrase)? + phrase.len()..];
    let end = after.find(|c: char| !(c.is_ascii_digit() || c == ',')).unwrap_or(after.len());
    number(&after[..end])
}

/// Why a tool checked nothing.
const NOT_RUN: [&str; 7] = [
    "terminated before first instrumented API call",
    "No attachable process",
    "Device not supported",
    "device is not supported",
    "Unable to find injection library",
    "Insufficient permissions",
    "debugger is already attached",
];

/// Lines about the run as a whole.
fn summary(run: &mut Run, body: &str) -> bool {
    let (_, plain) = severity(body);
    if let Some(text) = plain.strip_prefix("ERROR SUMMARY:") {
        let count = text.split_whitespace().next().and_then(number);
        match text.contains("not printed") {
            true => run.not_printed = count.unwrap_or(0),
            false => (run.errors, run.ended) = (count, true),
        }
    } else if let Some(text) = plain.strip_prefix("RACECHECK SUMMARY:") {
        // 1 hazard displayed (1 error, 0 warnings)
        match text.contains("not printed") {
            true => run.not_printed = text.split_whitespace().next().and_then(number).unwrap_or(0),
            false => {
                let errors = number_after(text, "(").unwrap_or(0);
                let warnings = number_after(text, "error, ").or_else(|| number_after(text, "errors, ")).unwrap_or(0);
                (run.errors, run.ended, run.tool) = (Some(errors.saturating_add(warnings)), true, Tool::Racecheck);
            }
        }
    } else if let Some(text) = plain.strip_prefix("LEAK SUMMARY:") {
        let bytes = text.split_whitespace().next().and_then(number);
        run.leaked = bytes.zip(number_after(text, "leaked in "));
        run.tool = Tool::Memcheck;
    } else if plain.starts_with("Target application returned an error")
        || plain.contains("didn't terminate successfully")
    {
        run.program_failed = true;
        run.program_crashed |= !plain.starts_with("Target application");
    } else if NOT_RUN.iter().any(|words| plain.contains(words)) {
        run.not_run = Some(plain.into());
    } else if is_remark(plain) {
        run.remarks.push(plain.into());
    } else {
        return false;
    }
    true
}

/// What `--racecheck-trace-sync` prints: every barrier, and nothing wrong with it.
fn is_trace(body: &str) -> bool {
    let (_, plain) = severity(body);
    plain.contains(" called by threads starting at ") && !plain.starts_with("Deadlock")
        || plain.starts_with("Sync mask of thread")
}

/// What the tool says about itself, which is no finding.
fn is_remark(body: &str) -> bool {
    body.contains("buffer overflow")
        || body.contains("Internal Sanitizer Error")
        || body.contains("tracked cuda::barrier structures")
        || body.starts_with("Unused ")
        || body.starts_with("Not written ")
        || body.contains("of allocation were unused")
        || body.contains("unused bytes represent")
        || body.contains("A newer version")
        || body.contains("not supported")
}

#[cfg(test)]
mod tests;
