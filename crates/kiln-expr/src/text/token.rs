//! Text to tokens. In: any string. Out: tokens with spans, ending in `End`. Refuses characters and literals that
//! Python has no meaning for here, with the Python spelling of what was probably meant.

use std::fmt;

use kiln_core::{Span, Value};

use crate::error::ExprError;

macro_rules! marks {
    ($($variant:ident $text:literal,)*) => {
        /// An operator, a bracket, a comma or a word of the language.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Mark { $($variant,)* }

        impl Mark {
            fn text(self) -> &'static str {
                match self { $(Mark::$variant => $text,)* }
            }
        }
    };
}

marks! {
    Power "**",
    DoubleSlash "//",
    LessEqual "<=",
    GreaterEqual ">=",
    EqualEqual "==",
    NotEqual "!=",
    Plus "+",
    Minus "-",
    Star "*",
    Slash "/",
    Percent "%",
    Less "<",
    Greater ">",
    OpenRound "(",
    CloseRound ")",
    OpenSquare "[",
    CloseSquare "]",
    Comma ",",
    Dot ".",
    And "and",
    Or "or",
    Not "not",
    In "in",
    If "if",
    Else "else",
    For "for",
    Lambda "lambda",
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The smallest unit of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token<'a> {
    /// A literal. `9223372036854775808` alone is [`Token::MinMagnitude`].
    Literal(Value),
    /// 2^63, which is only allowed behind a minus.
    MinMagnitude,
    /// A name, dots included.
    Name(&'a str),
    /// An operator, a bracket, a comma or a word of the language.
    Mark(Mark),
    /// The end of the text.
    End,
}

/// The operator or bracket the text begins with.
fn mark(rest: &[u8]) -> Option<Mark> {
    let second = rest.get(1).copied();
    Some(match (rest.first()?, second) {
        (b'*', Some(b'*')) => Mark::Power,
        (b'/', Some(b'/')) => Mark::DoubleSlash,
        (b'<', Some(b'=')) => Mark::LessEqual,
        (b'>', Some(b'=')) => Mark::GreaterEqual,
        (b'=', Some(b'=')) => Mark::EqualEqual,
        (b'!', Some(b'=')) => Mark::NotEqual,
        (b'+', _) => Mark::Plus,
        (b'-', _) => Mark::Minus,
        (b'*', _) => Mark::Star,
        (b'/', _) => Mark::Slash,
        (b'%', _) => Mark::Percent,
        (b'<', _) => Mark::Less,
        (b'>', _) => Mark::Greater,
        (b'(', _) => Mark::OpenRound,
        (b')', _) => Mark::CloseRound,
        (b'[', _) => Mark::OpenSquare,
        (b']', _) => Mark::CloseSquare,
        (b',', _) => Mark::Comma,
        (b'.', _) => Mark::Dot,
        _ => return None,
    })
}

/// The language's word a name is.
fn word(name: &str) -> Option<Mark> {
    Some(match name {
        "and" => Mark::And,
        "or" => Mark::Or,
        "not" => Mark::Not,
        "in" => Mark::In,
        "if" => Mark::If,
        "else" => Mark::Else,
        "for" => Mark::For,
        "lambda" => Mark::Lambda,
        _ => return None,
    })
}

/// What people write from other languages, and what Python calls it.
const FOREIGN: [(&str, &str); 10] = [
    ("&&", "and"),
    ("||", "or"),
    ("!", "not"),
    ("=", "=="),
    ("?", "`a if c else b`"),
    ("&", "and (bit operations are not supported)"),
    ("|", "or (bit operations are not supported)"),
    ("^", "** for a power"),
    ("~", "not"),
    (";", "and"),
];

pub(crate) fn tokenize(text: &str) -> Result<Vec<(Token<'_>, Span)>, ExprError> {
    // Most tokens are two characters and a blank.
    let mut tokens = Vec::with_capacity(text.len() / 3 + 2);
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        // Blanks and ASCII names are most of a text, and need no look at characters.
        if *byte == b' ' {
            at += 1;
            continue;
        }
        let rest = &text[at..];
        if byte.is_ascii_alphabetic() || *byte == b'_' {
            let (token, len) = name(rest, at)?;
            tokens.push((token, at..at + len));
            at += len;
            continue;
        }
        // A dot may also begin a number.
        if *byte != b'.'
            && let Some(mark) = mark(rest.as_bytes())
        {
            let len = mark.text().len();
            tokens.push((Token::Mark(mark), at..at + len));
            at += len;
            continue;
        }
        let Some(first) = rest.chars().next() else { break };
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (token, len) =
            if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
                number(rest, at)?
            } else if first == '"' || first == '\'' {
                string(rest, at, first)?
            } else if first.is_alphabetic() {
                name(rest, at)?
            } else if let Some(mark) = mark(rest.as_bytes()) {
                (Token::Mark(mark), mark.text().len())
            } else {
                return Err(foreign(rest, at, first));
            };
        tokens.push((token, at..at + len));
        at += len;
    }
    tokens.push((Token::End, text.len()..text.len()));
    Ok(tokens)
}

fn foreign(rest: &str, at: usize, first: char) -> ExprError {
    match FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign)) {
        Some((sign, python)) => {
            ExprError::new(at..at + sign.len(), format!("`{sign}` is not an operator here"), "expected an operator")
                .hint(format!("write {python}"))
        }
        None => ExprError::new(
            at..at + first.len_utf8(),
            format!("unexpected character {first:?}"),
            "expected a name, a number or an operator",
        ),
    }
}

/// The ASCII characters a name may have.
const PART_OF_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    table
};

fn name(rest: &str, at: usize) -> Result<(Token<'_>, usize), ExprError> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    // Nearly every name is ASCII, and bytes are quicker to look at than characters.
    let mut len = 0;
    while rest.as_bytes().get(len).is_some_and(|b| PART_OF_NAME[usize::from(*b)]) {
        len += 1;
    }
    if rest.as_bytes().get(len).is_some_and(|b| !b.is_ascii()) {
        len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    }
    // `device.smem` is one name; a dot must be followed by a further part.
    while rest[len..].starts_with('.') && rest[len + 1..].starts_with(|c: char| c.is_alphabetic() || c == '_') {
        len += 1 + rest[len + 1..].find(|c| !is_part(c)).unwrap_or(rest.len() - len - 1);
    }
    let name = &rest[..len];
    if let Some(word) = word(name) {
        return Ok((Token::Mark(word), len));
    }
    Ok(match name {
        "True" => (Token::Literal(Value::Bool(true)), len),
        "False" => (Token::Literal(Value::Bool(false)), len),
        "true" | "false" => {
            let python = if name == "true" { "True" } else { "False" };
            return Err(ExprError::new(
                at..at + len,
                format!("`{name}` is not defined"),
                "Python's booleans are capitalised",
            )
            .hint(format!("write {python}")));
        }
        _ => (Token::Name(name), len),
    })
}

fn string(rest: &str, at: usize, quote: char) -> Result<(Token<'static>, usize), ExprError> {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((i, c)) = chars.next() {
        match c {
            c if c == quote => return Ok((Token::Literal(Value::Str(value.into())), i + 1)),
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, c @ ('\\' | '\'' | '"'))) => value.push(c),
                Some((j, c)) => {
                    return Err(ExprError::new(
                        at + i..at + j + c.len_utf8(),
                        format!("unknown escape `\\{c}`"),
                        "expected one of \\n \\t \\\\ \\' \\\"",
                    ));
                }
                None => break,
            },
            '\n' | '\r' => break,
            c => value.push(c),
        }
    }
    Err(ExprError::new(at..at + 1, "a string that is never closed", format!("expected a closing {quote}")))
}

/// Decimal digits and nothing else, the form nearly every number has; none for any other form.
fn plain_integer(rest: &[u8]) -> Option<(Token<'static>, usize)> {
    let len = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
    let ends = rest.get(len).is_none_or(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')));
    // 18 digits always fit; a zero in front is a mistake that is explained elsewhere.
    if !ends || !(1..=18).contains(&len) || (len > 1 && rest[0] == b'0') {
        return None;
    }
    let value = rest[..len].iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
    Some((Token::Literal(Value::Int(value)), len))
}

fn number(rest: &str, at: usize) -> Result<(Token<'static>, usize), ExprError> {
    if let Some(plain) = plain_integer(rest.as_bytes()) {
        return Ok(plain);
    }
    let radix = match rest.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => 10,
    };
    let bytes = rest.as_bytes();
    let mut len = if radix == 10 { 0 } else { 2 };
    let mut is_float = false;
    while let Some(byte) = bytes.get(len) {
        let exponent = radix == 10 && matches!(byte, b'e' | b'E');
        let signed = |b: Option<&u8>| matches!(b, Some(b'+' | b'-')) || b.is_some_and(u8::is_ascii_digit);
        match byte {
            b'.' if radix == 10 && !is_float => is_float = true,
            _ if exponent && signed(bytes.get(len + 1)) => {
                is_float = true;
                len += 1;
            }
            b if b.is_ascii_alphanumeric() || *b == b'_' => {}
            _ => break,
        }
        len += 1;
    }
    let literal = &rest[..len];
    let bad = |message: String| ExprError::new(at..at + len, message, "expected a number");
    // An underscore stands between two digits, or behind the letter of the radix.
    let is_digit = |i: usize| bytes.get(i).is_some_and(|b| char::from(*b).is_digit(radix));
    let wrong_underscore = literal.bytes().enumerate().any(|(i, byte)| {
        byte == b'_' && !((is_digit(i - 1) || (radix != 10 && i == 2)) && is_digit(i + 1) && i + 1 < len)
    });
    if wrong_underscore {
        return Err(bad(format!("`{literal}` is not a number")));
    }
    let digits: String = literal.chars().filter(|c| *c != '_').collect();
    if is_float {
        let value: f64 = digits.parse().map_err(|_| bad(format!("`{literal}` is not a number")))?;
        return Ok((Token::Literal(Value::Float(value)), len));
    }
    let body = if radix == 10 { digits.as_str() } else { digits.get(2..).unwrap_or("") };
    if radix == 10 && body.len() > 1 && body.starts_with('0') && body.bytes().any(|b| b != b'0') {
        return Err(bad(format!("`{literal}` begins with 0")).hint("leave the zeros away, or write 0o for octal"));
    }
    match u64::from_str_radix(body, radix) {
        Ok(value) => match i64::try_from(value) {
            Ok(value) => Ok((Token::Literal(Value::Int(value)), len)),
            Err(_) if value == 1 << 63 => Ok((Token::MinMagnitude, len)),
            Err(_) => Err(bad(format!("`{literal}` does not fit in 64 bits"))),
        },
        Err(_) if !body.is_empty() && body.chars().all(|c| c.is_digit(radix)) => {
            Err(bad(format!("`{literal}` does not fit in 64 bits")))
        }
        Err(_) => Err(bad(format!("`{literal}` is not a number"))),
    }
}
