//! The boards kiln knows: the table behind [`Device`].
//!
//! In: nothing. Out: [`BOARDS`]. Refuses nothing. Figures are those of the
//! vendor's datasheets and architecture papers, dense; where a datasheet gives
//! only the sparse figure it is halved. Memory sizes are the totals drivers
//! report. The comments say where a figure is not simply copied.

use crate::arch::Arch;
use crate::device::Device;

/// Mebibyte, as `nvidia-smi` counts memory.
const MIB: u64 = 1 << 20;

/// Every known board, oldest first.
pub(crate) const BOARDS: &[Device] =
    &[A100_SXM_40, A100_SXM_80, A100_PCIE_40, A100_PCIE_80, L4, RTX_4090, H100_SXM, H100_PCIE, H200, B200];

const A100_SXM_40: Device = Device {
    name: "NVIDIA A100-SXM4-40GB",
    aliases: &["a10040gb", "a100sxm40gb"],
    memory_bytes: 40_960 * MIB,
    memory_bandwidth: 1555e9,
    ..A100_SXM_80
};

const A100_SXM_80: Device = Device {
    name: "NVIDIA A100-SXM4-80GB",
    aliases: &["a100", "a10080gb", "a100sxm80gb", "a100sxm", "a100sxm4"],
    arch: Arch::SM_80,
    sms: 108,
    memory_bytes: 81_920 * MIB,
    memory_bandwidth: 2039e9,
    l2_bytes: 40 * MIB,
    boost_clock_hz: 1.41e9,
    peak_f64: 9.7e12,
    peak_f32: 19.5e12,
    peak_f16: 78e12,
    peak_bf16: 39e12,
    peak_f64_tensor: Some(19.5e12),
    peak_tf32_tensor: 156e12,
    peak_f16_tensor: 312e12,
    peak_bf16_tensor: 312e12,
    peak_f8_tensor: None,
    peak_i8_tensor: 624e12,
    f16_accumulate: 1.0,
};

const A100_PCIE_40: Device = Device { name: "NVIDIA A100-PCIE-40GB", aliases: &["a10040gbpcie"], ..A100_SXM_40 };

const A100_PCIE_80: Device = Device {
    name: "NVIDIA A100 80GB PCIe",
    aliases: &["a100pcie", "a100pcie80gb"],
    memory_bandwidth: 1935e9,
    ..A100_SXM_80
};

/// The datasheet gives tensor rates with sparsity only.
const L4: Device = Device {
    name: "NVIDIA L4",
    aliases: &["l424gb"],
    arch: Arch::SM_89,
    sms: 58,
    memory_bytes: 23_034 * MIB,
    memory_bandwidth: 300e9,
    l2_bytes: 48 * MIB,
    boost_clock_hz: 2.04e9,
    peak_f64: 0.473e12,
    peak_f32: 30.3e12,
    peak_f16: 30.3e12,
    peak_bf16: 30.3e12,
    peak_f64_tensor: None,
    peak_tf32_tensor: 60e12,
    peak_f16_tensor: 121e12,
    peak_bf16_tensor: 121e12,
    peak_f8_tensor: Some(242.5e12),
    peak_i8_tensor: 242.5e12,
    f16_accumulate: 1.0,
};

/// Stated at 2.52 GHz; boards on sale often clock a tenth higher.
const RTX_4090: Device = Device {
    name: "NVIDIA GeForce RTX 4090",
    aliases: &["4090"],
    arch: Arch::SM_89,
    sms: 128,
    memory_bytes: 24_564 * MIB,
    memory_bandwidth: 1008e9,
    l2_bytes: 72 * MIB,
    boost_clock_hz: 2.52e9,
    peak_f64: 1.29e12,
    peak_f32: 82.6e12,
    peak_f16: 82.6e12,
    peak_bf16: 82.6e12,
    peak_f64_tensor: None,
    peak_tf32_tensor: 82.6e12,
    peak_f16_tensor: 165.2e12,
    peak_bf16_tensor: 165.2e12,
    peak_f8_tensor: Some(330.3e12),
    peak_i8_tensor: 660.6e12,
    f16_accumulate: 2.0,
};

/// Tensor peaks are stated at 1.83 GHz, the others at 1.98 GHz.
const H100_SXM: Device = Device {
    name: "NVIDIA H100 80GB HBM3",
    aliases: &["h100", "h10080gb", "h100sxm", "h100sxm5", "h100sxm80gb", "h100sxm580gb"],
    arch: Arch::SM_90A,
    sms: 132,
    memory_bytes: 81_559 * MIB,
    memory_bandwidth: 3350e9,
    l2_bytes: 50 * MIB,
    boost_clock_hz: 1.98e9,
    peak_f64: 33.5e12,
    peak_f32: 66.9e12,
    peak_f16: 133.8e12,
    peak_bf16: 133.8e12,
    peak_f64_tensor: Some(66.9e12),
    peak_tf32_tensor: 494.7e12,
    peak_f16_tensor: 989.4e12,
    peak_bf16_tensor: 989.4e12,
    peak_f8_tensor: Some(1978.9e12),
    peak_i8_tensor: 1978.9e12,
    f16_accumulate: 1.0,
};

/// The datasheet says 2 TB/s; the memory clock and bus width give 2039 GB/s.
const H100_PCIE: Device = Device {
    name: "NVIDIA H100 PCIe",
    aliases: &["h100pcie80gb", "h10080gbpcie"],
    sms: 114,
    memory_bandwidth: 2039e9,
    boost_clock_hz: 1.755e9,
    peak_f64: 25.6e12,
    peak_f32: 51.2e12,
    peak_f16: 102.4e12,
    peak_bf16: 102.4e12,
    peak_f64_tensor: Some(51.2e12),
    peak_tf32_tensor: 378e12,
    peak_f16_tensor: 756e12,
    peak_bf16_tensor: 756e12,
    peak_f8_tensor: Some(1513e12),
    peak_i8_tensor: 1513e12,
    ..H100_SXM
};

/// The H100's processor with more memory. Multiprocessors, cache, clock and
/// memory size were read off one such board.
const H200: Device = Device {
    name: "NVIDIA H200",
    aliases: &["h200sxm", "h200141gb", "h200sxm141gb", "h200141gbhbm3e"],
    memory_bytes: 143_771 * MIB,
    memory_bandwidth: 4800e9,
    l2_bytes: 60 * MIB,
    ..H100_SXM
};

/// Per GPU of an eight-GPU HGX board. Two datasheets disagree on f32 (75 and
/// 80) and f64 (37 and 40); 148 multiprocessors at the highest clock drivers
/// report make 74.4, so the lower pair. f16 and bf16 off the tensor cores are
/// taken as twice f32, as on Hopper.
const B200: Device = Device {
    name: "NVIDIA B200",
    aliases: &["b200sxm", "b200180gb", "b200192gb"],
    arch: Arch::SM_100A,
    sms: 148,
    memory_bytes: 183_359 * MIB,
    memory_bandwidth: 8000e9,
    l2_bytes: 132_644_864,
    boost_clock_hz: 1.965e9,
    peak_f64: 37e12,
    peak_f32: 75e12,
    peak_f16: 150e12,
    peak_bf16: 150e12,
    peak_f64_tensor: Some(37e12),
    peak_tf32_tensor: 1125e12,
    peak_f16_tensor: 2250e12,
    peak_bf16_tensor: 2250e12,
    peak_f8_tensor: Some(4500e12),
    peak_i8_tensor: 4500e12,
    f16_accumulate: 1.0,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// A multiprocessor does 128 f32 multiply-adds a clock (64 on A100), so the
    /// stated peak must come out of clock and count. Catches a wrong row.
    #[test]
    fn f32_peak_follows_from_clock_and_count() {
        for board in BOARDS {
            let lanes = if board.arch == Arch::SM_80 { 64 } else { 128 };
            let computed = f64::from(2 * lanes * board.sms) * board.boost_clock_hz;
            let ratio = board.peak_f32 / computed;
            assert!((0.99..1.02).contains(&ratio), "{}: {ratio}", board.name);
        }
    }

    /// Dense tensor operations per clock and multiprocessor. A sparse figure
    /// taken by mistake would be twice the last column.
    #[test]
    fn tensor_peaks_are_dense() {
        for board in BOARDS {
            let per_clock = match board.arch.name() {
                "sm_80" => 2048.0,
                "sm_89" => 1024.0 / board.f16_accumulate,
                "sm_90a" => 4096.0,
                _ => 8192.0,
            };
            let computed = per_clock * f64::from(board.sms) * board.boost_clock_hz;
            let ratio = board.peak_f16_tensor / computed;
            assert!((0.9..1.01).contains(&ratio), "{}: {ratio}", board.name);
            assert_eq!(board.peak_f16_tensor, board.peak_bf16_tensor);
            assert!((board.peak_f16_tensor / board.peak_tf32_tensor - 2.0).abs() < 0.02);
            if let Some(f8) = board.peak_f8_tensor {
                assert!((f8 / board.peak_f16_tensor - 2.0).abs() < 0.01);
            }
        }
    }

    #[test]
    fn newer_architectures_have_f8() {
        for board in BOARDS {
            let has = board.arch.compute_capability() >= (8, 9);
            assert_eq!(board.peak_f8_tensor.is_some(), has, "{}", board.name);
        }
    }
}
