//! One way to build and run the kernel on a target: what is compiled, what is called, what can be tuned. A target has one of
//! them without a name, or several with names that compete in one study.

use std::sync::Arc;

use kiln_core::Value;
use kiln_device::Arch;

use crate::model::{Compile, Constraint, Derived, Launch, Tunable};

/// One way to build and run the kernel. Tunables, defaults, derived values and constraints are merged: what the file says for
/// all targets first, then what it says for the target, then what it says for this implementation.
#[derive(Debug, Clone, Default)]
pub struct Implementation {
    /// Its name; none where the target has only one, without a name.
    pub name: Option<Arc<str>>,
    /// Where it runs; everywhere when empty.
    pub archs: Vec<ArchRange>,
    /// The entry, when it differs from the kernel's.
    pub entry: Option<String>,
    /// True when that entry is a host launcher.
    pub host: bool,
    /// Source files, beside the kernel file.
    pub sources: Vec<String>,
    /// Compiler settings.
    pub compile: Compile,
    /// Tunables in declaration order.
    pub tunables: Vec<Tunable>,
    /// The configuration known to be good; may leave tunables out.
    pub default: Vec<(Arc<str>, Value)>,
    /// Named intermediate values, each after those it needs.
    pub derived: Vec<Derived>,
    /// The rules a configuration must keep.
    pub constraints: Vec<Constraint>,
    /// The launches of one call, in order; empty for CPU and Python targets.
    pub launches: Vec<Launch>,
    /// Kernels that every timed sample must run, each by a part of its name; only for Python functions on a GPU and host
    /// launchers.
    pub kernels: Vec<String>,
    /// The arguments it takes, in the file's order; all of them when none are named.
    pub arguments: Option<Vec<String>>,
}

impl Implementation {
    /// Whether it runs on an architecture; where none is known, it is thought to.
    pub fn runs_on(&self, arch: Option<Arch>) -> bool {
        self.archs.is_empty() || arch.is_none_or(|arch| self.archs.iter().any(|range| range.contains(arch)))
    }

    /// Whether it takes an argument of the file.
    pub fn takes(&self, argument: &str) -> bool {
        self.arguments.as_ref().is_none_or(|taken| taken.iter().any(|name| name == argument))
    }

    /// Where it runs, in the file's words.
    pub fn places(&self) -> String {
        self.archs.iter().map(ArchRange::to_string).collect::<Vec<_>>().join(", ")
    }

    /// The tunable of this name.
    pub fn tunable(&self, name: &str) -> Option<&Tunable> {
        self.tunables.iter().find(|tunable| &*tunable.name == name)
    }

    /// The value a tunable has by default: the file's, or the only one there is.
    pub fn default_value(&self, name: &str) -> Option<&Value> {
        let stated = self.default.iter().find(|(n, _)| &**n == name).map(|(_, v)| v);
        stated.or(match self.tunable(name).map(|t| &t.values[..]) {
            Some([only]) => Some(only),
            _ => None,
        })
    }
}

/// An architecture, `sm_90a`, or one and all newer ones, `sm_80+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchRange {
    /// The first.
    pub from: Arch,
    /// Whether newer ones count too.
    pub newer: bool,
}

impl ArchRange {
    /// Whether an architecture is in it. Code for sm_90a is that of sm_90 and more, so that `sm_80+` has both.
    pub fn contains(&self, arch: Arch) -> bool {
        match self.newer {
            true => arch.compute_capability() >= self.from.compute_capability(),
            false => arch == self.from,
        }
    }
}

impl std::fmt::Display for ArchRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.from, if self.newer { "+" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_what_is_newer_and_a_name_only_itself() {
        let range = |from, newer| ArchRange { from, newer };
        let on =
            |archs: &[ArchRange], arch| Implementation { archs: archs.to_vec(), ..Default::default() }.runs_on(arch);
        let (ampere, hopper) = ([range(Arch::SM_80, true)], [range(Arch::SM_90A, false)]);
        assert!(on(&ampere, Some(Arch::SM_80)) && on(&ampere, Some(Arch::SM_90A)) && !on(&ampere, Some(Arch::SM_75)));
        assert!(
            on(&hopper, Some(Arch::SM_90A)) && !on(&hopper, Some(Arch::SM_90)) && !on(&hopper, Some(Arch::SM_100A))
        );
        assert!(on(&hopper, None) && on(&[], Some(Arch::SM_75)));
        assert_eq!(range(Arch::SM_80, true).to_string(), "sm_80+");
    }
}
