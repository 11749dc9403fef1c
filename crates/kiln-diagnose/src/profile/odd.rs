//! Numbers that cannot be. In: a metric and its value. Out: whether a kernel can have it, and if not, what was expected. Such a number is
//! the sign of a damaged page or of another locale, and nothing is concluded from it.

use super::metric::{self as m, Metric};
use super::rules;
use super::subject::Subject;

/// No count, time or size of a launch is larger.
pub(super) const LARGEST: f64 = 1e18;

/// Counters of several passes exceed 100 % at times, and never by this much.
const MOST_PERCENT: f64 = 200.0;

/// Metrics that no launch can have at 0.
const POSITIVE: &[Metric] = &[m::DURATION, m::CYCLES_ELAPSED, m::INSTRUCTIONS, m::SMS, m::GRID, m::BLOCK];

/// Where the first is above 0, so is the second, by which it is judged.
pub(super) const PAIRS: &[(Metric, Metric)] = &[
    (m::SECTORS, m::SECTORS_IDEAL),
    (m::SHARED_WAVEFRONTS, m::SHARED_WAVEFRONTS_IDEAL),
    (m::LOAD_SECTORS, m::LOAD_REQUESTS),
];

/// A value that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Odd {
    /// The metric, as the page has it.
    pub metric: String,
    /// Its value, with its unit where that is what is odd.
    pub value: String,
    /// What was expected.
    pub expected: String,
}

impl Odd {
    pub(super) fn new(metric: &str, value: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { metric: metric.into(), value: value.into(), expected: expected.into() }
    }
}

/// Why a metric cannot have this value; none if it can.
pub(super) fn expected(metric: Metric, name: &str, value: f64) -> Option<String> {
    let percent = name.contains("pct");
    let most = if percent { MOST_PERCENT } else { LARGEST };
    if POSITIVE.contains(&metric) && value <= 0.0 {
        return Some("a number above 0".into());
    }
    let unit = if percent { " %" } else { "" };
    (!(0.0..=most).contains(&value)).then(|| format!("0 to {most:e}{unit}").replace("2e2", "200"))
}

/// The first metric of a subject that rules read and that cannot have its value.
pub(super) fn of(subject: &Subject) -> Option<Odd> {
    let read = rules::ALL.iter().flat_map(|rule| rule.needs.iter().copied().flatten());
    let all = read.chain(m::TENSOR_PATHS).chain(m::UNITS).copied();
    let own = all.flat_map(|metric| metric.iter().map(move |name| (metric, *name))).find_map(|(metric, name)| {
        let value = subject.launch.get(name)?;
        Some(Odd::new(name, value.to_string(), expected(metric, name, value)?))
    });
    own.or_else(|| PAIRS.iter().find_map(|(metric, by)| pair(subject, metric, by)))
}

fn pair(subject: &Subject, metric: Metric, by: Metric) -> Option<Odd> {
    let (reading, by) = (subject.reading(metric)?, subject.reading(by)?);
    let odd = reading.value > 0.0 && by.value == 0.0;
    odd.then(|| Odd::new(by.name, "0", format!("a number above 0, because {} is {}", reading.name, reading.value)))
}
