//! ncu's source page to the lines that a kernel's time goes to. In: `ncu --import REP --csv --page source --print-source cuda,sass` (or `sass`,
//! which has instructions instead of lines). Out: for each kernel its lines with samples, what warps wait for there, and the counts
//! that show a cause. The page is no regular CSV: quotes within a source line are not doubled, so fields are split at `","`
//! and what is too many belongs to the source. What cannot be read is skipped.

mod blame;
mod columns;

use std::io::{self, BufRead, Read};

use columns::Columns;

pub use blame::{Blamed, blame};

/// The lines of one kernel.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HotKernel {
    /// The kernel, as ncu has it.
    pub kernel: String,
    /// Its lines, in the order of the page.
    pub lines: Vec<HotLine>,
}

/// A line of the source, or an instruction where the page has no lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HotLine {
    /// The file; none for an instruction.
    pub file: Option<String>,
    /// The line's number; none for an instruction.
    pub line: Option<u64>,
    /// Its text.
    pub source: String,
    /// Samples of warps there.
    pub samples: f64,
    /// What they waited for, by reason.
    pub stalls: Vec<(&'static str, f64)>,
    /// Sectors of global memory beyond those needed.
    pub excessive_sectors: f64,
    /// Wavefronts of shared memory beyond those needed.
    pub excessive_wavefronts: f64,
    /// Sectors of local memory.
    pub local_sectors: f64,
    /// Thread instructions that idle lanes could have executed.
    pub idle_lanes: f64,
}

/// Lines that are kept; a page has as many as the source has lines with code.
const MOST_LINES: usize = 100_000;
/// A line of the page is no longer than this.
const LONGEST: u64 = 1 << 20;

/// Reads a source page.
pub fn read(mut input: impl BufRead) -> io::Result<Vec<HotKernel>> {
    let mut reader = Reader::default();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if (&mut input).take(LONGEST).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(reader.kernels);
        }
        let text = String::from_utf8_lossy(&bytes);
        reader.take(text.trim_end_matches(['\n', '\r', ',']));
    }
}

/// The state between two lines.
#[derive(Default)]
struct Reader {
    kernels: Vec<HotKernel>,
    file: Option<String>,
    columns: Option<Columns>,
    kept: usize,
}

impl Reader {
    fn take(&mut self, row: &str) {
        let Some(fields) = row.strip_prefix('"').and_then(|row| row.strip_suffix('"')) else { return };
        let fields: Vec<&str> = fields.split("\",\"").collect();
        match fields.as_slice() {
            ["File Path" | "File Name", file] => (self.file, self.columns) = (Some((*file).to_owned()), None),
            ["Function Name", kernel] => self.begin(kernel),
            ["Kernel Name", kernel] => {
                (self.file, self.columns) = (None, None);
                self.begin(kernel);
            }
            ["Line No" | "Address", ..] => self.columns = Columns::of(&fields),
            _ => {
                let line = self.columns.as_ref().and_then(|columns| columns.line(&fields, self.file.as_deref()));
                if let (Some(line), Some(kernel), true) = (line, self.kernels.last_mut(), self.kept < MOST_LINES) {
                    kernel.lines.push(line);
                    self.kept += 1;
                }
            }
        }
    }

    /// A kernel comes once for each of its files, and its files follow each other.
    fn begin(&mut self, kernel: &str) {
        if self.kernels.last().is_none_or(|last| last.kernel != kernel) {
            self.kernels.push(HotKernel { kernel: kernel.to_owned(), lines: Vec::new() });
        }
    }
}

#[cfg(test)]
mod tests;
