//! The report of a review, in Markdown: what was asked, what it came to, how the search went, what was refused, what profiles say, what others remarked.

use std::collections::BTreeMap;
use std::fmt::Write;

use kiln_app::Review;

use crate::results::calibration::fix_line;
use crate::results::diagnosed_profile::times;
use crate::studies::past::{Past, tried};
use crate::studies::study::StudyView;
use crate::words::markdown::{as_code, escaped};
use crate::words::remark::about;
use crate::words::time::{moment, stamp};
use crate::words::visible::visible;

/// Studies that are listed.
const SHOWN: usize = 20;

/// The report. Writing to a string cannot fail.
pub(super) fn markdown(review: &Review, past: &Past, study: &StudyView<'_>, figures: &[(String, String)]) -> String {
    let record = &past.study;
    let mut out = format!("# Review of {}\n\n", escaped(&record.kernel));
    let _ = writeln!(
        out,
        "Study `{}`, {}, on {}.",
        record.id,
        moment(record.started_ms, &past.zone),
        escaped(past.device())
    );
    let _ = writeln!(
        out,
        "kiln {}, commit {}.\n\nEverything in this folder is text, JSON, CSV or SVG: no tool is needed to read it. Remarks go into [remarks.toml](remarks.toml).\n",
        record.kiln_version,
        record.git_commit.as_deref().map_or("not known".into(), as_code)
    );
    let _ = writeln!(out, "## What it came to\n");
    match past.speedup() {
        Some((value, [low, high])) => {
            let verdict = record.verdict.as_deref().unwrap_or("no verdict");
            let _ = writeln!(out, "Verdict `{verdict}`: {value:.3}x, 95 % interval {low:.3}x to {high:.3}x.\n");
        }
        None => {
            let _ =
                writeln!(out, "Verdict `{}`; no speedup was confirmed.\n", record.verdict.as_deref().unwrap_or("none"));
        }
    }
    let _ = writeln!(out, "Configurations tried: {}.\n", tried(past));
    let _ = writeln!(out, "## The study, as `kiln show` has it\n\n```text\n{}```\n", fenced(&study.to_string()));
    let _ = writeln!(out, "Repeat it with {}.\n", as_code(study.repeat));
    for (name, _) in figures {
        let _ = writeln!(out, "![{name}]({name})\n");
    }
    refusals(&mut out, review);
    profiles(&mut out, review);
    others(&mut out, review, past);
    remarks(&mut out, review, past);
    let _ = writeln!(
        out,
        "## Evidence\n\n| file | what it holds |\n|---|---|\n| [evidence/study.json](evidence/study.json) | the whole record: settings, machine, trials, notes; docs/json.md describes the keys |\n\
         | [evidence/trials.csv](evidence/trials.csv) | every trial: configuration, state, time, why it was refused |\n| [evidence/kernel.toml](evidence/kernel.toml) | the kernel file as it was |\n\
         | [evidence/history.csv](evidence/history.csv) | other studies and benchmarks of this kernel |\n| [evidence/profiles.json](evidence/profiles.json) | profiles, what they promised and what came of it |"
    );
    out
}

fn refusals(out: &mut String, review: &Review) {
    let mut gates: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for refusal in review.story.now.trials.iter().filter_map(|trial| trial.refusal.as_ref()) {
        let own = gates.entry(refusal.gate.name()).or_insert((0, &refusal.measured));
        own.0 += 1;
    }
    let _ = writeln!(out, "## What was refused\n");
    if gates.is_empty() {
        let _ = writeln!(out, "Nothing.\n");
        return;
    }
    let _ = writeln!(out, "| gate | trials | the first says |\n|---|---|---|");
    for (gate, (count, first)) in gates {
        let first: String = first.lines().next().unwrap_or_default().chars().take(120).collect();
        let _ = writeln!(out, "| `{gate}` | {count} | {} |", escaped(&first));
    }
    let _ = writeln!(out);
}

fn profiles(out: &mut String, review: &Review) {
    let _ = writeln!(out, "## What limits it\n");
    if review.profiles.is_empty() {
        let _ = writeln!(out, "No profile is recorded.\n");
        return;
    }
    let _ = writeln!(out, "| at | workload | device | cause | promised | time |\n|---|---|---|---|---|---|");
    for own in &review.profiles {
        let cause = own.cause.as_deref().map_or("none known".into(), |cause| format!("`{cause}`"));
        let coarse = if own.coarse { " (coarse)" } else { "" };
        let time = own.time_us.map_or("-".into(), |us| format!("{us:.1} us"));
        let at = stamp(own.at_ms).unwrap_or_default();
        let promised = times(own.expected_speedup);
        let _ = writeln!(
            out,
            "| {at} | {} | {} | {cause}{coarse} | {promised} | {time} |",
            escaped(&own.workload),
            escaped(&own.device)
        );
    }
    let _ = writeln!(out);
    for fix in &review.fixes {
        let _ = writeln!(out, "- {}", escaped(&fix_line(fix)));
    }
    if !review.fixes.is_empty() {
        let _ = writeln!(out);
    }
}

fn others(out: &mut String, review: &Review, past: &Past) {
    let _ = writeln!(
        out,
        "## Studies of this kernel\n\n| at | study | device | verdict | speedup |\n|---|---|---|---|---|"
    );
    for study in review.studies.iter().take(SHOWN) {
        let speedup =
            study.speedup.map_or("-".into(), |(value, [low, high])| format!("{value:.2}x [{low:.2}, {high:.2}]"));
        let this = if study.id == past.study.id { " (this one)" } else { "" };
        let (device, verdict) = (study.device.as_deref().unwrap_or("-"), study.verdict.as_deref().unwrap_or("-"));
        let _ = writeln!(
            out,
            "| {} | `{}`{this} | {} | {verdict} | {speedup} |",
            moment(study.started_ms, &past.zone),
            study.id,
            escaped(device)
        );
    }
    let hidden = review.studies.len().saturating_sub(SHOWN);
    let more = if hidden > 0 { format!(" {hidden} older studies are in evidence/history.csv.") } else { String::new() };
    let _ = writeln!(out, "\n{} benchmarks of it are recorded.{more}\n", review.runs.len());
}

fn remarks(out: &mut String, review: &Review, past: &Past) {
    let all: Vec<_> = past.remarks.iter().chain(&review.causes).collect();
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Remarks so far\n");
    for own in all {
        let words = escaped(&own.text);
        let _ = writeln!(
            out,
            "- **{}**, {}, on {}: {words}",
            escaped(&own.reviewer),
            moment(own.at_ms, &past.zone),
            escaped(&about(&own.about))
        );
    }
    let _ = writeln!(out);
}

/// Text that does not end its fence.
fn fenced(text: &str) -> String {
    visible(text).replace("```", "'''")
}
