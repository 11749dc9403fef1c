//! Which of a target's implementations compete, and which one a configuration is of. In: a target, what the user asked for, an
//! architecture. Out: those that run there, and those that do not. Refuses a name the target does not have, and an
//! architecture that nothing asked for runs on.

use kiln_core::{Config, IMPLEMENTATION, Report};
use kiln_device::Arch;

use crate::model::{Implementation, Target};
use crate::select::{Selection, unknown};

/// Those that run, and those that do not.
type Picked<'a> = (Vec<&'a Implementation>, Vec<&'a Implementation>);

pub(crate) fn pick_implementations<'a>(
    target: &'a Target,
    asked: Option<&str>,
    arch: Option<Arch>,
) -> Result<Picked<'a>, Report> {
    let known: Vec<&str> = target.implementations.iter().filter_map(|one| one.name.as_deref()).collect();
    if let Some(name) = asked.filter(|name| !known.contains(name)) {
        return Err(unknown(IMPLEMENTATION, name, &known));
    }
    let meant = target.implementations.iter().filter(|one| asked.is_none() || one.name.as_deref() == asked);
    let (runs, left_out): (Vec<_>, Vec<_>) = meant.partition(|one| one.runs_on(arch));
    match arch {
        Some(arch) if runs.is_empty() => Err(nowhere(target, &left_out, arch)),
        _ => Ok((runs, left_out)),
    }
}

/// Nothing that was asked for runs on an architecture.
fn nowhere(target: &Target, left_out: &[&Implementation], arch: Arch) -> Report {
    let place = |one: &&Implementation| format!("{} runs on {}", one.name.as_deref().unwrap_or_default(), one.places());
    let places: Vec<String> = left_out.iter().map(place).collect();
    let what = match left_out {
        [only] => {
            format!("implementation {} of target.{}", only.name.as_deref().unwrap_or_default(), target.kind.name())
        }
        _ => format!("no implementation of target.{}", target.kind.name()),
    };
    let message =
        if left_out.len() == 1 { format!("{what} does not run on {arch}") } else { format!("{what} runs on {arch}") };
    let other = target.implementations.iter().find(|one| one.runs_on(Some(arch))).and_then(|one| one.name.as_deref());
    let hint = match other {
        Some(other) => format!("--implementation {other} runs there"),
        None => "choose another --arch, or add one to `archs` of an implementation".to_owned(),
    };
    Report::error(message).label(places.join("; ")).hint(hint)
}

impl<'a> Selection<'a> {
    /// The implementation a configuration is of. One that names none is of the first.
    pub fn implementation(&self, config: &Config) -> &'a Implementation {
        let all = self.implementations.iter().copied().chain(&self.target.implementations);
        let named = |name: &str| all.clone().find(|one| one.name.as_deref() == Some(name));
        // A target without names has no name to look for, whatever a tunable of a foreign file is called.
        config.implementation().filter(|_| self.competing()).and_then(named).unwrap_or_else(|| self.first())
    }

    /// The implementation that comes first among those that compete.
    pub fn first(&self) -> &'a Implementation {
        self.implementations.first().copied().unwrap_or(&self.target.implementations[0])
    }

    /// Whether the target's implementations have names, so that configurations say which one they are of.
    pub fn competing(&self) -> bool {
        self.first().name.is_some()
    }

    /// The same selection with one implementation alone.
    pub fn only(&self, implementation: &'a Implementation) -> Selection<'a> {
        Selection { implementations: vec![implementation], left_out: Vec::new(), ..self.clone() }
    }

    /// The same selection with the implementation of a configuration alone.
    pub fn of(&self, config: &Config) -> Selection<'a> {
        self.only(self.implementation(config))
    }

    /// Whether a call under a configuration is given an argument. Without one, as of a baseline, it is what the target says.
    pub fn passes(&self, config: &Config, argument: &str) -> bool {
        match config.is_empty() {
            true => self.target.arguments.as_ref().is_none_or(|taken| taken.iter().any(|name| name == argument)),
            false => self.implementation(config).takes(argument),
        }
    }

    /// Whether some implementation takes an argument.
    pub fn takes(&self, argument: &str) -> bool {
        self.implementations.iter().any(|one| one.takes(argument))
    }

    /// What is worth saying of implementations that are left out.
    pub fn remarks(&self) -> Vec<String> {
        let arch = self.arch.map_or_else(String::new, |arch| format!(" on {arch}"));
        let words = |one: &&Implementation| {
            let name = one.name.as_deref().unwrap_or_default();
            format!("implementation {name} is left out: it runs on {}, not{arch}", one.places())
        };
        self.left_out.iter().map(words).collect()
    }
}
