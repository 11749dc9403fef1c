//! What a name that kiln prints means, and what to do about it. In: the name of a gate, a verdict or a cause. Out: its explanation.
//! Refuses a name that is none, with the nearest there is.

mod guard;

use kiln_core::{Gate, Report, nearest};
use kiln_diagnose::Cause;
use kiln_diagnose::coarse::CodeCause;
use kiln_diagnose::profile::Bottleneck;
use kiln_stats::Verdict;
use kiln_study::TuneVerdict;

use crate::failure::Failure;

/// A name, what it means and what can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explained {
    /// The name, as it is printed.
    pub name: &'static str,
    /// What kind of name it is.
    pub kind: &'static str,
    /// What it means, in a line.
    pub meaning: &'static str,
    /// When it comes, what usually lies behind it, and what to do.
    pub text: &'static str,
}

/// Explains a name.
pub fn explain(name: &str) -> Result<Explained, Failure> {
    let found = explained().find(|one| one.name == name);
    found.ok_or_else(|| {
        let near = nearest(name, explained().map(|one| one.name)).map(|near| format!("did you mean {near}?"));
        let report = Report::error(format!("`{name}` is neither a gate, a verdict nor a cause"));
        report.label("`kiln explain` alone lists them").maybe_hint(near).into()
    })
}

/// Everything that can be explained: gates as they are climbed, verdicts, then causes that sanitizers and profiles show.
pub fn explained() -> impl Iterator<Item = Explained> {
    let gates = Gate::ALL.iter().map(|gate| Explained {
        name: gate.name(),
        kind: "gate",
        meaning: gate.meaning(),
        text: of_gate(*gate),
    });
    let comparisons = Verdict::ALL.iter().map(|verdict| {
        let (meaning, text) = of_verdict(*verdict);
        Explained { name: verdict.name(), kind: "verdict of a comparison", meaning, text }
    });
    let studies = TuneVerdict::ALL.iter().map(|verdict| {
        let (meaning, text) = of_study(verdict);
        Explained { name: verdict.name(), kind: "verdict of a study", meaning, text }
    });
    let causes = Cause::ALL.iter().map(|cause| Explained {
        name: cause.id(),
        kind: "cause of a fault",
        meaning: cause.meaning().trim_end_matches('.'),
        text: cause.text(),
    });
    let bottlenecks = Bottleneck::ALL.iter().map(|cause| Explained {
        name: cause.id(),
        kind: "cause of slowness",
        meaning: cause.meaning().trim_end_matches('.'),
        text: cause.text(),
    });
    let in_code = CodeCause::ALL.iter().map(|cause| Explained {
        name: cause.id(),
        kind: "cause of slowness on a processor",
        meaning: cause.meaning().trim_end_matches('.'),
        text: cause.text(),
    });
    gates.chain(comparisons).chain(studies).chain(guard::NAMES).chain(causes).chain(bottlenecks).chain(in_code)
}

fn of_gate(gate: Gate) -> &'static str {
    match gate {
        Gate::Constraint => {
            "A line under [constraints] is false for this configuration, on this workload and device. `kiln gate` prints the rule \
             with the values of every name in it. If the configuration should be allowed, the rule is too strict; if many are \
             refused, `kiln space` shows how many each rule removes."
        }
        Gate::SmemOverflow => {
            "The launch asks for more shared memory than a block may have on this architecture: 48 KB without asking, 99 KB on \
             sm_86 and sm_89, 163 KB on sm_80, 227 KB on sm_90. Make tiles or the number of stages smaller, or state the limit as \
             a constraint: smem_bytes <= device.smem_per_block."
        }
        Gate::LaunchLimits => {
            "A block of more than 1024 threads, a grid beyond the device's limits, or a cluster that does not divide it. Look at \
             grid, block and cluster in the target's launches."
        }
        Gate::OomRisk => {
            "The workload's buffers do not fit into the device's memory with room to spare. Choose a smaller workload, or free \
             memory that other processes hold (`kiln doctor` lists them)."
        }
        Gate::BuildFailed => {
            "The compiler's own message is printed with its line. If every configuration fails alike, the source does: the study \
             stops after a few and shows it once."
        }
        Gate::BuildTimeout => {
            "The compiler was stopped. Fully unrolled loops over large tiles are the usual reason: bound the unrolling, or add a \
             constraint on what grows."
        }
        Gate::Spills => {
            "The compiler keeps some values in local memory for want of registers. Often harmless, so it only warns unless the \
             file makes it hard under [gates]. Smaller tiles, fewer stages or fewer resident blocks give registers back."
        }
        Gate::Occupancy => {
            "Registers or shared memory leave room for fewer warps than [gates] asks for. Good kernels often run at 12 to 25 %, so \
             it only warns unless the file makes it hard."
        }
        Gate::LaunchFailed => {
            "The call did not begin, or came back with an error: on a GPU the driver refused it, a library has no function of the \
             entry's name (C++ needs extern \"C\"), a Python function raised. The message is that of whoever refused."
        }
        Gate::RuntimeFailed => {
            "The process that ran the candidate crashed, or the device reported an illegal address, a misaligned access or an \
             assertion. Only that process is lost. On a processor arguments end at a page that cannot be touched, so that one \
             element too many is enough: look at loop ends first."
        }
        Gate::Timeout => {
            "A call took far longer than the baseline makes reasonable, and was ended. An endless loop, or threads that wait for \
             each other."
        }
        Gate::HostOom => {
            "The candidate's process took more of the host's memory than its buffers explain, and was ended."
        }
        Gate::WorkerProtocol => {
            "What the candidate's process answered cannot be right: it claims less time than the system accounts to it, says that \
             answers lie where none do, or broke the conversation off. A function that works on after it returned, or uses more \
             threads than --threads allows, looks like that; so does one that touches the clock. docs/judging.md says how times \
             are held against the system's accounts."
        }
        Gate::UnwrittenOutput => {
            "Outputs hold a pattern before each call, and some elements still held it afterwards. Edges of tiles that do not \
             divide the shape are the usual reason."
        }
        Gate::OutOfBounds => {
            "Bytes around an argument were changed. Which argument, and how far from it, is printed. Guard loads and stores at \
             the edges of tiles."
        }
        Gate::InputModified => "An argument of role `in` was written to. If that is meant, its role is `inout`.",
        Gate::Nonfinite => {
            "NaN or infinity where the reference has a number. Sums or exponentials that overflow on large inputs, a division by \
             a sum that is zero, a maximum that was not subtracted."
        }
        Gate::Numerics => {
            "An element is further from the reference than a plain program in the same types would be. The first such element, \
             the right value and what is allowed are printed, with the kind of inputs and their seed. Where the algorithm is less \
             exact on purpose, state it: [reference] tolerance."
        }
        Gate::Nondeterministic => {
            "Two calls on the same inputs gave different bits. Sums by atomics do that honestly: deterministic = false under \
             [reference] allows it within the tolerance. Otherwise it is a race, or a read of memory that nobody wrote."
        }
        Gate::BelowRoofline => {
            "Less time than the file's [cost] takes at the best rate of this machine. Either the kernel leaves work out, or \
             [cost] states too much."
        }
        Gate::ForbiddenCall => {
            "Candidates may compute, allocate, use threads and print to standard error. This one tried to start a process, open \
             a connection, write a file or reach another process; the call is named, and was never made."
        }
        Gate::WrongKernel => {
            "`kernels` in the target names what must run on the GPU, and a timed sample ran none of that name: the function fell \
             back to something else. The names that ran are printed."
        }
    }
}

fn of_verdict(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Faster => (
            "takes less time, by more than the dead zone, and certainly",
            "The 95 % interval of the speedup, from resampled pairs of fresh workers, lies above 1, the effect is not small, and \
             the gain is larger than what could be hidden from the system's accounts.",
        ),
        Verdict::Slower => (
            "takes more time, by more than the dead zone, and certainly",
            "The same as `faster`, the other way round. --dead-zone says which differences do not matter.",
        ),
        Verdict::Same => (
            "no difference that matters, and measured well enough to say so",
            "The interval of the speedup lies within the dead zone, or is narrow around 1.",
        ),
        Verdict::TooNoisy => (
            "the samples do not decide",
            "The interval reaches over a threshold and is wide. More samples (--samples, --max-samples) or a quieter machine \
             decide it; so does a larger difference. Where the interval is narrow and beyond 1, calls are so short that they \
             could hide what they gain from the system's accounts: a workload with longer calls decides it.",
        ),
    }
}

fn of_study(verdict: &TuneVerdict) -> (&'static str, &'static str) {
    match verdict {
        TuneVerdict::Reached => (
            "the target speedup is confirmed",
            "It was checked on every workload, measured against the baseline in fresh processes, and is written to .kiln/best.",
        ),
        TuneVerdict::NotReached => (
            "the best configuration is correct, but below the target speedup",
            "Exit code 4. The winner is written anyway. `kiln show last --importance` shows which tunables matter and where \
             to add values.",
        ),
        TuneVerdict::Stopped => (
            "ended early: the default, or the best configuration of the seed phase, has less than half of the baseline's speed",
            "Exit code 4. Below 0.5x a profile shows more than a search: the study shows what limits that configuration, and `kiln profile` shows \
             more. --no-stop searches anyway.",
        ),
        TuneVerdict::NoValidCandidate => (
            "every configuration was refused",
            "Exit code 3. If one gate refuses the first configurations for the same reason, the study ends there (--no-stop \
             continues). `kiln show last --refusals` lists each with its reason, and `kiln gate` shows how far one comes.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_explained_once_and_a_typo_finds_the_nearest() {
        let mut names: Vec<&str> = explained().map(|one| one.name).collect();
        let verdicts = Verdict::ALL.len() + TuneVerdict::ALL.len();
        let causes = Cause::ALL.len() + Bottleneck::ALL.len() + CodeCause::ALL.len();
        assert_eq!(names.len(), Gate::ALL.len() + verdicts + guard::NAMES.len() + causes);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), explained().count());
        assert!(explained().all(|one| one.text.len() > 40 && one.text.ends_with('.')));
        assert_eq!(explain("spills").unwrap().kind, "gate");
        assert_eq!(explain("misaligned_shared").unwrap().kind, "cause of a fault");
        assert_eq!(explain("small_grid").unwrap().kind, "cause of slowness");
        assert_eq!(explain("scalar_loop").unwrap().kind, "cause of slowness on a processor");
        let words = explain("numeric").unwrap_err().to_string();
        assert!(words.contains("`numeric` is neither a gate, a verdict nor a cause"), "{words}");
    }
}
