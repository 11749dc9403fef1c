//! The count that belongs to a word: `FAILED 0 of 5 tests`, `mismatches: 0`, `3 / 100 failed`. In: the words, numbers and signs of a
//! line. Out: the number, or none. A number nearby is not always a count: `test 0 FAILED` and `max_err=0 FAIL` have none.

/// The words, numbers and signs of a line.
pub(super) fn tokens(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '0'..='9' => number_end(rest),
            _ if first.is_ascii_alphanumeric() => word_end(rest),
            _ => first.len_utf8(),
        };
        tokens.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    tokens
}

fn word_end(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len())
}

/// `3`, `0.5`, `1e-6`; not the point that ends a sentence.
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while let Some(byte) = bytes.get(end) {
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let part = byte.is_ascii_alphanumeric()
            || *byte == b'.' && digit(end + 1)
            || matches!(byte, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E') && digit(end + 1);
        if !part {
            break;
        }
        end += 1;
    }
    end
}

fn number(token: &str) -> Option<f64> {
    token.starts_with(|c: char| c.is_ascii_digit()).then(|| token.parse().ok())?
}

/// Whether a word such as `no` stands before.
pub(super) fn is_denied(tokens: &[&str], at: usize) -> bool {
    let word = at.checked_sub(1).map(|before| tokens[before].to_ascii_lowercase()).unwrap_or_default();
    ["no", "not", "none", "never", "without", "zero"].contains(&word.as_str())
}

/// What is counted.
fn is_noun(token: &str) -> bool {
    let nouns =
        ["elements", "tests", "test", "cases", "checks", "values", "results", "entries", "assertions", "kernels"];
    nouns.iter().any(|noun| token.eq_ignore_ascii_case(noun))
}

/// The count of the word at an index.
pub(super) fn count(tokens: &[&str], at: usize) -> Option<f64> {
    let (before, after) = (count_before(tokens, at), count_after(tokens, at));
    [before, after].into_iter().flatten().find(|count| *count == 0.0).or(before).or(after)
}

/// `FAILED 0 of 5 tests`, `mismatches: 0`, `Mismatched elements: 3 / 100`, `failed: none`.
fn count_after(tokens: &[&str], at: usize) -> Option<f64> {
    let mut next = at + 1;
    next += usize::from(tokens.get(next).is_some_and(|token| is_noun(token)));
    let separated = tokens.get(next).is_some_and(|token| [":", "=", "("].contains(token));
    next += usize::from(separated);
    let token = tokens.get(next)?;
    if separated && ["none", "no", "false", "nothing"].iter().any(|none| token.eq_ignore_ascii_case(none)) {
        return Some(0.0);
    }
    let count = number(token)?;
    let ends = tokens.get(next + 1).is_none_or(|token| {
        is_noun(token) || ["of", "out", "/", ",", ";", ")", ".", "]", "|", "%", "="].contains(token)
    });
    ends.then_some(count)
}

/// `0 FAILED`, `3 tests failed`, `0 of 5 tests FAILED`, `5 passed, 0 failed`.
fn count_before(tokens: &[&str], at: usize) -> Option<f64> {
    let mut last = at.checked_sub(1)?;
    while is_noun(tokens[last]) {
        last = last.checked_sub(1)?;
    }
    let mut count = number(tokens[last])?;
    // Of how many.
    if last >= 2 && ["of", "/"].contains(&tokens[last - 1]) {
        last -= 2;
        if tokens[last] == "out" {
            last = last.checked_sub(1)?;
        }
        count = number(tokens[last])?;
    }
    let Some(before) = last.checked_sub(1).map(|before| tokens[before].to_ascii_lowercase()) else {
        return Some(count);
    };
    let of_summary = || {
        let named = last.checked_sub(2).map(|named| tokens[named].to_ascii_lowercase()).unwrap_or_default();
        ["summary", "result", "results", "tests", "total"].contains(&named.as_str())
    };
    let begins = [",", ";", "(", "|", "[", "and", "with", "passed", "had", "got", "found", "were", "are"];
    // `===== 1 failed, 2 passed =====`
    let ruled = || before == "=" && last >= 2 && tokens[last - 2] == "=";
    (begins.contains(&before.as_str()) || before == ":" && of_summary() || ruled()).then_some(count)
}
