//! `kiln check`: is one configuration right? Fresh inputs, several distributions, every workload that is there for it.

use kiln_core::Outcome;
use kiln_judge::Level;
use kiln_show::CheckView;
use kiln_study::{Bench, CheckReport, Event, Settings, examine};

use crate::args::CheckArgs;
use crate::exit::{Failure, Success};
use crate::gate::complete;
use crate::load::load;
use crate::output;
use crate::seed::seed;
use crate::work;

pub(crate) fn run(args: &CheckArgs) -> Result<Success, Failure> {
    let loaded = load(&args.selecting.path)?;
    output::warnings(&loaded.warnings);
    let (selection, card) = work::runnable(&loaded, &args.selecting)?;
    let kernel = work::kernel(selection, &args.selecting.path)?;
    work::preflight(&kernel.selection, &args.selecting)?;
    let (config, _) = complete(&kernel.selection, &args.config)?;
    let settings = Settings { seed: seed(args.seed)?, ..Settings::default() };
    let listener = |event: &Event<'_>| {
        if let Event::Note { text } = event {
            eprintln!("note: {text}");
        }
    };
    let level = if args.full { Level::Suite } else { Level::Full };
    let mut reports: Vec<CheckReport> = Vec::new();
    let mut refused = kernel.broken(&config);
    if refused.is_none() {
        let _held = work::lock(card.as_ref())?;
        let mut bench = Bench::new(&kernel, &settings, work::surroundings(&listener, true, card.as_ref())?)?;
        refused = match bench.subject(&config)? {
            Outcome::Passed(subject) => examine(&bench, &subject, level, "check", |r| reports.push(r.clone()))?,
            Outcome::Refused(refusal) => Some((refusal, String::new())),
        };
    }
    let view = CheckView {
        kernel: &kernel,
        config: &config,
        level,
        seed: settings.seed,
        reports: &reports,
        refused: refused.as_ref(),
    };
    output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(if refused.is_none() { Success::Done } else { Success::Refused })
}
