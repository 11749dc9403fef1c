//! The parts both formats share: tunables and conditions to a [`KernelSpec`], with the checks a kernel.toml gets.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

use kiln_core::{Report, Value};
use kiln_expr::{Expression, Scope, Type};
use kiln_spec::{
    Constraint, Cost, Export, Formula, Fuzz, Implementation, KernelSpec, Objective, SoftGates, Source, Sweep, Target,
    TargetKind, Tunable, TunedTable,
};

/// A spec under construction, with everything that was found wrong so far.
pub(crate) struct Builder {
    source: Source,
    /// What the target is of.
    pub(crate) kind: TargetKind,
    target: Implementation,
    types: ParameterTypes,
    pub(crate) errors: Vec<Report>,
    pub(crate) warnings: Vec<Report>,
}

impl Builder {
    pub(crate) fn new(name: &str, bytes: &[u8]) -> Result<Builder, Vec<Report>> {
        let text = std::str::from_utf8(bytes).map_err(|e| {
            vec![Report::error(format!("{name} is not UTF-8: byte {} cannot be read as text", e.valid_up_to()))]
        })?;
        Ok(Builder {
            source: Source { name: name.into(), text: text.into() },
            kind: TargetKind::Cuda,
            target: Implementation::default(),
            types: ParameterTypes::default(),
            errors: vec![],
            warnings: vec![],
        })
    }

    /// Makes room for as many.
    pub(crate) fn reserve(&mut self, tunables: usize, conditions: usize) {
        self.types.few.reserve(tunables.min(FEW));
        self.target.tunables.reserve(tunables);
        self.target.default.reserve(tunables);
        self.target.constraints.reserve(conditions);
    }

    /// Adds a tunable; `what` says where its values come from, for messages.
    pub(crate) fn tunable(&mut self, name: &str, values: Vec<Value>) {
        if values.is_empty() {
            self.errors.push(self.report(format!("{name} has no values"), name).label("expected at least one value"));
            self.broken(name);
            return;
        }
        let name: Arc<str> = name.into();
        if !self.types.insert(name.clone(), Type::of_all(&values)) {
            self.errors.push(self.report(format!("{name} is defined twice"), &name).label("expected each name once"));
            return;
        }
        if let Some(double) = double(&values) {
            self.errors
                .push(self.report(format!("{name} lists {double} twice"), &name).label("expected each value once"));
            return;
        }
        self.target.tunables.push(Tunable { name, values, span: 0..0 });
    }

    /// Notes the name of a tunable whose values cannot be read, so that conditions using it are not blamed for it.
    pub(crate) fn broken(&mut self, name: &str) {
        self.types.insert(name.into(), Type::Any);
    }

    /// Notes the default of the last tunable; one that is not among its values is left out with a warning.
    pub(crate) fn default(&mut self, name: &str, value: Value) {
        let Some(tunable) = self.target.tunables.iter().rev().find(|t| &*t.name == name) else { return };
        if tunable.values.contains(&value) {
            self.target.default.push((tunable.name.clone(), value));
        } else {
            let warning = format!("{name} has default {value}, which is not among its values; it is ignored");
            self.warnings.push(Report::warning(warning));
        }
    }

    /// Adds a condition; names must be tunables.
    pub(crate) fn condition(&mut self, name: &str, text: &str) {
        let show = |e: &kiln_expr::ExprError, source: &Source| match source.text.find(&format!("\"{text}\"")) {
            Some(at) => {
                let at = at + 1;
                let mut e = e.clone();
                e.span = e.span.start + at..e.span.end + at;
                e.report(&source.name, &source.text)
            }
            None => e.report(&format!("{}, {name}", source.name), text),
        };
        let expression = match Expression::parse(text) {
            Ok(expression) => expression,
            Err(e) => return self.errors.push(show(&e, &self.source)),
        };
        if let Err(errors) = expression.check(&self.types) {
            self.errors.extend(errors.iter().map(|e| show(e, &self.source)));
            return;
        }
        let formula = Formula::unplaced(expression);
        self.target.constraints.push(Constraint { name: name.into(), formula, hint: None });
    }

    /// The file's text.
    pub(crate) fn text(&self) -> Arc<str> {
        self.source.text.clone()
    }

    pub(crate) fn target(&mut self) -> &mut Implementation {
        &mut self.target
    }

    /// A finding placed at the first mention of `word` in quotes.
    pub(crate) fn report(&self, message: String, word: &str) -> Report {
        let report = Report::error(message);
        match self.source.text.find(&format!("\"{word}\"")) {
            Some(at) => report.at(self.source.place(at + 1..at + 1 + word.len())),
            None => report,
        }
    }

    /// The spec, or everything that is wrong.
    pub(crate) fn finish(mut self, name: String) -> Result<(KernelSpec, Vec<Report>), Vec<Report>> {
        if self.target.tunables.is_empty() && self.errors.is_empty() {
            self.errors.push(Report::error(format!("{} has no tunables", self.source.name)));
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let spec = KernelSpec {
            source: self.source,
            name,
            entry: None,
            host: false,
            description: None,
            targets: vec![Target {
                kind: self.kind,
                on_gpu: true,
                archs: vec![],
                variants: vec![],
                tuned: TunedTable::default(),
                baselines: vec![],
                arguments: None,
                implementations: vec![self.target],
            }],
            arguments: vec![],
            cost: Cost::default(),
            workloads: vec![],
            objective: Objective { per_workload: false, target_speedup: 1.10 },
            reference: None,
            gates: SoftGates { spills: false, occupancy: None },
            environment: vec![],
            fuzz: Fuzz::default(),
            export: Export::default(),
            sweep: Sweep::default(),
        };
        Ok((spec, self.warnings))
    }
}

/// A value that stands in the list twice.
fn double(values: &[Value]) -> Option<&Value> {
    // Most lists are short, and comparing a few values is quicker than hashing them.
    if values.len() <= 16 {
        return values.iter().enumerate().find(|(i, v)| values[..*i].contains(v)).map(|(_, v)| v);
    }
    let mut seen = FxHashSet::default();
    values.iter().find(|v| !seen.insert(*v))
}

/// As many names are looked through one by one, which is quicker than hashing them.
const FEW: usize = 64;

/// The names defined so far with their types.
#[derive(Default)]
struct ParameterTypes {
    few: Vec<(Arc<str>, Type)>,
    more: FxHashMap<Arc<str>, Type>,
}

impl ParameterTypes {
    /// Defines a name; false when it was defined before, and then has its new type.
    fn insert(&mut self, name: Arc<str>, kind: Type) -> bool {
        if let Some((_, known)) = self.few.iter_mut().find(|(known, _)| *known == name) {
            *known = kind;
            return false;
        }
        if self.few.len() < FEW {
            self.few.push((name, kind));
            return true;
        }
        self.more.insert(name, kind).is_none()
    }
}

impl Scope for ParameterTypes {
    fn type_of(&self, name: &str) -> Option<Type> {
        let few = self.few.iter().find(|(known, _)| **known == *name).map(|(_, kind)| *kind);
        few.or_else(|| if self.more.is_empty() { None } else { self.more.get(name).copied() })
    }

    fn names(&self) -> Vec<String> {
        self.few.iter().map(|(name, _)| name).chain(self.more.keys()).map(|name| name.to_string()).collect()
    }

    fn expected(&self) -> String {
        "expected one of the file's parameters".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_few_are_found_and_defined_once_too() {
        let mut types = ParameterTypes::default();
        for i in 0..2 * FEW {
            assert!(types.insert(format!("T{i}").into(), Type::Int));
        }
        for i in [0, FEW - 1, FEW, 2 * FEW - 1] {
            assert_eq!(types.type_of(&format!("T{i}")), Some(Type::Int));
            assert!(!types.insert(format!("T{i}").into(), Type::Any), "T{i}");
            assert_eq!(types.type_of(&format!("T{i}")), Some(Type::Any));
        }
        assert_eq!(types.type_of("T"), None);
        assert_eq!(types.names().len(), 2 * FEW);
    }
}
