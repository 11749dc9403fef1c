//! The architectures kiln knows, under the names the CUDA compilers use.
//!
//! In: a name such as `sm_90a`, or the compute capability a driver reports.
//! Out: an [`Arch`], a small copyable value that knows its [`Limits`].
//! Refuses: any other spelling, as an [`UnknownArch`] that offers the nearest
//! name. `90a` or `sm90a` are not accepted: the name is stored, compared and
//! handed to a compiler, so there is one spelling of it.

use std::fmt;
use std::str::FromStr;

use crate::limits::{self, Limits};
use crate::unknown::UnknownArch;

/// A CUDA architecture, such as `sm_80` or `sm_90a`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Arch {
    name: &'static str,
    major: u32,
    minor: u32,
    suffix: Option<char>,
    limits: &'static Limits,
}

/// One row of the table. The order of arguments reads like the name.
const fn row(name: &'static str, major: u32, minor: u32, suffix: Option<char>, limits: &'static Limits) -> Arch {
    Arch { name, major, minor, suffix, limits }
}

impl Arch {
    /// Turing: T4, RTX 20 series.
    pub const SM_75: Arch = row("sm_75", 7, 5, None, &limits::SM_75);
    /// Ampere for data centres: A100, A30.
    pub const SM_80: Arch = row("sm_80", 8, 0, None, &limits::SM_80);
    /// Ampere for desktops: A10, A40, RTX 30 series.
    pub const SM_86: Arch = row("sm_86", 8, 6, None, &limits::SM_86);
    /// Ampere in Jetson Orin.
    pub const SM_87: Arch = row("sm_87", 8, 7, None, &limits::SM_87);
    /// Ada: L4, L40S, RTX 40 series.
    pub const SM_89: Arch = row("sm_89", 8, 9, None, &limits::SM_89);
    /// Hopper, the portable instruction set.
    pub const SM_90: Arch = row("sm_90", 9, 0, None, &limits::SM_90);
    /// Hopper with the instructions only Hopper has (wgmma, setmaxnreg).
    pub const SM_90A: Arch = row("sm_90a", 9, 0, Some('a'), &limits::SM_90);
    /// Blackwell for data centres, the portable instruction set: B200.
    pub const SM_100: Arch = row("sm_100", 10, 0, None, &limits::SM_100);
    /// Blackwell for data centres with its own instructions (tcgen05).
    pub const SM_100A: Arch = row("sm_100a", 10, 0, Some('a'), &limits::SM_100);
    /// Blackwell Ultra, the portable instruction set: B300.
    pub const SM_103: Arch = row("sm_103", 10, 3, None, &limits::SM_100);
    /// Blackwell Ultra with its own instructions.
    pub const SM_103A: Arch = row("sm_103a", 10, 3, Some('a'), &limits::SM_100);
    /// Blackwell for desktops, the portable instruction set: RTX 50 series.
    pub const SM_120: Arch = row("sm_120", 12, 0, None, &limits::SM_120);
    /// Blackwell for desktops with its own instructions.
    pub const SM_120A: Arch = row("sm_120a", 12, 0, Some('a'), &limits::SM_120);

    /// Every known architecture, oldest first.
    pub fn all() -> &'static [Arch] {
        const ALL: &[Arch] = &[
            Arch::SM_75,
            Arch::SM_80,
            Arch::SM_86,
            Arch::SM_87,
            Arch::SM_89,
            Arch::SM_90,
            Arch::SM_90A,
            Arch::SM_100,
            Arch::SM_100A,
            Arch::SM_103,
            Arch::SM_103A,
            Arch::SM_120,
            Arch::SM_120A,
        ];
        ALL
    }

    /// The architecture of exactly this name.
    pub fn parse(text: &str) -> Result<Arch, UnknownArch> {
        Arch::all().iter().find(|arch| arch.name == text).copied().ok_or_else(|| UnknownArch::new(text))
    }

    /// The architecture to compile for on a GPU of this compute capability.
    ///
    /// Where an `a` form exists it is the answer: code for it runs on this
    /// very GPU, and only it may use all of the GPU's instructions.
    pub fn of_capability(major: u32, minor: u32) -> Option<Arch> {
        Arch::all().iter().rfind(|arch| arch.compute_capability() == (major, minor)).copied()
    }

    /// The name as compilers take it: `sm_90a`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Major and minor compute capability: `(9, 0)`.
    pub fn compute_capability(&self) -> (u32, u32) {
        (self.major, self.minor)
    }

    /// The letter after the number: `a` where code runs on this capability only.
    pub fn feature_suffix(&self) -> Option<char> {
        self.suffix
    }

    /// What a launch must respect on this architecture.
    pub fn limits(&self) -> &'static Limits {
        self.limits
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// The name alone: twenty limits in every failed assertion help nobody.
impl fmt::Debug for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arch({})", self.name)
    }
}

impl FromStr for Arch {
    type Err = UnknownArch;

    fn from_str(text: &str) -> Result<Arch, UnknownArch> {
        Arch::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_round_trips() {
        for arch in Arch::all() {
            assert_eq!(Arch::parse(arch.name()), Ok(*arch));
            assert_eq!(arch.to_string().parse(), Ok(*arch));
        }
    }

    #[test]
    fn name_spells_capability_and_suffix() {
        for arch in Arch::all() {
            let (major, minor) = arch.compute_capability();
            let suffix = arch.feature_suffix().map(String::from).unwrap_or_default();
            assert_eq!(arch.name(), format!("sm_{major}{minor}{suffix}"));
        }
    }

    #[test]
    fn capability_gives_the_most_specific_name() {
        assert_eq!(Arch::of_capability(9, 0), Some(Arch::SM_90A));
        assert_eq!(Arch::of_capability(8, 0), Some(Arch::SM_80));
        assert_eq!(Arch::of_capability(10, 3), Some(Arch::SM_103A));
        assert_eq!(Arch::of_capability(7, 0), None);
    }

    #[test]
    fn other_spellings_are_refused() {
        for text in ["", "90a", "SM_90", " sm_90", "sm_90A", "sm90", "compute_90"] {
            assert!(Arch::parse(text).is_err(), "{text:?}");
        }
    }
}
