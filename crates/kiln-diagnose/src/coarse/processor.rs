//! A kernel on a processor. In: its hot loop, its position under the roofs, the width of the processor's vectors. Out: a diagnosis. The model: a
//! change speeds up the hot loop alone, so it is worth what the rest of the time leaves of it; two operations start in a cycle, and
//! each takes four until its result can be used.

use super::cause::{CoarseCause, CodeCause};
use super::hot::HotLoop;
use super::{AT_ROOF, Claim, CoarseDiagnosis, Position, capitalised, diagnosed, evidence};

/// Cycles until the result of an addition or a product can be used, on processors of the last ten years.
const LATENCY: f64 = 4.0;
/// Operations that start in a cycle there.
const STARTED: f64 = 2.0;
/// The share of accesses to the stack from which on they are worth a look.
const MANY_STACK: f64 = 0.1;
/// The share of time outside of loops from which on calls are to blame.
const MUCH_ELSEWHERE: f64 = 0.2;

/// What is known of a kernel.
#[derive(Debug, Clone, Default)]
pub struct ProcessorFacts {
    /// The kernel's name.
    pub kernel: String,
    /// Its time beside what the machine can do.
    pub position: Position,
    /// Its hot loop; none where its code could not be read.
    pub hot_loop: Option<HotLoop>,
    /// Bits of the widest vectors that the processor has.
    pub vector_bits: u32,
}

/// What limits a kernel on a processor.
pub fn of_processor(facts: &ProcessorFacts) -> CoarseDiagnosis {
    let mut claims: Vec<Claim> = at_roof(&facts.position).into_iter().collect();
    if let Some(hot) = &facts.hot_loop {
        let found = [scalar(hot, facts.vector_bits), narrow(hot, facts.vector_bits), chain(hot), stack(hot), call(hot)];
        claims.extend(found.into_iter().flatten());
    }
    diagnosed(&facts.kernel, &facts.position, claims, facts.hot_loop.clone())
}

/// The speedup of everything when its hot loop is so many times as fast.
fn overall(hot: &HotLoop, times: f64) -> f64 {
    let share = hot.share.unwrap_or(1.0);
    1.0 / (1.0 - share + share / times.max(1.0))
}

/// `the hot loop of naive (87 % of the time)`.
fn place(hot: &HotLoop) -> String {
    let share = hot.share.map_or(String::new(), |share| format!(", {:.0} % of the time", 100.0 * share));
    format!("the hot loop of {} (at {:#x}{share})", hot.function, hot.address)
}

fn claim(cause: CodeCause, gain: f64) -> Claim {
    let (evidence, explanation, fixes) = Default::default();
    Claim { cause: CoarseCause::Code(cause), gain, evidence, explanation, fixes }
}

fn at_roof(position: &Position) -> Option<Claim> {
    let roofs = [
        (CodeCause::AtRooflineMemory, "memory", position.memory),
        (CodeCause::AtRooflineCompute, "arithmetic", position.compute),
    ];
    let (cause, roof, share) = roofs
        .into_iter()
        .filter_map(|(cause, roof, share)| Some((cause, roof, share?)))
        .max_by(|a, b| a.2.total_cmp(&b.2))?;
    (share >= AT_ROOF).then(|| Claim {
        evidence: vec![evidence(&format!("roofline.{roof}_share"), share, AT_ROOF)],
        explanation: format!(
            "A call takes {:.0} % of the least time that {roof} measured on this machine allows. Stop here, or do less work: another \
             algorithm, a smaller type, fewer passes over the data.",
            100.0 / share.max(0.01)
        ),
        ..claim(cause, (1.0 / share).clamp(1.0, super::WORTH))
    })
}

fn scalar(hot: &HotLoop, vector_bits: u32) -> Option<Claim> {
    let mix = &hot.mix;
    let applies = mix.scalar > mix.packed && mix.element_bits > 0 && vector_bits > mix.element_bits;
    applies.then(|| Claim {
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
        ..claim(CodeCause::ScalarLoop, overall(hot, f64::from(vector_bits) / f64::from(mix.element_bits)))
    })
}

fn narrow(hot: &HotLoop, vector_bits: u32) -> Option<Claim> {
    let mix = &hot.mix;
    (mix.packed > 0 && mix.packed >= mix.scalar && mix.vector_bits < vector_bits).then(|| Claim {
        evidence: vec![evidence("code.vector_bits", f64::from(mix.vector_bits), f64::from(vector_bits))],
        explanation: format!(
            "{} computes with vectors of {} bits, and the processor has {}. Half of each unit is idle then; what memory allows is \
             not more.",
            capitalised(&place(hot)),
            mix.vector_bits,
            vector_bits
        ),
        fixes: vec![("use the widest vectors", "compile = { flags = [\"-mprefer-vector-width=512\"] }, or a tunable for the width of a vector type; measure it: some processors lower their clock")],
        ..claim(CodeCause::NarrowVectors, overall(hot, f64::from(vector_bits) / f64::from(mix.vector_bits)))
    })
}

/// A step cannot begin before the one before has ended: so long is each, and so long would its operations take side by side.
fn chain(hot: &HotLoop) -> Option<Claim> {
    let mix = &hot.mix;
    let waits = LATENCY * mix.chain_length as f64;
    let starts = (mix.arithmetic() as f64 / STARTED).max((mix.memory + mix.stack) as f64 / STARTED);
    (mix.chains > 0 && starts > 0.0 && waits > starts).then(|| Claim {
        evidence: vec![evidence("code.chains", mix.chains as f64, mix.chains as f64 * waits / starts)],
        explanation: format!(
            "In {} {} only ever changed by arithmetic on {} own last value, so a step takes {waits:.0} cycles at least. Its \
             arithmetic and its accesses to memory alone would take {starts:.1}.",
            place(hot),
            if mix.chains == 1 { "one register is".to_string() } else { format!("{} registers are", mix.chains) },
            if mix.chains == 1 { "its" } else { "their" }
        ),
        fixes: vec![("sum up in more registers", "several partial sums, added after the loop: s0 += x[i]; s1 += x[i + 1]; ... or a larger register tile (a tunable such as ROWS, COLS or UNROLL)")],
        ..claim(CodeCause::DependencyChain, overall(hot, waits / starts))
    })
}

fn stack(hot: &HotLoop) -> Option<Claim> {
    let (mix, all) = (&hot.mix, hot.instructions.max(1) as f64);
    let part = mix.stack as f64 / all;
    (part > MANY_STACK).then(|| Claim {
        evidence: vec![evidence("code.stack_share", part, MANY_STACK)],
        explanation: format!(
            "{} of the {} instructions in {} read or write the stack. Its values do not fit into registers.",
            mix.stack,
            hot.instructions,
            place(hot)
        ),
        fixes: vec![("keep fewer values at once", "a smaller register tile, less unrolling, fewer accumulators (the tunables that set them), or index arithmetic moved out of the loop")],
        ..claim(CodeCause::StackSpill, overall(hot, 1.0 / (1.0 - part.min(0.9))))
    })
}

fn call(hot: &HotLoop) -> Option<Claim> {
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
        ..claim(CodeCause::CallInLoop, 1.0 / (1.0 - elsewhere.min(0.95)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::mix::Mix;
    use super::*;

    fn facts(mix: Mix, share: f64) -> ProcessorFacts {
        let hot = HotLoop {
            function: "k".into(),
            address: 0x1100,
            instructions: 10,
            share: Some(share),
            elsewhere: Some(0.0),
            mix,
        };
        let position = Position { seconds: Some(1e-3), memory: Some(0.01), compute: Some(0.05) };
        ProcessorFacts { kernel: "k".into(), position, hot_loop: Some(hot), vector_bits: 512 }
    }

    fn cause(found: &CoarseDiagnosis) -> Option<&'static str> {
        found.cause.map(CoarseCause::id)
    }

    #[test]
    fn a_scalar_loop_is_worth_the_vectors_that_it_does_not_use() {
        let mix = Mix { scalar: 4, element_bits: 32, ..Mix::default() };
        let found = of_processor(&facts(mix.clone(), 1.0));
        assert_eq!((cause(&found), found.expected_speedup), (Some("scalar_loop"), 16.0));
        assert_eq!((found.evidence[0].value, found.evidence[0].threshold), (32.0, 512.0));
        // Also where the compiler made vectors of some of it.
        let some = Mix { packed: 1, vector_bits: 128, ..mix.clone() };
        assert_eq!(cause(&of_processor(&facts(some, 1.0))), Some("scalar_loop"));
        // The rest of the time stays.
        assert_eq!(of_processor(&facts(mix, 0.5)).expected_speedup, 1.88);
        let wide = Mix { packed: 8, vector_bits: 512, element_bits: 32, ..Mix::default() };
        assert_eq!(cause(&of_processor(&facts(wide, 1.0))), None);
    }

    #[test]
    fn one_sum_waits_for_itself_and_several_do_not() {
        let one = Mix {
            packed: 1,
            vector_bits: 512,
            element_bits: 32,
            memory: 1,
            chains: 1,
            chain_length: 1,
            ..Mix::default()
        };
        let found = of_processor(&facts(one.clone(), 1.0));
        assert_eq!((cause(&found), found.expected_speedup), (Some("dependency_chain"), 8.0));
        let eight = Mix { packed: 8, chains: 8, memory: 3, ..one };
        assert_eq!(cause(&of_processor(&facts(eight, 1.0))), None);
    }

    #[test]
    fn spills_and_calls_are_named() {
        let spills = Mix { packed: 4, vector_bits: 512, element_bits: 32, stack: 5, ..Mix::default() };
        assert_eq!(cause(&of_processor(&facts(spills, 1.0))), Some("stack_spill"));
        let mut calls = facts(Mix { calls: vec!["expf".into(), "expf".into()], ..Mix::default() }, 0.1);
        assert_eq!(cause(&of_processor(&calls)), None);
        if let Some(hot) = &mut calls.hot_loop {
            hot.elsewhere = Some(0.8);
        }
        let found = of_processor(&calls);
        assert_eq!((cause(&found), found.expected_speedup), (Some("call_in_loop"), 5.0));
        assert!(found.explanation.contains("calls expf."), "{}", found.explanation);
    }

    #[test]
    fn at_a_roof_the_answer_is_to_stop() {
        let mut saturated = facts(Mix { scalar: 4, element_bits: 32, ..Mix::default() }, 1.0);
        saturated.position.memory = Some(0.9);
        let found = of_processor(&saturated);
        assert_eq!((cause(&found), found.ranked.len()), (Some("at_roofline_memory"), 1));
        assert!(found.expected_speedup <= 1.05);
        saturated.position.memory = Some(0.7);
        assert_eq!(cause(&of_processor(&saturated)), Some("scalar_loop"));
    }
}
