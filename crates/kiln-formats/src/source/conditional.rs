//! The preprocessor's part of a reading: which lines count, and what is defined. In: tokens, and values that are defined from
//! outside. Out: the tokens of the branches that are taken, and every `#define` of a number with the way it is guarded. Includes
//! are not followed; a condition that cannot be computed counts as true.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::source::lex::{Kind, Token, tokens};

/// A `#define` that stands for a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Macro {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
    /// Whether it is defined only if nobody else did: `#ifndef NAME`.
    pub guarded: bool,
}

/// What the preprocessor leaves.
#[derive(Debug, Default)]
pub(crate) struct Preprocessed {
    /// Tokens without directives.
    pub tokens: Vec<Token>,
    /// Macros without parameters, in order.
    pub macros: Vec<Macro>,
    /// What each stands for at the end.
    pub defines: BTreeMap<String, String>,
    /// Names that conditions ask for and nobody defines, with their line.
    pub free: Vec<(String, usize)>,
}

/// A condition that is open: whether its branch is taken, whether one was before, and the name of an `#ifndef`.
struct Open {
    active: bool,
    taken: bool,
    guard: Option<String>,
}

/// Macros within macros, and words of one condition, that no reasonable source has: computing ends there.
const DEEPEST: usize = 32;
const LONGEST: usize = 4096;

/// Goes through a text.
pub(crate) fn preprocess(text: &str, outside: &BTreeMap<String, String>) -> Preprocessed {
    let mut done = Preprocessed { defines: outside.clone(), ..Preprocessed::default() };
    let mut open: Vec<Open> = Vec::new();
    for token in tokens(text) {
        let active = open.iter().all(|o| o.active);
        if token.kind != Kind::Directive {
            if active {
                done.tokens.push(token);
            }
            continue;
        }
        let word: String = token.text.chars().take_while(|c| c.is_ascii_alphabetic()).collect();
        let rest = token.text[word.len()..].trim();
        match word.as_str() {
            "if" | "ifdef" | "ifndef" => {
                let holds = active && holds(&word, rest, &mut done, token.line, outside);
                let guard = (word == "ifndef").then(|| rest.to_owned());
                open.push(Open { active: holds, taken: holds, guard });
            }
            "elif" | "else" => {
                let outer = open.len() < 2 || open[..open.len() - 1].iter().all(|o| o.active);
                let before = open.last().is_none_or(|o| o.taken);
                let holds = outer && !before && (word == "else" || holds("if", rest, &mut done, token.line, outside));
                if let Some(last) = open.last_mut() {
                    last.active = holds;
                    last.taken |= holds;
                    last.guard = None;
                }
            }
            "endif" => {
                open.pop();
            }
            "define" if active => define(rest, token.line, &open, &mut done, outside),
            "undef" if active => {
                done.defines.remove(rest);
            }
            _ => {}
        }
    }
    done
}

fn define(rest: &str, line: usize, open: &[Open], done: &mut Preprocessed, outside: &BTreeMap<String, String>) {
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, text) = rest.split_at(end);
    // One with parameters stands for no number.
    if name.is_empty() || text.starts_with('(') {
        return;
    }
    let guarded = open.last().is_some_and(|o| o.guard.as_deref() == Some(name)) || outside.contains_key(name);
    let text = text.trim().to_owned();
    done.macros.push(Macro { name: name.into(), text: text.clone(), line, guarded });
    if !outside.contains_key(name) {
        done.defines.insert(name.into(), text);
    }
}

fn holds(word: &str, rest: &str, done: &mut Preprocessed, line: usize, outside: &BTreeMap<String, String>) -> bool {
    match word {
        "ifdef" => done.defines.contains_key(rest),
        // What is guarded is looked into even if it is defined from outside: its default is worth knowing.
        "ifndef" => !done.defines.contains_key(rest) || outside.contains_key(rest),
        _ => {
            let words = tokens(rest);
            for word in words.iter().filter(|t| t.kind == Kind::Word && t.text != "defined") {
                let known = done.defines.contains_key(&word.text) || word.text.starts_with("__");
                if !known && !done.free.iter().any(|(name, _)| *name == word.text) {
                    done.free.push((word.text.clone(), line));
                }
            }
            value(rest, &done.defines).is_none_or(|v| v != 0)
        }
    }
}

/// The number that a text stands for, where it is one.
pub(crate) fn value(text: &str, defines: &BTreeMap<String, String>) -> Option<i64> {
    computed(text, defines, 0, &Cell::new(LONGEST))
}

fn computed(text: &str, defines: &BTreeMap<String, String>, depth: usize, left: &Cell<usize>) -> Option<i64> {
    if depth > DEEPEST || text.len() > LONGEST {
        return None;
    }
    let words = tokens(text);
    let mut reader = Reader { words: &words, at: 0, defines, depth, left };
    let value = reader.either()?;
    (reader.at == words.len()).then_some(value)
}

struct Reader<'a> {
    words: &'a [Token],
    at: usize,
    defines: &'a BTreeMap<String, String>,
    /// Macros and brackets it is inside of.
    depth: usize,
    /// Words that may still be read.
    left: &'a Cell<usize>,
}

/// Binary operators by how tightly they bind, loosest first.
const LEVELS: [&[&str]; 8] =
    [&["||"], &["&&"], &["|"], &["&"], &["==", "!="], &["<", ">", "<=", ">="], &["+", "-"], &["*", "/", "%"]];

impl Reader<'_> {
    fn next_is(&mut self, texts: &[&str]) -> Option<String> {
        let text = self.words.get(self.at).filter(|t| texts.contains(&t.text.as_str()))?.text.clone();
        self.at += 1;
        Some(text)
    }

    fn inner(&mut self, read: impl Fn(&mut Self) -> Option<i64>) -> Option<i64> {
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn either(&mut self) -> Option<i64> {
        let condition = self.level(0)?;
        if self.next_is(&["?"]).is_none() {
            return Some(condition);
        }
        let yes = self.inner(Reader::either)?;
        self.next_is(&[":"])?;
        let no = self.inner(Reader::either)?;
        Some(if condition != 0 { yes } else { no })
    }

    fn level(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else { return self.single() };
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.next_is(operators) {
            let right = self.level(level + 1)?;
            left = match operator.as_str() {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "+" => left.checked_add(right)?,
                "-" => left.checked_sub(right)?,
                "*" => left.checked_mul(right)?,
                "/" => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    fn single(&mut self) -> Option<i64> {
        self.left.set(self.left.get().checked_sub(1)?);
        if self.depth > DEEPEST {
            return None;
        }
        let token = self.words.get(self.at)?;
        self.at += 1;
        match (token.kind, token.text.as_str()) {
            (_, "!") => Some(i64::from(self.inner(Reader::single)? == 0)),
            (_, "-") => self.inner(Reader::single)?.checked_neg(),
            (_, "+") => self.inner(Reader::single),
            (_, "~") => Some(!self.inner(Reader::single)?),
            (_, "(") => {
                let value = self.inner(Reader::either)?;
                self.next_is(&[")"])?;
                Some(value)
            }
            (Kind::Word, "defined") => {
                let bracket = self.next_is(&["("]).is_some();
                let name = self.words.get(self.at)?.text.clone();
                self.at += 1;
                if bracket {
                    self.next_is(&[")"])?;
                }
                Some(i64::from(self.defines.contains_key(&name)))
            }
            (Kind::Word, "true") => Some(1),
            (Kind::Word, "false") => Some(0),
            (Kind::Word, name) => {
                // A function or a macro with parameters.
                if self.words.get(self.at).is_some_and(|t| t.is("(")) {
                    return None;
                }
                let Some(text) = self.defines.get(name) else { return Some(0) };
                computed(text, self.defines, self.depth + 1, self.left)
            }
            (Kind::Literal, text) => number(text),
            _ => None,
        }
    }
}

/// An integer as C writes it.
pub(crate) fn number(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']).replace('\'', "");
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_that_are_not_taken_do_not_count() {
        let text = "#ifndef V\n#define V 2\n#endif\n#if (V==1)\n#define T float\n#elif V == 2 && !defined(X)\n#define T float2\n#else\nwrong\n#endif\nT x;\n#ifdef X\nno\n#endif\n";
        let done = preprocess(text, &BTreeMap::new());
        assert_eq!(done.defines["T"], "float2");
        assert_eq!(done.tokens.iter().map(|t| t.text.as_str()).collect::<Vec<_>>(), ["T", "x", ";"]);
        assert!(done.macros[0].guarded && !done.macros[1].guarded);
        let outside = BTreeMap::from([("V".to_owned(), "1".to_owned())]);
        assert_eq!(preprocess(text, &outside).defines["T"], "float");
    }

    #[test]
    fn numbers_are_computed_and_nothing_else() {
        let defines =
            BTreeMap::from([("A".into(), "(B / 2) * 2".into()), ("B".into(), "17u".into()), ("C".into(), "C".into())]);
        assert_eq!(value("A + 0x10", &defines), Some(32));
        assert_eq!(value("1 ? 2 : 3", &defines), Some(2));
        for none in ["C", "1 / 0", "f(1)", "1.5", "(1", "", "1 2", "\"a\""] {
            assert_eq!(value(none, &defines), None, "{none}");
        }
    }
}
