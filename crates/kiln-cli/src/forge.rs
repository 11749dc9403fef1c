//! `--until build`: what the compiler makes of configurations, and what would be refused, on a machine without a GPU.

use std::collections::BTreeMap;

use kiln_build::Toolchain;
use kiln_core::{Config, Outcome, Report};
use kiln_show::{ForgeView, Progress};
use kiln_spec::Choice;
use kiln_study::{Event, Forged, Kernel, forge, toolchain};

use crate::args::{Selecting, TuneArgs};
use crate::exit::{Failure, Success};
use crate::load::{Loaded, load};
use crate::output;
use crate::seed::seed;
use crate::work;

/// Configurations built unless told otherwise: as many as a study would try.
const TRIALS: usize = 120;

/// The kernel for a target that is only compiled: the one asked for, else the file's first.
pub(crate) fn kernel<'a>(loaded: &'a Loaded, selecting: &Selecting) -> Result<Kernel<'a>, Failure> {
    let choice = Choice {
        target: selecting.target.as_deref(),
        arch: selecting.arch.as_deref(),
        workload: selecting.workload.as_deref(),
        variant: selecting.variant.as_deref(),
    };
    work::kernel(loaded.spec.select(choice)?, &selecting.path)
}

/// Builds the default and a spread of others, or all where there are not more.
pub(crate) fn run(args: &TuneArgs) -> Result<Success, Failure> {
    let loaded = load(&args.selecting.path)?;
    output::warnings(&loaded.warnings);
    let kernel = kernel(&loaded, &args.selecting)?;
    let wanted = args.trials.unwrap_or(TRIALS);
    let seed = seed(args.measuring.seed)?;
    let configs = chosen(&kernel, wanted, seed);
    let toolchain = toolchain(&kernel, &work::program()?)?;
    let (title, planned) = (toolchain.title(), configs.len());
    let progress = Progress::new();
    let mut forged: Vec<Forged> = Vec::with_capacity(planned);
    progress.hear(&Event::Phase { phase: "build", planned });
    forge(&kernel, toolchain, &work::cache(), work::stopped(), configs, |one| {
        forged.push(one);
        progress.hear(&Event::Step { phase: "build", done: forged.len(), planned });
    })?;
    let mut refused: BTreeMap<kiln_core::Gate, usize> = BTreeMap::new();
    for one in &forged {
        if let Outcome::Refused(refusal) = &one.outcome {
            *refused.entry(refusal.gate).or_insert(0) += 1;
        }
    }
    let view = ForgeView { kernel: &kernel, compiler: &title, forged: &forged, refused: &refused, seed };
    output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(if refused.values().sum::<usize>() < forged.len() { Success::Done } else { Success::Refused })
}

/// Every configuration where there are no more than wanted, else the default and a spread.
fn chosen(kernel: &Kernel<'_>, wanted: usize, seed: u64) -> Vec<Config> {
    let space = &kernel.space;
    if space.len() <= wanted as u128 {
        return space.iter().map(|point| space.config(&point)).collect();
    }
    let default = kernel.default_config();
    let spread = space.latin(wanted, seed).into_iter().map(|point| space.config(&point));
    let others: Vec<Config> = spread.filter(|config| Some(config) != default.as_ref()).collect();
    default.into_iter().chain(others).take(wanted.max(1)).collect()
}

/// One configuration, for `kiln gate`.
pub(crate) fn one(kernel: &Kernel<'_>, toolchain: Toolchain, config: &Config) -> Result<Forged, Failure> {
    let mut found = None;
    forge(kernel, toolchain, &work::cache(), work::stopped(), vec![config.clone()], |one| found = Some(one))?;
    found.ok_or_else(|| Report::error("nothing was built").into())
}
