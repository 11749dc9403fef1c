//! The kernels of a page, each with its launches, their time and its longest launch. Totals are exact for every name; memory is bounded: of the
//! kernels with the least time only the totals are kept, and names beyond [`MOST_NAMES`] are counted together and told as such.

use std::collections::HashMap;

use super::{DURATION, Kernel, Launch};

/// How many kernels have their longest launch in memory. One of `--set full` takes 18 KB.
const MOST_ROWS: usize = 2048;

/// How many names are told apart, and how long they are together.
const MOST_NAMES: usize = 1 << 16;
const MOST_BYTES: usize = 32 << 20;

/// Launches of kernels beyond those that are told apart.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Beyond {
    /// How many.
    pub launches: u64,
    /// The sum of their times, in nanoseconds.
    pub total_ns: f64,
}

/// The kernels so far.
#[derive(Default)]
pub(super) struct Kernels {
    pub(super) all: Vec<Kernel>,
    pub(super) beyond: Beyond,
    by_name: HashMap<String, usize>,
    rows: usize,
    bytes: usize,
}

impl Kernels {
    /// A kernel by its name.
    pub(super) fn get(&mut self, name: &str) -> Option<&mut Kernel> {
        self.all.get_mut(*self.by_name.get(name)?)
    }

    /// Counts a launch. Its metrics are read only where it is the longest so far.
    pub(super) fn count(&mut self, name: &str, duration: f64, launch: impl FnOnce() -> Launch) {
        if let Some(kernel) = self.by_name.get(name).and_then(|index| self.all.get_mut(*index)) {
            // A details page before the raw one is of the same launches.
            let described = std::mem::take(&mut kernel.described);
            (kernel.launches, kernel.total_ns) = if described { (0, 0.0) } else { (kernel.launches, kernel.total_ns) };
            kernel.launches += 1;
            kernel.total_ns += duration;
            if described || kernel.longest.is_empty() || duration > kernel.longest.duration() {
                self.rows += usize::from(kernel.longest.is_empty());
                let before = std::mem::replace(&mut kernel.longest, launch());
                before.more.iter().filter(|_| described).for_each(|(name, value)| kernel.longest.fill(name, *value));
            }
        } else if self.all.len() < MOST_NAMES && self.bytes + name.len() <= MOST_BYTES {
            self.bytes += name.len();
            self.rows += 1;
            self.by_name.insert(name.into(), self.all.len());
            self.all.push(Kernel {
                name: name.into(),
                launches: 1,
                total_ns: duration,
                longest: launch(),
                described: false,
            });
        } else {
            self.beyond.launches += 1;
            self.beyond.total_ns += duration;
        }
        if self.rows > MOST_ROWS {
            self.thin();
        }
    }

    /// Sets a metric of the details page.
    pub(super) fn fill(&mut self, name: &str, metric: &str, value: f64) {
        if self.get(name).is_none() {
            self.count(name, 0.0, || {
                let mut launch = Launch::default();
                launch.set(metric, value);
                launch
            });
        }
        let Some(kernel) = self.get(name) else { return };
        kernel.described |= kernel.longest.values.is_empty() && !kernel.longest.more.is_empty();
        kernel.longest.fill(metric, value);
        if metric == DURATION && kernel.total_ns == 0.0 {
            kernel.total_ns = value;
        }
    }

    /// Drops the launches of the half that took the least time. The kernel that takes the most in the end keeps its launch: were it
    /// in that half now, it would be launched again.
    fn thin(&mut self) {
        let mut with: Vec<&mut Kernel> = self.all.iter_mut().filter(|kernel| !kernel.longest.is_empty()).collect();
        with.sort_by(|one, other| one.total_ns.total_cmp(&other.total_ns));
        let half = with.len() / 2;
        with.into_iter().take(half).for_each(|kernel| kernel.longest = Launch::default());
        self.rows -= half;
    }
}
