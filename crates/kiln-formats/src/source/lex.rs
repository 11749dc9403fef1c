//! The tokens of a C or C++ text. In: any text. Out: words, numbers, strings, punctuation, and whole preprocessor lines, without
//! comments, each with its line. Never fails: what is no token of C is a token of one character.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A word.
    Word,
    /// A number, a string or a character.
    Literal,
    /// An operator or a bracket.
    Punctuation,
    /// A preprocessor line without its `#`.
    Directive,
}

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its text.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
}

impl Token {
    /// Whether it is this punctuation or word.
    pub fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != Kind::Literal
    }
}

/// Operators of more than one character, longer ones first. `>>` is two, so that templates close.
const OPERATORS: [&str; 24] = [
    "<<=", ">>=", "...", "->*", "::", "->", "++", "--", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "<<", "##",
];

/// The tokens of a text.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let text = text.replace("\\\r\n", "\\\n");
    let mut lexer = Lexer { chars: text.chars().collect(), at: 0, line: 1 };
    let mut found = Vec::new();
    let mut fresh_line = true;
    while let Some(c) = lexer.peek(0) {
        let line = lexer.line;
        if c == '\n' {
            fresh_line = true;
            lexer.take();
        } else if c.is_whitespace() || lexer.continues() {
            lexer.take();
        } else if lexer.comment() {
        } else if c == '#' && fresh_line {
            lexer.take();
            let text = lexer.directive();
            found.push(Token { kind: Kind::Directive, text, line });
            fresh_line = true;
        } else {
            fresh_line = false;
            let (kind, text) = lexer.token(c);
            found.push(Token { kind, text, line });
        }
    }
    found
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    line: usize,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        self.line += usize::from(c == '\n');
        Some(c)
    }

    fn starts(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(i, c)| self.peek(i) == Some(c))
    }

    /// A backslash at the end of a line.
    fn continues(&self) -> bool {
        self.peek(0) == Some('\\') && self.peek(1) == Some('\n')
    }

    /// Skips a comment if one begins here.
    fn comment(&mut self) -> bool {
        if self.starts("//") {
            while self.peek(0).is_some_and(|c| c != '\n') {
                if self.continues() {
                    self.take();
                }
                self.take();
            }
            return true;
        }
        if !self.starts("/*") {
            return false;
        }
        self.take();
        self.take();
        while self.peek(0).is_some() && !self.starts("*/") {
            self.take();
        }
        self.take();
        self.take();
        true
    }

    /// The rest of a preprocessor line, with continued lines, without comments.
    fn directive(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.peek(0) {
            if c == '\n' {
                break;
            }
            if self.continues() {
                self.take();
                self.take();
                text.push(' ');
            } else if self.comment() {
                text.push(' ');
            } else {
                text.extend(self.take());
            }
        }
        text.trim().to_owned()
    }

    fn token(&mut self, c: char) -> (Kind, String) {
        if self.starts("R\"") {
            return (Kind::Literal, self.raw_string());
        }
        if c.is_alphabetic() || c == '_' {
            return (Kind::Word, self.while_some(|c| c.is_alphanumeric() || c == '_' || c == '$'));
        }
        if c.is_ascii_digit() || (c == '.' && self.peek(1).is_some_and(|d| d.is_ascii_digit())) {
            return (Kind::Literal, self.while_some(|c| c.is_alphanumeric() || c == '.' || c == '\'' || c == '_'));
        }
        if c == '"' || c == '\'' {
            return (Kind::Literal, self.quoted(c));
        }
        let length = OPERATORS.iter().find(|op| self.starts(op)).map_or(1, |op| op.len());
        (Kind::Punctuation, (0..length).filter_map(|_| self.take()).collect())
    }

    fn while_some(&mut self, fits: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while self.peek(0).is_some_and(&fits) {
            text.extend(self.take());
        }
        text
    }

    fn quoted(&mut self, quote: char) -> String {
        let mut text = String::new();
        text.extend(self.take());
        while let Some(c) = self.peek(0) {
            if c == '\n' {
                break;
            }
            text.extend(self.take());
            if c == '\\' {
                text.extend(self.take());
            } else if c == quote {
                break;
            }
        }
        text
    }

    fn raw_string(&mut self) -> String {
        let mut text: String = (0..2).filter_map(|_| self.take()).collect();
        let delimiter = self.while_some(|c| c != '(' && c != '\n' && c != '"');
        let end = format!("){delimiter}\"");
        text.push_str(&delimiter);
        while self.peek(0).is_some() && !self.starts(&end) {
            text.extend(self.take());
        }
        text.extend((0..end.chars().count()).filter_map(|_| self.take()).collect::<Vec<_>>());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_continued_lines() {
        let text =
            "#define A \\\n 4 // x\nint a = 0x1f; /* __global__\n */ char *s = \"/*\\\"\"; R\"x(})x\" b>>=1; c>>d;";
        let found = tokens(text);
        assert_eq!(found[0], Token { kind: Kind::Directive, text: "define A   4".into(), line: 1 });
        let texts: Vec<&str> = found[1..].iter().map(|t| t.text.as_str()).collect();
        let expected = [
            "int",
            "a",
            "=",
            "0x1f",
            ";",
            "char",
            "*",
            "s",
            "=",
            "\"/*\\\"\"",
            ";",
            "R\"x(})x\"",
            "b",
            ">>=",
            "1",
            ";",
            "c",
            ">",
            ">",
            "d",
            ";",
        ];
        assert_eq!(texts, expected);
        assert_eq!(found[1].line, 3);
        assert_eq!(found[6].line, 4);
    }
}
