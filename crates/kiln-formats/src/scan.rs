//! A short way through plain JSON. In: text. Out: strings, integers, lists and objects as they come, or none at the first
//! thing that is not plain: an escape, a float, a mistake. Then the text is read again by the full parser, which either
//! knows what it is or says what is wrong with it: nothing is accepted here that is refused there. Most files are plain,
//! and a file that small is read in the time it takes to fetch a full parser's code into the cache.

/// Deeper nesting is left to the full parser, which has a limit of its own.
const DEEPEST: usize = 16;

pub(crate) struct Scan<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Whether nothing of the list or object at hand has been read yet: its first item has no comma before it.
    first: bool,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str) -> Scan<'a> {
        Scan { text, at: 0, depth: 0, first: true }
    }

    /// The next byte that is not blank, without taking it.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        while let b' ' | b'\n' | b'\r' | b'\t' = *bytes.get(at)? {
            at += 1;
        }
        self.at = at;
        Some(bytes[at])
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        let found = self.peek()? == wanted;
        self.at += usize::from(found);
        found.then_some(())
    }

    /// Nothing but blanks is left.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.peek().is_none().then_some(())
    }

    /// Begins an object, whose members are then read with [`Scan::member`].
    pub(crate) fn object(&mut self) -> Option<()> {
        self.begin(b'{')
    }

    /// Begins a list, whose items are then announced by [`Scan::item`].
    pub(crate) fn list(&mut self) -> Option<()> {
        self.begin(b'[')
    }

    fn begin(&mut self, open: u8) -> Option<()> {
        self.take(open)?;
        self.depth += 1;
        self.first = true;
        (self.depth <= DEEPEST).then_some(())
    }

    /// Whether the list at hand has a further item, which must then be read.
    pub(crate) fn item(&mut self) -> Option<bool> {
        self.more(b']')
    }

    fn more(&mut self, close: u8) -> Option<bool> {
        let byte = self.peek()?;
        let first = std::mem::replace(&mut self.first, false);
        if byte == close {
            self.at += 1;
            self.depth -= 1;
            return Some(false);
        }
        if !first {
            self.take(b',')?;
        }
        Some(true)
    }

    /// The key of the next member of the object at hand, whose value must then be read; an empty option behind the last.
    pub(crate) fn member(&mut self) -> Option<Option<&'a str>> {
        if !self.more(b'}')? {
            return Some(None);
        }
        let key = self.string()?;
        self.take(b':')?;
        Some(Some(key))
    }

    /// A string without escapes.
    pub(crate) fn string(&mut self) -> Option<&'a str> {
        if self.peek()? != b'"' {
            return None;
        }
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let end = start + special(&bytes[start..])?;
        // A line break or a backslash inside the string is not plain.
        if bytes[end] != b'"' {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// An integer of few digits.
    pub(crate) fn integer(&mut self) -> Option<i64> {
        let negative = self.peek()? == b'-';
        self.at += usize::from(negative);
        let rest = self.text.as_bytes().get(self.at..)?;
        let len = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
        let other_form = matches!(rest.get(len), Some(b'.' | b'e' | b'E')) || (len > 1 && rest[0] == b'0');
        // 18 digits always fit; -0 is a float.
        if !(1..=18).contains(&len) || other_form || (negative && rest[0] == b'0') {
            return None;
        }
        self.at += len;
        let magnitude = rest[..len].iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
        Some(if negative { -magnitude } else { magnitude })
    }

    /// Any value, passed over.
    pub(crate) fn skip(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => {
                self.string()?;
            }
            b'[' => {
                self.list()?;
                while self.item()? {
                    self.skip()?;
                }
            }
            b'{' => {
                self.object()?;
                while self.member()?.is_some() {
                    self.skip()?;
                }
            }
            _ => {
                self.integer()?;
            }
        }
        Some(())
    }
}

/// The same byte eight times.
const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Where the first quote, backslash or control character is, looked for eight bytes at a time.
fn special(bytes: &[u8]) -> Option<usize> {
    // Bytes below a limit of at most 128 get their highest bit; so may bytes behind the first of them, never before.
    let below = |word: u64, limit: u8| word.wrapping_sub(eight(limit)) & !word & eight(0x80);
    let equal = |word: u64, byte: u8| below(word ^ eight(byte), 1);
    let mut at = 0;
    while let Some(word) = bytes[at..].first_chunk().map(|b| u64::from_le_bytes(*b)) {
        let found = below(word, b' ') | equal(word, b'"') | equal(word, b'\\');
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    bytes[at..].iter().position(|b| *b == b'"' || *b == b'\\' || *b < b' ').map(|i| at + i)
}
