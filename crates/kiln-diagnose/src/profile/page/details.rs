//! The details page: a row per metric or rule. A metric is known by its section and its name, because names repeat; those that rules
//! of kiln read have the name of the raw page.

use super::super::csv::Record;
use super::super::number::{foreign, number, scale};
use super::super::odd::Odd;
use super::{DURATION, odd_form, odd_time, odd_unit};

/// Section, name, and the metric of the raw page.
const NAMES: &[(&str, &str, &str)] = &[
    ("GPU Speed Of Light Throughput", "DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"),
    ("GPU Speed Of Light Throughput", "Duration", "gpu__time_duration.sum"),
    ("GPU Speed Of Light Throughput", "Elapsed Cycles", "sm__cycles_elapsed.max"),
    ("GPU Speed Of Light Throughput", "SM Active Cycles", "sm__cycles_active.avg"),
    ("GPU Speed Of Light Throughput", "L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active"),
    ("GPU Speed Of Light Throughput", "L2 Cache Throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed"),
    (
        "GPU Speed Of Light Throughput",
        "Memory Throughput",
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    ),
    ("GPU Speed Of Light Throughput", "Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"),
    ("Launch Statistics", "Block Size", "launch__block_size"),
    ("Launch Statistics", "Grid Size", "launch__grid_size"),
    ("Launch Statistics", "Registers Per Thread", "launch__registers_per_thread"),
    ("Launch Statistics", "Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"),
    ("Launch Statistics", "Static Shared Memory Per Block", "launch__shared_mem_per_block_static"),
    ("Launch Statistics", "# SMs", "launch__sm_count"),
    ("Launch Statistics", "Waves Per SM", "launch__waves_per_multiprocessor"),
    ("Occupancy", "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"),
    ("Occupancy", "Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"),
    ("Occupancy", "Block Limit SM", "launch__occupancy_limit_blocks"),
    ("Occupancy", "Block Limit Registers", "launch__occupancy_limit_registers"),
    ("Occupancy", "Block Limit Shared Mem", "launch__occupancy_limit_shared_mem"),
    ("Occupancy", "Block Limit Warps", "launch__occupancy_limit_warps"),
    ("Scheduler Statistics", "Issued Warp Per Scheduler", "smsp__issue_active.avg.per_cycle_active"),
    ("Scheduler Statistics", "Active Warps Per Scheduler", "smsp__warps_active.avg.per_cycle_active"),
    ("Scheduler Statistics", "Eligible Warps Per Scheduler", "smsp__warps_eligible.avg.per_cycle_active"),
    ("Warp State Statistics", "Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio"),
    ("Source Counters", "L1 Wavefronts Shared", "memory_l1_wavefronts_shared"),
    ("Source Counters", "L1 Wavefronts Shared Ideal", "memory_l1_wavefronts_shared_ideal"),
    ("Source Counters", "L2 Theoretical Sectors Global", "memory_l2_theoretical_sectors_global"),
    ("Source Counters", "L2 Theoretical Sectors Global Ideal", "memory_l2_theoretical_sectors_global_ideal"),
    ("Source Counters", "L2 Theoretical Sectors Local", "memory_l2_theoretical_sectors_local"),
    ("Source Counters", "Instructions Executed", "smsp__inst_executed.sum"),
];

/// A rule of ncu that applied to a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct NcuRule {
    /// The kernel, as ncu has it.
    pub kernel: String,
    /// The rule's name.
    pub name: String,
    /// The speedup of the kernel that it promises: ncu gives a share of the time, this is a factor. None where it gives no figure, or
    /// one for a part of the kernel only.
    pub speedup: Option<f64>,
}

/// Where what is read stands.
pub(super) struct Columns {
    kernel: usize,
    section: usize,
    metric: usize,
    unit: usize,
    value: usize,
    rule: Option<usize>,
    speedup: Option<usize>,
    kind: Option<usize>,
}

/// What one row says.
pub(super) enum Row {
    Value { kernel: String, metric: &'static str, value: f64 },
    Rule(NcuRule),
    Odd(Odd),
}

impl Columns {
    /// The columns of a details page; none if the header is of another.
    pub(super) fn of(names: &[String]) -> Option<Self> {
        let find = |name: &str| names.iter().position(|own| own == name);
        Some(Self {
            kernel: find("Kernel Name")?,
            section: find("Section Name")?,
            metric: find("Metric Name")?,
            unit: find("Metric Unit")?,
            value: find("Metric Value")?,
            rule: find("Rule Name"),
            speedup: find("Estimated Speedup"),
            kind: find("Estimated Speedup Type"),
        })
    }

    pub(super) fn row(&self, record: &Record) -> Option<Row> {
        if let Some(rule) = self.rule.and_then(|rule| record.bytes(rule)).filter(|rule| !rule.is_empty()) {
            let whole = self.kind.and_then(|column| record.bytes(column)) == Some(b"global");
            let share = self.speedup.filter(|_| whole).and_then(|column| record.bytes(column)).and_then(number);
            let speedup = share.filter(|share| *share > 0.0 && *share < 100.0).map(|share| 100.0 / (100.0 - share));
            let name = String::from_utf8_lossy(rule).into_owned();
            return Some(Row::Rule(NcuRule { kernel: record.text(self.kernel).into_owned(), name, speedup }));
        }
        let (section, name) = (record.bytes(self.section)?, record.bytes(self.metric)?);
        let known = NAMES.iter().find(|(of, own, _)| own.as_bytes() == name && of.as_bytes() == section)?;
        let (text, unit) = (record.text(self.value), record.text(self.unit));
        let value = number(text.as_bytes()).map(|value| value * scale(&unit));
        let odd = match known.2 {
            DURATION => odd_unit(&unit).or_else(|| odd_time(&text, value.unwrap_or(f64::NAN))),
            metric => foreign(text.as_bytes()).then(|| odd_form(metric, &text)),
        };
        if let Some(odd) = odd {
            return Some(Row::Odd(odd));
        }
        let value = value?;
        Some(Row::Value { kernel: record.text(self.kernel).into_owned(), metric: known.2, value })
    }
}
