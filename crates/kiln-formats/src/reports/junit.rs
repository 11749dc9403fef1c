//! JUnit XML: a test case for each workload. A regression is a failure, what the samples do not tell is skipped.

use std::fmt::Write;

use super::{ReportOutcome, ReportRow};

/// Rows as JUnit XML.
pub fn junit(rows: &[ReportRow]) -> String {
    let count = |wanted: ReportOutcome| rows.iter().filter(|row| row.outcome == wanted).count();
    let (failures, skipped) = (count(ReportOutcome::Failed), count(ReportOutcome::Unknown));
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"", rows.len());
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "<testsuites name=\"kiln compare\" {counts}>\n  <testsuite name=\"kiln compare\" {counts}>");
    for row in rows {
        let (kernel, workload, words) = (escaped(&row.kernel), escaped(&row.workload), escaped(&row.words));
        let case = format!("    <testcase classname=\"{kernel}\" name=\"{workload}\" time=\"{:.9}\"", row.seconds);
        let verdict = escaped(&row.verdict);
        let _ = match row.outcome {
            ReportOutcome::Passed => writeln!(text, "{case}/>"),
            ReportOutcome::Failed => writeln!(
                text,
                "{case}>\n      <failure message=\"{words}\" type=\"{verdict}\">{words}</failure>\n    </testcase>"
            ),
            ReportOutcome::Unknown => {
                writeln!(text, "{case}>\n      <skipped message=\"{words}\"/>\n    </testcase>")
            }
        };
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

/// What XML can hold in an attribute and between tags. Characters it cannot hold at all are left out.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' | '\r' => safe.push(' '),
            c if (c as u32) < 0x20 || matches!(c as u32, 0xfffe | 0xffff) => {}
            c => safe.push(c),
        }
    }
    safe
}
