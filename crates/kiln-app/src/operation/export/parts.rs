//! The implementations that a package holds. In: a plan. Out: those that some binary is of, and what each says of itself: its functions,
//! its launches, the arguments it takes. A target without names has one, without a name.

use kiln_core::{Config, Report};
use kiln_spec::{Argument, Implementation, Launch, Role, Target};

use crate::failure::Failure;
use crate::operation::export::Plan;

/// The implementation that a configuration is of.
pub(super) fn implementation_of<'t>(target: &'t Target, config: &Config) -> &'t Implementation {
    let named = |one: &&Implementation| one.name.is_some() && one.name.as_deref() == config.implementation();
    target.implementations.iter().find(named).unwrap_or(&target.implementations[0])
}

/// What a part is called in names of generated code.
pub(super) fn suffix(part: &Implementation) -> &str {
    part.name.as_deref().unwrap_or("only")
}

impl<'a> Plan<'a> {
    /// The implementation of a configuration.
    pub(super) fn part_of(&self, config: &Config) -> &'a Implementation {
        implementation_of(self.target, config)
    }

    /// The implementations that some binary is of, in file order.
    pub(super) fn parts(&self) -> Vec<&'a Implementation> {
        let held =
            |one: &&Implementation| self.binaries.iter().any(|binary| self.part_of(&binary.config).name == one.name);
        self.target.implementations.iter().filter(held).collect()
    }

    /// The kernel that a launch names, as the file has it.
    pub(super) fn entry_of(&self, part: &Implementation, launch: &Launch) -> String {
        launch.entry.clone().unwrap_or_else(|| self.entry(part))
    }

    /// The function that a part is called by.
    pub(super) fn entry(&self, part: &Implementation) -> String {
        part.entry.as_ref().or(self.file.spec.entry.as_ref()).cloned().unwrap_or_default()
    }

    /// The file and the function of a part in Python.
    pub(super) fn python_entry(&self, part: &Implementation) -> Result<(String, String), Failure> {
        let (entry, source) = (self.entry(part), part.sources.first());
        match (entry.split_once(':'), source) {
            (Some((file, function)), _) => Ok((file.into(), function.into())),
            (None, Some(source)) => Ok((source.clone(), entry)),
            (None, None) => Err(Report::error("the kernel file names no function to call").into()),
        }
    }

    /// The arguments that a part takes, in order.
    pub(super) fn taken(&self, part: &Implementation) -> Vec<&'a Argument> {
        self.file.spec.arguments.iter().filter(|argument| part.takes(&argument.name)).collect()
    }

    /// The buffers that a part needs, in order: those it takes, and those that its descriptors describe.
    pub(super) fn held(&self, part: &Implementation) -> Vec<&'a Argument> {
        let taken = self.taken(part);
        let described = |name: &str| taken.iter().filter_map(|a| a.tensormap.as_ref()).any(|map| map.tensor == *name);
        let needed = |a: &&Argument| part.takes(&a.name) || described(&a.name);
        let buffers = self.file.spec.arguments.iter().filter(|a| !matches!(a.role, Role::Scalar | Role::Tensormap));
        buffers.filter(needed).collect()
    }
}
