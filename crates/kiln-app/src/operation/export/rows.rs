//! Which configurations are exported, and for which shapes. In: what was asked for. Out: rows in the order of the tuned table, those
//! that serve every shape last, and what was selected. Refuses a study of another kernel or without a winner, and
//! a kernel of which no configuration is known.

use std::sync::Arc;

use kiln_core::{Config, Report, Value};
use kiln_device::Arch;
use kiln_space::Problem;
use kiln_spec::{Choice, Dtype, Selection, TargetKind};
use kiln_store::Study;

use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting, complete};
use crate::operation::export::{ExportRequest, architectures};
use crate::project::Project;
use crate::record::Whose;

/// A configuration, and what it is for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// The architecture it was tuned on.
    pub(super) arch: Option<Arch>,
    /// The dtypes it was tuned with; others of the same size are served too.
    pub(super) variant: Vec<(Arc<str>, Dtype)>,
    /// The workload it was tuned for; empty for one that serves every shape.
    pub(super) workload: String,
    /// That workload's dimensions; none for one that serves every shape.
    pub(super) dims: Option<Vec<(Arc<str>, Value)>>,
    /// The configuration.
    pub(super) config: Config,
}

/// The rows that were asked for, and what was selected.
pub(super) fn rows(
    project: &Project,
    file: &KernelFile,
    request: &ExportRequest,
) -> Result<(Vec<Row>, Selecting), Failure> {
    let study = match &request.study {
        Some(name) => Some(Whose::at(&file.spec.name, &request.path).meant(&project.recorded_for(name)?, name)?),
        None => None,
    };
    let target = request.target.clone().or_else(|| study.as_ref().map(|study| study.target.clone()));
    let implementation =
        request.implementation.clone().or_else(|| study.as_ref().and_then(|study| study.implementation()));
    let selecting = Selecting { path: request.path.clone(), target, implementation, ..Selecting::default() };
    let selection = file.select(&selecting)?;
    let mut asked = request.archs.clone();
    if asked.is_empty() && selection.target.kind == TargetKind::Cuda {
        asked.extend(study.as_ref().and_then(|study| study.arch.clone()));
    }
    let archs = architectures(selection.target, &asked, &selecting)?;
    let mut rows = Vec::new();
    for arch in archs {
        let there = file.select(&Selecting { arch: arch.map(|arch| arch.name().into()), ..selecting.clone() })?;
        match (&study, &request.config) {
            (Some(study), _) => rows.extend(won(&there, study, arch)?),
            (None, Some(_)) => {}
            (None, None) => rows.extend(adopted(&there, arch)),
        }
        for variant in selection.target.dtype_combinations() {
            rows.extend(for_every_shape(file, &selecting, arch, &variant, request.config.as_deref())?);
        }
    }
    Ok((rows, selecting))
}

/// Refuses to export a kernel of which no configuration is known: nothing could be called.
pub(super) fn refuse_none(file: &KernelFile, rows: &[Row]) -> Result<(), Failure> {
    if !rows.is_empty() {
        return Ok(());
    }
    let report = Report::error(format!("{} has no configuration to export", file.spec.name));
    let report = report.label("nothing is tuned, and [default] does not name every tunable");
    let hint = "tune it first: `kiln tune --adopt`; or choose one with --config, or state a [default]";
    Err(report.hint(hint).into())
}

/// Entries of the tuned table for an architecture, of the implementations that are selected there.
fn adopted(selection: &Selection<'_>, arch: Option<Arch>) -> Vec<Row> {
    let entries = selection.target.tuned.entries.iter().filter(|entry| entry.arch == arch || entry.arch.is_none());
    let row = |entry: &kiln_spec::Tuned| Row {
        arch,
        variant: entry.variant.clone(),
        workload: entry.workload.clone(),
        dims: Some(entry.dims.clone()),
        config: Config::new(entry.config.clone()),
    };
    entries.map(row).filter(|row| selects(selection, &row.config)).collect()
}

/// Whether a configuration is of an implementation that is selected.
fn selects(selection: &Selection<'_>, config: &Config) -> bool {
    let own = selection.implementation(config);
    selection.implementations.iter().any(|one| one.name == own.name)
}

/// The winners of a study: one for all the workloads that it measured, or one for each. A workload for correctness alone is no row.
fn won(selection: &Selection<'_>, study: &Study, arch: Option<Arch>) -> Result<Vec<Row>, Failure> {
    let spec = selection.spec;
    let choice = Choice {
        target: Some(&study.target),
        variant: Some(study.variant.as_str()).filter(|variant| !variant.is_empty()),
        ..Choice::default()
    };
    let variant = spec.select(choice)?.variant;
    let (one, apart, named, measured) = (study.winner(), study.winners(), study.workload(), study.measured());
    let mut rows = Vec::new();
    for workload in spec.workloads.iter().filter(|w| w.is_for(&study.target)) {
        let own = apart.iter().find(|(name, _)| **name == *workload.name).map(|(_, config)| config);
        let meant = named.as_deref().is_none_or(|named| named == "all" || *named == *workload.name);
        let meant = meant && measured.iter().any(|name| **name == *workload.name);
        let Some(config) = own.or(one.as_ref().filter(|_| meant)) else { continue };
        let Some(config) = selection.recorded_config(&config.to_string()) else {
            let report =
                Report::error(format!("the winner of study {} is no configuration any more", study.short_id()));
            return Err(report.label(config.to_string()).hint("tune again: the kernel file's tunables changed").into());
        };
        if !selects(selection, &config) {
            let report = Report::error(format!("the winner of study {} cannot be exported here", study.short_id()));
            let arch = arch.map_or_else(String::new, |arch| format!(" for {arch}"));
            let hint = "choose the architecture of the study, or omit --implementation";
            return Err(report.label(format!("{config} is not selected{arch}")).hint(hint).into());
        }
        let (variant, dims) = (variant.clone(), Some(workload.dims.clone()));
        rows.push(Row { arch, variant, workload: workload.name.to_string(), dims, config });
    }
    if rows.is_empty() {
        let report = Report::error(format!("study {} has no winner", study.id));
        return Err(report.hint(format!("`kiln show {}` shows how it ended", study.short_id())).into());
    }
    Ok(rows)
}

/// What serves every shape: the configuration that was typed, else the file's default; none where a tunable is left open.
fn for_every_shape(
    file: &KernelFile,
    selecting: &Selecting,
    arch: Option<Arch>,
    variant: &str,
    typed: Option<&str>,
) -> Result<Option<Row>, Failure> {
    let selection = file.select(&Selecting {
        arch: arch.map(|arch| arch.name().into()),
        variant: Some(variant.into()),
        ..selecting.clone()
    })?;
    let config = match typed {
        Some(typed) => {
            let problem = Problem::from_selection(&selection).map_err(|e| Report::error(e.to_string()))?;
            Some(complete(&selection, &problem, typed)?.0)
        }
        None => selection.stated_default(),
    };
    let variant = selection.variant.clone();
    Ok(config.map(|config| Row { arch, variant, workload: String::new(), dims: None, config }))
}
