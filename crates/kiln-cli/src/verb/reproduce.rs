//! `kiln reproduce`: a result, measured again.

use kiln_app::{Ending, Ends, Failure, Project, ReproduceRequest, Thresholds, reproduce};
use kiln_show::{ReproduceView, quoted};

use super::compare::fraction;
use crate::args::ReproduceArgs;
use crate::hearing::Hearing;

pub(crate) fn run(project: &Project, args: &ReproduceArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::progress(&args.hearing, args.json)?;
    let request = ReproduceRequest {
        what: args.what.clone(),
        path: args.path.clone(),
        device: args.device.clone(),
        samples: args.samples,
        seed: args.seed,
        thresholds: Thresholds { dead_zone: fraction("--regression", args.regression)?, ..Thresholds::mission() },
    };
    let reproduced = reproduce(project, &request, &|event: &_| hearing.hear(event))?;
    let command = format!("kiln reproduce {}", quoted(&args.what));
    let view = ReproduceView { reproduced: &reproduced, command: &command };
    hearing.data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(reproduced.ending())
}
