//! `kiln simulate`: searches replayed on recorded spaces.

use kiln_app::{Ending, Failure, Project, SimulateRequest, Simulated, simulate, write_whole};
use kiln_show::{ConvergenceFigure, SimulateView};

use crate::args::SimulateArgs;
use crate::hearing::Hearing;
use crate::output;

pub(crate) fn run(project: &Project, args: &SimulateArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::progress(&args.hearing, args.json)?;
    let repeats = args.repeats as usize;
    let request = SimulateRequest {
        files: args.files.clone(),
        strategy: args.strategy.clone(),
        budget: args.budget as usize,
        repeats,
        seed: args.seed,
        prior: args.prior.clone(),
        invert_prior: args.invert_prior,
        noise: args.noise,
        constant: args.constant.clone(),
        threads: args.threads.map(|threads| threads as usize),
    };
    let done = simulate(project, &request, &|event| hearing.hear(event))?;
    let Simulated::Ended { spaces, curves, remarks } = done else { return Ok(Ending::Interrupted) };
    if let Some(file) = &args.figure {
        write_whole(file, ConvergenceFigure::new(repeats, &curves).svg().as_bytes())?;
        output::note(&format!("wrote {file}"));
    }
    let view = SimulateView { spaces: &spaces, repeats, remarks: &remarks };
    hearing.data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(Ending::Done)
}
