//! The rates that no kernel on a board exceeds, for whoever refuses a result for being too fast.
//!
//! Datasheet rates are no such limit. Boards may clock above the datasheet (tensor peaks of H100 and H200 are stated at
//! 1.83 GHz, the boards reach 1.98; a GeForce board may be sold or set a fifth faster), so [`Device::most_flops`] and
//! [`Device::most_bandwidth`] leave room for that. And data left in the second-level cache by an earlier run is not moved
//! again: below [`l2_bytes`](Device::l2_bytes) the memory side says nothing.

use crate::device::Device;

/// How far above its datasheet a board may run.
const ABOVE: f64 = 1.25;

impl Device {
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
}

#[cfg(test)]
mod tests {
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

    /// Rates seen on an H200: an 8192-cubed bf16 product at 798 TFLOP/s and a copy at 4.3 TB/s.
    #[test]
    fn measured_rates_are_believed() {
        assert!(board("h200").most_flops() > 798e12);
        assert!(board("h200").most_bandwidth() > 4.3e12);
    }
}
