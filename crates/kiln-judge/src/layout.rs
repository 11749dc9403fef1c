//! What a call left in memory. In: the bytes before and after, and which parts are what. Out: pass, or a refusal: an output
//! not written, a write outside every buffer, an input changed. The bytes between buffers and the outputs are filled with a
//! pattern beforehand that no kernel writes by chance.

use std::ops::Range;

use kiln_core::{Gate, Outcome, Refusal};

/// The pattern: as f32 or f64 a huge odd number, as an integer an odd one; 16 of them in a row are no coincidence.
pub const POISON: u8 = 0xA5;

/// What a part of memory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// Read only.
    Input,
    /// Written whole, element by element of this many bytes.
    Output(usize),
    /// May be read and written.
    Free,
}

/// The parts of memory, by name. Everything else is nobody's.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    pieces: Vec<(String, Range<usize>, Piece)>,
}

/// What a call left behind.
pub type Left = Outcome<()>;

impl Memory {
    /// Adds a part.
    pub fn add(&mut self, name: &str, range: Range<usize>, piece: Piece) {
        self.pieces.push((name.into(), range, piece));
    }

    /// Fills outputs and everything between the parts with the pattern.
    pub fn poison(&self, bytes: &mut [u8]) {
        let mut kept: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
        for (_, range, piece) in &self.pieces {
            if !matches!(piece, Piece::Output(_)) {
                kept.push((range.clone(), bytes[range.clone()].to_vec()));
            }
        }
        bytes.fill(POISON);
        kept.into_iter().for_each(|(range, old)| bytes[range].copy_from_slice(&old));
    }

    /// Judges memory after a call; `before` is what it was after poisoning.
    pub fn judge(&self, before: &[u8], after: &[u8]) -> Left {
        if let Some(at) = self.outside(after) {
            return Outcome::Refused(refuse(Gate::OutOfBounds, "memory", self.words(at), "writes inside the outputs"));
        }
        for (name, range, piece) in &self.pieces {
            let (old, new) = (&before[range.clone()], &after[range.clone()]);
            match piece {
                Piece::Free => {}
                Piece::Input => {
                    if let Some(at) = old.iter().zip(new).position(|(a, b)| a != b) {
                        let measured = format!("byte {at} of {name} was changed");
                        return Outcome::Refused(refuse(Gate::InputModified, name, measured, "inputs as they were"));
                    }
                }
                Piece::Output(size) => {
                    let unwritten = |element: &[u8]| element.iter().all(|b| *b == POISON);
                    let count = new.chunks(*size).filter(|e| unwritten(e)).count();
                    if let Some(first) = new.chunks(*size).position(unwritten) {
                        let measured = format!("{count} elements of {name} were never written, the first is {first}");
                        return Outcome::Refused(refuse(
                            Gate::UnwrittenOutput,
                            name,
                            measured,
                            "every element written",
                        ));
                    }
                }
            }
        }
        Outcome::Passed(())
    }

    /// The first byte outside every part that is not as it was.
    fn outside(&self, after: &[u8]) -> Option<usize> {
        let mut ranges: Vec<&Range<usize>> = self.pieces.iter().map(|(_, range, _)| range).collect();
        ranges.sort_by_key(|r| r.start);
        let mut from = 0;
        for range in ranges.into_iter().chain(std::iter::once(&(after.len()..after.len()))) {
            if range.start > from
                && let Some(at) = after[from..range.start].iter().position(|b| *b != POISON)
            {
                return Some(from + at);
            }
            from = from.max(range.end);
        }
        None
    }

    /// Where a stray byte lies, seen from the nearest part.
    fn words(&self, at: usize) -> String {
        let distance = |range: &Range<usize>| if at < range.start { range.start - at } else { at + 1 - range.end };
        match self.pieces.iter().min_by_key(|(_, range, _)| distance(range)) {
            Some((name, range, _)) if at < range.start => format!("a write {} bytes before {name}", range.start - at),
            Some((name, range, _)) => format!("a write {} bytes beyond the end of {name}", at + 1 - range.end),
            None => format!("a write to byte {at}"),
        }
    }
}

fn refuse(gate: Gate, rule: &str, measured: String, limit: &str) -> Refusal {
    Refusal { gate, rule: rule.into(), measured, limit: limit.into(), evidence: String::new(), hint: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        let mut memory = Memory::default();
        memory.add("x", 16..32, Piece::Input);
        memory.add("y", 48..64, Piece::Output(4));
        memory
    }

    /// The gate that refuses what `change` does to memory in which everything was done right.
    fn gate(change: impl Fn(&mut [u8])) -> Option<(Gate, String)> {
        let mut before = vec![1u8; 80];
        memory().poison(&mut before);
        let mut after = before.clone();
        after[48..64].fill(2);
        change(&mut after);
        match memory().judge(&before, &after) {
            Outcome::Passed(()) => None,
            Outcome::Refused(refusal) => Some((refusal.gate, refusal.measured)),
        }
    }

    #[test]
    fn each_misdeed_has_its_gate() {
        assert_eq!(gate(|_| {}), None);
        assert_eq!(gate(|m| m[20] = 9).unwrap().0, Gate::InputModified);
        assert_eq!(
            gate(|m| m[52..56].fill(POISON)).unwrap(),
            (Gate::UnwrittenOutput, "1 elements of y were never written, the first is 1".into())
        );
        assert_eq!(gate(|m| m[64] = 0).unwrap(), (Gate::OutOfBounds, "a write 1 bytes beyond the end of y".into()));
        assert_eq!(gate(|m| m[45] = 0).unwrap(), (Gate::OutOfBounds, "a write 3 bytes before y".into()));
        assert_eq!(gate(|m| m[0] = 0).unwrap().0, Gate::OutOfBounds);
        // Part of an element may look like the pattern.
        assert_eq!(gate(|m| m[52..55].fill(POISON)), None);
    }
}
