//! Whether a shape makes sense, and how much work it is. In: a selection, a shape, a configuration. Out: the work, or why
//! the shape is none of this kernel's: the file's own rule, a kernel that is not built, sizes that cannot be evaluated.

use kiln_core::{Config, Value, Workload};
use kiln_spec::{Resolver, Selection};

use crate::described::signature::{Signature, Slot};

/// Whether a shape is one to ask about.
#[derive(Debug, Clone, PartialEq)]
pub enum Fit {
    /// It is.
    Fits(Work),
    /// It is not, and why.
    Excluded(String),
}

/// How much a case asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Numbers that are drawn, computed and compared.
    pub numbers: f64,
    /// Floating-point operations of one call, where the file says so.
    pub flops: Option<f64>,
}

impl Work {
    /// What grows with the time a case takes.
    pub fn size(&self) -> f64 {
        self.flops.unwrap_or(0.0).max(self.numbers)
    }
}

/// Judges a shape, as a workload.
pub fn fit(selection: &Selection<'_>, workload: &Workload, config: &Config) -> Fit {
    let resolver = Resolver::new(selection, Some(workload), None);
    if let Some(valid) = &selection.spec.fuzz.valid {
        match resolver.evaluate(valid, "fuzz.valid") {
            Ok(Value::Bool(true)) => {}
            Ok(Value::Int(v)) if v != 0 => {}
            Ok(_) => return Fit::Excluded(format!("fuzz.valid: {}", valid.expression.text())),
            Err(report) => return Fit::Excluded(report.message),
        }
    }
    if !selection.answers(workload) {
        return Fit::Excluded("no kernel is built for it".into());
    }
    let signature = match Signature::under(selection, Some(workload), config) {
        Ok(signature) => signature,
        Err(report) => return Fit::Excluded(report.message),
    };
    let filled = |slot: &&Slot| slot.is_input() || slot.is_output();
    if let Some(slot) = signature.slots.iter().filter(filled).find(|slot| slot.elements() == 0) {
        return Fit::Excluded(format!("{} has no elements", slot.name));
    }
    let numbers = signature.slots.iter().filter(filled).map(|slot| slot.elements() as f64).sum();
    let flops = selection.spec.cost.flops.as_ref().and_then(|f| resolver.evaluate(f, "cost.flops").ok());
    let flops = flops.and_then(|value| match value {
        Value::Int(v) => Some(v as f64),
        Value::Float(v) => Some(v),
        _ => None,
    });
    Fit::Fits(Work { numbers, flops })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::case::workload_of;
    use kiln_spec::Choice;

    const FILE: &str = "[kernel]\nname = \"k\"\n[tunables]\nA = [1, 2]\n[target.cpu]\nsource = \"k.c\"\n\
        [[arguments]]\nname = \"x\"\ntype = \"f32[H, S // 2]\"\nrole = \"in\"\n\
        [[arguments]]\nname = \"y\"\ntype = \"f32[H]\"\nrole = \"out\"\n[cost]\nflops = \"H * S\"\n\
        [[workloads]]\nname = \"a\"\ndims = { H = 2, S = 100 }\n[fuzz]\nvalid = \"S % H == 0\"\n";

    #[test]
    fn shapes_are_held_against_the_files_own_rule() {
        let (spec, _) = kiln_spec::parse("kernel.toml", FILE.as_bytes()).unwrap();
        let selection = spec.select(Choice::default()).unwrap();
        let judged = |h: i64, s: i64| {
            let shape = vec![("H".into(), Value::Int(h)), ("S".into(), Value::Int(s))];
            fit(&selection, &workload_of(&shape), &Config::default())
        };
        assert_eq!(judged(2, 6), Fit::Fits(Work { numbers: 8.0, flops: Some(12.0) }));
        assert_eq!(judged(4, 6), Fit::Excluded("fuzz.valid: S % H == 0".into()));
        assert_eq!(judged(1, 1), Fit::Excluded("x has no elements".into()));
        assert!(matches!(judged(0, 4), Fit::Excluded(_)));
    }
}
