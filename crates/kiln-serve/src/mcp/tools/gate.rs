//! `gate`: one configuration up the ladder.

use kiln_app::{Ends, Failure, GateRequest, Gated, KernelFile, Way, gate, gate_everywhere, lesson};
use kiln_show::{BuiltView, EverywhereView, GateView, LadderView, taught};
use serde_json::Value;

use crate::mcp::answer::Answer;
use crate::mcp::arguments::{Kind, may};
use crate::mcp::evidence::of_gate;
use crate::mcp::tool::{BOUNDED, CONFIG, Call, Effect, SELECTING, Tool};

pub(in crate::mcp) static GATE: Tool = Tool {
    name: "gate",
    title: "Take one configuration through the gates",
    about: "Evaluates every rule of the kernel file for one configuration, then builds, runs and checks it briefly, as far as this machine can. Cheap: use \
            it before check and bench. Passing means only that no gate refused it so far: `evidence.not_checked` says what was not looked at. With arch \
            `all` every architecture kiln knows is judged, and nothing is run.",
    arguments: &[
        SELECTING,
        CONFIG,
        &[may(
            "until",
            Kind::OneOf(&["run", "build", "rules"]),
            "how far to go: run it, only build it, or only evaluate the rules",
        )],
        BOUNDED,
    ],
    answers: &["kiln gate", "kiln gate --arch all"],
    own: None,
    effect: Effect::Runs,
    repeatable: false,
    measures: |given| given.real("minutes").filter(|_| given.words("until") == "run" && given.words("arch") != EVERY),
    run,
};

/// The architecture that stands for all of them.
const EVERY: &str = "all";

fn run(call: &Call<'_>) -> Result<Answer, Failure> {
    let file: KernelFile = call.file()?;
    let until = call.given.words("until");
    let request = GateRequest {
        selecting: call.selecting(),
        config: call.given.words("config"),
        only_rules: until == "rules",
        until_build: until == "build",
    };
    if request.selecting.arch.as_deref() == Some(EVERY) {
        let found = gate_everywhere(call.project, &file, &request, call.listener)?;
        let result = EverywhereView { rows: &found.rows }.json();
        let evidence = of_gate(&result, &until, None);
        return Ok(Answer::judged(found.ending(), result, evidence));
    }
    let gated = gate(call.project, &file, &request, call.listener)?;
    let lesson = lesson(call.project, &gated, Some(request.selecting.path.as_str()));
    let result = taught(object(&gated), lesson.as_ref());
    let evidence = of_gate(&result, &until, gated.way.note()).ran_on(&gated.ran_on);
    Ok(Answer::judged(gated.ending(), result, evidence))
}

/// The static rules with what came after them.
fn object(gated: &Gated<'_>) -> Value {
    let mut object = GateView::of(gated).json();
    object["passed"] = gated.passed().into();
    match &gated.way {
        Way::Static(_) => {}
        Way::Built(forged, _) => object["build"] = BuiltView { forged, verbose: true }.json(),
        Way::Climbed(evaluation) => object["ladder"] = LadderView { evaluation, verbose: true }.json(),
    }
    object
}
