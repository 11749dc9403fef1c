//! The loop in which the time goes. In: functions, and where calls were seen in their code. Out: the innermost loop that was seen most often,
//! with what it consists of. Where nothing was seen it is the loop with the most arithmetic, which is a guess.

use serde::Serialize;

use super::assembly::{Function, Instruction};
use super::mix::{Mix, has_frame, mix};

/// A loop of a function.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HotLoop {
    /// The function.
    pub function: String,
    /// The address of its first instruction in the file.
    pub address: u64,
    /// Instructions in it.
    pub instructions: usize,
    /// The share of all looks that found the call here; none where nobody looked.
    pub share: Option<f64>,
    /// The share that found it outside of all loops of the file: in functions that are called, mostly.
    pub elsewhere: Option<f64>,
    /// What it consists of.
    #[serde(flatten)]
    pub mix: Mix,
    /// The other innermost loops that were seen.
    #[serde(skip)]
    pub others: Vec<SeenLoop>,
}

/// A loop beside the hot one.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenLoop {
    /// The share of all looks that found the call here.
    pub share: f64,
    /// Instructions in it.
    pub instructions: usize,
    /// What it consists of.
    pub mix: Mix,
}

impl HotLoop {
    /// That most of the time is not in loops, where it is not.
    pub fn elsewhere_told(&self) -> Option<String> {
        let elsewhere = self.elsewhere.filter(|share| *share > 0.5)?;
        Some(format!(
            "{:.0} % of the time is outside of the library's loops: in functions that it calls, or waiting",
            100.0 * elsewhere
        ))
    }

    /// The share of the time in all loops of a kind, this one among them; none where nobody looked.
    pub(super) fn reach(&self, of_the_kind: impl Fn(&Mix, usize) -> bool) -> Option<f64> {
        let alike = self.others.iter().filter(|own| of_the_kind(&own.mix, own.instructions));
        Some((self.share? + alike.map(|own| own.share).sum::<f64>()).min(1.0))
    }
}

/// A stretch of a function's code, from the first instruction to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    first: u64,
    last: u64,
}

impl Range {
    fn has(&self, address: u64) -> bool {
        (self.first..=self.last).contains(&address)
    }

    fn within(&self, other: &Range) -> bool {
        self != other && other.has(self.first) && other.has(self.last)
    }
}

/// The loops of a function: from a jump's target back to the jump.
fn loops(function: &Function) -> Vec<Range> {
    let start = function.code.first().map_or(0, |first| first.address);
    let mut found: Vec<Range> = Vec::new();
    let back = |own: &Instruction| {
        let (target, _) = own.target.as_ref().filter(|_| own.is_jump())?;
        (start..=own.address).contains(target).then_some(Range { first: *target, last: own.address })
    };
    for range in function.code.iter().filter_map(back) {
        match found.iter_mut().find(|known| known.first == range.first) {
            Some(known) => known.last = known.last.max(range.last),
            None => found.push(range),
        }
    }
    found
}

/// The hot loop of a library; none if it has no loop.
pub fn hot_loop(functions: &[Function], places: &[u64]) -> Option<HotLoop> {
    let mut found: Vec<(usize, HotLoop)> = Vec::new();
    let mut in_loops = 0;
    for function in functions {
        let (all, frame) = (loops(function), has_frame(&function.code));
        let inner = all.iter().filter(|own| !all.iter().any(|other| other.within(own)));
        in_loops += places.iter().filter(|place| all.iter().any(|own| own.has(**place))).count();
        for range in inner {
            let code: Vec<&Instruction> = function.code.iter().filter(|own| range.has(own.address)).collect();
            let seen = places.iter().filter(|place| range.has(**place)).count();
            let own = HotLoop {
                function: function.name.clone(),
                address: range.first,
                instructions: code.len(),
                share: of(seen, places),
                elsewhere: None,
                mix: mix(&code, frame),
                others: Vec::new(),
            };
            found.push((seen, own));
        }
    }
    // The first of those that are equally hot.
    let hottest = (0..found.len()).rev().max_by_key(|index| (found[*index].0, found[*index].1.mix.lanes()))?;
    let (_, hot) = found.swap_remove(hottest);
    let others = found
        .into_iter()
        .filter(|(seen, _)| *seen > 0)
        .filter_map(|(_, own)| Some(SeenLoop { share: own.share?, instructions: own.instructions, mix: own.mix }));
    Some(HotLoop { elsewhere: of(places.len().saturating_sub(in_loops), places), others: others.collect(), ..hot })
}

fn of(seen: usize, places: &[u64]) -> Option<f64> {
    (!places.is_empty()).then(|| super::rounded(seen as f64 / places.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::super::assembly::functions;
    use super::*;

    /// A loop of scalars within one of vectors, and one more behind it.
    const TEXT: &str = "0000000000000010 <k>:\n  10:\tvaddps ymm0,ymm0,ymm1\n  14:\tvaddss xmm2,xmm2,xmm3\n  18:\tjne    14 <k+0x4>\n  \
        1a:\tjne    10 <k>\n  1c:\tvfmadd231ps ymm4,ymm5,ymm6\n  20:\tvfmadd231ps ymm7,ymm5,ymm6\n  24:\tja     1c <k+0xc>\n  26:\tret\n";

    #[test]
    fn the_innermost_loop_that_is_seen_most_is_hot() {
        let code = functions(TEXT);
        let hot = hot_loop(&code, &[0x14, 0x18, 0x14, 0x1c, 0x10, 0x26, 0xffff_ffff]).unwrap();
        assert_eq!((hot.address, hot.instructions, hot.share), (0x14, 2, Some(0.429)));
        assert_eq!(hot.elsewhere, Some(0.286));
        // The other loop was seen once of seven times.
        assert_eq!((hot.others.len(), hot.others[0].share, hot.others[0].mix.chains), (1, 0.143, 2));
        assert_eq!((hot.reach(|mix, _| mix.chains == 2), hot.reach(|_, _| false)), (Some(0.429 + 0.143), Some(0.429)));
        assert_eq!(hot.elsewhere_told(), None);
        // A call that sleeps is beyond the file.
        let asleep = hot_loop(&code, &[0xffff_ffff, 0xffff_ffff, 0x1c]).unwrap();
        assert_eq!(asleep.share, Some(0.333));
        assert!(asleep.elsewhere_told().unwrap().starts_with("67 % of the time is outside"));
        // Without a look it is the one with the most arithmetic.
        let guessed = hot_loop(&code, &[]).unwrap();
        assert_eq!((guessed.address, guessed.share, guessed.mix.chains), (0x1c, None, 2));
        assert_eq!(hot_loop(&functions("0000000000000010 <k>:\n  10:\tret\n"), &[0x10]), None);
    }
}
