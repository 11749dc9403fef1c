//! Text to a TOML document with spans. In: text. Out: the document; duplicate keys go to the log and the first value
//! stays, so that the rest can still be checked. Refuses text that is not TOML, with the parser's words.

use kiln_core::{Report, Span, nearest};
use toml::Spanned;
use toml::de::{DeTable, Error};

use crate::reading::log::Log;

/// The document, or none when it is broken and the log says where.
pub(crate) fn read_document(log: &Log) -> Option<Spanned<DeTable<'_>>> {
    let (document, mut errors) = DeTable::parse_recoverable(log.text());
    errors.sort_by_key(|e| span(e, log).start);
    let mut broken = false;
    let mut last_line = 0;
    for error in &errors {
        let span = span(error, log);
        if error.message() == "duplicate key" {
            let key = log.text().get(span.clone()).unwrap_or_default();
            log.add(span, Report::error(format!("duplicate key {key}")).label("expected each key once"));
            continue;
        }
        broken = true;
        // One mistake makes several errors on its line; the first says it.
        let line = log.line(span.start);
        if line == last_line {
            continue;
        }
        last_line = line;
        log.add(span.clone(), explain(error.message(), log.text().get(span).unwrap_or_default()));
        // A list or table left open swallows the lines behind it, and their errors mean nothing.
        if ["array", "pairs", "table"].iter().any(|word| error.message().contains(word)) {
            break;
        }
    }
    (!broken).then_some(document)
}

fn span(error: &Error, log: &Log) -> Span {
    error.span().unwrap_or(log.text().len()..log.text().len())
}

/// The parser's message, parted into what is wrong and what was expected.
fn explain(message: &str, found: &str) -> Report {
    // The parser takes any bare word for a string whose quotes were forgotten, or for a boolean when it begins like one.
    if message.starts_with("string values must be quoted") || message.starts_with("invalid boolean") {
        return match found.trim() {
            "" => Report::error("a key without a value").label("expected a value"),
            // Signs between words: somebody's expression, as it would stand in a program.
            words if words.contains(['%', '*', '<', '>', '=', '/', '+', '(']) => {
                Report::error(format!("`{words}` is not a value"))
                    .label("expected a value")
                    .hint("an expression stands in quotes, all of it")
            }
            words if words.contains(char::is_whitespace) => {
                Report::error(format!("`{words}` is not a value")).label("expected `,` between values")
            }
            word => {
                let hint = match nearest(word, ["true", "false"]) {
                    Some(boolean) => format!("did you mean {boolean}?"),
                    None => format!("a string stands in quotes: \"{word}\""),
                };
                Report::error(format!("`{word}` is not a value"))
                    .label("expected a number, true, false or a string")
                    .hint(hint)
            }
        };
    }
    if message.starts_with("invalid basic string, expected `\"`") {
        return Report::error("a string that is never closed").label("expected `\"`");
    }
    if message.starts_with("missing comma between array elements") {
        return Report::error("a list with a missing comma")
            .label("expected `,` or `]`")
            .hint("the list before it may not be closed");
    }
    match message.split_once(", expected ") {
        Some((wrong, "nothing")) => Report::error(wrong),
        Some((wrong, expected)) => Report::error(wrong).label(format!("expected {expected}")),
        None => Report::error(message),
    }
}
