//! One case: a shape, what inputs are drawn from and with which seed, a configuration. It can be typed, as
//! `S=65,D=64; inputs=spike; seed=7`, with the configuration in a flag of its own. Refuses dimensions that are not the
//! kernel's, and inputs that do not exist.

use std::fmt;
use std::sync::Arc;

use kiln_core::{Config, Report, Use, Value, Workload, nearest};

use crate::drawn::distribution::Distribution;

/// The value of every dimension, in the order of the kernel file.
pub type Shape = Vec<(Arc<str>, Value)>;

/// Something to ask a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct FuzzCase {
    /// The shape.
    pub shape: Shape,
    /// What inputs are drawn from.
    pub inputs: Distribution,
    /// The seed they are drawn with.
    pub seed: u64,
    /// The configuration; empty for a baseline.
    pub config: Config,
}

impl FuzzCase {
    /// The case that was typed. Dimensions that were left out are those of `usual`, inputs are as declared, the seed is 0.
    pub fn parse(text: &str, usual: &Shape, config: Config) -> Result<FuzzCase, Report> {
        let mut case = FuzzCase { shape: usual.clone(), inputs: Distribution::Declared, seed: 0, config };
        let wrong = |message: String| Report::error(format!("--case: {message}"));
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            match part.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
                Some(("inputs", name)) => case.inputs = named(name).map_err(|report| within("--case", report))?,
                Some(("seed", number)) => {
                    let seed = number.parse().map_err(|_| wrong(format!("seed is {number}")));
                    case.seed = seed.map_err(|report| report.label("expected a whole number of at least 0"))?;
                }
                _ => {
                    let given = Config::parse(part).map_err(|e| wrong(e.to_string()))?;
                    case.set(&given).map_err(|report| within("--case", report))?;
                }
            }
        }
        Ok(case)
    }

    /// Sets dimensions.
    fn set(&mut self, given: &Config) -> Result<(), Report> {
        for (name, value) in given.iter() {
            match self.shape.iter_mut().find(|(dim, _)| dim == name) {
                Some((_, dim)) if same_kind(dim, value) => *dim = value.clone(),
                Some((_, dim)) => {
                    let report = Report::error(format!("{name} is {value}"));
                    return Err(report.label(format!("expected {}, as in {name}={dim}", article(dim.kind()))));
                }
                None => return Err(unknown(name, &self.shape)),
            }
        }
        Ok(())
    }
}

fn within(flag: &str, report: Report) -> Report {
    Report { message: format!("{flag}: {}", report.message), ..report }
}

fn article(kind: &str) -> String {
    let an = if kind.starts_with('i') { "an" } else { "a" };
    format!("{an} {kind}")
}

/// Whether a value may stand in another's place.
fn same_kind(a: &Value, b: &Value) -> bool {
    a.kind() == b.kind()
}

/// The distribution of that name. Refuses others, with the list.
pub(crate) fn named(name: &str) -> Result<Distribution, Report> {
    Distribution::named(name).ok_or_else(|| {
        let all: Vec<String> = Distribution::FUZZED.iter().map(ToString::to_string).collect();
        let near = nearest(name, all.iter().map(String::as_str)).map(|near| format!("did you mean {near}?"));
        let report = Report::error(format!("there are no inputs `{name}`"));
        report.label(format!("expected one of {}", all.join(", "))).maybe_hint(near)
    })
}

fn unknown(name: &str, shape: &Shape) -> Report {
    let known: Vec<&str> = shape.iter().map(|(name, _)| &**name).collect();
    let near = nearest(name, known.iter().copied()).map(|near| format!("did you mean {near}?"));
    let report = Report::error(format!("there is no dimension `{name}`"));
    report.label(format!("expected one of {}", known.join(", "))).maybe_hint(near)
}

/// A shape as it is typed: `S=65,D=64`.
pub fn shape_text(shape: &Shape) -> String {
    Config::new(shape.clone()).to_string()
}

/// A shape as a workload of its own.
pub fn workload_of(shape: &Shape) -> Workload {
    Workload {
        name: shape_text(shape).into(),
        dims: shape.clone(),
        use_for: Use::Check,
        targets: Vec::new(),
        weight: 1.0,
    }
}

/// Prints what [`FuzzCase::parse`] reads; the configuration is not part of it.
impl fmt::Display for FuzzCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; inputs={}; seed={}", shape_text(&self.shape), self.inputs, self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> Shape {
        let text: Arc<str> = "bhsd".into();
        vec![("S".into(), Value::Int(128)), ("D".into(), Value::Int(64)), ("LAYOUT".into(), Value::Str(text))]
    }

    #[test]
    fn what_is_printed_reads_back() {
        let case = FuzzCase::parse("S=65; inputs=scaled_4; seed=7", &usual(), Config::default()).unwrap();
        assert_eq!(case.to_string(), "S=65,D=64,LAYOUT=bhsd; inputs=scaled_4; seed=7");
        assert_eq!(FuzzCase::parse(&case.to_string(), &usual(), Config::default()), Ok(case));
        let plain = FuzzCase::parse("", &usual(), Config::default()).unwrap();
        assert_eq!((plain.shape, plain.inputs, plain.seed), (usual(), Distribution::Declared, 0));
    }

    #[test]
    fn mistakes_are_named() {
        let said = |text: &str| FuzzCase::parse(text, &usual(), Config::default()).unwrap_err().to_string();
        let unknown = said("T=65");
        assert!(unknown.contains("--case: there is no dimension `T`"), "{unknown}");
        assert!(unknown.contains("expected one of S, D, LAYOUT"), "{unknown}");
        assert!(said("inputs=spik").contains("did you mean spik"), "{}", said("inputs=spik"));
        assert!(said("seed=-1").contains("expected a whole number"), "{}", said("seed=-1"));
        assert!(said("S=large").contains("expected an integer, as in S=128"), "{}", said("S=large"));
        assert!(said("S").contains("--case"), "{}", said("S"));
    }
}
