//! Assertions that failed, from what a kernel printed: C's on a processor, CUDA's with block and thread. Each place and
//! condition once, with a count: thousands of threads may say the same.

use kiln_core::counted;
use kiln_diagnose::Sources;
use serde::Serialize;

/// Different ones that are kept at most.
const MOST: usize = 32;

/// An assertion that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedAssertion {
    /// What was asserted.
    pub condition: String,
    /// The file as the compiler named it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The function.
    pub function: String,
    /// On a GPU, the first block it failed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// On a GPU, the first thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// How often it was printed.
    pub count: u64,
    /// The line itself, where the source is at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_line: Option<String>,
}

impl FailedAssertion {
    /// Where it is and how often it failed.
    pub fn place(&self) -> String {
        let thread = match (&self.block, &self.thread) {
            (Some(block), Some(thread)) => format!(", first in block [{block}], thread [{thread}]"),
            _ => String::new(),
        };
        format!("{}:{} in {} ({}{thread})", self.file, self.line, self.function, counted(self.count.into(), "time"))
    }
}

/// All that are in an output.
pub(super) fn assertions(output: &str, sources: &Sources) -> Vec<FailedAssertion> {
    let mut found: Vec<FailedAssertion> = Vec::new();
    for assertion in output.lines().filter_map(read) {
        let same = |known: &&mut FailedAssertion| {
            (&known.file, known.line, &known.condition) == (&assertion.file, assertion.line, &assertion.condition)
        };
        let room = found.len() < MOST;
        match found.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None if room => {
                let source_line = sources.line(&assertion.file, assertion.line).map(String::from);
                found.push(FailedAssertion { source_line, ..assertion });
            }
            None => {}
        }
    }
    found
}

/// ``kiln: softmax.c:23: softmax: Assertion `cols > 2' failed.`` or
/// ``k.cu:5: void f(int): block: [2,0,0], thread: [188,0,0] Assertion `i < n` failed.``
fn read(line: &str) -> Option<FailedAssertion> {
    let (before, after) = line.split_once("Assertion ")?;
    let condition = after.trim_end().trim_end_matches('.').strip_suffix("failed")?.trim();
    let condition = condition.trim_matches(|c| matches!(c, '`' | '\'' | '"')).to_string();
    let index = |text: &str| text.trim().trim_matches(|c| matches!(c, '[' | ']' | ',' | ' ')).to_string();
    let (before, block, thread) = match before.rsplit_once(", thread:").and_then(|(rest, thread)| {
        let (rest, block) = rest.rsplit_once("block:")?;
        Some((rest, index(block), index(thread)))
    }) {
        Some((rest, block, thread)) => (rest, Some(block), Some(thread)),
        None => (before, None, None),
    };
    let parts: Vec<&str> = before.trim().trim_end_matches(':').split(": ").collect();
    let place = |part: &&str| {
        part.rsplit_once(':').and_then(|(file, line)| Some((file.to_string(), line.trim().parse().ok()?)))
    };
    let at = parts.iter().position(|part| place(part).is_some())?;
    let (file, line) = place(&parts[at])?;
    let function = parts[at + 1..].join(": ").trim().to_string();
    Some(FailedAssertion { condition, file, line, function, block, thread, count: 1, source_line: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions_of_both_kinds_are_read_once_each() {
        let output = "x = 3\nkiln: /k/softmax.c:2: softmax: Assertion `cols > 2' failed.\n\
            k.cu:5: void f(int): block: [2,0,0], thread: [188,0,0] Assertion `i < n` failed.\n\
            k.cu:5: void f(int): block: [2,0,0], thread: [189,0,0] Assertion `i < n` failed.\nAssertion about nothing\n";
        let found = assertions(output, &Sources::none().with("softmax.c", "\n    assert(cols > 2);\n"));
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].place(), "/k/softmax.c:2 in softmax (1 time)");
        assert_eq!(
            (found[0].condition.as_str(), found[0].source_line.as_deref()),
            ("cols > 2", Some("assert(cols > 2);"))
        );
        assert_eq!(found[1].place(), "k.cu:5 in void f(int) (2 times, first in block [2,0,0], thread [188,0,0])");
    }
}
