//! A kernel as the loop needs it: what the file says, where it lies, and its space.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Config, Fault, Refusal, Report, Value, Workload};
use kiln_space::{Problem, Space};
use kiln_spec::{Constants, Implementation, Origin, Selection, TargetKind};

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

    /// The value a tunable of a configuration has by default: the file's, or the only one there is.
    pub fn default_value(&self, config: &Config, name: &str) -> Option<&'a Value> {
        self.selection.default_value(config, name)
    }

    /// Whether a configuration's entry launches by itself.
    pub(crate) fn host(&self, config: &Config) -> bool {
        self.selection.implementation(config).host
    }

    /// The configuration to begin with, among those the rules allow.
    pub fn default_config(&self) -> Option<Config> {
        self.selection.default_config(&|config| self.allows(config))
    }

    /// The same for some of the workloads.
    pub fn default_for(&self, workloads: &[Option<&Workload>]) -> Option<Config> {
        self.selection.default_for(workloads, &|config| self.allows(config))
    }

    /// What each implementation that competes begins with on some of the workloads, in file order, where the file says so and
    /// the rules allow it.
    pub fn openings(&self, workloads: &[Option<&Workload>]) -> Vec<Config> {
        let own =
            |one: &&'a Implementation| self.selection.only(one).default_for(workloads, &|config| self.allows(config));
        self.selection.implementations.iter().filter_map(own).collect()
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
    pub(crate) fn entry(&self, config: &Config) -> Result<&'a str, Fault> {
        self.entry_of(self.selection.implementation(config))
    }

    fn entry_of(&self, implementation: &'a Implementation) -> Result<&'a str, Fault> {
        let entry = implementation.entry.as_ref().or(self.selection.spec.entry.as_ref());
        entry
            .map(String::as_str)
            .ok_or_else(|| no_entry(&format!("add entry to [{}] or [kernel]", self.place(implementation))))
    }

    /// Whether it works on a GPU.
    pub fn on_gpu(&self) -> bool {
        self.selection.target.on_gpu
    }

    /// The file and the function of a kernel in Python: `file.py:function`, or a function of the only source.
    pub fn python_entry(&self, config: &Config) -> Result<(Utf8PathBuf, String), Fault> {
        self.python_entry_of(self.selection.implementation(config))
    }

    /// The same of one implementation.
    pub fn python_entry_of(&self, implementation: &Implementation) -> Result<(Utf8PathBuf, String), Fault> {
        let entry = implementation.entry.as_ref().or(self.selection.spec.entry.as_ref());
        let entry = entry.ok_or_else(|| {
            no_entry(&format!(r#"add entry = "file.py:function" to [{}]"#, self.place(implementation)))
        })?;
        let (file, function) = match (entry.split_once(':'), implementation.sources.first()) {
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
        let (mut files, mut includes): (Vec<Utf8PathBuf>, Vec<Utf8PathBuf>) = (Vec::new(), Vec::new());
        // All of them, whichever compete here: a winner is compared with those of other studies by it.
        for one in &target.implementations {
            files.extend(one.sources.iter().map(|s| self.folder.join(s)));
            if target.kind == TargetKind::Python {
                files.push(self.python_entry_of(one)?.0);
            }
            includes.extend(one.compile.include.iter().map(|i| self.folder.join(i)));
        }
        files.extend(target.baselines.iter().map(|b| self.folder.join(&b.callable.file)));
        if let Some(Origin::Python(callable)) = spec.reference.as_ref().map(|r| &r.origin) {
            files.push(self.folder.join(&callable.file));
        }
        let filled = spec.arguments.iter().filter_map(|argument| argument.function.as_ref());
        files.extend(filled.map(|callable| self.folder.join(&callable.file)));
        files.retain(|file| file.is_file());
        kiln_build::fingerprint(&files, &includes)
    }

    /// Refuses, before anything is begun, a kernel whose files are not there or that names nothing to call.
    pub(crate) fn check_files(&self) -> Result<(), Fault> {
        self.selection.implementations.iter().try_for_each(|one| self.check_files_of(one))
    }

    fn check_files_of(&self, one: &'a Implementation) -> Result<(), Fault> {
        let kind = self.selection.target.kind;
        let mut files: Vec<Utf8PathBuf> = one.sources.iter().map(|s| self.folder.join(s)).collect();
        match kind {
            TargetKind::Python => files.push(self.python_entry_of(one)?.0),
            _ if files.is_empty() => {
                return Err(Fault::new("looking for the kernel", "the target has no source")
                    .hint(format!("add source to [{}]", self.place(one))));
            }
            // Each launch may name its own kernel.
            TargetKind::Cuda if !one.host => {
                if one.launches.is_empty() {
                    return Err(Fault::new("looking for the kernel", format!("{} has no launch", self.whose(one)))
                        .hint(format!("add [[{}.launches]] with grid and block, or host = true", self.place(one))));
                }
                if one.launches.iter().any(|launch| launch.entry.is_none()) {
                    self.entry_of(one)?;
                }
            }
            _ => {
                self.entry_of(one)?;
            }
        }
        match files.iter().find(|file| !file.is_file()) {
            Some(file) => Err(Fault::new("looking for the kernel", format!("{file}: no such file"))
                .hint("sources are named relative to the kernel file")),
            None => Ok(()),
        }
    }

    /// The table of an implementation.
    fn place(&self, one: &Implementation) -> String {
        let target = format!("target.{}", self.target());
        one.name.as_ref().map_or_else(|| target.clone(), |name| format!("{target}.implementation.{name}"))
    }

    fn whose(&self, one: &Implementation) -> String {
        one.name.as_ref().map_or_else(|| "the target".into(), |name| format!("implementation {name}"))
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
        for one in &mut problem.alternatives {
            one.problem.constants.retain(|constants| constants.workload != *workload.name);
        }
        !problem.constants.is_empty() && Space::build(&problem).is_ok_and(|space| !space.is_empty())
    };
    let found = selection.required().into_iter().find(without)?;
    Some(&found.name)
}

fn no_entry(hint: &str) -> Fault {
    Fault::new("looking for the kernel", "the kernel file names no function to call").hint(hint)
}
