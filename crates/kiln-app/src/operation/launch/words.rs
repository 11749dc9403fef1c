//! A request as the words of a command line: each flag and its value in one word, so that no value is taken for a flag.

use camino::Utf8Path;

use crate::kernel::{Measuring, Selecting};
use crate::operation::tune::TuneRequest;
use crate::project::Project;

/// `kiln tune` as it would be typed, without the program.
pub(super) fn words(project: &Project, request: &TuneRequest, events: &Utf8Path) -> Vec<String> {
    let mut words: Vec<String> = vec!["tune".into(), "--quiet".into(), "--json".into(), format!("--events={events}")];
    words.push(format!("--store={}", project.store_place()));
    let mut value = |name: &str, value: Option<String>| words.extend(value.map(|value| format!("--{name}={value}")));
    let TuneRequest { selecting, measuring, .. } = request;
    let Selecting { path, target, arch, workload, variant, implementation, device } = selecting.clone();
    for (name, text) in [
        ("target", target),
        ("arch", arch),
        ("workload", workload),
        ("variant", variant),
        ("implementation", implementation),
        ("device", device),
        ("baseline", request.baseline.clone()),
        ("resume", request.resume.clone()),
        ("replay", request.replay.clone()),
        ("name", request.name.clone()),
        ("out", request.out.as_ref().map(ToString::to_string)),
    ] {
        value(name, text);
    }
    let Measuring { samples, cold, warm, threads, pin, seed } = measuring.clone();
    let amount = |amount: Option<f64>| amount.map(|amount| amount.to_string());
    value("trials", request.trials.map(|trials| trials.to_string()));
    value("minutes", amount(request.minutes));
    value("cost", amount(request.cost));
    value("price", amount(request.price));
    value("target-speedup", amount(request.target_speedup));
    value("strategy", Some(request.strategy.clone()));
    value("samples", Some(samples.to_string()));
    value("threads", Some(threads.to_string()));
    value("seed", seed.map(|seed| seed.to_string()));
    value("build-limit", amount(project.build_limit().map(|limit| limit.as_secs_f64())));
    request.prior.iter().for_each(|prior| value("prior", Some(prior.clone())));
    request.tags.iter().for_each(|tag| value("tag", Some(tag.clone())));
    let flags = [
        ("--cold", cold),
        ("--warm", warm),
        ("--no-pin", !pin),
        ("--no-prior", request.no_prior),
        ("--no-stop", !request.stop_rule),
        ("--no-ablation", !request.ablation),
        ("--no-sanitize", !request.sanitize),
        ("--no-profile", !request.profile),
        ("--adopt", request.adopt),
    ];
    words.extend(flags.iter().filter(|(_, on)| *on).map(|(flag, _)| flag.to_string()));
    // Whatever the path begins with.
    words.extend(["--".into(), path.to_string()]);
    words
}
