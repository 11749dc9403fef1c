//! What a GPU is: name, memory, compute capability, and the architecture kiln compiles for on it.

use kiln_core::size;
use kiln_device::Arch;
use kiln_run::Card;

use super::topic::{Look, Topic};

/// Less free memory than this, and larger workloads do not fit.
const LITTLE: u64 = 2_000_000_000;

pub(crate) const IDENTITY: Topic = Topic { id: super::GPU, why: super::GPU_WHY, slices: true, judge };

fn judge(card: &Card) -> Look {
    let memory = match card.memory {
        0 => "it does not say how much memory it has".into(),
        memory => format!("{} of {} free", size(card.memory_free), size(memory)),
    };
    let (major, minor) = card.capability;
    let words = format!("{}, {memory}, compute capability {major}.{minor}", card.name);
    let Some(arch) = Arch::of_capability(major, minor) else {
        let known: Vec<&str> = Arch::all().iter().map(Arch::name).collect();
        let fix = format!("use a GPU that kiln compiles for: {}", known.join(", "));
        return Look::ill(format!("{words}, which this kiln does not know"), fix);
    };
    let words = format!("{words}, compiled for as {arch}");
    if card.memory > 0 && card.memory_free < LITTLE {
        return Look::ill(words, "end what holds its memory, or choose smaller workloads");
    }
    Look::well(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::gpu::h200;

    #[test]
    fn unknown_architectures_and_full_memory_are_warned_of() {
        let old = judge(&Card { capability: (7, 0), ..h200(0, "GPU-1") });
        assert!(old.words.contains("7.0, which this kiln does not know") && old.fix.unwrap().contains("sm_90a"));
        let full = judge(&Card { memory_free: 1_000_000_000, ..h200(0, "GPU-1") });
        assert!(full.words.contains("1.0 GB of 150.0 GB free") && full.fix.is_some());
        let silent = judge(&Card { memory: 0, memory_free: 0, ..h200(0, "GPU-1") });
        assert!(silent.words.contains("does not say") && silent.fix.is_none());
    }
}
