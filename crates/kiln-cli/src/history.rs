//! `kiln history`: past studies, newest first.

use camino::Utf8Path;
use kiln_show::HistoryView;
use kiln_store::{Filter, Store};

use crate::args::HistoryArgs;
use crate::exit::{Failure, Success};
use crate::export;
use crate::load::load;
use crate::output;
use crate::past;
use crate::work;

pub(crate) fn run(args: &HistoryArgs) -> Result<Success, Failure> {
    if let (Some(_), Some(study)) = (args.export, &args.kernel) {
        return export::t4(study.as_str(), args.workload.as_deref(), args.output.as_deref());
    }
    let kernel = args.kernel.as_deref().map(kernel_name).transpose()?;
    let (mut studies, mut others) = (Vec::new(), Vec::new());
    if let Some(store) = past::store()? {
        // One more than is shown tells whether there are older ones.
        let filter = Filter { kernel: kernel.clone(), limit: Some(args.limit.saturating_add(1)) };
        studies = past::studies(&store, store.studies(&filter)?)?;
        if studies.is_empty() {
            others = kernels(&store)?;
        }
    }
    let more = studies.len() > args.limit as usize;
    studies.truncate(args.limit as usize);
    let place = work::store();
    let view = HistoryView { studies: &studies, place: &place, kernel: kernel.as_deref(), others: &others, more };
    output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(Success::Done)
}

/// The name of the kernel meant: that of the file where there is one, else what was typed.
fn kernel_name(words: &Utf8Path) -> Result<String, Failure> {
    let is_path = words.as_str().contains('/') || words.is_file() || words.join("kernel.toml").is_file();
    if is_path { Ok(load(words)?.spec.name) } else { Ok(words.to_string()) }
}

/// Kernels that have studies.
fn kernels(store: &Store) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = store.studies(&Filter::default())?.into_iter().map(|s| s.kernel).collect();
    names.sort();
    names.dedup();
    Ok(names)
}
