//! Who else computes on a GPU.

use kiln_core::size;
use kiln_run::Card;

use super::topic::{Look, Topic};

/// So many are named.
const NAMED: usize = 5;

pub(crate) const PROCESSES: Topic = Topic {
    id: "gpu_processes",
    why: "whoever else computes on a GPU takes time and memory from what is measured",
    slices: true,
    judge,
};

fn judge(card: &Card) -> Look {
    if card.processes.is_empty() {
        return Look::well("nobody else computes on it");
    }
    let called = |(pid, bytes): &(u32, u64)| {
        // In a container the number may be that of a process outside, and nobody's here.
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok();
        let name = name.map(|name| format!(" ({})", name.trim())).unwrap_or_default();
        let held = if *bytes > 0 { format!(" holds {}", size(*bytes)) } else { String::new() };
        format!("process {pid}{name}{held}")
    };
    let mut names: Vec<String> = card.processes.iter().take(NAMED).map(called).collect();
    if card.processes.len() > NAMED {
        names.push(format!("{} more", card.processes.len() - NAMED));
    }
    Look::ill(names.join(", "), "end them, wait until they are done, or choose another GPU with --device")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::gpu::h200;

    #[test]
    fn others_are_named_with_what_they_hold() {
        assert!(judge(&h200(0, "GPU-1")).fix.is_none());
        // Beyond what numbers of processes can be.
        let absent = |n: u32| 4_000_000_000 + n;
        let found = judge(&Card { processes: vec![(absent(1), 2_500_000_000), (absent(2), 0)], ..h200(0, "GPU-1") });
        assert_eq!(found.words, "process 4000000001 holds 2.5 GB, process 4000000002");
        assert!(found.fix.unwrap().contains("--device"));
        let many = judge(&Card { processes: (0..9).map(|n| (absent(n), 1)).collect(), ..h200(0, "GPU-1") });
        assert!(many.words.ends_with(", 4 more"), "{}", many.words);
    }
}
