//! A kernel on a processor. In: its hot loop, its position under the roofs, the width of the processor's vectors. Out: a diagnosis. The model: a
//! change speeds up the loops of its kind alone, so it is worth what the rest of the time leaves of it. Promises are upper bounds: where
//! a cause also keeps the compiler from vectorising, they hold what vectors would give.

mod claims;

use super::cause::{CoarseCause, CodeCause};
use super::hot::HotLoop;
use super::{AT_ROOF, Claim, CoarseDiagnosis, Position, diagnosed, evidence};

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
        claims.extend(claims::of_loop(hot, &facts.position, facts.vector_bits));
    }
    diagnosed(&facts.kernel, &facts.position, claims, facts.hot_loop.clone())
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
        ..claim(cause, (1.0 / share).max(1.0))
    })
}

#[cfg(test)]
mod tests;
