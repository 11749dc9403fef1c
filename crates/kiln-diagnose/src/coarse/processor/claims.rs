//! What a loop's code and the looks at it claim. In: the hot loop, the position under the roofs, the width of the processor's vectors. Out:
//! claims. Where nobody looked, the share of the time is not known, and nothing is promised.

use super::super::cause::CodeCause;
use super::super::hot::HotLoop;
use super::super::mix::Mix;
use super::super::{Claim, Position, capitalised, evidence};
use super::claim;

/// Cycles until the result of an addition or a product can be used, on processors of the last ten years.
const LATENCY: f64 = 4.0;
/// Operations that start in a cycle there.
const STARTED: f64 = 2.0;
/// Cycles a second that every processor of the last ten years has, and by how much a step may be longer than its chain: beyond that
/// something else takes the time.
const SLOWEST_CLOCK: f64 = 1.5e9;
const ALIKE: f64 = 2.0;
/// The share of accesses to the stack from which on they are worth a look.
const MANY_STACK: f64 = 0.1;
/// The share of time outside of loops from which on calls are to blame.
const MUCH_ELSEWHERE: f64 = 0.2;
/// So many times the bytes that are used are much.
const MUCH_UNUSED: f64 = 2.0;
/// With more instructions of arithmetic for each cache line, fetching lines is not what takes the time.
const FEW_PER_LINE: f64 = 8.0;
/// Looks are too few to tell a smaller rest of the time from none.
const LEAST_REST: f64 = 0.01;

/// Everything that the hot loop claims.
pub(super) fn of_loop(hot: &HotLoop, position: &Position, vector_bits: u32) -> Vec<Claim> {
    // What locks memory or fetches lines for nothing is not waiting for arithmetic.
    if let Some(claim) = locked(hot, position).or_else(|| strided(hot, vector_bits)) {
        return [Some(claim), call(hot, vector_bits)].into_iter().flatten().collect();
    }
    let found = [
        scalar(hot, vector_bits),
        narrow(hot, vector_bits),
        mixed(hot),
        chain(hot, position),
        stack(hot, vector_bits),
        call(hot, vector_bits),
    ];
    found.into_iter().flatten().collect()
}

/// The speedup of everything when all loops of the hot one's kind are so many times as fast.
fn overall(hot: &HotLoop, times: f64, of_the_kind: impl Fn(&Mix, usize) -> bool) -> f64 {
    let share = hot.reach(of_the_kind).unwrap_or(0.0);
    1.0 / (1.0 - share + share / times.max(1.0))
}

/// How many times as much the widest vectors hold as the loop computes with at once.
fn wider(mix: &Mix, vector_bits: u32) -> f64 {
    match mix.width() {
        0 => 1.0,
        width => (f64::from(vector_bits) / f64::from(width)).max(1.0),
    }
}

/// `the hot loop of naive (at 0x1280, 87 % of the time)`.
fn place(hot: &HotLoop) -> String {
    let share = hot.share.map_or(String::new(), |share| format!(", {:.0} % of the time", 100.0 * share));
    format!("the hot loop of {} (at {:#x}{share})", hot.function, hot.address)
}

fn scalar(hot: &HotLoop, vector_bits: u32) -> Option<Claim> {
    let mix = &hot.mix;
    let applies =
        |mix: &Mix, _: usize| mix.scalar > mix.packed && mix.element_bits > 0 && vector_bits > mix.element_bits;
    applies(mix, 0).then(|| Claim {
        evidence: vec![evidence("code.vector_bits", f64::from(mix.element_bits), f64::from(vector_bits))],
        explanation: format!(
            "{} of the {} floating-point instructions in {} compute one element at a time. The processor's vectors hold {} of them.",
            mix.scalar,
            mix.arithmetic(),
            place(hot),
            vector_bits / mix.element_bits
        ),
        fixes: vec![
            ("let the compiler vectorise the loop", "restrict on pointers, no branches and calls in the loop, and for sums compile = { flags = [\"-ffast-math\"] } or several partial sums: the compiler must not reorder additions otherwise"),
            ("write vectors out", "typedef float vec __attribute__((vector_size(32))); and a tunable for its width"),
        ],
        ..claim(CodeCause::ScalarLoop, overall(hot, wider(mix, vector_bits), applies))
    })
}

fn narrow(hot: &HotLoop, vector_bits: u32) -> Option<Claim> {
    let mix = &hot.mix;
    let applies = |mix: &Mix, _: usize| mix.packed > 0 && mix.packed >= mix.scalar && mix.vector_bits < vector_bits;
    applies(mix, 0).then(|| Claim {
        evidence: vec![evidence("code.vector_bits", f64::from(mix.vector_bits), f64::from(vector_bits))],
        explanation: format!(
            "{} computes with vectors of {} bits, and the processor has {}: {:.0} % of each unit is idle. What memory allows is not more.",
            capitalised(&place(hot)),
            mix.vector_bits,
            vector_bits,
            100.0 * (1.0 - f64::from(mix.vector_bits) / f64::from(vector_bits))
        ),
        fixes: vec![("use the widest vectors", "compile = { flags = [\"-mprefer-vector-width=512\"] }, or a tunable for the width of a vector type; measure it: some processors lower their clock")],
        ..claim(CodeCause::NarrowVectors, overall(hot, wider(mix, vector_bits), applies))
    })
}

/// Floats that become doubles and floats again: half of each vector, and the conversions beside.
fn mixed(hot: &HotLoop) -> Option<Claim> {
    let mix = &hot.mix;
    let applies = |mix: &Mix, _: usize| mix.widened > 0 && mix.narrowed > 0;
    let converting = mix.widened + mix.narrowed + mix.moved;
    let rest = hot.instructions.saturating_sub(converting).max(1) as f64;
    let lanes = if mix.packed >= mix.scalar { 2.0 } else { 1.0 };
    applies(mix, 0).then(|| Claim {
        evidence: vec![evidence("code.conversions", (mix.widened + mix.narrowed) as f64, 0.0)],
        explanation: format!(
            "{} converts floats to doubles and back: {} of its {} instructions. A vector holds half as many doubles; most often a constant without `f` asks for them.",
            capitalised(&place(hot)),
            mix.widened + mix.narrowed,
            hot.instructions
        ),
        fixes: vec![("compute with floats", "constants with f (2.1f), expf instead of exp, float instead of double for what lies between; compile = { flags = [\"-Wdouble-promotion\"] } shows each place")],
        ..claim(CodeCause::MixedPrecision, overall(hot, lanes * hot.instructions as f64 / rest, applies))
    })
}

/// A step cannot begin before the one before has ended: so long is each, and so long would its operations take side by side.
fn chain(hot: &HotLoop, position: &Position) -> Option<Claim> {
    let mix = &hot.mix;
    let waits = LATENCY * mix.chain_length as f64;
    let starts = (mix.arithmetic() as f64 / STARTED).max((mix.memory + mix.stack) as f64 / STARTED);
    // A step that takes much longer than its chain waits for something else.
    let other = step_seconds(hot, position).is_some_and(|seconds| seconds > ALIKE * waits / SLOWEST_CLOCK);
    (mix.chains > 0 && starts > 0.0 && waits > starts && !other).then(|| Claim {
        evidence: vec![evidence("code.chains", mix.chains as f64, mix.chains as f64 * waits / starts)],
        explanation: format!(
            "In {} {} only ever changed by arithmetic on {} own last value, so a step takes {waits:.0} cycles at least. Its \
             arithmetic and its accesses to memory alone would take {starts:.1}.",
            place(hot),
            if mix.chains == 1 { "one register is".to_string() } else { format!("{} registers are", mix.chains) },
            if mix.chains == 1 { "its" } else { "their" }
        ),
        fixes: vec![("sum up in more registers", "several partial sums, added after the loop: s0 += x[i]; s1 += x[i + 1]; ... or a larger register tile (a tunable such as ROWS, COLS or UNROLL)")],
        ..claim(CodeCause::DependencyChain, overall(hot, waits / starts, |_, _| false))
    })
}

/// Seconds of one step of the loop, where its operations are what the file states.
fn step_seconds(hot: &HotLoop, position: &Position) -> Option<f64> {
    let steps = position.flops? / hot.mix.operations as f64;
    Some(position.seconds? * hot.share? / steps).filter(|seconds| seconds.is_finite())
}

fn stack(hot: &HotLoop, vector_bits: u32) -> Option<Claim> {
    let part = |mix: &Mix, instructions: usize| mix.stack as f64 / instructions.max(1) as f64;
    let applies = |mix: &Mix, instructions: usize| part(mix, instructions) > MANY_STACK;
    let (mix, own) = (&hot.mix, part(&hot.mix, hot.instructions));
    let times = wider(mix, vector_bits) / (1.0 - own.min(0.9));
    applies(mix, hot.instructions).then(|| Claim {
        evidence: vec![evidence("code.stack_share", own, MANY_STACK)],
        explanation: format!(
            "{} of the {} instructions in {} read or write the stack. Its values do not fit into registers, or must lie in memory (volatile, an array with a variable index).",
            mix.stack,
            hot.instructions,
            place(hot)
        ),
        fixes: vec![("keep fewer values at once", "a smaller register tile, less unrolling, fewer accumulators (the tunables that set them), or index arithmetic moved out of the loop")],
        ..claim(CodeCause::StackSpill, overall(hot, times, applies))
    })
}

/// What is called takes no time at best, and the loops that call become vectors.
fn call(hot: &HotLoop, vector_bits: u32) -> Option<Claim> {
    let elsewhere = hot.elsewhere.filter(|share| *share > MUCH_ELSEWHERE)?;
    let names = match hot.mix.calls.as_slice() {
        [] => return None,
        calls => {
            let mut names = calls.to_vec();
            names.sort_unstable();
            names.dedup();
            names.join(", ")
        }
    };
    let calling = hot.reach(|mix, _| !mix.calls.is_empty())?;
    let left = (1.0 - elsewhere - calling).max(0.0) + calling / wider(&hot.mix, vector_bits);
    Some(Claim {
        evidence: vec![evidence("looks.outside_loops", elsewhere, MUCH_ELSEWHERE)],
        explanation: format!(
            "{:.0} % of the time goes to functions outside of the kernel's own loops, and {} calls {names}. A call in a loop also \
             keeps the compiler from vectorising it.",
            100.0 * elsewhere,
            place(hot)
        ),
        fixes: vec![(
            "compute it in the loop",
            "a static inline function; for exp, log, sin and others a polynomial, or -ffast-math with -lmvec, which has them for vectors",
        )],
        ..claim(CodeCause::CallInLoop, 1.0 / left.max(LEAST_REST))
    })
}

/// How long a locked instruction takes depends on who else wants the memory: only the roof bounds what is left without it.
fn locked(hot: &HotLoop, position: &Position) -> Option<Claim> {
    let mix = &hot.mix;
    let times = if position.share().is_some() { f64::INFINITY } else { 1.0 };
    (mix.locked > 0).then(|| Claim {
        evidence: vec![evidence("code.locked", mix.locked as f64, 0.0)],
        explanation: format!(
            "{} of the {} instructions in {} lock the memory that they change. Each takes about 20 cycles even when nobody else wants it, nothing is \
             computed meanwhile, and the compiler cannot vectorise around it.",
            mix.locked,
            hot.instructions,
            place(hot)
        ),
        fixes: vec![("count outside of the loop", "a variable of its own for each thread, added to the shared one once after the loop; __ATOMIC_RELAXED alone changes nothing here")],
        ..claim(CodeCause::LockedInLoop, overall(hot, times, |mix, _| mix.locked > 0))
    })
}

/// Lines that are fetched for a few of their bytes.
fn strided(hot: &HotLoop, vector_bits: u32) -> Option<Claim> {
    let unused = |mix: &Mix| mix.line_bytes as f64 / mix.used_bytes.max(1) as f64;
    let light = |mix: &Mix| mix.arithmetic() as f64 <= FEW_PER_LINE * (mix.line_bytes as f64 / 64.0).ceil();
    let applies = |mix: &Mix, _: usize| mix.used_bytes > 0 && unused(mix) >= MUCH_UNUSED && light(mix);
    let mix = &hot.mix;
    applies(mix, 0).then(|| Claim {
        evidence: vec![evidence("code.line_bytes_per_used_byte", unused(mix), MUCH_UNUSED)],
        explanation: format!(
            "A step of {} uses {} bytes of the {} bytes of cache lines that it touches. Fetching lines takes the time, and vectors do not shorten that.",
            place(hot),
            mix.used_bytes,
            mix.line_bytes
        ),
        fixes: vec![("use all of each line", "walk along rows instead of columns (swap the loops), an array for each field instead of an array of structs, or tiles that are copied together first")],
        ..claim(CodeCause::StridedAccess, overall(hot, unused(mix) * wider(mix, vector_bits), applies))
    })
}
