//! `check` and `fuzz`: is it right?

use kiln_app::{CheckRequest, Ends, Failure, FuzzRequest, check, fuzz, lesson};
use kiln_show::{CheckView, FuzzView, taught};

use crate::mcp::answer::Answer;
use crate::mcp::arguments::{Kind, may};
use crate::mcp::evidence::{of_check, of_fuzz};
use crate::mcp::tool::{BOUNDED, CONFIG, Call, Effect, SEED, SELECTING, STUDY, Tool, always};

pub(in crate::mcp) static CHECK: Tool = Tool {
    name: "check",
    title: "Check that a configuration is correct",
    about: "Runs one configuration on fresh inputs and holds every output against the reference in double precision. You may claim that this configuration \
            passed these questions with this seed; never that the kernel is correct in general, and nothing about speed. Never change the reference, the \
            tolerance or the inputs to make it pass.",
    arguments: &[
        SELECTING,
        CONFIG,
        STUDY,
        &[may("full", Kind::Flag, "the whole suite: every distribution, every workload, more reruns")],
        SEED,
        BOUNDED,
    ],
    answers: &["kiln check"],
    own: None,
    effect: Effect::Runs,
    repeatable: false,
    measures: always,
    run: checked,
};

pub(in crate::mcp) static FUZZ: Tool = Tool {
    name: "fuzz",
    title: "Check shapes and inputs nobody listed",
    about: "Draws shapes (edges of tiles, odd and extreme sizes), inputs and configurations, checks each against the reference, and shrinks what fails to the \
            smallest failing case. You may claim how many cases on how many shapes passed, with the seed. `validated` takes runs: 100. Passing is \
            evidence, not a proof.",
    arguments: &[
        SELECTING,
        CONFIG,
        STUDY,
        &[
            may("baseline", Kind::Text(200), "fuzz this baseline instead of the kernel"),
            may("suite", Kind::Text(200), "the shapes of a suite instead of drawn ones"),
            may("case", Kind::Text(1000), "one case, such as `S=65,D=64; inputs=spike; seed=3`"),
            may("cases", Kind::Whole(1, 100_000, Some(100)), "cases to check"),
            may("runs", Kind::Whole(1, 10_000, None), "good runs of one configuration; 100 make it validated"),
            may("configs", Kind::Whole(1, 1000, Some(8)), "configurations at most, the default included"),
            may(
                "jobs",
                Kind::Whole(1, 1024, None),
                "cases at the same time; default: one for each processor, 1 on a GPU",
            ),
        ],
        SEED,
        &[
            may("minutes", Kind::Real(0.1, 120.0, Some(2.0)), "time budget; what was not run is reported"),
            may("build_limit_s", Kind::Real(1.0, 600.0, Some(120.0)), "a build that takes longer is refused"),
        ],
    ],
    answers: &["kiln fuzz"],
    own: None,
    effect: Effect::Runs,
    repeatable: false,
    // Its own budget ends it in order; this is for what does not heed that.
    measures: |given| given.real("minutes").map(|minutes| minutes + 10.0),
    run: fuzzed,
};

fn checked(call: &Call<'_>) -> Result<Answer, Failure> {
    let file = call.file()?;
    let given = &call.given;
    let selecting = call.selecting();
    let request = CheckRequest {
        selected: selecting.workload.as_deref().is_some_and(|name| name != "all"),
        selecting,
        config: given.words("config"),
        study: given.text("study"),
        full: given.flag("full"),
        seed: given.whole("seed"),
    };
    let checked = check(call.project, &file, &request, call.listener)?;
    let view = CheckView {
        kernel: &checked.kernel,
        config: &checked.config,
        level: checked.level,
        seed: checked.seed,
        reports: &checked.reports,
        refused: checked.refused.as_ref(),
        verbose: true,
    };
    let lesson = lesson(call.project, &checked, Some(request.selecting.path.as_str()));
    let result = taught(view.json(), lesson.as_ref());
    let evidence = of_check(&result).ran_on(&checked.ran_on);
    Ok(Answer::judged(checked.ending(), result, evidence))
}

fn fuzzed(call: &Call<'_>) -> Result<Answer, Failure> {
    let file = call.file()?;
    let given = &call.given;
    let request = FuzzRequest {
        selecting: call.selecting(),
        config: given.words("config"),
        study: given.text("study"),
        baseline: given.text("baseline"),
        suite: given.text("suite"),
        case: given.text("case"),
        cases: given.whole("cases").unwrap_or(100),
        minutes: given.real("minutes").unwrap_or(2.0),
        runs: given.whole("runs"),
        configs: given.whole("configs").unwrap_or(8),
        jobs: given.whole("jobs"),
        seed: given.whole("seed"),
    };
    let fuzzed = fuzz(call.project, &file, &request, call.listener)?;
    let (selecting, typed) = (&request.selecting, request.case.is_some());
    let result = FuzzView { fuzzed: &fuzzed, selecting, kiln: call.kiln, typed, verbose: true }.json();
    let evidence = of_fuzz(&result).ran_on(&fuzzed.ran_on);
    Ok(Answer::judged(fuzzed.ending(), result, evidence))
}
