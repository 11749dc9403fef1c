//! `sanitize`: the cause of a fault.

use kiln_app::{Ends, Failure, SanitizeRequest, lesson, sanitize};
use kiln_show::{SanitizeView, taught};

use crate::mcp::answer::Answer;
use crate::mcp::arguments::{Kind, may};
use crate::mcp::evidence::of_sanitizer;
use crate::mcp::tool::{BOUNDED, CONFIG, Call, Effect, SEED, SELECTING, STUDY, Tool, always};

pub(in crate::mcp) static SANITIZE: Tool = Tool {
    name: "sanitize",
    title: "Find the cause of a fault",
    about: "Runs one configuration under memory and race checkers and folds what they say into causes with line and fix. Use it when a gate refuses with a \
            crash, a wrong result or a result that changes. `clean` means that the tools found nothing on these inputs; `inconclusive` and `not_run` mean \
            that nothing is known. Never report those two as clean.",
    arguments: &[
        SELECTING,
        CONFIG,
        STUDY,
        &[
            may("case", Kind::Text(1000), "a case as fuzz prints it, instead of workloads; it has its own seed"),
            may("tools", Kind::Texts(4, 20), "memcheck, racecheck, initcheck, synccheck; default: all that make sense"),
            may("limit_s", Kind::Real(1.0, 600.0, Some(60.0)), "seconds that one run of a tool may take"),
        ],
        SEED,
        BOUNDED,
    ],
    answers: &["kiln sanitize"],
    own: None,
    effect: Effect::Runs,
    repeatable: false,
    measures: always,
    run,
};

fn run(call: &Call<'_>) -> Result<Answer, Failure> {
    let file = call.file()?;
    let given = &call.given;
    let request = SanitizeRequest {
        selecting: call.selecting(),
        config: given.words("config"),
        study: given.text("study"),
        case: given.words("case"),
        tools: given.texts("tools"),
        limit: given.real("limit_s"),
        seed: given.whole("seed"),
    };
    let sanitized = sanitize(call.project, &file, &request, call.listener)?;
    let lesson = lesson(call.project, &sanitized, Some(request.selecting.path.as_str()));
    let result = taught(SanitizeView { sanitized: &sanitized, verbose: true }.json(), lesson.as_ref());
    let evidence = of_sanitizer(&result);
    Ok(Answer::judged(sanitized.ending(), result, evidence))
}
