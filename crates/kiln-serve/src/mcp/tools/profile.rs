//! `profile` and `diagnose`: what a kernel's time goes to, and what other tools' files say.

use kiln_app::{
    DiagnoseRequest, Ends, Failure, KernelFile, PredictRequest, ProfileCompareRequest, ProfileDiagnoseRequest,
    ProfileLevel, ProfileRequest, Report, Selecting, calibration, compare_profiles, diagnose, diagnose_profile, lesson,
    predict_kernel, profile,
};
use kiln_show::{CalibrationView, ComparedProfilesView, DiagnosedProfileView, PredictedView, ProfileView, taught};
use serde_json::json;

use crate::mcp::answer::Answer;
use crate::mcp::arguments::{Kind, may};
use crate::mcp::evidence::{Evidence, of_limit, of_sanitizer};
use crate::mcp::tool::{BOUNDED, CONFIG, Call, Effect, SEED, SELECTING, STUDY, Tool, always, never};

pub(in crate::mcp) static PROFILE: Tool = Tool {
    name: "profile",
    title: "Find what limits a kernel",
    about: "Profiles one configuration or a baseline, names the cause of its time with the evidence, and ranks the fixes. Use it before you optimise, not after a \
            guess failed. A promised speedup is an estimate: change the kernel, check it, bench it, and report what was measured. With `coarse: true` no \
            hardware counters were read, and confidence is at most 0.5.",
    arguments: &[
        SELECTING,
        CONFIG,
        STUDY,
        &[
            may("baseline", Kind::Text(200), "a baseline instead of a configuration"),
            may(
                "level",
                Kind::OneOf(&["quick", "full"]),
                "what the diagnosis reads, or everything the profiler collects",
            ),
            may(
                "limit_s",
                Kind::Real(1.0, 1200.0, None),
                "seconds that the profiler may take; default: 60, 180 with level full",
            ),
        ],
        SEED,
        BOUNDED,
    ],
    answers: &["kiln profile"],
    own: None,
    effect: Effect::Runs,
    repeatable: false,
    measures: always,
    run: profiled,
};

pub(in crate::mcp) static DIAGNOSE: Tool = Tool {
    name: "diagnose",
    title: "Read other tools' logs and profiles",
    about: "Names the cause behind a sanitizer's log (`logs`), what a kernel's time goes to by a page of ncu (`ncu`, with `against` two pages side by side), what is \
            expected of a kernel before it runs (`predict`), or what earlier promises were worth (`calibration`). Runs nothing of the project. Give exactly one \
            of the four. A prediction is no measurement; `inconclusive` and `not_run` are not clean.",
    arguments: &[
        &[
            may("logs", Kind::Files(16), "logs of compute-sanitizer or of a compiler's sanitizers"),
            may("ncu", Kind::File, "raw page of Nsight Compute (CSV), or a report where ncu is installed"),
            may("against", Kind::File, "with ncu: another profile to compare with"),
            may("details", Kind::File, "with ncu: the details page of the same report"),
            may("ptxas", Kind::File, "with ncu: a compiler's log with -Xptxas -v"),
            may("source_page", Kind::File, "with ncu: the source page of the same report"),
            may("sources", Kind::Files(16), "the kernel's sources"),
            may("predict", Kind::Flag, "predict the least time and the likely bottleneck of the kernel at path"),
            may("calibration", Kind::Flag, "hold what earlier profiles promised against what came of it"),
            may("path", Kind::File, "with predict or calibration: the kernel"),
            may("arch", Kind::Text(40), "with predict: GPU architecture; it need not be here"),
            may("board", Kind::Text(100), "with predict: board, such as h200"),
            may("workload", Kind::Text(200), "with predict: one workload"),
            may("variant", Kind::Text(200), "with predict: dtype of a type variable"),
        ],
        CONFIG,
    ],
    answers: &[
        "kiln diagnose",
        "kiln diagnose --ncu",
        "kiln diagnose --ncu --against",
        "kiln diagnose --predict",
        "kiln diagnose --calibration",
    ],
    own: None,
    effect: Effect::Looks,
    repeatable: true,
    measures: never,
    run: diagnosed,
};

fn profiled(call: &Call<'_>) -> Result<Answer, Failure> {
    let file = call.file()?;
    let given = &call.given;
    let request = ProfileRequest {
        selecting: call.selecting(),
        config: given.words("config"),
        study: given.text("study"),
        baseline: given.text("baseline"),
        level: if given.words("level") == "full" { ProfileLevel::Full } else { ProfileLevel::Quick },
        limit: given.real("limit_s"),
        seed: given.whole("seed"),
    };
    let profiled = profile(call.project, &file, &request, call.listener)?;
    let lesson = lesson(call.project, &profiled, Some(request.selecting.path.as_str()));
    let result = taught(ProfileView { profiled: &profiled, verbose: true }.json(), lesson.as_ref());
    let evidence = of_limit(&result, "this profile").ran_on(&profiled.ran_on);
    Ok(Answer::judged(profiled.ending(), result, evidence))
}

fn diagnosed(call: &Call<'_>) -> Result<Answer, Failure> {
    let given = &call.given;
    let (logs, page) = (given.paths("logs"), given.path("ncu"));
    let asked = [!logs.is_empty(), page.is_some(), given.flag("predict"), given.flag("calibration")];
    if asked.iter().filter(|asked| **asked).count() != 1 {
        let report = Report::error("nothing, or more than one thing, is to be diagnosed");
        return Err(report.label("expected exactly one of logs, ncu, predict, calibration").into());
    }
    match page {
        Some(page) => of_page(call, page),
        None if given.flag("predict") => predicted(call),
        None if given.flag("calibration") => {
            let found = calibration(call.project, given.path("path").as_deref())?;
            Ok(Answer::found(CalibrationView { calibration: &found }.json()))
        }
        None => {
            let found = diagnose(&DiagnoseRequest { logs, sources: given.paths("sources") })?;
            let lesson = lesson(call.project, &found, None);
            let result = taught(json!(found), lesson.as_ref());
            let evidence = of_sanitizer(&result);
            Ok(Answer::judged(found.ending(), result, evidence))
        }
    }
}

fn of_page(call: &Call<'_>, page: kiln_app::Utf8PathBuf) -> Result<Answer, Failure> {
    let given = &call.given;
    if let Some(against) = given.path("against") {
        let compared = compare_profiles(&ProfileCompareRequest { page, against, sources: given.paths("sources") })?;
        let result = ComparedProfilesView { compared: &compared }.json();
        let evidence = Evidence {
            verdict: "compared".into(),
            not_checked: vec!["times under a profiler are no benchmark (bench)".into()],
            may_claim: "What differs between two profiles; no speedup.".into(),
            ..Evidence::default()
        };
        return Ok(Answer::judged(compared.ending(), result, evidence));
    }
    let request = ProfileDiagnoseRequest {
        page,
        details: given.path("details"),
        ptxas: given.path("ptxas"),
        sources: given.paths("sources"),
        source_page: given.path("source_page"),
        why: None,
    };
    let profile = diagnose_profile(call.project, &request)?;
    let lesson = lesson(call.project, &profile, None);
    let result = taught(DiagnosedProfileView { profile: &profile, verbose: true }.json(), lesson.as_ref());
    let evidence = of_limit(&result, "this page");
    Ok(Answer::judged(profile.ending(), result, evidence))
}

fn predicted(call: &Call<'_>) -> Result<Answer, Failure> {
    let given = &call.given;
    let path = given.path("path").unwrap_or_else(|| ".".into());
    let file = KernelFile::read(&path)?;
    let named = given.text("arch").is_some() || given.text("board").is_some();
    let selecting = Selecting {
        path,
        target: named.then(|| "cuda".into()),
        arch: given.text("arch"),
        workload: given.text("workload"),
        variant: given.text("variant"),
        ..Selecting::default()
    };
    let request = PredictRequest { selecting, config: given.words("config"), board: given.text("board") };
    let predicted = predict_kernel(call.project, &file, &request)?;
    let result = PredictedView { predicted: &predicted }.json();
    let evidence = Evidence {
        verdict: "predicted".into(),
        not_checked: vec!["everything: nothing was run".into()],
        may_claim: "What the file's cost and the GPU's peaks allow at best; no measurement.".into(),
        ..Evidence::default()
    };
    Ok(Answer::judged(predicted.ending(), result, evidence))
}
