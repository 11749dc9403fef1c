//! The environment of a result, stored with it.

use serde_json::{Value, json};

use crate::bench::Bench;

/// What the machine and its tools were when a study began.
pub fn environment(bench: &Bench<'_>) -> Value {
    let text = |path: &str| std::fs::read_to_string(path).ok().map(|t| t.trim().to_string());
    let governor = text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    json!({
        "host": bench.machine.host,
        "processor": bench.machine.processor,
        "cpus": bench.machine.cpus,
        "measuring_on": if bench.settings.pin { bench.machine.measuring(bench.settings.threads) } else { Vec::new() },
        "threads": bench.settings.threads,
        "memory_available": bench.machine.memory_available,
        "load": bench.machine.load(),
        "megahertz": bench.machine.megahertz(),
        "governor": governor,
        "system": text("/proc/sys/kernel/osrelease"),
        "gpu": bench.gpu,
        "other_gpus": bench.others.iter().map(|device| &device.gpu).collect::<Vec<_>>(),
        "cuda": bench.cuda.as_ref().ok().map(|toolchain| toolchain.version().to_string()),
        "compiler": bench.compiler.as_ref().ok().map(|c| c.version().to_string()),
        "python": bench.python.as_ref().ok().map(|p| json!({
            "version": p.version, "numpy": p.numpy, "torch": p.torch,
        })),
        "peaks": bench.peaks,
        "kiln": env!("CARGO_PKG_VERSION"),
    })
}
