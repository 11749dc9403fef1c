//! How busy each unit is, and what that leaves of the time. A kernel cannot be faster than its busiest unit: with a cause removed,
//! each unit has what remains of its work, and the time is at least that of the busiest one. What units reach in
//! practice bounds it: 90 % for issue and pipes, 80 % for the path to memory, which mixed reads and writes rarely exceed.

use super::metric as m;
use super::subject::Subject;

/// What the path to memory reaches in practice.
const MEMORY_REACH: f64 = 0.8;

/// What the schedulers and pipes reach in practice.
const PIPE_REACH: f64 = 0.9;

/// Two events around one launch are this far apart however short it is, in microseconds.
const SHORTEST_MICROS: f64 = 8.0;

/// The share of the time for which each unit is busy.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Load {
    pub(crate) dram: f64,
    pub(crate) l2: f64,
    /// L1's tag and data stages, shared memory included.
    pub(crate) l1: f64,
    pub(crate) lsu: f64,
    pub(crate) issue: f64,
    pub(crate) fma: f64,
    pub(crate) alu: f64,
    pub(crate) fp64: f64,
    pub(crate) xu: f64,
    pub(crate) tensor: f64,
}

impl Load {
    /// The load of a launch.
    pub(crate) fn of(subject: &Subject) -> Self {
        Self {
            dram: subject.share(m::DRAM),
            l2: subject.share(m::L2),
            l1: subject.share(m::L1).max(subject.share(m::WAVEFRONTS)),
            lsu: subject.share(m::LSU),
            issue: subject.share(m::ISSUE),
            fma: subject.share(m::FMA),
            alu: subject.share(m::ALU),
            fp64: subject.share(m::FP64),
            xu: subject.share(m::XU),
            tensor: m::TENSOR_PATHS.iter().map(|path| subject.share(path)).fold(0.0, f64::max),
        }
    }

    /// Every unit's load by the same factor.
    pub(crate) fn times(self, factor: f64) -> Self {
        let Self { dram, l2, l1, lsu, issue, fma, alu, fp64, xu, tensor } = self;
        let by = |load: f64| (load * factor).min(1.0);
        let (dram, l2, l1, lsu, issue) = (by(dram), by(l2), by(l1), by(lsu), by(issue));
        Self { dram, l2, l1, lsu, issue, fma: by(fma), alu: by(alu), fp64: by(fp64), xu: by(xu), tensor: by(tensor) }
    }

    /// What no change of how threads work together makes less: the traffic of DRAM and the arithmetic, special functions included.
    pub(crate) fn essential(self) -> Self {
        let Self { dram, fma, fp64, xu, tensor, .. } = self;
        Self { dram, fma, fp64, xu, tensor, ..Self::default() }
    }

    /// Memory's busiest part.
    pub(crate) fn memory(&self) -> f64 {
        self.dram.max(self.l2).max(self.l1)
    }

    /// The busiest part of an SM, L1 aside.
    pub(crate) fn compute(&self) -> f64 {
        [self.issue, self.fma, self.alu, self.fp64, self.xu, self.tensor].into_iter().fold(0.0, f64::max)
    }

    /// The busiest unit.
    pub(crate) fn busiest(&self) -> f64 {
        self.busiest_unit().1
    }

    /// The busiest unit by its name. Of units that are equally busy it is the one farthest from the SM.
    pub(crate) fn busiest_unit(&self) -> (&'static str, f64) {
        let most = |one: (&'static str, f64), other: (&'static str, f64)| if other.1 > one.1 { other } else { one };
        self.units().into_iter().reduce(most).unwrap_or(("DRAM", self.dram))
    }

    /// Every unit with its name.
    pub(crate) fn units(&self) -> [(&'static str, f64); 10] {
        [
            ("DRAM", self.dram),
            ("L2", self.l2),
            ("L1", self.l1),
            ("LSU", self.lsu),
            ("issue", self.issue),
            ("FP32", self.fma),
            ("ALU", self.alu),
            ("FP64", self.fp64),
            ("XU", self.xu),
            ("tensor", self.tensor),
        ]
    }

    /// The share of the time that remains when only this is left to do.
    pub(crate) fn left(&self) -> f64 {
        (self.memory() / MEMORY_REACH).max(self.compute().max(self.lsu) / PIPE_REACH)
    }

    /// The speedup when only this is left to do, within what a launch of this length allows.
    pub(crate) fn gain(&self, subject: &Subject) -> f64 {
        bounded(1.0 / self.left().max(1e-6), subject)
    }
}

/// A speedup of at least 1, and at most what leaves the shortest time.
pub(crate) fn bounded(gain: f64, subject: &Subject) -> f64 {
    match subject.micros() {
        micros if micros > 0.0 => gain.min(micros / SHORTEST_MICROS).max(1.0),
        _ => gain.max(1.0),
    }
}
