//! The columns of a source page. In: a header, then rows. Out: lines. Rows of instructions below a line are left out: the line has their sum.

use super::super::number::number;
use super::HotLine;

/// Where the columns are.
pub(super) struct Columns {
    /// How many there are.
    count: usize,
    /// Whether rows are lines of the source.
    of_lines: bool,
    samples: usize,
    stalls: Vec<(usize, &'static str)>,
    instructions: Option<usize>,
    threads: Option<usize>,
    sectors: Option<usize>,
    wavefronts: Option<usize>,
    local: Option<usize>,
}

/// Reasons to wait: the page's name and that of the raw page.
const STALLS: &[(&str, &str)] = &[
    ("stall_barrier", "barrier"),
    ("stall_branch_resolving", "branch_resolving"),
    ("stall_dispatch", "dispatch_stall"),
    ("stall_drain", "drain"),
    ("stall_gmma", "gmma"),
    ("stall_imc", "imc_miss"),
    ("stall_lg", "lg_throttle"),
    ("stall_long_sb", "long_scoreboard"),
    ("stall_math", "math_pipe_throttle"),
    ("stall_membar", "membar"),
    ("stall_mio", "mio_throttle"),
    ("stall_misc", "misc"),
    ("stall_no_inst", "no_instruction"),
    ("stall_not_selected", "not_selected"),
    ("stall_selected", "selected"),
    ("stall_short_sb", "short_scoreboard"),
    ("stall_sleep", "sleeping"),
    ("stall_tex", "tex_throttle"),
    ("stall_wait", "wait"),
];

impl Columns {
    /// The columns of a header; none without samples, such as in a view of the source alone.
    pub(super) fn of(titles: &[&str]) -> Option<Self> {
        let at = |name: &str| titles.iter().position(|title| *title == name);
        let stalls = STALLS.iter().filter_map(|(name, reason)| Some((at(name)?, *reason)));
        Some(Self {
            count: titles.len(),
            of_lines: titles.first() == Some(&"Line No"),
            samples: at("# Samples").or_else(|| at("Warp Stall Sampling (All Samples)"))?,
            stalls: stalls.collect(),
            instructions: at("Instructions Executed"),
            threads: at("Thread Instructions Executed"),
            sectors: at("L2 Theoretical Sectors Global Excessive"),
            wavefronts: at("L1 Wavefronts Shared Excessive"),
            local: at("L2 Theoretical Sectors Local"),
        })
    }

    /// The line of a row; none for an instruction below a line, a gap, and what is no row.
    pub(super) fn line(&self, fields: &[&str], file: Option<&str>) -> Option<HotLine> {
        let beyond = fields.len().checked_sub(self.count)?;
        let number = match self.of_lines {
            true => Some(fields.first()?.parse::<u64>().ok()?),
            false => None,
        };
        // A source with `","` in it fills several fields.
        let source = fields.get(1..=1 + beyond)?.join("\",\"");
        let value = |index: usize| {
            let text = fields.get(index + beyond).map_or("", |text| text.trim());
            number_of(text).unwrap_or(0.0)
        };
        let maybe = |index: Option<usize>| index.map_or(0.0, value);
        let stalls = self.stalls.iter().map(|(index, reason)| (*reason, value(*index)));
        Some(HotLine {
            file: file.filter(|_| self.of_lines).map(String::from),
            line: number,
            source: source.trim().to_owned(),
            samples: value(self.samples),
            stalls: stalls.filter(|(_, samples)| *samples > 0.0).collect(),
            excessive_sectors: maybe(self.sectors),
            excessive_wavefronts: maybe(self.wavefronts),
            local_sectors: maybe(self.local),
            idle_lanes: (32.0 * maybe(self.instructions) - maybe(self.threads)).max(0.0),
        })
    }
}

/// A count; none of what cannot be one.
fn number_of(text: &str) -> Option<f64> {
    number(text.as_bytes()).filter(|value| value.is_finite() && (0.0..1e18).contains(value))
}
