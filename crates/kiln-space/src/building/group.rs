//! Which tunables belong together. In: all clauses. Out: groups of tunables connected by clauses, each with its clauses;
//! a tunable no clause reads is a group of its own. Groups are ordered by their first tunable.

use crate::rules::clause::{Clause, Clauses, Mask, members};

/// Tunables tied together, and what ties them.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) mask: Mask,
    pub(crate) clauses: Vec<Clause>,
}

pub(crate) fn groups(all: &Clauses) -> Vec<Group> {
    let mut masks: Vec<Mask> = (0..all.domains.len()).map(|t| 1 << t).collect();
    for clause in &all.clauses {
        let mut together = 0;
        masks.retain(|mask| {
            let apart = mask & clause.mask == 0;
            if !apart {
                together |= mask;
            }
            apart
        });
        masks.push(together);
    }
    masks.retain(|m| *m != 0);
    masks.sort_unstable_by_key(|m| m.trailing_zeros());
    masks
        .into_iter()
        .enumerate()
        .map(|(i, mask)| {
            // A clause that reads no tunable and is still undecided always fails; some group must say so.
            let belongs = |c: &&Clause| c.mask & mask != 0 || (c.mask == 0 && i == 0);
            Group { mask, clauses: all.clauses.iter().filter(belongs).copied().collect() }
        })
        .collect()
}

impl Group {
    /// The names of its tunables.
    pub(crate) fn names(&self, problem: &crate::Problem) -> Vec<String> {
        members(self.mask).map(|t| problem.dimensions[t].name.to_string()).collect()
    }
}
