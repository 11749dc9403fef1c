//! What warps wait for: each reason of ncu in words, which of them more warps would hide, and the shares of a launch. In: a subject. Out:
//! shares, the most frequent first, and a sentence where no cause is there to explain them.

use serde::{Deserialize, Serialize};

use super::metric::{self as m, Metric};
use super::rule::rounded;
use super::subject::Subject;

/// A reason to wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// ncu's name.
    pub reason: String,
    /// Its part of a warp's time.
    pub share: f64,
}

/// How many reasons a sentence names.
const NAMED: usize = 3;

/// Waiting in which other warps could work: for memory, for a result, for other warps of the block, for instructions. While a queue or a
/// pipe is full, or a tensor core is at work, more warps wait, too.
const HIDDEN: &[&str] = &[
    "barrier",
    "branch_resolving",
    "drain",
    "imc_miss",
    "long_scoreboard",
    "membar",
    "no_instruction",
    "short_scoreboard",
    "wait",
];

/// What a warp waits for in a reason of ncu.
fn meaning(reason: &str) -> &'static str {
    match reason {
        "barrier" => "other warps at a barrier",
        "branch_resolving" => "a branch",
        "dispatch_stall" => "dispatch",
        "drain" => "its last stores",
        "gmma" => "wgmma",
        "imc_miss" => "constants",
        "lg_throttle" => "room in the queue of global memory",
        "long_scoreboard" => "global or local memory",
        "math_pipe_throttle" => "a busy pipe",
        "membar" => "a memory fence",
        "mio_throttle" => "room in the queue of shared memory and special functions",
        "no_instruction" => "instructions",
        "not_selected" => "its turn",
        "selected" => "nothing: it issues",
        "short_scoreboard" => "shared memory or special functions",
        "sleeping" => "the end of nanosleep",
        "tex_throttle" => "room in the queue of textures",
        "misc" => "what ncu counts as misc",
        "wait" => "results of a fixed latency",
        _ => "something else",
    }
}

/// Every reason with at least one percent, the most frequent first.
pub(super) fn stalls(subject: &Subject) -> Vec<Stall> {
    let share = |(reason, metric): &(&str, Metric)| Stall { reason: (*reason).into(), share: subject.stall(metric) };
    let mut all: Vec<Stall> = m::STALLS.iter().map(share).filter(|stall| stall.share >= 0.01).collect();
    all.sort_by(|one, other| other.share.total_cmp(&one.share));
    all.iter_mut().for_each(|stall| stall.share = rounded(stall.share));
    all
}

/// The reasons that more warps would hide.
fn hidden() -> impl Iterator<Item = Metric> {
    m::STALLS.iter().filter(|(reason, _)| HIDDEN.contains(reason)).map(|(_, metric)| *metric)
}

/// The part of a warp's time in which other warps could work.
pub(super) fn hidden_by_warps(subject: &Subject) -> f64 {
    hidden().map(|metric| subject.stall(metric)).sum()
}

/// The most frequent of these reasons, and the value of it from which on they are most of a warp's time.
pub(super) fn most_hidden(subject: &Subject) -> (Metric, f64) {
    let most = |one: Metric, other: Metric| if subject.value(other) > subject.value(one) { other } else { one };
    let metric = hidden().reduce(most).unwrap_or(m::STALL_LONG);
    let others: f64 = hidden().filter(|own| *own != metric).map(|own| subject.value(own)).sum();
    (metric, (subject.other_stalls(metric) - 2.0 * others).max(0.0))
}

/// What a warp waits for in a metric's reason.
pub(super) fn meaning_of(metric: Metric) -> &'static str {
    m::STALLS.iter().find(|(_, own)| *own == metric).map_or("something else", |(reason, _)| meaning(reason))
}

/// A sentence of what warps wait for; none where it was not collected.
pub(super) fn sentence(subject: &Subject) -> Option<String> {
    let all = stalls(subject);
    let waiting = all.iter().filter(|stall| stall.reason != "selected").take(NAMED);
    let named: Vec<String> = waiting
        .map(|stall| format!("{} ({}, {:.0} %)", meaning(&stall.reason), stall.reason, 100.0 * stall.share))
        .collect();
    (!named.is_empty()).then(|| format!("Warps wait mostly for {}.", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_words() {
        for (reason, metric) in m::STALLS {
            assert_ne!(meaning(reason), "something else", "{reason}");
            assert_eq!(meaning_of(metric), meaning(reason));
        }
        assert!(HIDDEN.iter().all(|reason| m::STALLS.iter().any(|(own, _)| own == reason)));
    }
}
