//! A kernel as the loop needs it: what the file says, where it lies, and its space.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Config, Report, Value};
use kiln_space::{Problem, Space};
use kiln_spec::{Selection, TargetKind};

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
    /// The kernel of a selection. Refuses a space that cannot be built or is empty, and targets there is no backend for.
    pub fn new(selection: Selection<'a>, folder: &Utf8Path) -> Result<Kernel<'a>, Report> {
        if selection.target.kind == TargetKind::Cuda {
            return Err(Report::error("target cuda cannot be run by this kiln yet").hint("choose --target cpu"));
        }
        let problem = Problem::from_selection(&selection).map_err(|e| Report::error(e.to_string()))?;
        let space = Space::build(&problem).map_err(|e| e.report(&selection))?;
        if space.is_empty() {
            return Err(Report::error(format!("no configuration of {} keeps every rule", selection.spec.name))
                .hint("`kiln space` shows what each constraint removes"));
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
        let stated = self.selection.target.default.iter().find(|(n, _)| &**n == name).map(|(_, v)| v);
        let tunable = self.selection.target.tunables.iter().find(|t| &*t.name == name);
        stated.or(match tunable.map(|t| &t.values[..]) {
            Some([only]) => Some(only),
            _ => None,
        })
    }

    /// The file's default configuration; none when the file leaves a tunable open.
    pub fn default_config(&self) -> Option<Config> {
        let tunables = &self.selection.target.tunables;
        let value = |t: &kiln_spec::Tunable| Some((t.name.clone(), self.default_value(&t.name)?.clone()));
        Some(Config::new(tunables.iter().map(value).collect::<Option<Vec<_>>>()?))
    }

    /// The variant in words, `T=f32`.
    pub fn variant(&self) -> String {
        let pairs: Vec<String> = self.selection.variant.iter().map(|(n, d)| format!("{n}={}", d.name())).collect();
        pairs.join(",")
    }
}
