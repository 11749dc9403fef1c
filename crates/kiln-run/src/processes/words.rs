//! What a worker writes to standard error: the end of it, for that often says why a worker died, and on request its beginning
//! too, for reports and for what a kernel prints. Never more than was asked for, however much is written.

use std::collections::VecDeque;

/// How much of the end is kept.
const END: usize = 2048;

#[derive(Debug, Default)]
pub(crate) struct Words {
    /// Bytes of the beginning that are kept.
    most: usize,
    beginning: Vec<u8>,
    end: VecDeque<u8>,
    /// Everything that came.
    bytes: u64,
}

impl Words {
    /// Keeps this many bytes of the beginning from now on.
    pub(crate) fn keep(&mut self, most: usize) {
        self.most = most;
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let room = self.most.saturating_sub(self.beginning.len()).min(bytes.len());
        self.beginning.extend_from_slice(&bytes[..room]);
        let rest = &bytes[room..];
        self.end.extend(&rest[rest.len().saturating_sub(END)..]);
        let excess = self.end.len().saturating_sub(END);
        self.end.drain(..excess);
    }

    /// The end of it.
    pub(crate) fn last(&self) -> String {
        let ahead = END.saturating_sub(self.end.len()).min(self.beginning.len());
        let bytes = self.beginning[self.beginning.len() - ahead..].iter().chain(&self.end);
        text(bytes.copied()).trim().to_string()
    }

    /// Everything that is kept, and how many bytes between its beginning and its end are not.
    pub(crate) fn all(&self) -> (String, u64) {
        let left_out = self.bytes - self.beginning.len() as u64 - self.end.len() as u64;
        let gap = if left_out > 0 { format!("\n[{left_out} bytes left out]\n").into_bytes() } else { Vec::new() };
        (text(self.beginning.iter().chain(&gap).chain(&self.end).copied()), left_out)
    }
}

fn text(bytes: impl Iterator<Item = u8>) -> String {
    String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_always_and_the_beginning_on_request() {
        let mut words = Words::default();
        words.add(b"first ");
        words.add(&[b'x'; 3 * END]);
        words.add(b" last\n");
        assert!(words.last().ends_with("x last") && words.last().len() == END - 1, "{}", words.last());

        let mut words = Words::default();
        words.keep(10);
        words.add(b"first ");
        assert_eq!((words.last().as_str(), words.all()), ("first", ("first ".into(), 0)));
        words.add(b"then more");
        assert_eq!((words.last().as_str(), words.all()), ("first then more", ("first then more".into(), 0)));
        words.add(&[b'x'; 3 * END]);
        let (text, left_out) = words.all();
        assert!(text.starts_with("first then\n[") && text.ends_with('x'), "{text}");
        assert_eq!(left_out, (5 + 2 * END) as u64);
    }
}
