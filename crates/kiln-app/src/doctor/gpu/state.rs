//! How a GPU feels: clocks, what holds them down, temperature, power.

use kiln_run::Card;

use super::topic::{Look, Topic};

/// Degrees Celsius above which clocks begin to fall on many boards.
const HOT: u32 = 80;
/// What holds clocks down because of the power limit, which both sides of a comparison meet alike.
const POWER_CAP: &str = "sw_power_cap";

pub(crate) const STATE: Topic = Topic {
    id: "gpu_state",
    why: "a GPU that slows itself down while kiln measures changes the times; such samples are thrown away",
    slices: false,
    judge,
};

fn judge(card: &Card) -> Look {
    let state = &card.state;
    let mut parts = Vec::new();
    parts.extend(match (state.sm_mhz, card.sm_mhz_max) {
        (Some(now), Some(most)) => Some(format!("{now} of at most {most} MHz")),
        (Some(now), None) => Some(format!("{now} MHz")),
        (None, _) => None,
    });
    parts.extend(state.memory_mhz.map(|mhz| format!("memory at {mhz} MHz")));
    parts.extend(state.temperature.map(|degrees| format!("{degrees} C")));
    parts.extend(state.power.map(|watts| format!("{watts:.0} W")));
    if !state.throttled.is_empty() {
        parts.push(format!("held down: {}", state.throttled.join(", ")));
    }
    let words = if parts.is_empty() { "it does not say".into() } else { parts.join(", ") };
    let braked = state.throttled.iter().any(|reason| reason.contains("power_brake"));
    if braked {
        return Look::ill(words, "look at the machine's power supply: it asks the GPU to brake");
    }
    if state.throttled.iter().any(|reason| reason != POWER_CAP) {
        return Look::ill(words, "let it cool down, and look at its fans and airflow: nvidia-smi -q -d PERFORMANCE");
    }
    match state.temperature {
        Some(degrees) if degrees > HOT => Look::ill(words, "let it cool down, and look at its fans and airflow"),
        _ => Look::well(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::gpu::h200;
    use kiln_run::GpuState;

    fn feeling(temperature: u32, throttled: &[&str]) -> Look {
        let throttled = throttled.iter().map(|reason| (*reason).to_string()).collect();
        let state = GpuState { temperature: Some(temperature), throttled, ..GpuState::default() };
        judge(&Card { state, ..h200(0, "GPU-1") })
    }

    #[test]
    fn heat_and_slowdown_are_warned_of_and_a_power_cap_is_told() {
        assert!(feeling(80, &[]).fix.is_none());
        assert!(feeling(81, &[]).fix.unwrap().contains("cool down"));
        assert!(feeling(60, &["hw_slowdown", "hw_thermal_slowdown"]).fix.unwrap().contains("airflow"));
        assert!(feeling(60, &["hw_power_brake_slowdown"]).fix.unwrap().contains("power supply"));
        let capped = feeling(60, &["sw_power_cap"]);
        assert!(capped.fix.is_none());
        assert_eq!(capped.words, "60 C, held down: sw_power_cap");
        let silent = judge(&Card { state: GpuState::default(), ..h200(0, "GPU-1") });
        assert!(silent.fix.is_none() && silent.words == "it does not say");
    }
}
