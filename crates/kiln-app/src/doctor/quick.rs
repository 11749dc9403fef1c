//! The cheap part about GPUs, for a long command to run before it starts: milliseconds, and no CUDA context is made. In:
//! the device the user asked for. Out: the card a run uses, with warnings about what may spoil its times. Refuses when
//! there is no driver, no GPU, or not the one that was asked for.

use crate::doctor::Health;
use kiln_core::Report;
use kiln_run::{Card, cards, visible};

use crate::doctor::gpu::{PROCESSES, STATE, VARIABLE};

/// A GPU to run on.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) card: Card,
    pub(crate) warnings: Vec<Report>,
}

/// The GPU that `wanted` (an index, a UUID, or none) means here, if a run can use it.
pub(crate) fn quick(wanted: Option<&str>) -> Result<Ready, Report> {
    choose(cards(), std::env::var(VARIABLE).ok().as_deref(), wanted)
}

fn choose(cards: Result<Vec<Card>, String>, variable: Option<&str>, wanted: Option<&str>) -> Result<Ready, Report> {
    let cards = cards.map_err(|why| {
        let hint = "`kiln doctor` shows more; --target cpu runs without a GPU, where the kernel has it";
        Report::error("there is no GPU to run on").label(why).hint(hint)
    })?;
    let card = visible(&cards, variable, wanted).map_err(|why| match wanted {
        Some(wanted) => Report::error(format!("--device {wanted} cannot be used")).label(why),
        None => Report::error("there is no GPU to run on").label(why).hint("name one with --device"),
    })?;
    let found = [PROCESSES.on(&card), STATE.on(&card)];
    let warnings = found.into_iter().filter(|f| f.state != Health::Ok);
    let warnings = warnings.map(|f| Report::warning(format!("{}: {}", f.id, f.what)).label(f.why).maybe_hint(f.fix));
    let warnings = warnings.collect();
    Ok(Ready { card, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::gpu::h200;

    #[test]
    fn a_calm_gpu_is_ready_and_others_on_it_are_warned_of() {
        let mut card = h200(0, "GPU-1");
        assert!(choose(Ok(vec![card.clone()]), None, None).unwrap().warnings.is_empty());
        card.processes = vec![(4_000_000_000, 1_000_000_000)];
        card.state.temperature = Some(90);
        let ready = choose(Ok(vec![card]), None, Some("GPU-1")).unwrap();
        assert_eq!(ready.card.uuid, "GPU-1");
        let words: Vec<&str> = ready.warnings.iter().map(|w| w.message.split(':').next().unwrap()).collect();
        assert_eq!(words, ["gpu_processes", "gpu_state"]);
        assert!(ready.warnings.iter().all(|w| w.hint.is_some()));
    }

    #[test]
    fn a_hot_gpu_makes_its_slices_hot() {
        let (mut whole, mut slice) = (h200(0, "GPU-1"), h200(0, "MIG-1"));
        whole.mig = true;
        slice.state.throttled = vec!["hw_slowdown".into()];
        let ready = choose(Ok(vec![whole, slice]), None, Some("MIG-1")).unwrap();
        assert_eq!(ready.warnings.len(), 1);
    }

    #[test]
    fn what_cannot_be_run_on_is_an_error_with_the_reason() {
        let error = choose(Err("no NVIDIA driver here".into()), None, None).unwrap_err();
        assert!(error.label == "no NVIDIA driver here" && error.hint.is_some());
        let error = choose(Ok(vec![h200(0, "GPU-1")]), None, Some("3")).unwrap_err();
        assert!(
            error.message == "--device 3 cannot be used" && error.label.starts_with("there is no GPU 3"),
            "{error}"
        );
        let error = choose(Ok(vec![h200(0, "GPU-1")]), Some(""), None).unwrap_err();
        assert!(error.label.contains("hides every GPU"), "{error}");
    }
}
