//! The values each tunable keeps. In: a problem. Out: for each tunable a list of indices into its values, which may get
//! shorter. All lists lie in one block: most are a few numbers long.

use std::ops::{Index, Range};

use crate::problem::Problem;

#[derive(Debug)]
pub(crate) struct Domains {
    values: Vec<u32>,
    /// Where each tunable's list lies.
    spans: Vec<Range<usize>>,
}

impl Domains {
    /// Every value of every tunable.
    pub(crate) fn new(problem: &Problem) -> Domains {
        let count = problem.dimensions.iter().map(|d| d.values.len()).sum();
        let mut domains =
            Domains { values: Vec::with_capacity(count), spans: Vec::with_capacity(problem.dimensions.len()) };
        for dimension in &problem.dimensions {
            let start = domains.values.len();
            domains.values.extend(0..dimension.values.len() as u32);
            domains.spans.push(start..domains.values.len());
        }
        domains
    }

    /// The number of tunables.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Keeps those of a tunable's values at whose position `keep` holds.
    pub(crate) fn retain(&mut self, tunable: usize, keep: impl Fn(usize) -> bool) {
        let Range { start, end } = self.spans[tunable];
        let mut kept = start;
        for at in (start..end).filter(|at| keep(at - start)) {
            self.values[kept] = self.values[at];
            kept += 1;
        }
        self.spans[tunable].end = kept;
    }
}

impl Index<usize> for Domains {
    type Output = [u32];

    fn index(&self, tunable: usize) -> &[u32] {
        &self.values[self.spans[tunable].clone()]
    }
}
