//! What names may look like. In: a name the author chose and where it stands. Out: an entry in the log when it could not
//! be used where it will be needed: in expressions, as a macro, on a command line.

use std::collections::HashMap;

use kiln_core::{IMPLEMENTATION, Report, Span};
use kiln_expr::Function;

use crate::reading::log::Log;

/// Python's own words cannot be names in an expression or in a Python kernel; `true` and `false` are TOML's.
pub(crate) const RESERVED: [&str; 38] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "true", "false", "device",
];

/// Whether the text is `[A-Za-z_][A-Za-z0-9_]*`.
pub(crate) fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A name that expressions use: a tunable, a derived value, a dimension, a variant.
pub(crate) fn check_variable(log: &Log, what: &str, name: &str, span: Span) {
    let wrong = if !is_identifier(name) {
        return check_identifier(log, what, name, span);
    } else if RESERVED.contains(&name) {
        "is a reserved word"
    } else if Function::named(name).is_some() {
        "is a function"
    } else if name == IMPLEMENTATION {
        "is what configurations call one of [target.KIND.implementation.NAME]"
    } else {
        return;
    };
    log.add(span, Report::error(format!("{name} {wrong}")).label(format!("expected another name for a {what}")));
}

/// A name that source code uses: letters, digits and `_`.
pub(crate) fn check_identifier(log: &Log, what: &str, name: &str, span: Span) {
    if !is_identifier(name) {
        let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let report = Report::error(format!("\"{name}\" cannot name {article} {what}"))
            .label("expected letters, digits and _, not beginning with a digit");
        log.add(span, report);
    }
}

/// A name that people type: letters, digits, `_`, `.` and `-`.
pub(crate) fn check_label(log: &Log, what: &str, name: &str, span: Span) {
    let fits = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b));
    if !fits {
        log.add(
            span,
            Report::error(format!("\"{name}\" cannot name a {what}")).label("expected letters, digits, _, . and -"),
        );
    }
}

/// Logs each name that stands there a second time, with the line of the first.
pub(crate) fn refuse_doubles<'a>(log: &Log, what: &str, names: impl Iterator<Item = (&'a str, Span)>) {
    let mut firsts = HashMap::new();
    // A name that could not be read is empty, and has been reported.
    for (name, span) in names.filter(|(name, _)| !name.is_empty()) {
        if let Some(first) = firsts.get(name) {
            let line = log.line(*first);
            let report = Report::error(format!("duplicate {what} {name}"));
            log.add(span, report.label(format!("already defined in line {line}")));
        } else {
            firsts.insert(name, span.start);
        }
    }
}
