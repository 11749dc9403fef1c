//! Records of CSV out of a stream that also holds other lines. In: bytes. Out: records, each a list of fields, one at a time, in
//! buffers that are used again. Lines that do not begin with a quote are what a program or ncu itself printed: the first of
//! ncu's are kept, the others skipped; after a header without quotes, which a spreadsheet writes, lines with as many commas
//! are records, too. Refuses nothing: a quote that is never closed costs its own line only. Memory is bounded by [`LONGEST`].

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::ops::Range;

/// No record is longer; what goes on beyond it is no CSV.
const LONGEST: usize = 4 << 20;

/// No record has more lines: descriptions of rules may have line breaks.
const MOST_LINES: usize = 16;

/// How much of a record that was given up is kept.
const LOST: usize = 4096;

/// How many of ncu's own lines are kept.
const MOST_SAID: usize = 64;

/// A reader of records.
#[derive(Debug)]
pub(crate) struct Records<R> {
    input: R,
    /// Lines that were read ahead in search of a closing quote.
    ahead: VecDeque<Vec<u8>>,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
    record: Record,
    /// What ncu said beside the records: errors, warnings, the kernels that there were.
    pub(crate) said: Vec<String>,
    /// The commas of a header without quotes, once there is one.
    bare: Option<usize>,
    /// Whether the last line was read, and has no end.
    unfinished: bool,
    /// A record that was given up at the end of the input, because a quote in it is open: its beginning.
    pub(crate) lost: Option<Vec<u8>>,
}

/// One record.
#[derive(Debug, Default)]
pub(crate) struct Record {
    text: Vec<u8>,
    fields: Vec<Range<usize>>,
    /// Whether it ends with the input and not with a line: it may be cut.
    pub(crate) unfinished: bool,
}

impl Record {
    /// The number of fields.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field without its quotes; none beyond the last.
    pub(crate) fn bytes(&self, index: usize) -> Option<&[u8]> {
        self.text.get(self.fields.get(index)?.clone())
    }

    /// A field as text.
    pub(crate) fn text(&self, index: usize) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(index).unwrap_or_default())
    }

    /// Every field as text.
    pub(crate) fn texts(&self) -> Vec<String> {
        (0..self.len()).map(|index| self.text(index).into_owned()).collect()
    }
}

impl<R: BufRead> Records<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            ahead: VecDeque::new(),
            spare: Vec::new(),
            record: Record::default(),
            said: Vec::new(),
            bare: None,
            unfinished: false,
            lost: None,
        }
    }

    /// Whether a line without a quote at its start is a record of a page that was saved without quotes.
    fn is_bare(&mut self, line: &[u8]) -> bool {
        let commas = line.iter().filter(|byte| **byte == b',').count();
        let text = line.trim_ascii_end();
        let has = |name: &[u8]| text.split(|byte| *byte == b',').any(|field| field.trim_ascii() == name);
        if commas > 1 && has(b"ID") && has(b"Kernel Name") {
            self.bare = Some(commas);
        }
        // A name with commas has quotes, and more commas than the header; a cut row has fewer.
        self.bare.is_some_and(|header| commas > 0 && (commas >= header || self.unfinished))
    }

    /// The next record; none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<&Record>> {
        loop {
            let Some(mut line) = self.line()? else { return Ok(None) };
            // A mark of UTF-8 may stand before the first.
            if line.starts_with(&[0xef, 0xbb, 0xbf]) {
                line.drain(..3);
            }
            if line.first() != Some(&b'"') && !self.is_bare(&line) {
                if self.said.len() < MOST_SAID && of_ncu(&line) {
                    let text = String::from_utf8_lossy(&line[..line.len().min(400)]);
                    self.said.push(text.trim_end().into());
                }
                self.spare.push(line);
                continue;
            }
            if self.complete(line)? {
                return Ok(Some(&self.record));
            }
        }
    }

    /// Splits a line, and those that its quotes span.
    fn complete(&mut self, line: Vec<u8>) -> io::Result<bool> {
        self.record.text.clear();
        self.record.text.extend_from_slice(&line);
        self.spare.push(line);
        let mut taken = 0;
        // A record ends where its quotes are closed: where their number is even.
        let mut quotes = count(&self.record.text);
        while quotes % 2 == 1 {
            if taken == self.ahead.len()
                && let Some(line) = self.fresh()?
            {
                self.ahead.push_back(line);
            }
            match self.ahead.get(taken) {
                // No field spans a page's header.
                Some(more) if more.starts_with(b"\"ID\",") => return Ok(false),
                Some(more) if taken < MOST_LINES && self.record.text.len() + more.len() <= LONGEST => {
                    self.record.text.extend_from_slice(more);
                    quotes += count(more);
                    taken += 1;
                }
                more => {
                    if more.is_none() {
                        self.lost = Some(self.record.text[..self.record.text.len().min(LOST)].to_vec());
                    }
                    return Ok(false);
                }
            }
        }
        if !split(&self.record.text, &mut self.record.fields) {
            return Ok(false);
        }
        self.record.unfinished = self.unfinished && self.ahead.len() == taken;
        self.spare.extend(self.ahead.drain(..taken));
        self.spare.truncate(4);
        unescape(&mut self.record);
        Ok(true)
    }

    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.ahead.pop_front() {
            Some(line) => Ok(Some(line)),
            None => self.fresh(),
        }
    }

    /// A line of the input, cut at the longest record.
    fn fresh(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = self.spare.pop().unwrap_or_default();
        line.clear();
        let read = (&mut self.input).take(LONGEST as u64).read_until(b'\n', &mut line)?;
        self.unfinished |= read > 0 && line.last() != Some(&b'\n') && line.len() < LONGEST;
        Ok((read > 0).then_some(line))
    }
}

fn count(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'"').count()
}

/// Whether ncu printed this line: `==ERROR== ...`, or an entry of its list of kernels, `2. recur32`.
fn of_ncu(line: &[u8]) -> bool {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    line.starts_with(b"==") || (digits > 0 && line[digits..].starts_with(b". "))
}

/// The fields of a record; false if a quote is open at its end.
fn split(text: &[u8], fields: &mut Vec<Range<usize>>) -> bool {
    fields.clear();
    let end = text.len() - text.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    let mut at = 0;
    while at < end {
        let from = at;
        if text[at] == b'"' {
            at += 1;
            loop {
                match text[at..end].iter().position(|byte| *byte == b'"') {
                    Some(more) if text.get(at + more + 1) == Some(&b'"') && at + more + 1 < end => at += more + 2,
                    Some(more) => {
                        fields.push(from + 1..at + more);
                        at += more + 1;
                        break;
                    }
                    None => return false,
                }
            }
            // What follows a closing quote up to the comma is no CSV, and is left out.
            if text.get(at) == Some(&b',') {
                at += 1;
                continue;
            }
            at += text[at..end].iter().position(|byte| *byte == b',').unwrap_or(end - at);
        } else {
            at += text[at..end].iter().position(|byte| *byte == b',').unwrap_or(end - at);
            fields.push(from..at);
        }
        at += 1;
    }
    true
}

/// Two quotes within a field mean one.
fn unescape(record: &mut Record) {
    for index in 0..record.fields.len() {
        let field = record.fields[index].clone();
        let Some(bytes) = record.text.get(field.clone()) else { continue };
        if !bytes.contains(&b'"') {
            continue;
        }
        let mut to = field.start;
        let mut from = field.start;
        while from < field.end {
            record.text[to] = record.text[from];
            from += if record.text[from] == b'"' && record.text.get(from + 1) == Some(&b'"') { 2 } else { 1 };
            to += 1;
        }
        record.fields[index].end = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &[u8]) -> Vec<Vec<String>> {
        let mut records = Records::new(text);
        let mut found = Vec::new();
        while let Some(record) = records.next().unwrap() {
            found.push(record.texts());
        }
        found
    }

    #[test]
    fn records_are_found_between_other_lines() {
        let text = "==PROF== Connected\nresult=1,2\n\"ID\",\"Name\"\r\n\n\"0\",\"f(int, int)\",\nbye\n\"1\",\"say \"\"a\"\"\",3\n";
        assert_eq!(all(text.as_bytes()), [vec!["ID", "Name"], vec!["0", "f(int, int)"], vec!["1", "say \"a\"", "3"]]);
    }

    #[test]
    fn a_field_may_have_several_lines_and_an_open_quote_costs_one() {
        assert_eq!(all(b"\"a\",\"one\ntwo\"\n\"b\"\n"), [vec!["a", "one\ntwo"], vec!["b"]]);
        let lost = format!("\"never closed\n{}\"a\",\"b\"\n", "program output\n".repeat(100));
        assert_eq!(all(lost.as_bytes()), [vec!["a", "b"]]);
        let before = b"\"one quote\n\"ID\",\"b\"\n\"0\",\"another\n";
        assert_eq!(all(before), [vec!["ID", "b"]]);
    }

    #[test]
    fn a_page_without_quotes_is_records_from_its_header_on() {
        let text = "1,2,3\r\nID,Kernel Name,a\r\n,,ns\r\nstep 4\r\n0,\"f(int, int)\",7\r\n0,k,\"1,234\"\r\n";
        let rows = [vec!["ID", "Kernel Name", "a"], vec!["", "", "ns"], vec!["0", "f(int, int)", "7"]];
        assert_eq!(all(text.as_bytes())[..3], rows);
        assert_eq!(all(text.as_bytes())[3], ["0", "k", "1,234"]);
    }

    #[test]
    fn a_record_at_the_end_may_be_cut() {
        let unfinished = |text: &str| {
            let mut records = Records::new(text.as_bytes());
            let mut last = false;
            while let Some(record) = records.next().unwrap() {
                last = record.unfinished;
            }
            (last, records.lost)
        };
        assert_eq!(unfinished("\"a\",\"b\"\n"), (false, None));
        assert_eq!(unfinished("\"a\",\"b\"\n\"c\""), (true, None));
        assert_eq!(unfinished("\"a\",\"b\"\n\"c\",\"d"), (false, Some(b"\"c\",\"d".to_vec())));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[\",\\n\\ra0 ]{0,200}") {
            let _ = all(text.as_bytes());
        }

        /// With no more lines in a record than there may be.
        #[test]
        fn what_is_written_is_read(
            rows in prop::collection::vec(prop::collection::vec("([a-z\",]{0,4}\\n){0,2}[a-z\",]{0,4}", 1..6), 0..6),
        ) {
            let quoted = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
            let text: String = rows.iter().map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n").collect();
            prop_assert_eq!(all(text.as_bytes()), rows);
        }
    }
}
