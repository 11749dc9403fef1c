//! A kernel as the loop needs it: what the file says, where it lies, and its space.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Config, Fault, Refusal, Report, Value, Workload};
use kiln_space::{Problem, Space};
use kiln_spec::{Constants, Origin, Selection, TargetKind};

/// A kernel, one target of it, and the configurations that target allows.
#[derive(Debug, Clone)]
pub struct Kernel<'a> {
    /// What the file says and the user chose of it.
    pub selection: Selection<'a>,
    /// The folder of the kernel file; sources lie beside it.
    pub folder: Utf8PathBuf,
    /// Tunables and rules.
    pub problem: Problem,
    /// What keeps the rules.
    pub space: Arc<Space>,
}

impl<'a> Kernel<'a> {
    /// The kernel of a selection. Refuses a space that cannot be built or is empty.
    pub fn new(selection: Selection<'a>, folder: &Utf8Path) -> Result<Kernel<'a>, Report> {
        let problem = Problem::from_selection(&selection).map_err(|e| Report::error(e.to_string()))?;
        let space = Space::build(&problem).map_err(|e| e.report(&selection))?;
        if space.is_empty() {
            let report = Report::error(format!("no configuration of {} keeps every rule", selection.spec.name));
            let report = match emptied_by(&selection, &problem) {
                Some(workload) => report.label(format!("some do on all workloads but {workload}")),
                None => report,
            };
            return Err(report.hint("`kiln space` shows what each constraint removes"));
        }
        Ok(Kernel { selection, folder: folder.into(), problem, space: Arc::new(space) })
    }

    /// The kernel's name.
    pub fn name(&self) -> &'a str {
        &self.selection.spec.name
    }

    /// The target's name.
    pub fn target(&self) -> &'static str {
        self.selection.target.kind.name()
    }

    /// The value a tunable has by default: the file's, or the only one there is.
    pub fn default_value(&self, name: &str) -> Option<&'a Value> {
        self.selection.default_value(name)
    }

    /// The configuration to begin with, among those the rules allow.
    pub fn default_config(&self) -> Option<Config> {
        self.selection.default_config(&|config| self.allows(config))
    }

    /// The same for some of the workloads.
    pub fn default_for(&self, workloads: &[Option<&Workload>]) -> Option<Config> {
        self.selection.default_for(workloads, &|config| self.allows(config))
    }

    /// A configuration as it was written down; none when it is not one of this kernel's.
    pub fn read_config(&self, text: &str) -> Option<Config> {
        self.selection.recorded_config(text)
    }

    /// The file's default configuration, whether or not the rules allow it.
    pub fn stated_default(&self) -> Option<Config> {
        self.selection.stated_default()
    }

    /// Whether the rules allow a configuration.
    pub fn allows(&self, config: &Config) -> bool {
        self.space.locate(config).is_some_and(|point| self.space.contains(&point))
    }

    /// Why a configuration is refused before anything is built: the first rule that does not hold, and the workload.
    pub fn broken(&self, config: &Config) -> Option<(Refusal, String)> {
        self.problem.broken(config).map(|(refusal, workload)| (refusal, workload.to_string()))
    }

    /// Why a configuration cannot be used on a workload, selected or not. What has no tunables, such as a baseline, keeps
    /// every rule.
    pub fn unfit(&self, config: &Config, workload: Option<&Workload>) -> Option<Refusal> {
        if config.is_empty() {
            return None;
        }
        self.problem.broken_on(config, &Constants::of(&self.selection, workload))
    }

    /// The default, or any other configuration.
    pub(crate) fn some_config(&self) -> Config {
        let first = || self.space.point(0).map(|point| self.space.config(&point));
        self.default_config().or_else(first).unwrap_or_default()
    }

    /// The function or kernel the file names.
    pub(crate) fn entry(&self) -> Result<&'a str, Fault> {
        let target = self.selection.target;
        let entry = target.entry.as_ref().or(self.selection.spec.entry.as_ref());
        entry.map(String::as_str).ok_or_else(|| {
            let place = format!("[target.{}]", target.kind.name());
            no_entry(&format!("add entry to {place} or [kernel]"))
        })
    }

    /// Whether it works on a GPU.
    pub fn on_gpu(&self) -> bool {
        self.selection.target.on_gpu
    }

    /// The file and the function of a kernel in Python: `file.py:function`, or a function of the only source.
    pub fn python_entry(&self) -> Result<(Utf8PathBuf, String), Fault> {
        let target = self.selection.target;
        let entry = target.entry.as_ref().or(self.selection.spec.entry.as_ref());
        let entry = entry.ok_or_else(|| no_entry(r#"add entry = "file.py:function" to [target.python]"#))?;
        let (file, function) = match (entry.split_once(':'), target.sources.first()) {
            (Some((file, function)), _) => (file, function),
            (None, Some(source)) => (source.as_str(), entry.as_str()),
            (None, None) => return Err(no_entry(&format!(r#"write entry = "file.py:{entry}", or name a source"#))),
        };
        Ok((self.folder.join(file), function.into()))
    }

    /// A hash of every file that decides what is measured: sources, what they include, baselines, the reference, functions
    /// that fill inputs. A file that is not there counts as nothing.
    pub fn fingerprint(&self) -> Result<String, Fault> {
        let (target, spec) = (self.selection.target, self.selection.spec);
        let mut files: Vec<Utf8PathBuf> = target.sources.iter().map(|s| self.folder.join(s)).collect();
        if target.kind == TargetKind::Python {
            files.push(self.python_entry()?.0);
        }
        files.extend(target.baselines.iter().map(|b| self.folder.join(&b.callable.file)));
        if let Some(Origin::Python(callable)) = spec.reference.as_ref().map(|r| &r.origin) {
            files.push(self.folder.join(&callable.file));
        }
        let filled = spec.arguments.iter().filter_map(|argument| argument.function.as_ref());
        files.extend(filled.map(|callable| self.folder.join(&callable.file)));
        files.retain(|file| file.is_file());
        let includes: Vec<Utf8PathBuf> = target.compile.include.iter().map(|i| self.folder.join(i)).collect();
        kiln_build::fingerprint(&files, &includes)
    }

    /// Refuses, before anything is begun, a kernel whose files are not there or that names nothing to call.
    pub(crate) fn check_files(&self) -> Result<(), Fault> {
        let target = self.selection.target;
        let mut files: Vec<Utf8PathBuf> = target.sources.iter().map(|s| self.folder.join(s)).collect();
        match target.kind {
            TargetKind::Python => files.push(self.python_entry()?.0),
            _ if files.is_empty() => {
                return Err(Fault::new("looking for the kernel", "the target has no source")
                    .hint(format!("add source to [target.{}]", self.target())));
            }
            // Each launch may name its own kernel.
            TargetKind::Cuda if !target.host => {
                if target.launches.is_empty() {
                    return Err(Fault::new("looking for the kernel", "the target has no launch")
                        .hint("add [[target.cuda.launches]] with grid and block, or host = true"));
                }
                if target.launches.iter().any(|launch| launch.entry.is_none()) {
                    self.entry()?;
                }
            }
            _ => {
                self.entry()?;
            }
        }
        match files.iter().find(|file| !file.is_file()) {
            Some(file) => Err(Fault::new("looking for the kernel", format!("{file}: no such file"))
                .hint("sources are named relative to the kernel file")),
            None => Ok(()),
        }
    }

    /// The variant in words, `T=f32`.
    pub fn variant(&self) -> String {
        let pairs: Vec<String> = self.selection.variant.iter().map(|(n, d)| format!("{n}={}", d.name())).collect();
        pairs.join(",")
    }
}

/// The workload without which some configuration would keep every rule; none where no single one is to blame.
fn emptied_by<'a>(selection: &Selection<'a>, problem: &Problem) -> Option<&'a str> {
    let without = |workload: &&Workload| {
        let mut problem = problem.clone();
        problem.constants.retain(|constants| constants.workload != *workload.name);
        !problem.constants.is_empty() && Space::build(&problem).is_ok_and(|space| !space.is_empty())
    };
    let found = selection.required().into_iter().find(without)?;
    Some(&found.name)
}

fn no_entry(hint: &str) -> Fault {
    Fault::new("looking for the kernel", "the kernel file names no function to call").hint(hint)
}
