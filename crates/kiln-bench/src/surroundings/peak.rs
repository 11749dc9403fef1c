//! What this machine can do at best: the yardstick for baselines, and the bound below which a time is not believed. A
//! processor is measured here and now; of a GPU the board's datasheet is taken, which no kernel can beat.

use std::sync::{Arc, Mutex};

use camino::Utf8PathBuf;
use kiln_build::{Passing, Request, Toolchain, shim};
use kiln_core::{Config, Fault, Gate, Outcome, Refusal};
use kiln_device::Device;
use kiln_judge::{Signature, Slot};
use kiln_run::Gpu;
use kiln_spec::{Dtype, Role, Selection};
use serde::Serialize;

use crate::bench::Bench;
use crate::questions::layout::Layout;
use crate::settings::CacheState;
use crate::workers::seat::Spot;
use crate::workers::seating::Seating;
use crate::workers::subject::Subject;

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
/// A probe may miss what the processor can really do: it reaches this share of it at least, on a machine that is busy, too.
const BELIEVABLE: f64 = 0.5;
/// How often the arithmetic is measured again before a candidate is refused for being faster.
const LOOKS: usize = 5;

/// What can be done at best.
#[derive(Debug, Clone, Serialize)]
pub struct Peaks {
    /// Floating-point operations a second, in the kernel's type.
    pub flops: f64,
    /// Whether they were measured here, and not looked up.
    pub measured: bool,
    /// Floating-point operations a second that no kernel can do more than, whatever it uses.
    pub most_flops: f64,
    /// Bytes a second between memory and chip, and bytes that may stay on the chip, where calls begin with cold caches.
    pub cold: Option<(f64, f64)>,
    /// Bytes a second when this many bytes are read again and again: small sets come from a cache, large ones do not.
    pub bandwidths: Vec<(f64, f64)>,
    /// What measured the arithmetic, where it was measured.
    #[serde(skip)]
    probes: Option<Arc<Probes>>,
}

impl Peaks {
    /// The share of the best possible that a time is: the larger of what arithmetic and memory need, over the time. The
    /// memory's speed is that of the next smaller set that was measured.
    pub fn share(&self, flops: Option<f64>, bytes: Option<f64>, seconds: f64) -> Option<f64> {
        let arithmetic = flops.map(|f| f / self.flops);
        let memory = bytes.and_then(|b| {
            let smaller = self.bandwidths.iter().filter(|(set, _)| *set <= b * 1.001);
            // A processor's caches were measured, and the smallest set stands for all below it.
            let smallest = self.bandwidths.first().filter(|_| self.measured);
            let nearest = smaller.max_by(|a, b| a.0.total_cmp(&b.0)).or(smallest)?;
            Some(b / nearest.1)
        });
        let floor = arithmetic.unwrap_or(0.0).max(memory.unwrap_or(0.0));
        (floor > 0.0).then_some(floor / seconds)
    }

    /// The refusal of a time in which the work cannot be done. A machine that was busy when it was measured can do more than
    /// was seen, so before a candidate is refused it is measured again.
    pub(crate) fn doubt(
        &self,
        seating: &Seating,
        flops: Option<f64>,
        bytes: Option<f64>,
        seconds: f64,
    ) -> Result<Option<Refusal>, Fault> {
        let Some(probes) = &self.probes else { return Ok(self.refusal(flops, bytes, seconds)) };
        let raised = |seen: f64| Peaks { flops: seen, most_flops: seen / BELIEVABLE, ..self.clone() };
        insisted(|| raised(probes.best()).refusal(flops, bytes, seconds), || probes.look(seating))
    }

    fn refusal(&self, flops: Option<f64>, bytes: Option<f64>, seconds: f64) -> Option<Refusal> {
        let believed = if self.measured { "this machine was measured to do" } else { "the board can do" };
        let hint = "does the kernel do all the work? is [cost] right?";
        let refusal = |rule: &str, limit: String, evidence: String| Refusal {
            gate: Gate::BelowRoofline,
            rule: rule.into(),
            measured: format!("{seconds:.3e} s"),
            limit,
            evidence,
            hint: Some(hint.into()),
        };
        if let Some(flops) = flops.filter(|flops| seconds < flops / self.most_flops) {
            let peak = if self.measured { self.flops } else { self.most_flops };
            let limit = format!("{:.3e} s at the {:.1} GFLOP/s {believed}", flops / peak, peak / 1e9);
            return Some(refusal("flops", limit, format!("{flops:.3e} floating-point operations by [cost]")));
        }
        // What is written may stay on the chip until later.
        let (bandwidth, stays) = self.cold?;
        let moved = (bytes? - stays).max(0.0);
        (seconds < moved / bandwidth).then(|| {
            let limit = format!("{:.3e} s at {:.2} TB/s with cold caches", moved / bandwidth, bandwidth / 1e12);
            refusal("bytes", limit, format!("{moved:.3e} bytes by [cost], less what the cache may keep"))
        })
    }
}

/// A refusal that still stands after some more looks.
fn insisted(
    refusal: impl Fn() -> Option<Refusal>,
    mut look: impl FnMut() -> Result<(), Fault>,
) -> Result<Option<Refusal>, Fault> {
    for _ in 0..LOOKS {
        if refusal().is_none() {
            return Ok(None);
        }
        look()?;
    }
    Ok(refusal())
}

/// Programs that do nothing but arithmetic, of several widths, and the most they were seen to do.
#[derive(Debug)]
struct Probes {
    /// Each with how many numbers it works on.
    programs: Vec<(Subject, usize)>,
    dtype: Dtype,
    threads: usize,
    best: Mutex<f64>,
}

impl Probes {
    /// Floating-point operations a second of all threads.
    fn best(&self) -> f64 {
        self.best.lock().map_or(0.0, |best| *best)
    }

    /// Runs them all; what is more than before counts.
    fn look(&self, seating: &Seating) -> Result<(), Fault> {
        for (program, numbers) in &self.programs {
            let state = Slot::packed("state", Role::Inout, self.dtype, &[*numbers]);
            let seconds = fastest(seating, program, vec![state, Slot::number("rounds", Dtype::I64, ROUNDS as f64)])?;
            let seen = (2 * numbers * ROUNDS * self.threads) as f64 / seconds;
            if let Ok(mut best) = self.best.lock() {
                *best = best.max(seen);
            }
        }
        Ok(())
    }
}

/// Measures them with the C compiler there is; for kernels in double precision with doubles.
pub fn peaks(bench: &Bench<'_>) -> Result<Peaks, Fault> {
    if let Some(gpu) = &bench.gpu {
        return of_board(bench, gpu);
    }
    let toolchain = Toolchain::C(bench.compiler.clone()?);
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
            ..Request::default()
        };
        match bench.build_now(&toolchain, &request)? {
            Outcome::Passed(subject) => Ok(subject),
            Outcome::Refused(refusal) => Err(Fault::new("building a probe", refusal.measured)),
        }
    };
    let mut programs = Vec::with_capacity(WIDTHS.len());
    for width in WIDTHS {
        let program = build("multiply_add", width, &[Passing::Pointer, Passing::Value("int64_t")])?;
        programs.push((program, CHAINS * width / dtype.bytes() as usize));
    }
    let probes = Probes { programs, dtype, threads: bench.settings.threads.max(1), best: Mutex::new(0.0) };
    bench.go_on()?;
    probes.look(bench.seating())?;
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
            Slot::packed("sum", Role::Out, Dtype::I64, &[1]),
            Slot::packed("data", Role::In, Dtype::I64, &[count]),
            Slot::number("count", Dtype::I64, count as f64),
        ];
        let bytes = (8 * count) as f64;
        bench.go_on()?;
        bandwidths.push((bytes, bytes / fastest(bench.seating(), &memory, slots)?));
    }
    let flops = probes.best();
    let probes = Some(Arc::new(probes));
    Ok(Peaks { flops, measured: true, most_flops: flops / BELIEVABLE, cold: None, bandwidths, probes })
}

/// The figures of a GPU's datasheet.
fn of_board(bench: &Bench<'_>, gpu: &Gpu) -> Result<Peaks, Fault> {
    let unknown = |why: String| Fault::new("looking up what the GPU can do", why);
    let board = Device::find(&gpu.name).ok_or_else(|| unknown(format!("{} is not in the table", gpu.name)))?;
    let rate = board_rate(&bench.kernel.selection, board);
    let flops = rate.flops.ok_or_else(|| unknown(format!("{} has no rate for {}", board.name, rate.dtype)))?;
    let l2 = if gpu.l2 > 0 { gpu.l2 } else { board.l2_bytes } as f64;
    let cold = (bench.settings.cache == CacheState::Cold).then_some((board.most_bandwidth(), l2));
    // What lies in the second-level cache comes faster than from memory; how much faster is not in the table.
    let bandwidths =
        if cold.is_some() { vec![(0.0, board.memory_bandwidth)] } else { vec![(l2, board.memory_bandwidth)] };
    Ok(Peaks { flops, measured: false, most_flops: board.most_flops(), cold, bandwidths, probes: None })
}

/// A board's peak for the types that a kernel computes with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoardRate {
    /// Operations a second; none where the board has no rate for the type.
    pub flops: Option<f64>,
    /// The type: the narrowest of the arguments.
    pub dtype: &'static str,
    /// Whether tensor cores do it.
    pub tensor: bool,
}

/// The peak of a board for a kernel.
pub fn board_rate(selection: &Selection<'_>, board: &Device) -> BoardRate {
    let tensors = selection.spec.arguments.iter().filter(|a| a.role != Role::Scalar);
    // Masks and indices are not what is computed with.
    let computed = |d: &Dtype| [true, false].iter().any(|tensor| board.peak_flops(d.name(), *tensor).is_some());
    let narrowest = tensors.filter_map(|a| dtype(selection, a)).filter(computed).min_by_key(|d| d.bytes());
    let dtype = narrowest.map_or("f32", Dtype::name);
    // Full floats on tensor cores lose half their digits, so that the yardstick for them is what plain arithmetic does.
    let (plain, tensor) = (board.peak_flops(dtype, false), board.peak_flops(dtype, true));
    let on_tensor_cores = if matches!(dtype, "f32" | "f64") { plain.is_none() } else { tensor.is_some() };
    BoardRate { flops: if on_tensor_cores { tensor } else { plain }, dtype, tensor: on_tensor_cores }
}

fn is_double(bench: &Bench<'_>, argument: &kiln_spec::Argument) -> bool {
    argument.role != Role::Scalar && dtype(&bench.kernel.selection, argument) == Some(Dtype::F64)
}

fn dtype(selection: &Selection<'_>, argument: &kiln_spec::Argument) -> Option<Dtype> {
    match &argument.kind.element {
        kiln_spec::ElementType::Dtype(dtype) => Some(*dtype),
        kiln_spec::ElementType::Variable(name) => selection.variant.iter().find(|(n, _)| n == name).map(|(_, d)| *d),
    }
}

/// The fastest of some samples.
fn fastest(seating: &Seating, subject: &Subject, slots: Vec<Slot>) -> Result<f64, Fault> {
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
    let mut seat = match seating.take(subject)? {
        Outcome::Passed(seat) => seat,
        Outcome::Refused(refusal) => return Err(failed(refusal)),
    };
    if let Outcome::Refused(refusal) = seat.map(&layout, layout.slots.clone(), &arena, Vec::new(), (Spot::Same, 1))? {
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
        let cold = None;
        let peaks = Peaks {
            flops: 1e9,
            measured: true,
            most_flops: 1e9 / BELIEVABLE,
            cold,
            bandwidths: vec![(1e3, 1e10), (1e6, 1e9)],
            probes: None,
        };
        assert_eq!(peaks.share(Some(1e6), Some(1e3), 2e-3), Some(0.5));
        assert_eq!(peaks.share(Some(1e6), Some(2e6), 4e-3), Some(0.5));
        // A set smaller than any measured is taken at the speed of the smallest.
        assert_eq!(peaks.share(None, Some(500.0), 1e-7), Some(0.5));
        assert_eq!(peaks.share(None, None, 1.0), None);
    }

    #[test]
    fn times_below_what_is_possible_are_doubted() {
        let peaks = Peaks {
            flops: 1e12,
            measured: false,
            most_flops: 2e12,
            cold: Some((1e12, 1e6)),
            bandwidths: vec![],
            probes: None,
        };
        assert_eq!(peaks.refusal(Some(1e9), Some(2e6), 1e-3), None);
        assert_eq!(peaks.refusal(Some(2e9), None, 0.9e-3).map(|r| r.rule), Some("flops".into()));
        assert_eq!(peaks.refusal(None, Some(1.001e9), 0.9e-3).map(|r| r.rule), Some("bytes".into()));
        // Where a machine was busy when it was measured, a second look acquits; one that shows the same does not.
        let seen = std::cell::Cell::new(2e12);
        let refusal = || Peaks { most_flops: seen.get(), ..peaks.clone() }.refusal(Some(2e9), None, 0.9e-3);
        let looks = |raise: f64| {
            let mut looks = 0;
            let look = || {
                seen.set(seen.get() * raise);
                looks += 1;
                Ok(())
            };
            (insisted(refusal, look).unwrap().is_some(), looks)
        };
        assert_eq!((looks(1.0), looks(1.2), looks(1.0)), ((true, LOOKS), (false, 1), (false, 0)));
        // A small output may never have left the cache.
        assert_eq!(peaks.refusal(None, Some(1e6), 1e-9), None);
    }
}
