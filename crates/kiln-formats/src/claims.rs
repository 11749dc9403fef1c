//! Claims about kernels, one in each `[[claims]]`. In: a file's text. Out: what each says is so, and where it was said. Refuses
//! claims without a figure, a time without the device it was measured on, and a speedup over nobody. docs/claims.md
//! describes the file.

use kiln_core::Report;
use toml_edit::Value;

use crate::rows::{Row, Rows, float};

/// How far off a claim may be, in per cent, where it does not say.
const TOLERANCE: f64 = 10.0;

/// What a row may say.
const KEYS: [&str; 14] = [
    "claim",
    "where",
    "kernel",
    "target",
    "variant",
    "workload",
    "config",
    "baseline",
    "device",
    "cache",
    "threads",
    "time",
    "speedup",
    "tolerance",
];

/// The figure that was claimed; one or, between the smaller and the larger, any.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClaimedFigure {
    /// Seconds of one call.
    Time([f64; 2]),
    /// How many times as fast as the baseline.
    Speedup([f64; 2]),
}

/// One claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// In words.
    pub claim: String,
    /// Where it was made.
    pub place: Option<String>,
    /// The kernel's path, relative to the file.
    pub kernel: String,
    /// The target.
    pub target: Option<String>,
    /// The variant.
    pub variant: Option<String>,
    /// The workload; every tuned one when none.
    pub workload: Option<String>,
    /// The configuration; the file's own when none.
    pub config: String,
    /// Whom the speedup is over.
    pub baseline: Option<String>,
    /// A part of the device's name.
    pub device: Option<String>,
    /// Whether caches were cold; the target's custom when none.
    pub cold: Option<bool>,
    /// Threads it might use.
    pub threads: usize,
    /// The figure.
    pub figure: ClaimedFigure,
    /// How far off it may be, as a share.
    pub tolerance: f64,
    /// Its line in the file.
    pub line: usize,
}

/// Reads a file of claims.
pub fn read_claims(name: &str, text: &str) -> Result<Vec<Claim>, Vec<Report>> {
    let rows = Rows::parse(name, text).map_err(|report| vec![report])?;
    let rows = rows.under("claims", &[]).map_err(|report| vec![report])?;
    let (mut claims, mut wrong) = (Vec::new(), Vec::new());
    for row in &rows {
        match claim(row) {
            Ok(claim) => claims.push(claim),
            Err(report) => wrong.push(report),
        }
    }
    if claims.is_empty() && wrong.is_empty() {
        wrong.push(Report::error(format!("{name} has no claims")).label("expected [[claims]]"));
    }
    if wrong.is_empty() { Ok(claims) } else { Err(wrong) }
}

fn claim(row: &Row<'_>) -> Result<Claim, Report> {
    row.only(&KEYS)?;
    let time = row.one_or_two("time", "a time such as \"1.36 ms\"", seconds)?;
    let speedup = row.one_or_two("speedup", "a number such as 1.2", float)?;
    let figure = match (time, speedup) {
        (Some(time), None) => ClaimedFigure::Time(time),
        (None, Some(speedup)) => ClaimedFigure::Speedup(speedup),
        (Some(_), Some(_)) => {
            return Err(row
                .wrong("speedup", "a claim has a time or a speedup, not both")
                .hint("make two claims of it"));
        }
        (None, None) => {
            return Err(row
                .wrong("claim", "the claim has no figure")
                .label("expected time = \"1.36 ms\" or speedup = 1.2"));
        }
    };
    let (device, baseline) = (row.text("device")?, row.text("baseline")?);
    if device.as_deref().is_some_and(|device| device.trim().is_empty()) {
        return Err(row.wrong("device", "the device has no name").hint("name a part of what `kiln bench` prints"));
    }
    if matches!(figure, ClaimedFigure::Time(_)) && device.is_none() {
        return Err(row
            .wrong("time", "a time says nothing without the machine it was measured on")
            .hint("add device = \"H200\", or another part of the name that `kiln bench` prints"));
    }
    if matches!(figure, ClaimedFigure::Speedup(_)) && baseline.is_none() {
        return Err(row
            .wrong("speedup", "a speedup needs a baseline")
            .hint("add baseline = \"NAME\", one of the kernel file's [baselines]"));
    }
    let cold = match row.text("cache")?.as_deref() {
        None => None,
        Some("cold") => Some(true),
        Some("warm") => Some(false),
        Some(other) => {
            return Err(row.wrong("cache", format!("`{other}` is no state of caches")).label("expected cold or warm"));
        }
    };
    let tolerance = row.number("tolerance")?.unwrap_or(TOLERANCE);
    if tolerance >= 100.0 {
        return Err(row.wrong("tolerance", format!("a tolerance of {tolerance} % allows anything")));
    }
    let threads = row.number("threads")?.unwrap_or(1.0);
    if threads.fract() != 0.0 {
        return Err(row.wrong("threads", "`threads` is not a whole number"));
    }
    Ok(Claim {
        claim: row.needed("claim")?,
        place: row.text("where")?,
        kernel: row.needed("kernel")?,
        target: row.text("target")?,
        variant: row.text("variant")?,
        workload: row.text("workload")?,
        config: row.text("config")?.unwrap_or_default(),
        baseline,
        device,
        cold,
        threads: threads as usize,
        figure,
        tolerance: tolerance / 100.0,
        line: row.line(),
    })
}

/// Seconds in words such as `1.36 ms`.
fn seconds(value: &Value) -> Option<f64> {
    let text = value.as_str()?.trim();
    let split = text.find(|c: char| c.is_alphabetic() || c == 'µ')?;
    let (figure, unit) = text.split_at(split);
    Some(figure.trim().parse::<f64>().ok()? * crate::runs::unit(unit.trim())?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: &str = "[[claims]]\nclaim = \"fast\"\nkernel = \"k\"\n";

    fn refused(more: &str) -> String {
        let reports = read_claims("claims.toml", &format!("{ONE}{more}\n")).unwrap_err();
        reports[0].to_string()
    }

    #[test]
    fn figures_are_single_or_ranges_with_units() {
        let text = format!(
            "{ONE}time = \"1.36 ms\"\ndevice = \"H200\"\n{ONE}speedup = [1.2, 2.4]\nbaseline = \"torch\"\ntolerance = 5\nwhere = \"README\"\n"
        );
        let claims = read_claims("c", &text).unwrap();
        assert!(
            matches!(claims[0].figure, ClaimedFigure::Time([low, high]) if low == high && (low - 1.36e-3).abs() < 1e-12)
        );
        assert_eq!((claims[1].figure, claims[1].tolerance), (ClaimedFigure::Speedup([1.2, 2.4]), 0.05));
        assert_eq!((claims[1].line, claims[1].place.as_deref()), (6, Some("README")));
    }

    #[test]
    fn what_cannot_be_checked_is_refused_with_its_line() {
        for (more, words) in [
            ("", "the claim has no figure"),
            ("time = \"1 ms\"", "without the machine"),
            ("speedup = 1.2", "needs a baseline"),
            ("speedup = 1.2\ntime = \"1 ms\"", "not both"),
            ("speedup = [2.4, 1.2]\nbaseline = \"b\"", "ends before it begins"),
            ("speedup = \"1.2x\"\nbaseline = \"b\"", "is not a number such as 1.2"),
            ("time = \"1 fortnight\"\ndevice = \"d\"", "is not a time such as"),
            ("time = \"nan ms\"\ndevice = \"d\"", "is not a time such as"),
            ("speed = 2", "did you mean speedup?"),
            ("speedup = 0\nbaseline = \"b\"", "is not a number such as"),
            ("speedup = 1\nbaseline = \"b\"\ntolerance = 100", "allows anything"),
            ("speedup = 1\nbaseline = \"b\"\ncache = \"tepid\"", "expected cold or warm"),
        ] {
            let said = refused(more);
            assert!(said.contains(words), "{more}: {said}");
        }
        assert!(refused("speedup = 1").contains("claims.toml:4"), "{}", refused("speedup = 1"));
        assert!(read_claims("c", "").unwrap_err()[0].to_string().contains("has no claims"));
        assert!(read_claims("c", "[[claims").unwrap_err()[0].to_string().contains("is not TOML"));
        assert!(read_claims("c", "claim = 1").unwrap_err()[0].to_string().contains("means nothing here"));
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "\\PC{0,120}", value in "\\PC{0,20}") {
            let _ = read_claims("c", &text);
            let _ = read_claims("c", &format!("{ONE}speedup = {value}\nbaseline = \"b\""));
            let _ = read_claims("c", &format!("{ONE}time = \"{value}\"\ndevice = \"b\""));
        }
    }
}
