//! A product of matrices does not use the tensor cores.

use super::super::cause::Bottleneck;
use super::super::load::{Load, bounded};
use super::super::metric as m;
use super::super::name;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::TensorCoreUnused,
    needs: &[PRODUCT, &[m::HFMA, m::TENSOR, m::DRAM, m::L2, m::SMS]],
    conditions,
    gain,
    explain,
    fixes,
};

/// What a plain kernel with tensor cores reaches, by the peak of the FP32 pipe: about a seventh of the tensor cores' peak.
const TF32_REACH: f64 = 1.0;
const HALF_REACH: f64 = 2.0;

/// With fewer FMAs, as a part of the peak, products are not what takes the time.
const LEAST: f64 = 0.02;

/// What shows whether a kernel multiplies matrices.
pub(super) const PRODUCT: &[m::Metric] = &[m::FFMA, m::FADD, m::FMUL, m::CYCLES_ELAPSED, m::SHARED_LOADS];

fn conditions(subject: &Subject) -> Vec<Condition> {
    if !is_product(subject) {
        return Vec::new();
    }
    vec![
        above(subject, operations(subject), LEAST * peak(subject)),
        below(subject, m::TENSOR, 5.0),
        below(subject, m::DRAM, 70.0).context(),
    ]
}

/// Whether the kernel multiplies matrices. Its name or the source says so. Without them: nearly all arithmetic is FMAs, and their operands come
/// from shared memory.
fn is_product(subject: &Subject) -> bool {
    is_known_product(subject) || (subject.hints.is_none() && looks_like_product(subject))
}

/// Whether the kernel's own name or the source says that it multiplies matrices. A name counts where FMAs are most of the arithmetic.
pub(super) fn is_known_product(subject: &Subject) -> bool {
    let name = name::base(&subject.kernel).to_ascii_lowercase();
    let named = ["gemm", "matmul", "mat_mul", "matrix_mul"].iter().any(|word| name.contains(word));
    let (fmas, others) = (subject.value(operations(subject)), subject.value(m::FADD) + subject.value(m::FMUL));
    (named && fmas > LEAST * peak(subject) && fmas > others) || subject.hints.is_some_and(|hints| hints.product)
}

fn looks_like_product(subject: &Subject) -> bool {
    let (fma, others) = (subject.value(m::FFMA), subject.value(m::FADD) + subject.value(m::FMUL));
    let per_load = fma / 32.0 * subject.value(m::CYCLES_ELAPSED) / subject.value(m::SHARED_LOADS).max(1.0);
    fma > 0.0 && others < 0.02 * fma && per_load < 32.0
}

/// FMAs of floats, or of halves where there are more.
fn operations(subject: &Subject) -> m::Metric {
    if subject.value(m::HFMA) > subject.value(m::FFMA) { m::HFMA } else { m::FFMA }
}

/// FMAs of the whole device per cycle.
fn peak(subject: &Subject) -> f64 {
    128.0 * subject.sms()
}

/// Whether the elements have two bytes: by the instructions, the source, or the types that the kernel's name has.
fn of_halves(subject: &Subject) -> bool {
    let named = ["__half", "__nv_bfloat16"].iter().any(|word| subject.kernel.contains(word));
    operations(subject) == m::HFMA || named || subject.hints.is_some_and(|hints| hints.half)
}

fn gain(subject: &Subject) -> f64 {
    let reach = if of_halves(subject) { HALF_REACH } else { TF32_REACH };
    let faster = reach * peak(subject) / subject.value(operations(subject)).max(1.0);
    bounded(faster.min(16.0).min(moved(subject)), subject)
}

/// What is moved stays the same: no more than this, whoever writes the product.
fn moved(subject: &Subject) -> f64 {
    let Load { dram, l2, .. } = Load::of(subject);
    Load { dram, l2, ..Load::default() }.gain(subject)
}

fn explain(subject: &Subject) -> String {
    format!(
        "The kernel multiplies matrices with {:.0} FMAs per cycle, {:.0} % of the FP32 peak, while the tensor cores are at {:.1} %. \
         They do the same products {} times as fast at their peak.",
        subject.value(operations(subject)),
        100.0 * subject.value(operations(subject)) / peak(subject),
        subject.value(m::TENSOR),
        if of_halves(subject) { "16" } else { "8" }
    )
}

fn fixes(subject: &Subject, gain: f64) -> Vec<Fix> {
    let types =
        if of_halves(subject) { "__half or __nv_bfloat16" } else { "wmma::precision::tf32 (10 bits of mantissa)" };
    vec![
        fix(
            "use the tensor cores",
            &format!(
                "wmma::mma_sync(acc, a, b, acc) on 16x16 tiles of {types} with float sums; on sm_90a wgmma from shared memory is faster still"
            ),
            gain,
        ),
        fix(
            "call a library",
            "cuBLASLt or CUTLASS with the same types and layout",
            (gain * 1.5).min(moved(subject)).max(gain),
        ),
    ]
}
