//! What `device.NAME` means in a kernel.toml expression.
//!
//! In: the NAME. Out: a whole number. Refuses an unknown name with `None`, so
//! that the expression's own error can show where it stands; the list of names
//! is there to offer the right one.
//!
//! The list and the lookup come from one table, and a limit that is missing
//! from the table does not compile. Where a driver has overridden limits, ask
//! them first: `limits.get(name).or_else(|| arch.get(name))`.

use crate::arch::Arch;
use crate::limits::Limits;

/// The one name that belongs to the architecture and not to its limits.
const CAPABILITY: &str = "compute_capability";

/// Reads one limit.
type Read = fn(&Limits) -> u32;

macro_rules! table {
    ($($field:ident),* $(,)?) => {
        /// Every limit that is a single number: its name and how to read it.
        const TABLE: &[(&str, Read)] = &[$((stringify!($field), |l| l.$field)),*];

        /// Fails to compile when [`Limits`] grows a field the table lacks.
        const _: fn(Limits) = |limits| {
            let Limits { $($field: _,)* block_dims: _, grid_dims: _ } = limits;
        };
    };
}

table! {
    warp_size,
    threads_per_block,
    threads_per_sm,
    warps_per_sm,
    blocks_per_sm,
    regs_per_sm,
    regs_per_block,
    regs_per_thread,
    smem_per_sm,
    smem_per_block,
    smem_static,
    smem_reserved,
    smem_alloc_unit,
    reg_alloc_unit,
    warp_alloc_unit,
    cluster_size,
}

/// The table's names, and the architecture's own behind them.
const NAMES: [&str; TABLE.len() + 1] = {
    let mut names = [CAPABILITY; TABLE.len() + 1];
    let mut i = 0;
    while i < TABLE.len() {
        names[i] = TABLE[i].0;
        i += 1;
    }
    names
};

impl Limits {
    /// The names [`Limits::get`] knows.
    pub fn names() -> &'static [&'static str] {
        const ALL: &[&str] = &NAMES;
        &ALL[..TABLE.len()]
    }

    /// The limit of this name.
    pub fn get(&self, name: &str) -> Option<i64> {
        let (_, read) = TABLE.iter().find(|(known, _)| *known == name)?;
        Some(i64::from(read(self)))
    }
}

impl Arch {
    /// The names [`Arch::get`] knows: those of [`Limits::names`] and
    /// `compute_capability`.
    pub fn names() -> &'static [&'static str] {
        const ALL: &[&str] = &NAMES;
        ALL
    }

    /// The limit of this name, or for `compute_capability` ten times the major
    /// number plus the minor: 90 for `sm_90a`.
    pub fn get(&self, name: &str) -> Option<i64> {
        if name == CAPABILITY {
            let (major, minor) = self.compute_capability();
            return Some(i64::from(major * 10 + minor));
        }
        self.limits().get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_has_a_value_and_no_name_is_listed_twice() {
        for arch in Arch::all() {
            for name in Arch::names() {
                assert!(arch.get(name).is_some(), "{name}");
            }
            for name in Limits::names() {
                assert_eq!(arch.limits().get(name), arch.get(name), "{name}");
            }
        }
        let mut names = Arch::names().to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Arch::names().len());
        assert_eq!(Arch::names().len(), Limits::names().len() + 1);
    }

    #[test]
    fn values_are_the_fields_of_that_name() {
        let arch = Arch::SM_90A;
        assert_eq!(arch.get("smem_per_block"), Some(232_448));
        assert_eq!(arch.get("smem_per_sm"), Some(233_472));
        assert_eq!(arch.get("threads_per_block"), Some(1024));
        assert_eq!(arch.get("regs_per_thread"), Some(255));
        assert_eq!(arch.get("compute_capability"), Some(90));
        assert_eq!(Arch::SM_103A.get("compute_capability"), Some(103));
    }

    #[test]
    fn unknown_names_are_none() {
        for name in ["", "smem", "block_dims", "SMEM_PER_BLOCK"] {
            assert_eq!(Arch::SM_80.get(name), None, "{name:?}");
        }
        assert_eq!(Arch::SM_80.limits().get("compute_capability"), None);
    }

    #[test]
    fn overridden_limits_answer_first() {
        let arch = Arch::SM_90A;
        let driver = Limits { smem_per_block: 200_000, ..*arch.limits() };
        let ask = |name| driver.get(name).or_else(|| arch.get(name));
        assert_eq!(ask("smem_per_block"), Some(200_000));
        assert_eq!(ask("compute_capability"), Some(90));
    }
}
