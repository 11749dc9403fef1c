//! The driver and the GPUs. In: what the management library said, and which CUDA compilers were found. Out: findings; on
//! a machine without a GPU, what is missing and what still works, which is no failure: kernels of the other targets run.

mod identity;
mod modes;
mod processes;
mod state;
mod topic;

use std::path::Path;

use crate::doctor::{Finding, Health};
use kiln_run::{Card, visible};

use crate::doctor::compilers::Compilers;
pub(crate) use processes::PROCESSES;
pub(crate) use state::STATE;
use topic::Topic;

/// Narrows and orders the GPUs that a process sees.
pub(crate) const VARIABLE: &str = "CUDA_VISIBLE_DEVICES";
const DRIVER: &str = "driver";
const DRIVER_WHY: &str = "kernels of the cuda target run through NVIDIA's driver; nothing else needs it";
const GPU: &str = "gpu";
const GPU_WHY: &str = "kernels of the cuda target run on it, compiled for exactly its architecture";
const TOPICS: [Topic; 5] = [STATE, PROCESSES, modes::ECC, modes::MIG, modes::PERSISTENCE];

/// Everything about driver and GPUs.
pub(crate) fn look(cards: &Result<Vec<Card>, String>, compilers: &Compilers) -> Vec<Finding> {
    match cards {
        Ok(cards) => {
            let variable = std::env::var(VARIABLE).ok();
            let mut findings = vec![driver(cards), gpus(cards, variable.as_deref())];
            findings.extend(TOPICS.iter().map(|topic| topic.of(cards)));
            findings
        }
        Err(why) => vec![no_driver(why, Path::new("/dev/nvidiactl").exists()), none(compilers)],
    }
}

fn driver(cards: &[Card]) -> Finding {
    let words = cards.first().map(|card| {
        let (major, minor) = card.cuda;
        format!("{}, runs programs up to CUDA {major}.{minor}", card.driver)
    });
    Finding::ok(DRIVER, DRIVER_WHY, words.unwrap_or_default())
}

/// A machine without a driver is as it should be, unless it has a GPU.
fn no_driver(why: &str, device: bool) -> Finding {
    let fix = match why {
        _ if why.contains("not loaded") => "sudo modprobe nvidia; `dmesg` says why it cannot be loaded",
        _ if why.contains("was changed") => "restart the machine, so that driver and libraries are of one version",
        _ if why.contains("was not found") && device => {
            "start the container with --gpus all, or put libnvidia-ml.so.1 where the loader looks"
        }
        _ if why.contains("was not found") => return Finding::ok(DRIVER, DRIVER_WHY, why),
        _ => "see what `nvidia-smi` says",
    };
    Finding::warn(DRIVER, DRIVER_WHY, why, fix)
}

/// What still works without a GPU.
fn none(compilers: &Compilers) -> Finding {
    let compiles = match compilers.any() {
        Some(compiler) => format!("compiling for any architecture works with {compiler}"),
        None => "CUDA kernels can be counted and gated by their rules, not compiled".into(),
    };
    let words = format!("none to run on: {compiles}; kernels of the cpu and python targets work without one");
    Finding::ok(GPU, GPU_WHY, words)
}

fn gpus(cards: &[Card], variable: Option<&str>) -> Finding {
    let mut finding = identity::IDENTITY.of(cards);
    match visible(cards, variable, None) {
        Ok(card) if cards.len() > 1 => finding.what.push_str(&format!("\na run uses {} unless told", card.uuid)),
        Ok(_) => {}
        Err(why) => {
            finding.what.push_str(&format!("\na run has to be told: {why}"));
            finding.state = Health::Warn;
            finding.fix.get_or_insert_with(|| format!("name one with --device, or change {VARIABLE}"));
        }
    }
    finding
}

#[cfg(test)]
pub(crate) fn h200(index: u32, uuid: &str) -> Card {
    Card {
        index,
        name: "NVIDIA H200".into(),
        uuid: uuid.into(),
        capability: (9, 0),
        memory: 150_000_000_000,
        memory_free: 149_000_000_000,
        state: kiln_run::GpuState {
            sm_mhz: Some(345),
            memory_mhz: Some(3201),
            temperature: Some(31),
            power: Some(76.4),
            throttled: Vec::new(),
            memory_used: None,
        },
        ecc: Some(true),
        ecc_errors: Some(0),
        persistence: Some(true),
        sm_mhz_max: Some(1980),
        driver: "580.159.04".into(),
        cuda: (13, 0),
        ..Card::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_healthy_gpu_is_described() {
        let found = look(&Ok(vec![h200(0, "GPU-1")]), &Compilers::none());
        let lines: Vec<String> = found.iter().map(|f| format!("{} {}: {}", f.state.name(), f.id, f.what)).collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        ok driver: 580.159.04, runs programs up to CUDA 13.0
        ok gpu: NVIDIA H200, 149.0 GB of 150.0 GB free, compute capability 9.0, compiled for as sm_90a
        ok gpu_state: 345 of at most 1980 MHz, memory at 3201 MHz, 31 C, 76 W
        ok gpu_processes: nobody else computes on it
        ok gpu_ecc: on, no errors
        ok gpu_mig: not cut into slices
        ok gpu_persistence: on
        ");
    }

    #[test]
    fn without_a_driver_it_is_said_what_still_works() {
        let why = "no NVIDIA driver here: libnvidia-ml.so.1 was not found";
        assert_eq!(no_driver(why, false).state, Health::Ok);
        let container = no_driver(why, true);
        assert!(container.state == Health::Warn && container.fix.unwrap().contains("--gpus all"));
        assert!(no_driver("the NVIDIA driver is installed and not loaded: x", false).fix.unwrap().contains("modprobe"));
        let still = none(&Compilers::none());
        assert_eq!(still.state, Health::Ok);
        assert!(still.what.contains("not compiled") && still.what.contains("cpu and python targets work"));
        let with = none(&Compilers::of("13.0.88", "13.0")).what;
        assert!(with.contains("compiling for any architecture works with nvcc 13.0.88"), "{with}");
    }

    #[test]
    fn several_gpus_are_told_apart_and_hidden_ones_warned_of() {
        let cards = vec![h200(0, "GPU-1"), h200(1, "GPU-2")];
        let found = gpus(&cards, Some("1"));
        assert_eq!(found.state, Health::Ok);
        assert!(found.what.starts_with("GPU 0: NVIDIA H200") && found.what.ends_with("uses GPU-2 unless told"));
        let hidden = gpus(&cards, Some(""));
        assert!(hidden.state == Health::Warn && hidden.what.contains("hides every GPU"), "{}", hidden.what);
    }
}
