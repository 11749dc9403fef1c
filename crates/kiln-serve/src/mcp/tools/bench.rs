//! `bench`, `compare` and `claims`: how fast, and how sure.

use kiln_app::{
    BenchRequest, ClaimsRequest, CompareRequest, Ends, Failure, Measuring, Outcome, Thresholds, baselines, bench,
    claims, compare,
};
use kiln_show::{BenchView, ClaimsView, CompareView, StandingView, quoted};
use serde_json::json;

use crate::mcp::answer::Answer;
use crate::mcp::arguments::{Kind, may, must};
use crate::mcp::evidence::{of_baselines, of_bench, of_claims, of_compare};
use crate::mcp::tool::{
    BOUNDED, CONFIG, Call, Effect, MEASURING, SAMPLES, SEED, SELECTING, STUDY, Tool, always, never,
};

pub(in crate::mcp) static BENCH: Tool = Tool {
    name: "bench",
    title: "Measure a configuration against baselines",
    about: "Measures one configuration against baselines or another configuration: interleaved, on fresh inputs, with workers of their own. Claim a speedup \
            only with its interval, its verdict, the baseline, the device and the cache state, and only for the workloads measured. `same` means no \
            difference that matters, `too_noisy` means that nothing can be said. Do not repeat a benchmark until it says what you hope for.",
    arguments: &[
        SELECTING,
        CONFIG,
        STUDY,
        MEASURING,
        &[
            may(
                "against",
                Kind::Text(4000),
                "another configuration as NAME=VALUE,..., or the study whose winner to compare with",
            ),
            may("baseline", Kind::Text(200), "one baseline instead of all"),
            may("only_baselines", Kind::Flag, "measure the baselines alone; needs no configuration that works"),
            may(
                "width",
                Kind::Real(0.1, 50.0, Some(1.0)),
                "measure until speedups are known to plus or minus this many per cent",
            ),
            may("max_samples", Kind::Whole(25, 5000, Some(500)), "samples on each side at most"),
            may("dead_zone", Kind::Real(0.0, 100.0, Some(3.0)), "differences below this many per cent count as equal"),
            may("holdouts", Kind::Flag, "include holdout workloads"),
        ],
        SEED,
        BOUNDED,
    ],
    answers: &["kiln bench", "kiln bench --baselines"],
    own: Some(
        || json!({ "type": "object", "properties": { "refused": { "type": "object" } }, "required": ["refused"] }),
    ),
    effect: Effect::Runs,
    repeatable: false,
    measures: always,
    run: benched,
};

pub(in crate::mcp) static COMPARE: Tool = Tool {
    name: "compare",
    title: "Compare two runs",
    about: "Compares two benchmarks measured at different times: regression, improvement, no significant difference, too noisy, or identical machine code. Runs \
            nothing. The verdict is about these two runs alone, and not about correctness. Runs of different devices, caches or threads are refused \
            unless `anyway` is given; then say so with the result.",
    arguments: &[&[
        must("base", Kind::Named, "the run to compare with: a run file, a recorded run's id, or `last`"),
        must("candidate", Kind::Named, "the run that is judged"),
        may("side", Kind::Text(200), "the side of both runs that is compared; default: the candidate's"),
        may("plain", Kind::Flag, "compare times as they are, without a baseline that both have"),
        may("anyway", Kind::Flag, "compare runs of other devices, caches or threads"),
        may("regression", Kind::Real(0.0, 1000.0, Some(3.0)), "per cent more time that make a regression"),
        may("improvement", Kind::Real(0.0, 1000.0, Some(10.0)), "per cent of speedup that make an improvement"),
    ]],
    answers: &["kiln compare"],
    own: None,
    effect: Effect::Looks,
    repeatable: true,
    measures: never,
    run: compared,
};

pub(in crate::mcp) static CLAIMS: Tool = Tool {
    name: "claims",
    title: "Check claimed figures",
    about: "Measures what a file of claims states and says of each: confirmed, refuted with the measured figure, or unverifiable here and why. Unverifiable is \
            not confirmed. Do not widen a claim's tolerance to have it confirmed.",
    arguments: &[
        &[
            must("file", Kind::File, "the file of claims, such as claims.toml"),
            may("device", Kind::Text(200), "GPU: its index or UUID; default: 0"),
            SAMPLES,
            may(
                "width",
                Kind::Real(0.1, 50.0, Some(2.0)),
                "measure until figures are known to plus or minus this many per cent",
            ),
            may("max_samples", Kind::Whole(25, 5000, Some(300)), "samples on each side at most"),
        ],
        SEED,
        BOUNDED,
    ],
    answers: &["kiln claims"],
    own: None,
    effect: Effect::Runs,
    repeatable: false,
    measures: always,
    run: claimed,
};

fn benched(call: &Call<'_>) -> Result<Answer, Failure> {
    let file = call.file()?;
    let given = &call.given;
    let request = BenchRequest {
        selecting: call.selecting(),
        measuring: call.measuring(),
        config: given.words("config"),
        study: given.text("study"),
        against: given.text("against"),
        baseline: given.text("baseline"),
        width: given.real("width").unwrap_or(1.0),
        max_samples: given.whole("max_samples").unwrap_or(500),
        early: false,
        dead_zone: given.real("dead_zone").unwrap_or(3.0),
        all: given.flag("holdouts"),
        save: None,
    };
    if given.flag("only_baselines") {
        let found = baselines(call.project, &file, &request, call.listener)?;
        let result = StandingView { found: &found }.json();
        let evidence = of_baselines(&result).ran_on(&found.ran_on);
        return Ok(Answer::judged(found.ending(), result, evidence));
    }
    let done = bench(call.project, &file, &request, call.listener)?;
    let result = match &done.outcome {
        Outcome::Refused(refusal) => json!({ "refused": refusal }),
        Outcome::Passed(figures) => BenchView {
            kernel: &done.kernel,
            config: &done.config,
            settings: &done.settings,
            processor: &done.hardware,
            figures,
            left: &done.left,
        }
        .json(),
    };
    // What names the measured code more closely than the verb's own object.
    let mut named = result.clone();
    (named["variant"], named["git_commit"]) = (json!(done.kernel.variant()), json!(done.commit()));
    let evidence = of_bench(&named, &done.holdouts_left()).ran_on(&done.ran_on);
    Ok(Answer::judged(done.ending(), result, evidence))
}

fn compared(call: &Call<'_>) -> Result<Answer, Failure> {
    let given = &call.given;
    let per_cent = |name: &str, usual: f64| given.real(name).unwrap_or(usual) / 100.0;
    let request = CompareRequest {
        base: given.words("base"),
        candidate: given.words("candidate"),
        side: given.text("side"),
        plain: given.flag("plain"),
        anyway: given.flag("anyway"),
        thresholds: Thresholds {
            dead_zone: per_cent("regression", 3.0),
            improvement: per_cent("improvement", 10.0),
            ..Thresholds::mission()
        },
    };
    // Two runs side by side are no new attempt.
    let compared = compare(&call.project.clone().unrecorded(), &request)?;
    let command = format!("{} compare {} {}", call.kiln, quoted(&request.base), quoted(&request.candidate));
    let result = CompareView { compared: &compared, command: &command }.json();
    let evidence = of_compare(&result);
    Ok(Answer::judged(compared.ending(), result, evidence))
}

fn claimed(call: &Call<'_>) -> Result<Answer, Failure> {
    let given = &call.given;
    let request = ClaimsRequest {
        file: given.path("file").unwrap_or_default(),
        measuring: Measuring { cold: false, warm: false, threads: 1, ..call.measuring() },
        device: given.text("device"),
        width: given.real("width").unwrap_or(2.0),
        max_samples: given.whole("max_samples").unwrap_or(300),
    };
    let claimed = claims(call.project, &request, call.listener)?;
    let result = ClaimsView { claimed: &claimed }.json();
    let evidence = of_claims(&result);
    Ok(Answer::judged(claimed.ending(), result, evidence))
}
