//! How a GPU is set up: correction of memory errors, slices, a driver that stays loaded. kiln changes none of them.

use kiln_run::Card;

use super::topic::{Look, Topic};

pub(crate) const ECC: Topic = Topic {
    id: "gpu_ecc",
    why: "a memory error that cannot be corrected makes right kernels look wrong",
    slices: false,
    judge: ecc,
};

pub(crate) const MIG: Topic = Topic {
    id: "gpu_mig",
    why: "a GPU that is cut into slices is used by the slice, and slices share its power and clocks",
    slices: false,
    judge: mig,
};

pub(crate) const PERSISTENCE: Topic = Topic {
    id: "gpu_persistence",
    why: "without it the driver is loaded anew for every command: a second or more each, and settings are forgotten",
    slices: false,
    judge: persistence,
};

fn ecc(card: &Card) -> Look {
    match (card.ecc, card.ecc_errors) {
        (Some(true), Some(0)) => Look::well("on, no errors"),
        (Some(true), None) => Look::well("on"),
        (_, Some(errors)) if errors > 0 => {
            let words = format!("{errors} memory errors could not be corrected since the driver was loaded");
            Look::ill(words, "reset the GPU (sudo nvidia-smi -r) or restart; have it replaced when they come back")
        }
        (Some(false), _) => Look::well("off"),
        _ => Look::well("it has none"),
    }
}

fn mig(card: &Card) -> Look {
    let words = if card.mig { "cut into slices: a run names one with --device MIG-..." } else { "not cut into slices" };
    Look::well(words)
}

fn persistence(card: &Card) -> Look {
    match card.persistence {
        Some(true) => Look::well("on"),
        Some(false) => Look::ill("off", "sudo nvidia-smi -pm 1, or start nvidia-persistenced"),
        None => Look::well("it does not say"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::gpu::h200;

    #[test]
    fn errors_of_memory_are_warned_of() {
        let with = |ecc, ecc_errors| super::ecc(&Card { ecc, ecc_errors, ..h200(0, "GPU-1") });
        assert!(with(Some(true), Some(2)).words.starts_with("2 memory errors"));
        assert!(with(Some(true), Some(2)).fix.is_some());
        assert_eq!(with(Some(false), None).words, "off");
        assert_eq!(with(None, None).words, "it has none");
        assert!(with(Some(false), Some(0)).fix.is_none());
    }

    #[test]
    fn a_driver_that_is_unloaded_is_warned_of() {
        let with = |persistence| super::persistence(&Card { persistence, ..h200(0, "GPU-1") });
        assert!(with(Some(false)).fix.unwrap().contains("nvidia-smi -pm 1"));
        assert!(with(Some(true)).fix.is_none() && with(None).fix.is_none());
    }
}
