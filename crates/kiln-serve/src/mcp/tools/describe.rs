//! `describe`: a kernel and its space.

use kiln_app::{Failure, SpaceRequest, space};
use kiln_show::SpaceView;

use crate::mcp::answer::Answer;
use crate::mcp::arguments::{Kind, may};
use crate::mcp::tool::{Call, Effect, SEED, SELECTING, Tool, never};

pub(in crate::mcp) static DESCRIBE: Tool = Tool {
    name: "describe",
    title: "A kernel and its space",
    about: "Reads kernel.toml and counts its configuration space: tunables with their values, constraints and what each removes, rules of the device, \
            and on request valid configurations drawn at random. Runs and builds nothing. A valid configuration is one that no rule refuses: it may \
            still not build, be wrong or be slow.",
    arguments: &[
        SELECTING,
        &[may("sample", Kind::Whole(0, 200, Some(0)), "so many valid configurations, all equally likely")],
        SEED,
    ],
    answers: &["kiln space"],
    own: None,
    effect: Effect::Looks,
    repeatable: true,
    measures: never,
    run,
};

fn run(call: &Call<'_>) -> Result<Answer, Failure> {
    let file = call.file()?;
    let sample = call.given.whole("sample").unwrap_or_default();
    let request =
        SpaceRequest { selecting: call.selecting(), sample, seed: call.given.whole("seed").unwrap_or_default() };
    let found = space(&file, &request)?;
    let removals = found.removals();
    let warnings = found.warnings(&removals);
    let view = SpaceView {
        selection: &found.selection,
        problem: &found.problem,
        space: &found.space,
        removals: &removals,
        seconds: found.seconds,
        recorded: found.recorded,
        configs: &found.configs,
        warnings: &warnings,
    };
    Ok(Answer::found(view.json(sample > 0)))
}
