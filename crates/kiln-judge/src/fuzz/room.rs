//! What shapes may be. In: a selection. Out: for each dimension a range, or a list of values, and the scalars that may vary. `[fuzz]` in the kernel file
//! says so; where it does not, a dimension that arguments have as a side may be any size up to a little more than twice that
//! of the largest workload, and any other one (a flag, a layout, a value that a kernel is built for) what workloads have.

use std::sync::Arc;

use kiln_core::{Value, Workload};
use kiln_spec::{Argument, DimRoom, Implementation, Role, Selection};

use crate::fuzz::case::Shape;

/// What every dimension may be, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Room {
    /// Each with its name.
    pub dims: Vec<(Arc<str>, Extent)>,
    /// The shapes of the workloads for this target, in the order of the file.
    pub bases: Vec<Shape>,
    /// The scalars that may vary, in the order of the file.
    pub scalars: Vec<Arc<str>>,
}

/// What a dimension may be.
#[derive(Debug, Clone, PartialEq)]
pub enum Extent {
    /// Any integer from the first to the second.
    Whole(i64, i64),
    /// One of these, the simplest first.
    Listed(Vec<Value>),
}

impl Room {
    /// The room of a selection. Without workloads there is none.
    pub fn of(selection: &Selection<'_>) -> Room {
        let target = selection.target.kind.name();
        let fits = |w: &&Workload| w.is_for(target) && selection.answers(w);
        let mut workloads: Vec<&Workload> = selection.spec.workloads.iter().filter(fits).collect();
        // What was asked for comes first: it says what a case takes that says nothing.
        workloads.sort_by_key(|w| !selection.workloads.contains(w));
        let mut names: Vec<Arc<str>> = Vec::new();
        for (name, _) in workloads.iter().flat_map(|w| &w.dims) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let dims = names.into_iter().map(|name| {
            let extent = extent(selection, &workloads, &name);
            (name, extent)
        });
        let varies = |argument: &&Argument| {
            let stated = || selection.spec.fuzz.scalars.iter().any(|(name, _)| **name == *argument.name);
            argument.role == Role::Scalar && (argument.range.is_some() || stated())
        };
        let scalars = selection.spec.arguments.iter().filter(varies).map(|argument| Arc::from(&*argument.name));
        let (dims, scalars) = (dims.collect(), scalars.collect());
        Room { dims, bases: workloads.iter().map(|w| w.dims.clone()).collect(), scalars }
    }

    /// What a dimension may be.
    pub fn extent(&self, name: &str) -> Option<&Extent> {
        self.dims.iter().find(|(n, _)| **n == *name).map(|(_, extent)| extent)
    }
}

fn extent(selection: &Selection<'_>, workloads: &[&Workload], name: &str) -> Extent {
    let mut values: Vec<Value> = Vec::new();
    for value in workloads.iter().filter_map(|w| w.dim(name)) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    let whole: Option<Vec<i64>> = values.iter().map(|v| if let Value::Int(v) = v { Some(*v) } else { None }).collect();
    let fixed = is_built_for(selection, name);
    let stated = selection.spec.fuzz.dims.iter().find(|(n, _)| **n == *name).map(|(_, room)| room);
    match (stated, whole) {
        (Some(DimRoom::Range(low, high)), _) if !fixed => Extent::Whole(*low, *high),
        (Some(DimRoom::Values(stated)), _) if !fixed => Extent::Listed(sorted(stated.clone())),
        (None, Some(whole)) if !fixed && is_side(selection, name) => {
            let most = whole.iter().copied().max().unwrap_or(1).max(1);
            Extent::Whole(1, most.saturating_mul(2).saturating_add(1))
        }
        (Some(room), _) => {
            values.retain(|value| match (room, value) {
                (DimRoom::Range(low, high), Value::Int(v)) => (*low..=*high).contains(v),
                (DimRoom::Values(stated), value) => stated.contains(value),
                _ => true,
            });
            Extent::Listed(sorted(values))
        }
        (None, _) => Extent::Listed(sorted(values)),
    }
}

/// Integers from the smallest on; others as the file has them.
fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    let whole: Option<Vec<i64>> = values.iter().map(|v| if let Value::Int(v) = v { Some(*v) } else { None }).collect();
    if let Some(mut whole) = whole {
        whole.sort_unstable();
        values = whole.into_iter().map(Value::Int).collect();
    }
    values
}

/// Whether the kernels that are built have the dimension's value in their names.
fn is_built_for(selection: &Selection<'_>, name: &str) -> bool {
    let braces = format!("{{{name}}}");
    let named = |one: &Implementation| {
        let shared = one.entry.as_ref().or(selection.spec.entry.as_ref());
        let entries = one.launches.iter().filter_map(|launch| launch.entry.as_ref());
        !one.launches.is_empty() && entries.chain(shared).any(|entry| entry.contains(&braces))
    };
    selection.implementations.iter().any(|one| named(one))
}

/// Whether a dimension is a side of an argument.
fn is_side(selection: &Selection<'_>, name: &str) -> bool {
    let has = |argument: &Argument| {
        let names = argument.kind.shape.iter().flat_map(|formula| formula.expression.names());
        matches!(argument.role, Role::In | Role::Out | Role::Inout | Role::Constant)
            && names.into_iter().any(|(n, _)| &*n == name)
    };
    selection.spec.arguments.iter().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_spec::Choice;

    const FILE: &str = "[kernel]\nname = \"k\"\n[tunables]\nA = [1, 2]\n[target.cpu]\nsource = \"k.c\"\n\
        [target.cuda]\nsource = \"k.cu\"\nentry = \"k<{D}>\"\n[[target.cuda.launches]]\ngrid = \"S\"\nblock = 32\n\
        [[arguments]]\nname = \"x\"\ntype = \"f32[H, S, D]\"\nrole = \"in\"\n\
        [[arguments]]\nname = \"y\"\ntype = \"f32[H, S, D]\"\nrole = \"out\"\n\
        [[workloads]]\nname = \"a\"\ndims = { H = 2, S = 100, D = 128, CAUSAL = 1, LAYOUT = \"b\" }\n\
        [[workloads]]\nname = \"b\"\ndims = { H = 1, S = 64, D = 64, CAUSAL = 0, LAYOUT = \"a\" }\n";

    fn room(fuzz: &str, target: &str) -> Room {
        let (spec, _) = kiln_spec::parse("kernel.toml", format!("{FILE}{fuzz}").as_bytes()).unwrap();
        Room::of(&spec.select(Choice { target: Some(target), ..Choice::default() }).unwrap())
    }

    #[test]
    fn sides_have_ranges_and_everything_else_what_workloads_have() {
        let free = room("", "cpu");
        let int = |values: &[i64]| Extent::Listed(values.iter().map(|v| Value::Int(*v)).collect());
        assert_eq!(free.extent("S"), Some(&Extent::Whole(1, 201)));
        assert_eq!(free.extent("D"), Some(&Extent::Whole(1, 257)));
        assert_eq!(free.extent("CAUSAL"), Some(&int(&[0, 1])));
        assert_eq!(free.extent("LAYOUT"), Some(&Extent::Listed(vec![Value::Str("b".into()), Value::Str("a".into())])));
        assert_eq!(free.bases.len(), 2);
        // On the GPU there is a kernel for each D.
        assert_eq!(room("", "cuda").extent("D"), Some(&int(&[64, 128])));
    }

    #[test]
    fn the_file_may_state_it() {
        let stated = "[fuzz]\ndims = { S = [1, 4096], D = { values = [128, 32] } }\n";
        assert_eq!(room(stated, "cpu").extent("S"), Some(&Extent::Whole(1, 4096)));
        assert_eq!(room(stated, "cpu").extent("D"), Some(&Extent::Listed(vec![Value::Int(32), Value::Int(128)])));
        assert_eq!(room(stated, "cuda").extent("D"), Some(&Extent::Listed(vec![Value::Int(128)])));
    }
}
