//! A case of one's own: dimensions beside those of a workload. In: a kernel file, the workload and what was typed. Out: the same
//! file with one workload more, and a selection of that. Refuses names and kinds of values that the workload does not have.

use kiln_core::{Config, Report, Use, Value, Workload, nearest};

use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting};

/// The name of the workload.
const NAME: &str = "case";

/// The file with the case, and the case selected.
pub(super) fn with(
    file: &KernelFile,
    selecting: &Selecting,
    base: Option<&Workload>,
    typed: &str,
) -> Result<(KernelFile, Selecting), Failure> {
    let given = Config::parse(typed).map_err(|e| Report::error(format!("--case: {e}")))?;
    let Some(base) = base else {
        return Err(Report::error("--case: the kernel file has no workloads, and so no dimensions").into());
    };
    let mut dims = base.dims.clone();
    for (name, value) in given.iter() {
        let Some((_, old)) = dims.iter_mut().find(|(known, _)| known == name) else {
            let known = || base.dims.iter().map(|(known, _)| &**known);
            let near = nearest(name, known()).map(|near| format!("did you mean {near}?"));
            let report = Report::error(format!("--case: {name} is not a dimension"));
            let names: Vec<&str> = known().collect();
            return Err(report.label(format!("expected one of {}", names.join(", "))).maybe_hint(near).into());
        };
        if std::mem::discriminant(old) != std::mem::discriminant(value) {
            let report = Report::error(format!("--case: {name} = {value} is not {}", kind(old)));
            return Err(report.label(format!("in workload {} it is {old}", base.name)).into());
        }
        *old = value.clone();
    }
    let workload = Workload { name: NAME.into(), dims, use_for: Use::Check, targets: Vec::new(), weight: 1.0 };
    let mut spec = file.spec.clone();
    spec.workloads.retain(|workload| &*workload.name != NAME);
    spec.workloads.push(workload);
    let (recorded, warnings, read_at) = (file.recorded, Vec::new(), file.read_at);
    let selecting = Selecting { workload: Some(NAME.into()), ..selecting.clone() };
    Ok((KernelFile { spec, recorded, warnings, read_at }, selecting))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "true or false",
        Value::Int(_) => "an integer",
        Value::Float(_) => "a number with a point",
        Value::Str(_) => "a word",
    }
}
