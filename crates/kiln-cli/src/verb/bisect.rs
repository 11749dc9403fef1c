//! `kiln bisect`: the commit that broke a kernel, or made it slow.

use kiln_app::{BisectRequest, BisectUntil, Ending, Ends, Failure, Project, bisect};
use kiln_show::{BisectView, quoted};

use crate::args::BisectArgs;
use crate::hearing::Hearing;

pub(crate) fn run(project: &Project, args: &BisectArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::progress(&args.hearing, args.json)?;
    let request = BisectRequest {
        selecting: (&args.selecting).into(),
        measuring: args.measuring.at_most(args.max_samples),
        config: args.config.clone(),
        good: args.good.clone(),
        bad: args.bad.clone(),
        until: BisectUntil::parse(&args.until)?,
        width: args.width,
        max_samples: args.max_samples,
        restart: args.restart,
    };
    let found = bisect(project, &request, &|event: &_| hearing.hear(event))?;
    // As it was typed, but for what forgets.
    let typed = std::env::args().skip(1).filter(|word| word != "--restart");
    let words: Vec<String> = typed.map(|word| quoted(&word).to_string()).collect();
    let command = format!("kiln {}", words.join(" "));
    let view = BisectView { found: &found, command: &command };
    hearing.data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(found.ending())
}
