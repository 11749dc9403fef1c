//! The least time a given amount of work can take on a board.
//!
//! In: operations, bytes moved to and from memory, the type and whether tensor
//! cores do the work. Out: a [`Floor`], the larger of the time to compute and
//! the time to move. Refuses with `None` a rate the board does not have and a
//! count that is negative or not finite.
//!
//! The floor rests on datasheet rates, and two things lie under it honestly.
//! Boards may clock above the datasheet (tensor peaks of H100 and H200 are
//! stated at 1.83 GHz, the boards reach 1.98; a GeForce board may be sold or
//! set a fifth faster): who refuses a result for being too fast asks for
//! [`most_flops`](Device::most_flops) and [`most_bandwidth`](Device::most_bandwidth),
//! which leave room for that. And data left in the second-level cache by an
//! earlier run is not moved again: below [`l2_bytes`](Device::l2_bytes) the
//! memory side says nothing.

use std::fmt;

use crate::device::Device;

/// How far above its datasheet a board may run.
const ABOVE: f64 = 1.25;

/// The two times below which work cannot be done, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// The operations at the peak rate.
    pub compute_seconds: f64,
    /// The bytes at the peak bandwidth.
    pub memory_seconds: f64,
}

/// Which of the two times is the larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The operations take longer.
    Compute,
    /// The bytes take longer, or as long.
    Memory,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Bound::Compute => "compute",
            Bound::Memory => "memory",
        })
    }
}

impl Floor {
    /// The larger of the two times.
    pub fn seconds(&self) -> f64 {
        self.compute_seconds.max(self.memory_seconds)
    }

    /// Which side sets the floor.
    pub fn bound(&self) -> Bound {
        if self.compute_seconds > self.memory_seconds { Bound::Compute } else { Bound::Memory }
    }
}

impl Device {
    /// The floor under this much work.
    ///
    /// Types that may accumulate in f16 are granted the faster rate of doing
    /// so: from outside a kernel nobody can tell, and a floor must hold.
    pub fn floor(&self, flops: f64, bytes: f64, dtype: &str, tensor: bool) -> Option<Floor> {
        let counts = |n: f64| n.is_finite() && n >= 0.0;
        if !counts(flops) || !counts(bytes) {
            return None;
        }
        let faster = match (dtype, tensor) {
            ("f16" | "f8e4m3" | "f8e5m2", true) => self.f16_accumulate,
            _ => 1.0,
        };
        Some(Floor {
            compute_seconds: flops / (self.peak_flops(dtype, tensor)? * faster),
            memory_seconds: bytes / self.memory_bandwidth,
        })
    }

    /// Operations per second that no kernel on this board exceeds, whatever
    /// its arguments are: it may convert them to the type with the highest
    /// rate and accumulate in f16, and the board may clock above its datasheet.
    pub fn most_flops(&self) -> f64 {
        let halves = [self.peak_f16_tensor, self.peak_f8_tensor.unwrap_or(0.0)].map(|rate| rate * self.f16_accumulate);
        let others = [self.peak_f32, self.peak_f16, self.peak_bf16_tensor, self.peak_i8_tensor];
        ABOVE * halves.into_iter().chain(others).fold(0.0, f64::max)
    }

    /// Bytes per second that memory does not exceed, with the same room.
    pub fn most_bandwidth(&self) -> f64 {
        ABOVE * self.memory_bandwidth
    }

    /// [`Floor::seconds`] of [`Device::floor`].
    pub fn floor_seconds(&self, flops: f64, bytes: f64, dtype: &str, tensor: bool) -> Option<f64> {
        Some(self.floor(flops, bytes, dtype, tensor)?.seconds())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn board(name: &str) -> &'static Device {
        Device::find(name).unwrap()
    }

    /// A GeForce board at 3.0 GHz that accumulates in f16, and an H200 at its highest clock, are believed.
    #[test]
    fn what_honest_boards_reach_is_believed() {
        assert!(board("rtx_4090").most_flops() > 2.0 * 165.2e12 * 3.0 / 2.52);
        assert!(board("h200").most_flops() > 989.4e12 * 1.98 / 1.83);
        assert!(board("rtx_4090").most_bandwidth() > 1.1 * 1008e9);
        for board in Device::all() {
            for dtype in ["f64", "f32", "f16", "bf16", "f8e4m3", "i8"] {
                let rates = [true, false].map(|tensor| board.peak_flops(dtype, tensor).unwrap_or(0.0));
                assert!(rates.iter().all(|rate| *rate < board.most_flops()), "{} {dtype}", board.name);
            }
        }
    }

    #[test]
    fn the_larger_time_is_the_floor() {
        let h200 = board("h200");
        let copy = h200.floor(0.0, 4.8e9, "f32", false).unwrap();
        assert_eq!(copy.bound(), Bound::Memory);
        assert!((copy.seconds() - 1e-3).abs() < 1e-12);
        let product = h200.floor(989.4e9, 1e6, "bf16", true).unwrap();
        assert_eq!(product.bound(), Bound::Compute);
        assert!((product.seconds() - 1e-3).abs() < 1e-12);
    }

    /// Times seen on an H200: an 8192-cubed bf16 product at 798 TFLOP/s and a
    /// copy at 4.3 TB/s. A floor above either would refuse honest work.
    #[test]
    fn measured_times_lie_above_the_floor() {
        let h200 = board("h200");
        let flops = 2.0 * 8192f64.powi(3);
        let floor = h200.floor_seconds(flops, 3.0 * 2.0 * 8192f64.powi(2), "bf16", true);
        assert!(flops / 798e12 > floor.unwrap());
        let floor = h200.floor_seconds(0.0, 8.6e9, "f32", false);
        assert!(8.6e9 / 4.3e12 > floor.unwrap());
    }

    #[test]
    fn f16_accumulation_is_granted() {
        let geforce = board("rtx 4090");
        let f16 = geforce.floor_seconds(1e12, 0.0, "f16", true).unwrap();
        let bf16 = geforce.floor_seconds(1e12, 0.0, "bf16", true).unwrap();
        assert!((bf16 / f16 - 2.0).abs() < 1e-9);
    }

    #[test]
    fn impossible_questions_are_refused() {
        let a100 = board("a100");
        assert_eq!(a100.floor(1.0, 1.0, "f8e4m3", true), None);
        assert_eq!(a100.floor(1.0, 1.0, "f99", false), None);
        assert_eq!(a100.floor(-1.0, 1.0, "f32", false), None);
        assert_eq!(a100.floor(1.0, f64::NAN, "f32", false), None);
        assert_eq!(a100.floor(f64::INFINITY, 1.0, "f32", false), None);
    }

    proptest! {
        #[test]
        fn more_work_never_takes_less(
            flops in 0.0..1e18f64, more in 0.0..1e18f64, bytes in 0.0..1e15f64, extra in 0.0..1e15f64,
        ) {
            for board in Device::all() {
                let less = board.floor_seconds(flops, bytes, "f32", false).unwrap();
                let most = board.floor_seconds(flops + more, bytes + extra, "f32", false).unwrap();
                prop_assert!(most >= less && less >= 0.0);
            }
        }
    }
}
