//! Where a launch stands under the roofs in absolute figures, for the picture. In: a subject. Out: its operations per byte of DRAM and per
//! second, DRAM's peak, and the peak of the pipe that does most of the work. None where the page lacks one of these,
//! and for kernels that do no floating-point work at all.

use super::metric as m;
use super::subject::Subject;

/// A point under two roofs.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    /// What computes: FP32, FP64, FP16 or tensor.
    pub pipe: &'static str,
    /// Floating-point operations per byte that DRAM moves.
    pub intensity: f64,
    /// Operations per second.
    pub flops: f64,
    /// The pipe's peak.
    pub peak_flops: f64,
    /// DRAM's peak, in bytes per second.
    pub peak_bytes: f64,
}

impl Position {
    /// The intensity at which the roofs meet.
    pub fn ridge(&self) -> f64 {
        self.peak_flops / self.peak_bytes
    }

    /// The most operations per second at an intensity.
    pub fn roof(&self, intensity: f64) -> f64 {
        (self.peak_bytes * intensity).min(self.peak_flops)
    }

    pub(super) fn of(subject: &Subject) -> Option<Self> {
        let get = |name: &str| subject.launch.get(name).filter(|value| value.is_finite() && *value >= 0.0);
        let positive = |name: &str| get(name).filter(|value| *value > 0.0);
        let peak_bytes = positive("dram__bytes.sum.peak_sustained")? * positive("dram__cycles_elapsed.avg.per_second")?;
        let bytes = positive("dram__bytes.sum.per_second")?;
        let clock = positive("sm__cycles_elapsed.avg.per_second")
            .or_else(|| positive("smsp__cycles_elapsed.avg.per_second"))?;
        let pipe = |pipe: &'static str, ops: f64, peak: &str| Some((pipe, ops * clock, positive(peak)? * clock));
        let [fadd, fmul, ffma] = [m::FADD, m::FMUL, m::FFMA].map(|metric| subject.value(metric));
        let [dadd, dmul, dfma] = [m::DADD, m::DMUL, m::DFMA].map(|metric| subject.value(metric));
        let [hadd, hmul] = [HADD, HMUL].map(|name| get(name).unwrap_or(0.0));
        let halves = 2.0 * (hadd + hmul) + 4.0 * subject.value(m::HFMA);
        let all = [
            pipe("FP32", fadd + fmul + 2.0 * ffma, "derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2"),
            pipe("FP64", dadd + dmul + 2.0 * dfma, "derived__sm__sass_thread_inst_executed_op_dfma_pred_on_x2"),
            pipe("FP16", halves, "derived__sm__sass_thread_inst_executed_op_hfma_pred_on_x4"),
            tensor(&positive),
        ];
        let most =
            |one: (&'static str, f64, f64), other: (&'static str, f64, f64)| if other.1 > one.1 { other } else { one };
        let (pipe, flops, peak_flops) = all.into_iter().flatten().filter(|(_, ops, _)| *ops > 0.0).reduce(most)?;
        Some(Self { pipe, intensity: flops / bytes, flops, peak_flops, peak_bytes })
    }
}

const HADD: &str = "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum.per_cycle_elapsed";
const HMUL: &str = "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum.per_cycle_elapsed";

/// The kind of product that does most operations.
fn tensor(positive: &impl Fn(&str) -> Option<f64>) -> Option<(&'static str, f64, f64)> {
    let paths =
        m::TENSOR_PATHS.iter().filter_map(|path| path.first()?.strip_suffix(".avg.pct_of_peak_sustained_elapsed"));
    let rates = paths.filter_map(|path| {
        let ops = positive(&format!("{path}.sum.per_second"))?;
        Some(("tensor", ops, positive(&format!("{path}.sum.peak_sustained_elapsed.per_second"))?))
    });
    rates.reduce(|one, other| if other.1 > one.1 { other } else { one })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(more: &[(&str, f64)]) -> Subject {
        let mut subject = Subject::default();
        for (name, value) in [
            ("dram__bytes.sum.peak_sustained", 1504.0),
            ("dram__cycles_elapsed.avg.per_second", 3.2e9),
            ("dram__bytes.sum.per_second", 1e12),
            ("sm__cycles_elapsed.avg.per_second", 2e9),
            ("derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2", 33792.0),
        ] {
            subject.launch.set(name, value);
        }
        more.iter().for_each(|(name, value)| subject.launch.set(name, *value));
        subject
    }

    #[test]
    fn a_fused_operation_counts_twice() {
        let ffma = ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", 500.0);
        let found = Position::of(&subject(&[ffma])).unwrap();
        assert_eq!((found.pipe, found.flops, found.intensity), ("FP32", 2e12, 2.0));
        assert_eq!(found.peak_flops, 33792.0 * 2e9);
        assert_eq!(found.roof(1.0), found.peak_bytes);
        assert_eq!(found.roof(1e9), found.peak_flops);
        assert!((found.roof(found.ridge()) / found.peak_flops - 1.0).abs() < 1e-12);
    }

    #[test]
    fn tensor_cores_are_found_by_their_path() {
        let ops = ("sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum.per_second", 5e14);
        let peak = ("sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum.peak_sustained_elapsed.per_second", 1e15);
        let found = Position::of(&subject(&[ops, peak])).unwrap();
        assert_eq!((found.pipe, found.flops / found.peak_flops), ("tensor", 0.5));
    }

    #[test]
    fn without_operations_or_metrics_there_is_no_point() {
        assert_eq!(Position::of(&subject(&[])), None);
        assert_eq!(Position::of(&Subject::default()), None);
    }
}
