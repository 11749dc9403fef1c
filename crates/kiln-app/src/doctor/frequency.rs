//! The processor's clock: who decides it, and whether it may rise.

use crate::doctor::Finding;

const ID: &str = "frequency";
const WHY: &str = "a clock that changes while kiln measures changes the times";

/// Reads what the system shows; virtual machines often show nothing.
pub(crate) fn look() -> Finding {
    let text = |path: &str| std::fs::read_to_string(path).ok().map(|t| t.trim().to_string());
    let flag = |path: &str, on: &str| text(path).map(|t| t == on);
    let governor = text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let turbo = flag("/sys/devices/system/cpu/intel_pstate/no_turbo", "0")
        .or_else(|| flag("/sys/devices/system/cpu/cpufreq/boost", "1"));
    judge(governor.as_deref(), turbo)
}

fn judge(governor: Option<&str>, turbo: Option<bool>) -> Finding {
    let mut parts: Vec<String> = governor.map(|name| format!("governor {name}")).into_iter().collect();
    parts.extend(turbo.map(|on| format!("turbo {}", if on { "on" } else { "off" })));
    let what = parts.join(", ");
    match governor {
        Some("powersave") => Finding::warn(ID, WHY, what, "cpupower frequency-set -g performance"),
        _ if what.is_empty() => Finding::ok(ID, WHY, "the system does not say, as is usual in virtual machines"),
        _ => Finding::ok(ID, WHY, what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Health;

    #[test]
    fn only_saving_power_is_warned_of() {
        assert_eq!(judge(Some("powersave"), Some(true)).state, Health::Warn);
        let fine = judge(Some("performance"), Some(false));
        assert_eq!((fine.state, fine.what.as_str()), (Health::Ok, "governor performance, turbo off"));
        assert_eq!(judge(None, None).state, Health::Ok);
    }
}
