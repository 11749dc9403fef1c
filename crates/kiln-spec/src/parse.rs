//! The way from a file to a [`KernelSpec`]: bytes, text, TOML, tables, names, targets. In: a file's name and bytes. Out:
//! the spec and its warnings. Refuses with every error of the file at once, in file order.

use kiln_core::Report;

use crate::merge::merge_targets;
use crate::model::{KernelSpec, Source};
use crate::names::check::check_formulas;
use crate::names::coverage::check_coverage;
use crate::reading::draft::read_draft;
use crate::reading::file::read_text;
use crate::reading::log::Log;
use crate::reading::syntax::read_document;

/// Reads a kernel file. `name` is only shown in messages. Ok holds warnings; Err holds errors, at most twenty and then
/// one that counts the rest.
pub fn parse(name: &str, bytes: &[u8]) -> Result<(KernelSpec, Vec<Report>), Vec<Report>> {
    let text = read_text(name, bytes)?;
    let source = Source { name: name.into(), text: text.into() };
    let log = Log::new(source.clone());
    let spec = read_spec(&log, source);
    let (errors, warnings) = log.finish();
    match spec {
        Some(spec) if errors.is_empty() => Ok((spec, warnings)),
        _ => Err(errors),
    }
}

/// The spec as far as it could be read; only whole when the log has no errors.
fn read_spec(log: &Log, source: Source) -> Option<KernelSpec> {
    let document = read_document(log)?;
    let draft = read_draft(log, document.get_ref());
    let checked = check_formulas(log, &draft);
    check_coverage(log, &draft, &checked.uses);
    let targets = merge_targets(log, &draft, &checked);
    Some(KernelSpec {
        source,
        name: draft.kernel.name,
        description: draft.kernel.description,
        entry: draft.kernel.entry,
        host: draft.kernel.host,
        targets,
        arguments: draft.arguments.into_iter().filter_map(|a| a.body).collect(),
        cost: draft.cost,
        workloads: draft.workloads.into_iter().map(|w| w.workload).collect(),
        objective: draft.objective,
        reference: draft.reference,
        gates: draft.gates,
        environment: draft.environment,
        fuzz: draft.fuzz,
        export: draft.export,
        sweep: draft.sweep,
    })
}
