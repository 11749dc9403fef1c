//! The formulas of a kernel file, evaluated. In: a selection, a workload and, where there is one, a configuration. Out: the
//! values of names and of formulas. Refuses what cannot be evaluated, at its place in the file, and says so when all it
//! lacks is a configuration.

use std::borrow::Cow;

use kiln_core::{Config, Report, Value, Workload};
use kiln_expr::Env;

use crate::model::{Formula, Implementation};
use crate::names::bindings::Bindings;
use crate::names::constants::Constants;
use crate::select::Selection;

/// The one resolver of names for a selection, a workload and a configuration.
#[derive(Debug)]
pub struct Resolver<'a> {
    selection: &'a Selection<'a>,
    bindings: Bindings<'a>,
}

impl<'a> Resolver<'a> {
    /// Resolves the names of a selection under a workload. Without a configuration, tunables have no values, nor has what
    /// is derived from them.
    pub fn new(selection: &'a Selection<'a>, workload: Option<&Workload>, config: Option<&'a Config>) -> Resolver<'a> {
        let constants = Constants::of(selection, workload);
        // Without a configuration it is open which of several implementations is meant, and so what is derived.
        let meant = match (config, &selection.implementations[..]) {
            (Some(config), _) => Some(selection.implementation(config)),
            (None, [only]) => Some(*only),
            (None, _) => None,
        };
        let derived = meant.into_iter().flat_map(|one| &one.derived).map(|d| (&*d.name, &d.formula.expression));
        Resolver { selection, bindings: Bindings::new(Cow::Owned(constants), config, derived) }
    }

    /// What the names belong to.
    pub fn selection(&self) -> &'a Selection<'a> {
        self.selection
    }

    /// The value of a name, if it has one.
    pub fn value(&self, name: &str) -> Option<Value> {
        self.bindings.value(name)
    }

    /// The value of a formula; `what` says what it is, for the message when it has none.
    pub fn evaluate(&self, formula: &Formula, what: &str) -> Result<Value, Report> {
        formula.expression.eval(&self.bindings).map_err(|error| {
            let report = Report::error(format!("{what} cannot be evaluated: {error}"));
            let place = formula.place(&self.selection.spec.source, error.span.clone());
            let hint = !self.bindings.configured() && self.is_tuned(formula);
            let hint = hint.then(|| "it depends on tunables: a configuration is needed".to_owned());
            report.at(place).label(error.kind.words()).maybe_hint(hint)
        })
    }

    /// Whether a formula reads tunables, or what may be derived from them.
    fn is_tuned(&self, formula: &Formula) -> bool {
        let of = |one: &Implementation, name: &str| {
            one.tunable(name).is_some() || one.derived.iter().any(|d| &*d.name == name)
        };
        let tuned = |name: &str| self.selection.implementations.iter().any(|one| of(one, name));
        formula.expression.names().iter().any(|(name, _)| tuned(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Choice, parse};

    const FILE: &str = "[kernel]\nname = \"k\"\nvariants = { T = [\"f16\", \"f32\"] }\n[tunables]\nA = [0, 2, 4]\n\
        [derived]\nbytes = \"tile * T.bytes\"\ntile = \"N // A\"\nrows = \"N // 8\"\n\
        [target.cuda]\nsource = \"k.cu\"\nentry = \"k\"\n[[target.cuda.launches]]\ngrid = \"tile\"\nblock = \"rows\"\n\
        shared = \"min(bytes, device.smem_per_block)\"\n[target.cpu]\nsource = \"k.c\"\n\
        [[workloads]]\nname = \"w\"\ndims = { N = 96 }\n";

    /// Hands a resolver to `ask`.
    fn resolved<R>(target: &str, config: Option<&str>, ask: impl Fn(&Resolver<'_>) -> R) -> R {
        let (spec, _) = parse("kernel.toml", FILE.as_bytes()).unwrap();
        let choice = Choice { target: Some(target), variant: Some("T=f32"), ..Choice::default() };
        let selection = spec.select(choice).unwrap();
        let config = config.map(|text| Config::parse(text).unwrap());
        ask(&Resolver::new(&selection, spec.workloads.first(), config.as_ref()))
    }

    fn values(target: &str, config: Option<&str>) -> Vec<Option<Value>> {
        let names = ["A", "N", "T.bytes", "tile", "bytes", "rows", "device.warp_size"];
        resolved(target, config, |resolver| names.iter().map(|name| resolver.value(name)).collect())
    }

    #[test]
    fn names_have_the_values_of_selection_workload_and_configuration() {
        let int = |v| Some(Value::Int(v));
        // The file states `bytes` before the `tile` it needs.
        let all = [int(2), int(96), int(4), int(48), int(192), int(12), int(32)];
        assert_eq!(values("cuda", Some("A=2")), all);
        // 96 // 0 has no value, nor has what needs it; a processor has no limits.
        assert_eq!(values("cuda", Some("A=0")), [int(0), int(96), int(4), None, None, int(12), int(32)]);
        assert_eq!(values("cpu", None), [None, int(96), int(4), None, None, int(12), None]);
    }

    /// The value of the launch's grid and shared memory, or its message and hint.
    fn launch(config: Option<&str>) -> [Result<Value, (String, Option<String>)>; 2] {
        resolved("cuda", config, |resolver| {
            let launch = &resolver.selection().first().launches[0];
            [&launch.grid[0], launch.shared.as_ref().unwrap()].map(|formula| {
                let words = |report: Report| (report.message, report.hint);
                resolver.evaluate(formula, "the thing").map_err(words)
            })
        })
    }

    #[test]
    fn a_formula_without_a_value_says_whether_a_configuration_is_all_it_needs() {
        assert_eq!(launch(Some("A=4")), [Ok(Value::Int(24)), Ok(Value::Int(96))]);
        let hints = |config| launch(config).map(|result| result.unwrap_err().1);
        assert_eq!(hints(Some("A=0")), [None, None]);
        assert_eq!(hints(None), [(); 2].map(|()| Some("it depends on tunables: a configuration is needed".into())));
        let [Err((message, _)), _] = launch(Some("A=0")) else { panic!("a division by zero has a value") };
        assert_eq!(message, "the thing cannot be evaluated: a name without a value in `tile`");
    }
}
