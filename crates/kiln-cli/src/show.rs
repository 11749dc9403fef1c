//! `kiln show`: a study's story, from its record.

use kiln_core::Fault;
use kiln_show::StudyView;

use crate::args::ShowArgs;
use crate::exit::{Failure, Success};
use crate::importance;
use crate::output;
use crate::past;
use crate::repeat::repeat;
use crate::work;

pub(crate) fn run(args: &ShowArgs) -> Result<Success, Failure> {
    let store = past::store()?.ok_or_else(|| {
        Fault::new(format!("looking for study `{}`", args.study), format!("there is no {} here", work::store()))
            .hint("`kiln tune PATH` makes one; run kiln in the folder you tuned in")
    })?;
    let study = store.find(&args.study)?;
    let (trials, notes, repeat) = (store.trials(&study.id)?, store.notes(&study.id)?, repeat(&study));
    if args.importance {
        return importance::run(&study, &trials, args.json);
    }
    let past = past::as_it_stands(study, &trials);
    let view = StudyView { past: &past, trials: &trials, notes: &notes, repeat: &repeat };
    output::data(&match args {
        ShowArgs { json: true, .. } => format!("{}\n", view.json()),
        ShowArgs { refusals: true, .. } => view.refusals(),
        ShowArgs { trials: true, .. } => view.every_trial(),
        _ => view.to_string(),
    })?;
    Ok(Success::Done)
}
