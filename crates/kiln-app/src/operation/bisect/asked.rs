//! What is asked of a commit. In: `build`, `check`, `fast` or `fast:3%`. Out: [`BisectUntil`]. Refuses other words, and limits that
//! no measurement reaches.

use std::fmt;

use kiln_core::Report;
use kiln_store::CommitJudged;

use crate::failure::Failure;

/// The limit of `fast` without one.
const USUAL: f64 = 0.03;
/// Smaller differences are beyond what is measured; larger ones are not meant.
const LIMITS: std::ops::RangeInclusive<f64> = 0.005..=10.0;

/// What is asked of a commit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BisectUntil {
    /// That it compiles.
    Build,
    /// That it is correct.
    Check,
    /// That it takes no more time than the good one and this fraction of it.
    Fast(f64),
}

impl BisectUntil {
    /// From what was typed.
    pub fn parse(words: &str) -> Result<BisectUntil, Failure> {
        let (kind, limit) = words.split_once(':').map_or((words, None), |(kind, limit)| (kind, Some(limit)));
        match (CommitJudged::named(kind), limit) {
            (Some(CommitJudged::Build), None) => return Ok(BisectUntil::Build),
            (Some(CommitJudged::Check), None) => return Ok(BisectUntil::Check),
            (Some(CommitJudged::Fast), None) => return Ok(BisectUntil::Fast(USUAL)),
            (Some(CommitJudged::Fast), Some(limit)) => {
                let percent: Option<f64> = limit.trim().trim_end_matches('%').trim().parse().ok();
                if let Some(limit) = percent.map(|percent| percent / 100.0).filter(|limit| LIMITS.contains(limit)) {
                    return Ok(BisectUntil::Fast(limit));
                }
            }
            _ => {}
        }
        let report = Report::error(format!("--until {words} is not understood"));
        Err(report.label("expected build, check, fast, or fast:3% with a limit from 0.5 to 1000 %").into())
    }

    /// What it is recorded as.
    pub(super) fn judged(self) -> CommitJudged {
        match self {
            BisectUntil::Build => CommitJudged::Build,
            BisectUntil::Check => CommitJudged::Check,
            BisectUntil::Fast(_) => CommitJudged::Fast,
        }
    }
}

impl fmt::Display for BisectUntil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BisectUntil::Fast(limit) => write!(f, "fast:{}%", (limit * 1e5).round() / 1e3),
            other => f.write_str(other.judged().name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_understood_or_refused() {
        for (typed, shown) in [
            ("build", "build"),
            ("check", "check"),
            ("fast", "fast:3%"),
            ("fast:5%", "fast:5%"),
            ("fast:2.5", "fast:2.5%"),
            ("fast: 7 %", "fast:7%"),
        ] {
            assert_eq!(BisectUntil::parse(typed).unwrap().to_string(), shown);
        }
        for wrong in ["", "slow", "check:3%", "fast:", "fast:0%", "fast:-1%", "fast:nan", "fast:1e9"] {
            assert!(BisectUntil::parse(wrong).is_err(), "{wrong}");
        }
    }
}
