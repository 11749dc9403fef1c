//! What a coarse diagnosis can name: causes in a processor's machine code, which docs/coarse.md documents one by one, and those of a GPU's
//! kernels that show without counters, under the identifiers of a profile.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::documented::causes;
use crate::profile::Bottleneck;

/// Where each cause is documented.
const PAGE: &str = include_str!("../../../../docs/coarse.md");

causes! {
    /// What a processor's machine code shows.
    CodeCause in PAGE;
    /// The hot loop computes one element at a time.
    ScalarLoop => "scalar_loop",
    /// The hot loop uses narrower vectors than the processor has.
    NarrowVectors => "narrow_vectors",
    /// Each step of the hot loop waits for the one before.
    DependencyChain => "dependency_chain",
    /// The hot loop keeps values on the stack because registers ran out.
    StackSpill => "stack_spill",
    /// The time goes to a function that a loop calls.
    CallInLoop => "call_in_loop",
    /// The hot loop has memory to itself at every step.
    LockedInLoop => "locked_in_loop",
    /// The hot loop converts floats to doubles and back.
    MixedPrecision => "mixed_precision",
    /// The hot loop uses little of each cache line that it touches.
    StridedAccess => "strided_access",
    /// Memory gives what it can.
    AtRooflineMemory => "at_roofline_memory",
    /// The arithmetic units give what they can.
    AtRooflineCompute => "at_roofline_compute",
}

/// A cause of either kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoarseCause {
    /// In a processor's machine code.
    Code(CodeCause),
    /// Of a GPU's kernel.
    Gpu(Bottleneck),
}

impl CoarseCause {
    /// The stable identifier.
    pub fn id(self) -> &'static str {
        match self {
            CoarseCause::Code(cause) => cause.id(),
            CoarseCause::Gpu(cause) => cause.id(),
        }
    }

    /// Whether it says that nothing is left to gain.
    pub fn at_roofline(self) -> bool {
        match self {
            CoarseCause::Code(cause) => matches!(cause, CodeCause::AtRooflineMemory | CodeCause::AtRooflineCompute),
            CoarseCause::Gpu(cause) => crate::profile::at_roofline(cause),
        }
    }
}

impl fmt::Display for CoarseCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl Serialize for CoarseCause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_documented_and_those_of_no_other_list() {
        let documented: Vec<&str> =
            PAGE.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`')).collect();
        let known: Vec<&str> = CodeCause::ALL.iter().map(|cause| cause.id()).collect();
        assert_eq!(documented, known, "docs/coarse.md lists every cause, in this order");
        for cause in CodeCause::ALL {
            assert_eq!(serde_json::to_string(&CoarseCause::Code(*cause)).unwrap(), format!("\"{cause}\""));
            assert!(cause.meaning().ends_with('.') && cause.text().ends_with('.'), "{cause}: {}", cause.text());
            assert!(Bottleneck::of_id(cause.id()).is_none(), "{cause}");
        }
    }
}
