//! Boards: an architecture with memory, clocks and peaks around it.
//!
//! In: a board's name as a driver, a datasheet or a person writes it. Out: a
//! [`Device`] with datasheet figures. Refuses with `None` a name that is not
//! one of the boards known here, variants with other figures included (a laptop
//! part, a MIG slice), and a rate the board does not have.
//!
//! Every peak is dense: a figure that counts operations skipped by structured
//! sparsity is twice what a kernel can do.

use crate::arch::Arch;
use crate::boards::BOARDS;

/// A board, with the figures of its datasheet. Rates are per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Device {
    /// The name the driver gives it.
    pub name: &'static str,
    /// Other names it goes by, lower case, letters and digits only.
    pub aliases: &'static [&'static str],
    /// The architecture to compile for.
    pub arch: Arch,
    /// Multiprocessors.
    pub sms: u32,
    /// Memory in bytes, as `nvidia-smi` totals it; a program gets a little less.
    pub memory_bytes: u64,
    /// Memory bandwidth in bytes per second.
    pub memory_bandwidth: f64,
    /// Second-level cache in bytes.
    pub l2_bytes: u64,
    /// The highest clock of the multiprocessors, in hertz. Datasheets may state
    /// tensor peaks at a lower one.
    pub boost_clock_hz: f64,
    /// FLOP/s in f64 without tensor cores.
    pub peak_f64: f64,
    /// FLOP/s in f32 without tensor cores.
    pub peak_f32: f64,
    /// FLOP/s in packed f16 without tensor cores.
    pub peak_f16: f64,
    /// FLOP/s in packed bf16 without tensor cores.
    pub peak_bf16: f64,
    /// FLOP/s in f64 on tensor cores, where they can.
    pub peak_f64_tensor: Option<f64>,
    /// FLOP/s in tf32 on tensor cores.
    pub peak_tf32_tensor: f64,
    /// FLOP/s in f16 on tensor cores, accumulating in f32.
    pub peak_f16_tensor: f64,
    /// FLOP/s in bf16 on tensor cores.
    pub peak_bf16_tensor: f64,
    /// FLOP/s in either 8-bit float on tensor cores, accumulating in f32.
    pub peak_f8_tensor: Option<f64>,
    /// Integer operations per second in i8 on tensor cores.
    pub peak_i8_tensor: f64,
    /// How many times faster f16 and 8-bit floats go when they accumulate in
    /// f16: 2 on GeForce boards, 1 on all others.
    pub f16_accumulate: f64,
}

impl Device {
    /// Every known board.
    pub fn all() -> &'static [Device] {
        BOARDS
    }

    /// The board of this name: `NVIDIA H200`, `h200`, `rtx_4090`,
    /// `A100-SXM4-80GB`. Case, separators and the maker's name do not matter.
    ///
    /// A short name that several boards share (`a100`) means the fastest of
    /// them, so that a floor computed from it remains a floor.
    pub fn find(name: &str) -> Option<&'static Device> {
        let name = plain(name);
        BOARDS.iter().find(|board| plain(board.name) == name || board.aliases.contains(&name.as_str()))
    }

    /// The dense peak for this type, in FLOP/s (operations per second for i8).
    ///
    /// `f32` on tensor cores means tf32: it is the rate at which they take f32
    /// data. Tensor rates accumulate in f32.
    pub fn peak_flops(&self, dtype: &str, tensor: bool) -> Option<f64> {
        match (dtype, tensor) {
            ("f64", false) => Some(self.peak_f64),
            ("f32", false) => Some(self.peak_f32),
            ("f16", false) => Some(self.peak_f16),
            ("bf16", false) => Some(self.peak_bf16),
            ("f64", true) => self.peak_f64_tensor,
            ("f32" | "tf32", true) => Some(self.peak_tf32_tensor),
            ("f16", true) => Some(self.peak_f16_tensor),
            ("bf16", true) => Some(self.peak_bf16_tensor),
            ("f8e4m3" | "f8e5m2", true) => self.peak_f8_tensor,
            ("i8", true) => Some(self.peak_i8_tensor),
            _ => None,
        }
    }
}

/// Letters and digits in lower case, without the maker and the brand: what
/// remains when `NVIDIA GeForce RTX 4090` and `rtx_4090` are the same.
fn plain(name: &str) -> String {
    let mut plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    for prefix in ["nvidia", "geforce"] {
        if let Some(rest) = plain.strip_prefix(prefix) {
            plain = rest.to_owned();
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> Option<&'static str> {
        Device::find(name).map(|board| board.name)
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        for (given, name) in [
            ("NVIDIA H200", "NVIDIA H200"),
            ("h200", "NVIDIA H200"),
            ("nvidia-h200", "NVIDIA H200"),
            ("NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090"),
            ("rtx_4090", "NVIDIA GeForce RTX 4090"),
            ("RTX4090", "NVIDIA GeForce RTX 4090"),
            ("4090", "NVIDIA GeForce RTX 4090"),
            ("NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB"),
            ("a100-80gb", "NVIDIA A100-SXM4-80GB"),
            ("A100", "NVIDIA A100-SXM4-80GB"),
            ("NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB"),
            ("a100 40gb", "NVIDIA A100-SXM4-40GB"),
            ("NVIDIA A100 80GB PCIe", "NVIDIA A100 80GB PCIe"),
            ("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"),
            ("h100", "NVIDIA H100 80GB HBM3"),
            ("H100 SXM", "NVIDIA H100 80GB HBM3"),
            ("H100 PCIe", "NVIDIA H100 PCIe"),
            ("l4", "NVIDIA L4"),
            ("B200", "NVIDIA B200"),
        ] {
            assert_eq!(found(given), Some(name), "{given:?}");
        }
    }

    #[test]
    fn other_boards_are_not_taken_for_a_known_one() {
        for name in [
            "",
            "nvidia",
            "NVIDIA L40S",
            "NVIDIA GeForce RTX 4090 Laptop GPU",
            "NVIDIA GeForce RTX 4090 D",
            "NVIDIA H200 NVL",
            "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
            "NVIDIA A100-SXM4-80GB MIG 3g.40gb",
        ] {
            assert_eq!(found(name), None, "{name:?}");
        }
    }

    #[test]
    fn no_name_means_two_boards() {
        for (i, board) in BOARDS.iter().enumerate() {
            assert_eq!(found(board.name), Some(board.name));
            for alias in board.aliases {
                assert_eq!(plain(alias), *alias, "aliases are written plainly");
                assert_eq!(found(alias), Some(board.name), "{alias}");
                for other in BOARDS.iter().skip(i + 1) {
                    assert!(!other.aliases.contains(alias), "{alias}");
                }
            }
        }
    }

    #[test]
    fn peaks_by_type() {
        let h200 = Device::find("h200").unwrap();
        assert_eq!(h200.peak_flops("bf16", true), Some(989.4e12));
        assert_eq!(h200.peak_flops("f8e4m3", true), Some(1978.9e12));
        assert_eq!(h200.peak_flops("f8e5m2", true), Some(1978.9e12));
        assert_eq!(h200.peak_flops("f32", false), Some(66.9e12));
        assert_eq!(h200.peak_flops("f32", true), h200.peak_flops("tf32", true));
        assert_eq!(h200.peak_flops("tf32", false), None);
        assert_eq!(h200.peak_flops("i8", false), None);
        assert_eq!(h200.peak_flops("float", true), None);
        let a100 = Device::find("a100").unwrap();
        assert_eq!(a100.peak_flops("f8e4m3", true), None);
        let l4 = Device::find("l4").unwrap();
        assert_eq!(l4.peak_flops("f64", true), None);
    }
}
