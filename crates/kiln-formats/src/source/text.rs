//! Tokens as text again, and lists of them.

use crate::source::lex::{Kind, Token};

/// Tokens with blanks where they need some.
pub(crate) fn joined(tokens: &[Token]) -> String {
    let mut text = String::new();
    for (at, token) in tokens.iter().enumerate() {
        let wordy = |t: &Token| t.kind == Kind::Word || t.kind == Kind::Literal;
        let before = at.checked_sub(1).and_then(|i| tokens.get(i));
        let closes = [",", ")", "]", "(", "[", ".", "::", ";"].contains(&&*token.text);
        let opens = |b: &Token| ["(", "[", ".", "::"].contains(&&*b.text);
        // `float *x`, but `3 * n`
        let star = |b: &Token| {
            b.is("*") && token.kind == Kind::Word && at >= 2 && tokens.get(at - 2).is_some_and(|t| t.kind == Kind::Word)
        };
        let apart = |b: &Token| (wordy(b) && wordy(token)) || b.is(",") || !(closes || opens(b) || star(b));
        let blank = before.is_some_and(apart);
        if blank {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}

/// The parts between commas that are in no brackets.
pub(crate) fn split_commas(tokens: &[Token]) -> Vec<&[Token]> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0i64);
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            _ if token.kind != Kind::Punctuation => {}
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            "," if depth <= 0 => {
                parts.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < tokens.len() || !parts.is_empty() {
        parts.push(&tokens[start..]);
    }
    parts
}
