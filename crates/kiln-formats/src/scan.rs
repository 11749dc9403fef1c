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
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str) -> Scan<'a> {
        Scan { text, at: 0, depth: 0 }
    }

    /// The next byte that is not blank, without taking it.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let b' ' | b'\n' | b'\r' | b'\t' = bytes.get(self.at)? {
            self.at += 1;
        }
        bytes.get(self.at).copied()
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

    /// An object: `member` is given each key and must read its value.
    pub(crate) fn object(&mut self, mut member: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.items(b'{', b'}', |scan| {
            let key = scan.string()?;
            scan.take(b':')?;
            member(scan, key)
        })
    }

    /// A list: `item` must read each of its items.
    pub(crate) fn list(&mut self, item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.items(b'[', b']', item)
    }

    fn items(&mut self, open: u8, close: u8, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(open)?;
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        if self.peek()? != close {
            item(self)?;
            while self.peek()? == b',' {
                self.at += 1;
                item(self)?;
            }
        }
        self.depth -= 1;
        self.take(close)
    }

    /// A string without escapes.
    pub(crate) fn string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let start = self.at;
        self.at += special(self.text.as_bytes().get(start..)?)?;
        // Not `take`, which would pass over a line break inside the string.
        let closed = self.text.as_bytes().get(self.at) == Some(&b'"');
        let string = self.text.get(start..self.at).filter(|_| closed)?;
        self.at += 1;
        Some(string)
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
            b'"' => self.string().map(|_| ()),
            b'[' => self.list(Scan::skip),
            b'{' => self.object(|scan, _| scan.skip()),
            _ => self.integer().map(|_| ()),
        }
    }
}

/// Where the first quote, backslash or control character is, looked for eight bytes at a time.
fn special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // Bytes below a limit of at most 128 get their highest bit; so may bytes behind the first of them, never before.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH;
    let equal = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let mut at = 0;
    while let Some(word) = bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes) {
        let found = below(word, b' ') | equal(word, b'"') | equal(word, b'\\');
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    bytes[at..].iter().position(|b| *b == b'"' || *b == b'\\' || *b < b' ').map(|i| at + i)
}
