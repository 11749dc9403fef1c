//! The machine as far as measuring goes: which processors may be used, and which of them for what.

use std::time::{SystemTime, UNIX_EPOCH};

/// Processors this process may run on, and how they are shared out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The host's name.
    pub host: String,
    /// The processor's name.
    pub processor: String,
    /// Processors this process may run on.
    pub cpus: Vec<usize>,
    /// Bytes of memory not in use.
    pub memory_available: u64,
}

impl Machine {
    /// Looks.
    pub fn look() -> Machine {
        let line = |file: &str, key: &str| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let found = text.lines().find_map(|l| l.strip_prefix(key)?.trim_start().strip_prefix(':').map(str::trim));
            found.map(String::from)
        };
        let cpus = line("/proc/self/status", "Cpus_allowed_list").map(|list| ranges(&list)).unwrap_or_default();
        let kib = line("/proc/meminfo", "MemAvailable").and_then(|v| v.split(' ').next()?.parse::<u64>().ok());
        Machine {
            host: std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().into(),
            processor: line("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.into()),
            cpus: if cpus.is_empty() { vec![0] } else { cpus },
            memory_available: kib.map_or(4 << 30, |kib| kib << 10),
        }
    }

    /// The processors that measure, one for each thread: the last, since interrupts tend to go to the first.
    pub(crate) fn measuring(&self, threads: usize) -> Vec<usize> {
        self.cpus[self.cpus.len().saturating_sub(threads.max(1))..].to_vec()
    }

    /// The processors that build: all others, or all when there are none.
    pub(crate) fn building(&self, threads: usize) -> Vec<usize> {
        match &self.cpus[..self.cpus.len().saturating_sub(threads.max(1))] {
            [] => self.cpus.clone(),
            rest => rest.to_vec(),
        }
    }

    /// Processors that are not for building while a GPU measures: its worker, and whoever judges what it left, must not
    /// wait for compilers.
    pub(crate) fn beside_a_gpu(&self) -> usize {
        (self.cpus.len() / 16).max(1)
    }

    /// Processes that wanted to run, on average over the last minute.
    pub(crate) fn load(&self) -> Option<f64> {
        std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
    }

    /// The clock of the measuring processor in MHz, where the system tells.
    pub(crate) fn megahertz(&self) -> Option<f64> {
        let cpu = self.cpus.last()?;
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
        if let Some(khz) = std::fs::read_to_string(path).ok().and_then(|t| t.trim().parse::<f64>().ok()) {
            return Some(khz / 1000.0);
        }
        let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
        let clocks: Vec<f64> =
            info.lines().filter_map(|l| l.strip_prefix("cpu MHz")?.split(':').nth(1)?.trim().parse().ok()).collect();
        clocks.get(*cpu).or(clocks.last()).copied()
    }
}

/// `0-2,5` as numbers.
fn ranges(list: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for part in list.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.trim().parse(), to.trim().parse::<usize>()) {
            numbers.extend(from..=to);
        }
    }
    numbers
}

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_read_as_the_system_writes_them() {
        assert_eq!(ranges("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(ranges("7"), [7]);
        assert!(ranges("").is_empty());
    }

    #[test]
    fn measuring_and_building_share_only_a_single_processor() {
        let with = |cpus: &[usize]| Machine { cpus: cpus.to_vec(), ..Machine::look() };
        assert_eq!((with(&[0, 1, 2]).measuring(1), with(&[0, 1, 2]).building(1)), (vec![2], vec![0, 1]));
        assert_eq!((with(&[0, 1, 2]).measuring(2), with(&[0, 1, 2]).building(2)), (vec![1, 2], vec![0]));
        assert_eq!((with(&[4]).measuring(9), with(&[4]).building(9)), (vec![4], vec![4]));
    }
}
