//! Why a space could not be built.

use std::fmt;
use std::sync::Arc;

use kiln_core::{Config, IMPLEMENTATION, Value};
use kiln_expr::EvalError;

/// A problem that has no space.
#[derive(Debug, Clone, PartialEq)]
pub enum SpaceError {
    /// A name that is neither a tunable nor defined.
    UnknownName {
        /// The rule or derived value using it.
        rule: String,
        /// The name.
        name: String,
    },
    /// A rule cannot be evaluated for a configuration that keeps every other rule.
    Evaluation {
        /// The rule or derived value.
        rule: String,
        /// True when it is a derived value.
        derived: bool,
        /// The workload it failed under; empty when there is none.
        workload: String,
        /// What failed, with values.
        error: Box<EvalError>,
        /// The configuration, as far as the rule's group of tunables fixes it.
        config: Config,
    },
    /// Some rule cannot be evaluated for this configuration.
    Unexplained(Config),
    /// The rules tie so many tunables together that their distinct partial assignments do not fit in memory.
    TooEntangled {
        /// The tunables tied together.
        tunables: Vec<String>,
    },
    /// More than 128 tunables.
    TooManyTunables(usize),
    /// 2^128 configurations or more.
    TooMany,
}

impl fmt::Display for SpaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpaceError::UnknownName { rule, name } => write!(f, "{name}, used by {rule}, is not defined"),
            SpaceError::Evaluation { rule, workload, error, config, .. } => {
                write!(f, "{rule} cannot be evaluated: {error}; configuration {config}")?;
                if workload.is_empty() { Ok(()) } else { write!(f, ", workload {workload}") }
            }
            SpaceError::Unexplained(config) => write!(f, "a rule cannot be evaluated for configuration {config}"),
            SpaceError::TooEntangled { tunables } => write!(
                f,
                "the constraints on {} depend on each other in too many ways: the space cannot be counted in a few seconds",
                tunables.join(", ")
            ),
            SpaceError::TooManyTunables(count) => {
                write!(f, "{count} tunables; at most 128 can be searched")
            }
            SpaceError::TooMany => write!(f, "2^128 configurations or more"),
        }
    }
}

impl std::error::Error for SpaceError {}

impl SpaceError {
    /// The same error of one of several implementations: the configuration says which.
    pub(crate) fn of(self, name: &Arc<str>) -> SpaceError {
        let named = |config: Config| {
            let own = (Arc::from(IMPLEMENTATION), Value::Str(name.clone()));
            Config::new(std::iter::once(own).chain(config.iter().map(|(n, v)| (n.clone(), v.clone()))).collect())
        };
        match self {
            SpaceError::Evaluation { rule, derived, workload, error, config } => {
                SpaceError::Evaluation { rule, derived, workload, error, config: named(config) }
            }
            SpaceError::Unexplained(config) => SpaceError::Unexplained(named(config)),
            other => other,
        }
    }
}
