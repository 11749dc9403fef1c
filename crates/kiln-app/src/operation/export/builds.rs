//! Every configuration compiled as a study would compile it. In: rows. Out: a binary for each architecture, variant and
//! configuration, with the symbols of its kernels. A configuration that a gate refuses is left out with a note; where it is
//! compiled for several instances (`kernel<{D}>`), only those that are refused. An architecture or a variant for which none is left
//! is refused.

use std::sync::Arc;

use camino::Utf8PathBuf;
use kiln_build::{BuildLimits, Request};
use kiln_core::{Config, Outcome, Refusal, Report, Use, Value, Workload};
use kiln_device::Arch;
use kiln_spec::{Dtype, Implementation, Selection, TargetKind, instance};
use kiln_study::{Kernel, build_request, forge};

use crate::event::What;
use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting, kernel};
use crate::operation::export::rows::Row;
use crate::operation::export::table::instance_dims;
use crate::operation::export::{ExportedBinary, Plan};
use crate::operation::forge::compiler;
use crate::project::Project;
use crate::teller::Teller;

const PHASE: &str = "build";

/// One configuration, compiled.
#[derive(Debug, Clone)]
pub(super) struct Binary {
    pub(super) arch: Option<Arch>,
    pub(super) variant: Vec<(Arc<str>, Dtype)>,
    pub(super) config: Config,
    /// What came out of the compiler; none for Python.
    pub(super) product: Option<Utf8PathBuf>,
    /// Kernels as the launches name them, with their symbols.
    pub(super) symbols: Vec<(String, String)>,
    /// A workload for each instance of those kernels.
    pub(super) instances: Vec<Workload>,
    /// What the compiler was asked; none for Python.
    pub(super) request: Option<Request>,
}

impl Binary {
    /// The variant in words, `T=bf16`.
    pub(super) fn variant_words(&self) -> String {
        let pairs: Vec<String> = self.variant.iter().map(|(name, dtype)| format!("{name}={}", dtype.name())).collect();
        pairs.join(",")
    }

    /// What a name of a file says of it besides its number: `bf16_sm_90a`, behind its implementation where it has a name.
    pub(super) fn label(&self) -> String {
        let mut parts: Vec<&str> = self.config.implementation().into_iter().collect();
        parts.extend(self.variant.iter().map(|(_, dtype)| dtype.name()));
        parts.extend(self.arch.as_ref().map(|arch| arch.name()));
        parts.join("_")
    }

    /// For whoever asked.
    pub(super) fn told(&self, plan: &Plan<'_>, number: usize) -> ExportedBinary {
        let named = instance_dims(plan, plan.part_of(&self.config));
        let compiled = |dims: &[(Arc<str>, Value)]| {
            let value = |name: &String| dims.iter().find(|(n, _)| **n == **name).map(|(_, value)| value);
            self.instances.iter().any(|instance| named.iter().all(|name| instance.dim(name) == value(name)))
        };
        let own = |row: &&Row| {
            row.arch == self.arch
                && row.variant == self.variant
                && row.config == self.config
                && row.dims.as_ref().is_none_or(|dims| compiled(dims))
        };
        let workloads = plan.rows.iter().filter(own).map(|row| row.workload.clone()).filter(|name| !name.is_empty());
        ExportedBinary {
            file: plan.product_name(number).map(|file| format!("{}/{file}", plan.interface.name)),
            arch: self.arch.map(|arch| arch.name().into()),
            variant: self.variant_words(),
            config: self.config.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
            instances: match named.as_slice() {
                [] => Vec::new(),
                named => self.instances.iter().map(|instance| in_words(named, instance)).collect(),
            },
            workloads: workloads.collect(),
        }
    }
}

/// `D=64,WIDTH=2`: what the names of kernels have of a workload.
fn in_words(named: &[String], instance: &Workload) -> String {
    let word = |name: &String| Some(format!("{name}={}", instance.dim(name)?));
    named.iter().filter_map(word).collect::<Vec<_>>().join(",")
}

/// What was built, and what was left out.
pub(super) struct Built {
    pub(super) binaries: Vec<Binary>,
    pub(super) notes: Vec<String>,
}

/// Configurations of one implementation that are compiled for the same kernels.
struct Group {
    arch: Option<Arch>,
    variant: Vec<(Arc<str>, Dtype)>,
    /// One workload for each instance of the kernels' names.
    workloads: Vec<Workload>,
    configs: Vec<Config>,
}

/// Compiles all rows, each for every variant whose elements have the same sizes.
pub(super) fn build_all(
    project: &Project,
    file: &KernelFile,
    selecting: &Selecting,
    rows: &[Row],
    teller: &Teller<'_>,
) -> Result<Built, Failure> {
    let groups = groups(file, selecting, rows)?;
    let planned = groups.iter().map(|group| group.configs.len()).sum();
    teller.tell(What::Phase { phase: PHASE.into(), planned });
    let (mut binaries, mut notes, mut done, mut refused) = (Vec::new(), Vec::new(), 0, None);
    for group in &groups {
        let mut each = build(project, file, selecting, group, &mut Step::planned(&mut done, planned, teller))?;
        // Where one instance is refused, others may not be.
        if group.workloads.len() > 1 {
            let (whole, split): (Vec<_>, Vec<_>) =
                each.into_iter().partition(|(.., built)| matches!(built, Outcome::Passed(_)));
            each = whole;
            for (_, config, _) in split {
                for workload in &group.workloads {
                    let alone = Group {
                        workloads: vec![workload.clone()],
                        configs: vec![config.clone()],
                        variant: group.variant.clone(),
                        ..*group
                    };
                    each.extend(build(project, file, selecting, &alone, &mut Step::silent())?);
                }
            }
        }
        for (instance, config, built) in each {
            match built {
                Outcome::Passed(binary) => binaries.push(binary),
                Outcome::Refused(refusal) => {
                    let variant: Vec<String> = group.variant.iter().map(|(n, d)| format!("{n}={}", d.name())).collect();
                    let of = variant.into_iter().chain(instance).collect::<Vec<_>>().join(", ");
                    let of = if of.is_empty() { of } else { format!(" for {of}") };
                    let arch = group.arch.map_or(String::new(), |arch| format!(" on {arch}"));
                    notes.push(format!("left out {config}{of}{arch}: {}, {}", refusal.gate, refusal.measured));
                    refused = Some((config, refusal));
                }
            }
        }
    }
    for group in &groups {
        if !binaries.iter().any(|b: &Binary| b.arch == group.arch && b.variant == group.variant) {
            return Err(nothing_left(group, refused));
        }
    }
    Ok(Built { binaries, notes })
}

fn nothing_left(group: &Group, refused: Option<(Config, Refusal)>) -> Failure {
    let variant: Vec<String> = group.variant.iter().map(|(n, d)| format!("{n}={}", d.name())).collect();
    let words: Vec<String> = variant.into_iter().chain(group.arch.map(|arch| arch.name().to_string())).collect();
    let of = if words.is_empty() { String::new() } else { format!(" for {}", words.join(" on ")) };
    let report = Report::error(format!("nothing can be exported{of}"));
    match refused {
        Some((config, refusal)) => {
            let report = report.label(format!("{config} was refused: {}, {}", refusal.gate, refusal.measured));
            report.maybe_hint(refusal.hint.clone()).into()
        }
        None => report
            .label("no tuned configuration, and the file's [default] leaves a tunable open or breaks a rule")
            .hint("choose one with --config, or `kiln tune --adopt` first")
            .into(),
    }
}

fn groups(file: &KernelFile, selecting: &Selecting, rows: &[Row]) -> Result<Vec<Group>, Failure> {
    let mut groups: Vec<Group> = Vec::new();
    let mut archs: Vec<Option<Arch>> = Vec::new();
    rows.iter().for_each(|row| {
        if !archs.contains(&row.arch) {
            archs.push(row.arch);
        }
    });
    for arch in archs {
        for words in file.select(selecting)?.target.dtype_combinations() {
            let selection = chosen(file, selecting, arch, &words)?;
            let sizes = |variant: &[(Arc<str>, Dtype)]| -> Vec<_> {
                variant.iter().map(|(name, dtype)| (name.clone(), dtype.bytes())).collect()
            };
            let fits = |row: &&Row| row.arch == arch && sizes(&row.variant) == sizes(&selection.variant);
            for row in rows.iter().filter(fits) {
                if row.dims.is_none() && row.variant != selection.variant {
                    continue;
                }
                let workloads = instances(file, selecting, &selection, row)?;
                if workloads.is_empty() && !selection.spec.workloads.is_empty() {
                    continue;
                }
                put(&mut groups, arch, &selection, workloads, &row.config);
            }
            merge(&mut groups, arch, &selection);
        }
    }
    Ok(groups)
}

fn put(
    groups: &mut Vec<Group>,
    arch: Option<Arch>,
    selection: &Selection<'_>,
    workloads: Vec<Workload>,
    config: &Config,
) {
    let names = |workloads: &[Workload]| kernels(selection, config, workloads);
    let own = |g: &Group| g.configs.iter().all(|other| other.implementation() == config.implementation());
    let same = |g: &&mut Group| {
        g.arch == arch && g.variant == selection.variant && own(g) && names(&g.workloads) == names(&workloads)
    };
    match groups.iter_mut().find(same) {
        Some(group) if group.configs.contains(config) => {}
        Some(group) => group.configs.push(config.clone()),
        None => {
            let (variant, configs) = (selection.variant.clone(), vec![config.clone()]);
            groups.push(Group { arch, variant, workloads, configs });
        }
    }
}

/// The kernels' names for each of some workloads.
fn kernels(selection: &Selection<'_>, config: &Config, workloads: &[Workload]) -> Vec<Vec<String>> {
    let entries = entries(selection, selection.implementation(config));
    let of = |w| entries.iter().map(|entry| instance(entry, Some(w))).collect();
    workloads.iter().map(of).collect()
}

/// Removes a configuration from a group where another one has it for these kernels and more: it would be compiled twice.
fn merge(groups: &mut Vec<Group>, arch: Option<Arch>, selection: &Selection<'_>) {
    let places: Vec<usize> =
        (0..groups.len()).filter(|at| groups[*at].arch == arch && groups[*at].variant == selection.variant).collect();
    let whole: Vec<(Vec<Config>, Vec<Vec<String>>)> = places
        .iter()
        .map(|at| &groups[*at])
        .map(|group| {
            let kernels = group.configs.first().map(|config| kernels(selection, config, &group.workloads));
            (group.configs.clone(), kernels.unwrap_or_default())
        })
        .collect();
    for (at, (_, few)) in places.iter().zip(&whole) {
        let covered = |config: &Config| {
            let covers = |(configs, more): &(Vec<Config>, Vec<Vec<String>>)| {
                configs.contains(config) && more.len() > few.len() && few.iter().all(|names| more.contains(names))
            };
            whole.iter().any(covers)
        };
        groups[*at].configs.retain(|config| !covered(config));
    }
    groups.retain(|group| !group.configs.is_empty());
}

/// The kernels' names, as the file has them.
fn entries<'a>(selection: &Selection<'a>, part: &'a Implementation) -> Vec<&'a str> {
    let shared = part.entry.as_ref().or(selection.spec.entry.as_ref());
    let of = |launch: &'a kiln_spec::Launch| launch.entry.as_ref().or(shared).map(String::as_str);
    part.launches.iter().filter_map(of).collect()
}

/// One workload for each instance of the kernels' names that a row is for and whose rules it keeps.
fn instances(
    file: &KernelFile,
    selecting: &Selecting,
    selection: &Selection<'_>,
    row: &Row,
) -> Result<Vec<Workload>, Failure> {
    let target = selection.target.kind.name();
    let listed: Vec<Workload> = match &row.dims {
        Some(dims) => vec![Workload {
            name: row.workload.as_str().into(),
            dims: dims.clone(),
            use_for: Use::Tune,
            targets: Vec::new(),
            weight: 1.0,
        }],
        None => file.spec.workloads.iter().filter(|w| w.is_for(target)).cloned().collect(),
    };
    let mut found: Vec<Workload> = Vec::new();
    let entries = entries(selection, selection.implementation(&row.config));
    let names = |w: &Workload| -> Vec<String> { entries.iter().map(|entry| instance(entry, Some(w))).collect() };
    for workload in listed {
        if found.iter().any(|other| names(other) == names(&workload)) {
            continue;
        }
        let alone = Selection { workloads: vec![&workload], ..selection.clone() };
        let keeps = kernel(alone, &selecting.path).is_ok_and(|k| k.unfit(&row.config, Some(&workload)).is_none());
        if keeps {
            found.push(workload);
        }
    }
    Ok(found)
}

fn chosen<'a>(
    file: &'a KernelFile,
    selecting: &Selecting,
    arch: Option<Arch>,
    variant: &str,
) -> Result<Selection<'a>, Failure> {
    let arch = arch.map(|arch| arch.name().to_string());
    file.select(&Selecting { arch, variant: Some(variant.into()), ..selecting.clone() })
}

/// What became of a configuration, before which what it was compiled for stands where that was one instance: `D=256`.
type One = (Option<String>, Config, Outcome<Binary>);

/// Each configuration of a group with what became of it.
fn build(
    project: &Project,
    file: &KernelFile,
    selecting: &Selecting,
    group: &Group,
    step: &mut Step<'_>,
) -> Result<Vec<One>, Failure> {
    let words: Vec<String> = group.variant.iter().map(|(n, d)| format!("{n}={}", d.name())).collect();
    let selection = chosen(file, selecting, group.arch, &words.join(","))?;
    let selection = Selection { workloads: group.workloads.iter().collect(), ..selection };
    let kernel = kernel(selection, &selecting.path)?;
    let mut built = Vec::new();
    let instance = |config: &Config| match group.workloads.as_slice() {
        [only] => named_dims(&entries(&kernel.selection, kernel.selection.implementation(config)), only),
        _ => None,
    };
    if kernel.selection.target.kind == TargetKind::Python {
        for config in &group.configs {
            step.done();
            built.push((None, config.clone(), Outcome::Passed(binary(group, config, None, Vec::new(), None))));
        }
        return Ok(built);
    }
    let limits = BuildLimits {
        timeout: project.build_limit().unwrap_or(BuildLimits::default().timeout),
        ..BuildLimits::default()
    };
    let mut forged = Vec::new();
    let heard = |one| {
        forged.push(one);
        step.done();
    };
    let toolchain = compiler(project, &kernel)?;
    forge(&kernel, toolchain, &project.cache(), (project.stopped(), limits), group.configs.clone(), heard)?;
    for one in forged {
        let request = build_request(&kernel, &one.config)?;
        let outcome = match (one.outcome, one.artifact) {
            (Outcome::Passed(_), Some(artifact)) => {
                let symbols = named(&kernel, &artifact.symbols);
                Outcome::Passed(binary(group, &one.config, Some(artifact.library), symbols, Some(request)))
            }
            (Outcome::Refused(refusal), _) => Outcome::Refused(refusal),
            (Outcome::Passed(_), None) => return Err(Report::error("nothing was built").into()),
        };
        built.push((instance(&one.config), one.config, outcome));
    }
    Ok(built)
}

/// The dimensions that stand in the names of kernels, with a workload's values; none where no name has one.
fn named_dims(entries: &[&str], workload: &Workload) -> Option<String> {
    let named = |name: &str| entries.iter().any(|entry| entry.contains(&format!("{{{name}}}")));
    let words: Vec<String> =
        workload.dims.iter().filter(|(name, _)| named(name)).map(|(name, value)| format!("{name}={value}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Who is told that one more is compiled; nobody, where it was counted before.
struct Step<'s>(Option<(&'s mut usize, usize, &'s Teller<'s>)>);

impl<'s> Step<'s> {
    fn planned(done: &'s mut usize, planned: usize, teller: &'s Teller<'s>) -> Step<'s> {
        Step(Some((done, planned, teller)))
    }

    fn silent() -> Step<'s> {
        Step(None)
    }

    fn done(&mut self) {
        if let Some((done, planned, teller)) = &mut self.0 {
            **done += 1;
            teller.tell(What::Step { phase: PHASE.into(), done: **done, planned: *planned });
        }
    }
}

/// Kernels with their symbols; a C function has its own.
fn named(kernel: &Kernel<'_>, symbols: &[(String, String)]) -> Vec<(String, String)> {
    match kernel.selection.target.kind {
        TargetKind::Cuda => symbols.to_vec(),
        _ => Vec::new(),
    }
}

fn binary(
    group: &Group,
    config: &Config,
    product: Option<Utf8PathBuf>,
    symbols: Vec<(String, String)>,
    request: Option<Request>,
) -> Binary {
    let (variant, instances) = (group.variant.clone(), group.workloads.clone());
    Binary { arch: group.arch, variant, config: config.clone(), product, symbols, instances, request }
}
