//! The word that lets somebody in. In: randomness of the system. Out: 32 characters that nobody can guess. Comparing takes as long for a near miss as for
//! any other.

use std::fmt;
use std::io::Read;

use kiln_app::Fault;

/// Such a word.
#[derive(Clone)]
pub(super) struct Token(String);

impl Token {
    /// A new one.
    pub(super) fn new() -> Result<Token, Fault> {
        let mut bytes = [0; 16];
        let read = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
        read.map_err(|error| Fault::new("drawing a token", error))?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The word, for those who may know it.
    pub(super) fn words(&self) -> &str {
        &self.0
    }

    /// Whether somebody knows it.
    pub(super) fn is(&self, offered: &str) -> bool {
        let differ = self.0.bytes().zip(offered.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        differ == 0 && offered.len() == self.0.len()
    }
}

/// Not the word: what is printed for debugging is printed anywhere.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_itself_alone() {
        let (one, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert!(one.is(one.words()) && !one.is(other.words()) && !one.is("") && !one.is(&one.words()[..31]));
        assert!(!one.is(&format!("{}0", one.words())));
        assert_eq!(one.words().len(), 32);
    }
}
