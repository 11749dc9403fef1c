//! A whole file as read, table by table, before its parts are checked against each other. In: the document. Out: a
//! [`Draft`]. Everything wrong inside one table is in the log by then.

use kiln_core::Report;
use toml::de::DeTable;

use crate::model::{Baseline, Cost, Objective, Reference, SoftGates, TargetKind};
use crate::reading::log::Log;
use crate::reading::section::Section;
use crate::tables::argument::{ArgumentDraft, check_zeroed, read_arguments};
use crate::tables::callable::read_baselines;
use crate::tables::environment::{Requirement, read_environment};
use crate::tables::export::{Export, read_export};
use crate::tables::filling::check_ranges;
use crate::tables::fuzz::{Fuzz, read_fuzz};
use crate::tables::kernel::{Kernel, read_kernel};
use crate::tables::layer::{Layer, read_layer};
use crate::tables::reference::read_reference;
use crate::tables::settings::{read_cost, read_gates, read_objective};
use crate::tables::sweep::{Sweep, read_sweep};
use crate::tables::taken::check_taken;
use crate::tables::target::{TargetDraft, read_targets};
use crate::tables::tensormap::resolve_tensormaps;
use crate::tables::workload::{WorkloadDraft, read_workloads};

/// What a file may hold.
pub(crate) const TABLES: [&str; 17] = [
    "kernel",
    "tunables",
    "default",
    "constraints",
    "derived",
    "target",
    "arguments",
    "cost",
    "workloads",
    "objective",
    "reference",
    "baselines",
    "gates",
    "environment",
    "fuzz",
    "export",
    "sweep",
];

/// Every table of the file.
pub(crate) struct Draft {
    pub(crate) kernel: Kernel,
    pub(crate) shared: Layer,
    pub(crate) targets: Vec<TargetDraft>,
    pub(crate) arguments: Vec<ArgumentDraft>,
    pub(crate) cost: Cost,
    pub(crate) workloads: Vec<WorkloadDraft>,
    /// True when workloads were meant but could not be read.
    pub(crate) workloads_incomplete: bool,
    pub(crate) objective: Objective,
    pub(crate) reference: Option<Reference>,
    pub(crate) baselines: Vec<Baseline>,
    pub(crate) gates: SoftGates,
    pub(crate) environment: Vec<Requirement>,
    pub(crate) fuzz: Fuzz,
    pub(crate) export: Export,
    pub(crate) sweep: Sweep,
}

pub(crate) fn read_draft(log: &Log, document: &DeTable) -> Draft {
    let root = Section::root(log, document, &TABLES);
    let kernel = read_kernel(&root);
    let shared = read_layer(&root);
    let mut targets = read_targets(&root);
    let mut arguments =
        root.get("arguments").map(|i| read_arguments(i, &kernel.variants, kernel.incomplete)).unwrap_or_default();
    resolve_tensormaps(log, &mut arguments);
    if !root.misspells("arguments") {
        targets.iter().flat_map(|t| &t.launches).for_each(|l| check_zeroed(log, &l.zero, &arguments));
        targets.iter().for_each(|t| check_taken(log, t.arguments.as_ref(), &arguments));
    }
    refuse_no_tunables(&root, &shared, &targets);
    if targets.is_empty() {
        // That is an error already; the shared expressions are still worth a look.
        targets.push(TargetDraft::empty(TargetKind::Cuda));
    }
    let workloads = root.get("workloads").map(read_workloads).unwrap_or_default();
    let dims: Vec<&str> = workloads.iter().flat_map(|w| &w.workload.dims).map(|(name, _)| &**name).collect();
    check_ranges(log, &arguments, &dims);
    let fuzz = root.get("fuzz").map(|item| read_fuzz(item, &arguments, &dims)).unwrap_or_default();
    let export = root.get("export").map(|item| read_export(item, &arguments, &dims)).unwrap_or_default();
    let sweep = root.get("sweep").map(|item| read_sweep(item, &dims)).unwrap_or_default();
    if workloads.is_empty() && !arguments.is_empty() {
        let report = Report::warning(format!("{} has arguments but no workloads", log.file()));
        log.add_whole(report.label("without [[workloads]] nothing can be run"));
    }
    Draft {
        cost: read_cost(&root),
        objective: read_objective(&root),
        reference: root.get("reference").and_then(|i| read_reference(i, &arguments)),
        baselines: root.get("baselines").map(read_baselines).unwrap_or_default(),
        gates: read_gates(&root),
        environment: read_environment(&root),
        fuzz,
        export,
        sweep,
        workloads_incomplete: root.misspells("workloads") || (root.get("workloads").is_some() && workloads.is_empty()),
        kernel,
        shared,
        targets,
        arguments,
        workloads,
    }
}

fn refuse_no_tunables(root: &Section, shared: &Layer, targets: &[TargetDraft]) {
    if !shared.tunables.is_empty() || shared.incomplete {
        return;
    }
    let label = "expected at least one tunable, as in BLOCK = [64, 128]";
    // Where implementations compete, which of them is the choice.
    let plain = targets.iter().filter(|t| t.name.is_none()).filter_map(|t| Some((t, t.layers.first()?)));
    for (target, layer) in plain.filter(|(_, layer)| layer.tunables.is_empty() && !layer.incomplete) {
        let report = Report::error(format!("target.{} has no tunables", target.kind.name())).label(label);
        let heading = layer.tunables_span.clone().or_else(|| shared.tunables_span.clone());
        root.log.add(heading.unwrap_or_else(|| target.span.clone()), report);
    }
    if targets.is_empty() {
        root.log.add_whole(Report::error(format!("{} has no tunables", root.log.file())).label(label));
    }
}
