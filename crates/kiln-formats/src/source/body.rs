//! What a kernel does with a pointer, from its body. In: the pointer's name and the body's tokens. Out: whether it is read, written,
//! both, or handed to another function. Other names for the same memory, such as `float *row = x + i`, are followed.

use std::collections::BTreeSet;

use crate::source::declared::closing;
use crate::source::lex::{Kind, Token};

/// What happens through a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Uses {
    /// It is read from.
    pub read: bool,
    /// It is written to.
    pub written: bool,
    /// A function gets it that may do either.
    pub passed: bool,
}

const ASSIGNMENTS: [&str; 10] = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];

/// What the body does through `pointer`.
pub(crate) fn uses(pointer: &str, body: &[Token]) -> Uses {
    let names = aliases(pointer, body);
    let mut uses = Uses::default();
    for (at, token) in body.iter().enumerate() {
        let member = at > 0 && (body[at - 1].is(".") || body[at - 1].is("->"));
        if token.kind == Kind::Word && names.contains(token.text.as_str()) && !member {
            occurrence(body, at, &mut uses);
        }
    }
    uses
}

/// Other names of the same memory.
fn aliases<'a>(pointer: &'a str, body: &'a [Token]) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::from([pointer]);
    for (at, token) in body.iter().enumerate() {
        // `* row =` or `auto row =`
        let declares = at >= 2
            && token.is("=")
            && body[at - 1].kind == Kind::Word
            && body[..at - 1]
                .iter()
                .rev()
                .find(|t| !["const", "__restrict__", "__restrict"].contains(&&*t.text))
                .is_some_and(|t| t.is("*") || t.is("auto"));
        if !declares {
            continue;
        }
        let end = body[at..].iter().position(|t| t.is(";")).map_or(body.len(), |i| at + i);
        let whole = |i: &usize| names.contains(body[*i].text.as_str()) && !body.get(i + 1).is_some_and(|t| t.is("["));
        let address = |i: &usize| names.contains(body[*i].text.as_str()) && *i > 0 && body[i - 1].is("&");
        if (at + 1..end).any(|i| body[i].kind == Kind::Word && (whole(&i) || address(&i))) {
            names.insert(body[at - 1].text.as_str());
        }
    }
    names
}

fn occurrence(body: &[Token], at: usize, uses: &mut Uses) {
    let is = |i: usize, text: &str| body.get(i).is_some_and(|t| t.is(text));
    let back = |n: usize| at.checked_sub(n).and_then(|i| body.get(i));
    // Its own declaration under another name is no use of it.
    if back(1).is_some_and(|t| t.is("*") || t.is("__restrict__"))
        && is(at + 1, "=")
        && back(2).is_some_and(|t| t.kind == Kind::Word)
        && !back(2).is_some_and(|t| t.is("return"))
    {
        return;
    }
    let mut end = at + 1;
    let mut through = is(end, "[");
    // `*(x + i)`, `reinterpret_cast<float4 *>(x)[i]`: what counts stands behind the bracket.
    if let Some(open) = enclosing(body, at) {
        let before = open.checked_sub(1).and_then(|i| body.get(i));
        let template = before.filter(|t| t.is(">")).and_then(|_| template_word(body, open - 1));
        let cast = template.is_some_and(|word| word.ends_with("_cast"));
        // `((float4 *)x)[i]`: brackets around, and behind them an index.
        let grouped = before.is_none_or(|t| t.kind == Kind::Punctuation && !t.is(">")) && is(closing(body, open), "[");
        if before.is_some_and(|t| t.is("*")) || cast || (grouped && !through) {
            end = closing(body, open);
            through = true;
        } else if template.is_some() && !through {
            uses.passed = true;
            return;
        } else if let Some(function) = before.filter(|t| t.kind == Kind::Word) {
            if !["if", "while", "for", "return", "switch", "sizeof"].contains(&&*function.text) && !through {
                called(&function.text, body, open, at, uses);
                return;
            }
            if function.text.starts_with("atomic") && back(1).is_some_and(|t| t.is("&")) {
                (uses.read, uses.written) = (true, true);
                return;
            }
            if function.text.starts_with("__st") && back(1).is_some_and(|t| t.is("&")) {
                uses.written = true;
                return;
            }
        }
    }
    let starred = back(1).is_some_and(|t| t.is("*"))
        && back(2).is_none_or(|t| t.kind == Kind::Punctuation && !t.is(")") && !t.is("]"));
    while is(end, "[") || is(end, ".") || is(end, "->") {
        through = true;
        end = if is(end, "[") { closing(body, end) } else { end + 2 };
    }
    if !through && !starred {
        return;
    }
    let changed = is(end, "++") || is(end, "--") || back(1).is_some_and(|t| t.is("++") || t.is("--"));
    if is(end, "=") {
        uses.written = true;
    } else if changed || body.get(end).is_some_and(|t| ASSIGNMENTS.contains(&&*t.text)) {
        (uses.read, uses.written) = (true, true);
    } else {
        uses.read = true;
    }
}

/// The pointer itself is an argument of a function.
fn called(function: &str, body: &[Token], open: usize, at: usize, uses: &mut Uses) {
    let first = !body[open + 1..at].iter().any(|t| t.is(","));
    if function.starts_with("__ld") {
        uses.read = true;
    } else if function.starts_with("__st") && first {
        uses.written = true;
    } else if function.starts_with("atomic") && first {
        (uses.read, uses.written) = (true, true);
    } else {
        uses.passed = true;
    }
}

/// The word before the `<` that the `>` at `close` closes.
fn template_word(body: &[Token], close: usize) -> Option<&str> {
    let mut depth = 0usize;
    for at in (0..=close).rev() {
        if body[at].is(">") {
            depth += 1;
        } else if body[at].is("<") {
            depth -= 1;
            if depth == 0 {
                return body.get(at.checked_sub(1)?).filter(|t| t.kind == Kind::Word).map(|t| t.text.as_str());
            }
        } else if body[at].is(";") {
            return None;
        }
    }
    None
}

/// The round bracket around a token, if there is one in the same statement.
fn enclosing(body: &[Token], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for i in (0..at).rev() {
        match body[i].text.as_str() {
            _ if body[i].kind != Kind::Punctuation => {}
            ")" | "]" => depth += 1,
            "(" if depth == 0 => return Some(i),
            "[" if depth == 0 => return None,
            "(" | "[" => depth -= 1,
            ";" | "{" | "}" => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::lex::tokens;

    fn of(body: &str) -> (bool, bool, bool) {
        let Uses { read, written, passed } = uses("x", &tokens(body));
        (read, written, passed)
    }

    #[test]
    fn reads_and_writes_are_told_apart() {
        for body in [
            "y[i] = x[i];",
            "y[i] = *x;",
            "s += x[i] * 2;",
            "s = __ldg(x + i);",
            "s = __ldg(&x[i]);",
            "if (x[i] > 0) s = 1;",
            "a[x[i]] = 1;",
            "const float *row = x + i; s = row[j];",
            "v = reinterpret_cast<const float4 *>(x)[i];",
        ] {
            assert_eq!(of(body), (true, false, false), "{body}");
        }
        for body in [
            "x[i] = s;",
            "*x = s;",
            "*(x + i) = s;",
            "x[i].y = 2;",
            "float *row = x + i; row[j] = s;",
            "reinterpret_cast<float4 *>(x)[i] = v;",
            "x[y[i]] = 1;",
            "__stcs(x + i, v);",
        ] {
            assert_eq!(of(body), (false, true, false), "{body}");
        }
        for body in
            ["x[i] += s;", "x[i]++;", "++x[i];", "atomicAdd(&x[i], s);", "atomicAdd(x + i, s);", "x[i] = x[i] + 1;"]
        {
            assert_eq!(of(body), (true, true, false), "{body}");
        }
        assert_eq!(of("helper(x, n);"), (false, false, true));
        assert_eq!(of("tiled<double, 2>(x, n);"), (false, false, true));
        assert_eq!(of("((float4 *)x)[i] = v;"), (false, true, false));
        assert_eq!(of("v = ((const float4 *)x)[i];"), (true, false, false));
        assert_eq!(of("p.x = 1; q->x[2] = 3;"), (false, false, false));
    }
}
