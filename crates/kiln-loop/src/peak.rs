//! What this machine can do at best, measured here and now: the yardstick for baselines, and the bound below which a time is
//! not believed.

use camino::Utf8PathBuf;
use kiln_build::{Passing, Request, shim};
use kiln_core::{Config, Fault, Outcome};
use kiln_judge::{Signature, Slot};
use kiln_spec::{Dtype, Init, Role};
use serde::Serialize;

use crate::bench::Bench;
use crate::layout::Layout;
use crate::seat::Subject;

/// Rounds of the arithmetic probe: a millisecond or so.
const ROUNDS: usize = 100_000;
/// Vectors the arithmetic probe works on, and the widths in bytes that are tried: compilers do not always choose the
/// widest there is, and the widest is not always the fastest.
const CHAINS: usize = 10;
const WIDTHS: [usize; 3] = [16, 32, 64];
/// Bytes the memory probe reads at most: more only takes longer.
const MOST_BYTES: usize = 256 << 20;
/// Bytes it reads at least.
const LEAST_BYTES: usize = 16 << 10;
/// Samples of each; the fastest counts.
const SAMPLES: u32 = 5;

/// Measured limits of one thread.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Peaks {
    /// Floating-point operations a second.
    pub flops: f64,
    /// Bytes a second when this many bytes are read again and again: small sets come from a cache, large ones do not.
    pub bandwidths: Vec<(f64, f64)>,
}

impl Peaks {
    /// The share of the best possible that a time is: the larger of what arithmetic and memory need, over the time. The
    /// memory's speed is that of the next smaller set that was measured.
    pub fn share(&self, flops: Option<f64>, bytes: Option<f64>, seconds: f64) -> Option<f64> {
        let arithmetic = flops.map(|f| f / self.flops);
        let memory = bytes.and_then(|b| {
            let smaller = self.bandwidths.iter().filter(|(set, _)| *set <= b * 1.001);
            let nearest = smaller.max_by(|a, b| a.0.total_cmp(&b.0)).or(self.bandwidths.first())?;
            Some(b / nearest.1)
        });
        let floor = arithmetic.unwrap_or(0.0).max(memory.unwrap_or(0.0));
        (floor > 0.0).then_some(floor / seconds)
    }
}

/// Measures them with the C compiler there is; for kernels in double precision with doubles.
pub fn peaks(bench: &Bench<'_>) -> Result<Peaks, Fault> {
    let compiler = bench.compiler.as_ref().map_err(Clone::clone)?;
    let written = |e: std::io::Error| Fault::new("writing a probe", e);
    let folder = tempfile::tempdir().map_err(written)?;
    let source = Utf8PathBuf::from_path_buf(folder.path().join("probe.c"));
    let source = source.map_err(|path| Fault::new("writing a probe", format!("{} is not UTF-8", path.display())))?;
    fs_err::write(&source, include_str!("peak/probe.c")).map_err(written)?;
    let double = bench.kernel.selection.spec.arguments.iter().any(|a| is_double(bench, a));
    let (dtype, name) = if double { (Dtype::F64, "double") } else { (Dtype::F32, "float") };
    let build = |entry: &str, width: usize, passing: &[Passing]| -> Result<Subject, Fault> {
        let request = Request {
            sources: vec![source.clone()],
            includes: Vec::new(),
            std: None,
            flags: vec![
                format!("-DPROBE_TYPE={name}"),
                format!("-DPROBE_BYTES={width}"),
                "-ffp-contract=fast".into(),
                "-Wno-psabi".into(),
            ],
            config: Config::default(),
            shim: shim(entry, passing),
        };
        match bench.build_now(compiler, &request)? {
            Outcome::Passed(subject) => Ok(subject),
            Outcome::Refused(refusal) => Err(Fault::new("building a probe", refusal.measured)),
        }
    };
    let mut flops: f64 = 0.0;
    for width in WIDTHS {
        let arithmetic = build("multiply_add", width, &[Passing::Pointer, Passing::Value("int64_t")])?;
        let numbers = CHAINS * width / dtype.bytes() as usize;
        let state = slot("state", Role::Inout, dtype, &[numbers]);
        let seconds = fastest(bench, &arithmetic, vec![state, number("rounds", ROUNDS)])?;
        flops = flops.max((2 * numbers * ROUNDS) as f64 / seconds);
    }
    let memory = build("read_all", 64, &[Passing::Pointer, Passing::Pointer, Passing::Value("int64_t")])?;
    let mut sets: Vec<usize> = bench
        .stages
        .iter()
        .filter_map(|s| Some((s.bytes? as usize).clamp(LEAST_BYTES, MOST_BYTES) / 256 * 32))
        .collect();
    sets.sort_unstable();
    sets.dedup();
    let mut bandwidths = Vec::with_capacity(sets.len());
    for count in sets {
        let slots = vec![
            slot("sum", Role::Out, Dtype::I64, &[1]),
            slot("data", Role::In, Dtype::I64, &[count]),
            number("count", count),
        ];
        let bytes = (8 * count) as f64;
        bandwidths.push((bytes, bytes / fastest(bench, &memory, slots)?));
    }
    Ok(Peaks { flops: flops * bench.settings.threads.max(1) as f64, bandwidths })
}

fn is_double(bench: &Bench<'_>, argument: &kiln_spec::Argument) -> bool {
    let dtype = match &argument.kind.element {
        kiln_spec::ElementType::Dtype(dtype) => Some(*dtype),
        kiln_spec::ElementType::Variable(name) => {
            bench.kernel.selection.variant.iter().find(|(n, _)| n == name).map(|(_, d)| *d)
        }
    };
    argument.role != Role::Scalar && dtype == Some(Dtype::F64)
}

fn slot(name: &str, role: Role, dtype: Dtype, shape: &[usize]) -> Slot {
    Slot {
        name: name.into(),
        role,
        dtype,
        shape: shape.to_vec(),
        init: Init::Zeros,
        scalar: None,
        alignment: 64,
        layout: None,
        strides: if shape.is_empty() { Vec::new() } else { vec![1] },
    }
}

fn number(name: &str, value: usize) -> Slot {
    Slot { scalar: Some(value as f64), ..slot(name, Role::Scalar, Dtype::I64, &[]) }
}

/// The fastest of some samples.
fn fastest(bench: &Bench<'_>, subject: &Subject, slots: Vec<Slot>) -> Result<f64, Fault> {
    let layout = Layout::new(Signature { slots })?;
    let mut arena = layout.arena()?;
    // Ones: real pages, and no arithmetic on zeros.
    arena.bytes_mut().fill(1);
    for (slot, place) in layout.signature.slots.iter().zip(&layout.slots) {
        if let Some(value) = slot.scalar {
            let bytes = kiln_judge::encode(slot.dtype, &[value]);
            arena.bytes_mut()[place.offset..place.offset + place.bytes].copy_from_slice(&bytes);
        }
    }
    let failed = |r: kiln_core::Refusal| Fault::new("measuring what this machine can do", r.measured);
    let mut seat = match bench.seating().take(subject)? {
        Outcome::Passed(seat) => seat,
        Outcome::Refused(refusal) => return Err(failed(refusal)),
    };
    if let Outcome::Refused(refusal) = seat.map(&layout, &arena)? {
        return Err(failed(refusal));
    }
    // Short calls are repeated, so that what is measured is not the clock.
    let calls = match seat.time(2, 1)? {
        Outcome::Passed(first) => (1e-3 / first.into_iter().fold(f64::INFINITY, f64::min)).clamp(1.0, 1e5) as u32,
        Outcome::Refused(refusal) => return Err(failed(refusal)),
    };
    match seat.time(SAMPLES, calls)? {
        Outcome::Passed(samples) => Ok(samples.into_iter().fold(f64::INFINITY, f64::min)),
        Outcome::Refused(refusal) => Err(failed(refusal)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tighter_of_arithmetic_and_memory_counts() {
        let peaks = Peaks { flops: 1e9, bandwidths: vec![(1e3, 1e10), (1e6, 1e9)] };
        assert_eq!(peaks.share(Some(1e6), Some(1e3), 2e-3), Some(0.5));
        assert_eq!(peaks.share(Some(1e6), Some(2e6), 4e-3), Some(0.5));
        // A set smaller than any measured is taken at the speed of the smallest.
        assert_eq!(peaks.share(None, Some(500.0), 1e-7), Some(0.5));
        assert_eq!(peaks.share(None, None, 1.0), None);
    }
}
