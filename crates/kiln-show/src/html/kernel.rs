//! A kernel: what is known of it, how its times changed, what limits it, what was learned. In: a look at it. Out: its sections, in the order of
//! its story. What is not recorded is left out.

use kiln_app::KernelLook;
use kiln_store::{ProfileRecord, RemarkSubject, Study};

use super::session::{next_sections, table as session_table};
use super::study::causes::causes;
use super::{Address, Block, Cell, Section, Table, View};
use crate::picture::{ProfilePictures, SweepPictures, levels_picture, versions_picture};
use crate::studies::past::speedup_is;
use crate::words::number::{counted, duration};
use crate::words::time::moment;

/// Studies and runs listed at most.
const MOST: usize = 50;
/// Series drawn at most, those with most runs.
const SERIES: usize = 4;

/// Everything about a kernel.
pub fn kernel_sections(look: &KernelLook, view: &View) -> Vec<Section> {
    let mut all = vec![overview(look, view)];
    all.extend(match &look.next {
        Ok(step) => next_sections(step, view),
        Err(reports) => {
            let why = reports.iter().map(|report| Block::Text(report.to_string()));
            let words = Block::words("This cannot be said until the kernel can be read. Its records are below.");
            vec![Section::new("next", "What to do next", [words].into_iter().chain(why).collect())]
        }
    });
    all.extend(studies(look, view));
    all.extend(tuned(look));
    all.extend(refusals(look));
    all.extend(history(look, view));
    all.extend(limits(look, view));
    all.extend(sweeps(look));
    all.extend(tried(look, view));
    all.extend(lessons(look, view));
    if !look.sessions.is_empty() {
        let table = session_table(&look.sessions, view);
        all.push(Section::new("sessions", "Sessions and their cost", vec![Block::Table(table)]));
    }
    all.extend(remarks(look, view));
    all
}

fn overview(look: &KernelLook, view: &View) -> Section {
    let history = &look.history;
    let count = |count: usize, noun: &str| Cell::figure(count as f64, counted(count as u128, noun));
    let mut facts = vec![
        ("file".to_string(), Cell::code(look.path.clone())),
        ("studies".into(), Cell::figure(history.studies.len() as f64, history.studies.len().to_string())),
        ("benchmarks".into(), Cell::figure(history.runs.len() as f64, history.runs.len().to_string())),
        ("profiles".into(), count(look.profiles.len(), "profile")),
        ("commands that judged it".into(), count(look.attempts.len(), "command")),
    ];
    let best = history.studies.iter().filter_map(|now| Some((&now.study, now.study.speedup()?)));
    if let Some((study, (value, [low, high]))) = best.max_by(|a, b| a.1.0.total_cmp(&b.1.0)) {
        let of = speedup_is(study).map_or(String::new(), |words| format!(", {words},"));
        let shown = format!("{value:.2}x [{low:.2}, {high:.2}]{of} in study {}", study.short_id());
        let link = view.is_page.then(|| Address::Study(study.short_id().into(), String::new()).to_string());
        facts.push(("best confirmed speedup".into(), Cell::figure(value, shown).to(link)));
    }
    if let Some(made) = &history.retired {
        facts.push(("retired".into(), format!("{}, by {}", made.because, made.user).into()));
    }
    Section::new("kernel", look.kernel.clone(), vec![Block::Facts(facts)])
}

fn studies(look: &KernelLook, view: &View) -> Option<Section> {
    let mut table = Table::new(
        "Studies, the newest first",
        &["study", "verdict", "speedup #", "95 % interval", "target", "device", "began"],
    );
    for now in look.history.studies.iter().take(MOST) {
        let Study { verdict, target, variant, started_ms, .. } = &now.study;
        let id = now.study.short_id().to_string();
        let speedup = now.study.speedup();
        table.row(vec![
            Cell::text(now.labels.name.clone().unwrap_or(id.clone()))
                .to(view.is_page.then(|| Address::Study(id, String::new()).to_string())),
            verdict.clone().unwrap_or(now.state().name().into()).into(),
            speedup.map_or("-".into(), |(value, _)| {
                let of = speedup_is(&now.study).map_or(String::new(), |words| format!(" ({words})"));
                Cell::figure(value, format!("{value:.2}x{of}"))
            }),
            speedup.map_or("-".into(), |(_, [low, high])| format!("[{low:.2}, {high:.2}]").into()),
            format!("{target} {variant}").trim().into(),
            now.study.device().unwrap_or("-").into(),
            moment(*started_ms, &view.zone).into(),
        ]);
    }
    (!table.rows.is_empty()).then(|| Section::new("studies", "Studies", vec![Block::Table(table)]))
}

/// Why configurations are wrong, as the newest study that sanitized some says.
fn refusals(look: &KernelLook) -> Option<Section> {
    let of = |now: &kiln_app::StudyNow| {
        let found = causes(&now.study.summary.as_ref()?.read().ok()?.sanitized);
        (!found.is_empty()).then(|| (now.study.short_id().to_string(), found))
    };
    let (id, mut blocks) = look.history.studies.iter().find_map(of)?;
    blocks.insert(0, Block::words(format!("As study {id} found them.")));
    Some(Section::new("refusals", "Causes of refusals", blocks))
}

fn tuned(look: &KernelLook) -> Option<Section> {
    let mut table = Table::new("Winners as best.toml has them", &["workload", "target", "variant", "configuration"]);
    let all = match &look.tuned {
        Ok(all) => all,
        Err(fault) => {
            let words = Block::words("The winners cannot be read. A new study writes them anew; or mend the file.");
            let blocks = vec![words, Block::Text(format!("error: {fault}"))];
            return Some(Section::new("tuned", "Tuned table", blocks));
        }
    };
    for one in all {
        table.row(vec![
            Cell::text(one.workload.clone()),
            one.target.clone().into(),
            one.variant.clone().into(),
            Cell::code(one.config.clone()),
        ]);
    }
    (!table.rows.is_empty()).then(|| Section::new("tuned", "Tuned table", vec![Block::Table(table)]))
}

fn history(look: &KernelLook, view: &View) -> Option<Section> {
    let changes = look.changes.as_ref()?;
    let mut series: Vec<_> = changes.series.iter().filter(|series| series.points.len() > 1).collect();
    series.sort_by_key(|series| std::cmp::Reverse(series.points.len()));
    let left_out = series.len().saturating_sub(SERIES);
    series.truncate(SERIES);
    let mut blocks: Vec<Block> =
        series.iter().filter_map(|series| levels_picture(&look.kernel, series)).map(Block::Figure).collect();
    let mut table = Table::new(
        "Changes of level",
        &["when", "time after over before #", "95 % interval", "from commit", "to commit", "what else differs", "of"],
    );
    for series in &series {
        for change in &series.changes {
            let (found, commit) = (&change.change, |commit: &Option<String>| {
                commit.as_ref().map_or("-".into(), |commit| Cell::code(commit.chars().take(12).collect::<String>()))
            });
            let class = if found.ratio > 1.0 { "refused" } else { "best" };
            table
                .row(vec![
                    moment(change.at_ms, &view.zone).into(),
                    Cell::figure(found.ratio, format!("{:.3}", found.ratio)),
                    format!("[{:.3}, {:.3}]", found.ratio_ci95.low, found.ratio_ci95.high).into(),
                    commit(&change.from_commit),
                    commit(&change.to_commit),
                    change.environment.join("; ").into(),
                    format!("{} {}", series.key.workload, series.key.config).into(),
                ])
                .class = class;
        }
    }
    if blocks.is_empty() {
        return None;
    }
    match table.rows.is_empty() {
        true => blocks.push(Block::words("No change of level was found.")),
        false => blocks.push(Block::Table(table)),
    }
    blocks.extend(
        (left_out > 0).then(|| Block::words(format!("{left_out} more series: kiln history {} --changes", look.kernel))),
    );
    Some(Section::new("history", "History over commits", blocks))
}

fn limits(look: &KernelLook, view: &View) -> Option<Section> {
    if look.profiles.is_empty() {
        return None;
    }
    let mut blocks: Vec<Block> = Vec::new();
    // Roofs are those of a device, and a workload has its own place under them.
    let like = look.diagnoses.last().map(|(place, _)| of_what(&look.profiles[*place]));
    let drawn = look.diagnoses.iter().filter(|(place, _)| Some(of_what(&look.profiles[*place])) == like);
    let versions: Vec<_> = drawn.map(|(place, diagnosis)| (place + 1, diagnosis)).collect();
    blocks.extend(versions_picture(&look.kernel, &versions).map(Block::Figure));
    if let Some((place, newest)) = look.diagnoses.last() {
        blocks.extend(ProfilePictures { diagnosis: newest }.bars().into_iter().map(Block::Figure));
        let ProfileRecord { workload, device, .. } = &look.profiles[*place];
        let of = format!(
            "Figures show profiles of {workload} on {device}, by their numbers below; bars show number {}.",
            place + 1
        );
        blocks.extend([Block::words(of), Block::words(newest.explanation.clone())]);
    }
    let mut table = Table::new(
        "Profiles, oldest first",
        &["number #", "when", "cause", "promise #", "time #", "workload", "device", "configuration"],
    );
    for (at, one) in look.profiles.iter().enumerate().rev().take(MOST).rev() {
        table.row(vec![
            Cell::figure((at + 1) as f64, (at + 1).to_string()),
            moment(one.at_ms, &view.zone).into(),
            one.cause.clone().unwrap_or("none".into()).into(),
            Cell::figure(one.expected_speedup, format!("{:.2}x", one.expected_speedup)),
            one.time_us.map_or("-".into(), |time| Cell::figure(time / 1e6, duration(time / 1e6))),
            one.workload.clone().into(),
            one.device.clone().into(),
            Cell::code(one.config.clone()),
        ]);
    }
    blocks.push(Block::Table(table));
    let mut table = Table::new(
        "Fixes: what was promised, and what was measured",
        &["cause", "promised #", "measured #", "outcome", "workload"],
    );
    for fix in &look.fixes {
        table.row(vec![
            Cell::text(fix.cause.clone()),
            Cell::figure(fix.predicted, format!("{:.2}x", fix.predicted)),
            Cell::figure(fix.measured, format!("{:.2}x", fix.measured)),
            fix.verdict.name().into(),
            fix.workload.clone().into(),
        ]);
    }
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
    }
    Some(Section::new("limits", "What limits it: roofline and stalls", blocks))
}

/// What profiles have in common that stand under the same roofs.
fn of_what(profile: &ProfileRecord) -> [&str; 4] {
    [&profile.device, &profile.target, &profile.variant, &profile.workload]
}

fn sweeps(look: &KernelLook) -> Option<Section> {
    let mut blocks = Vec::new();
    for (run, story) in &look.sweeps {
        blocks.push(Block::words(format!(
            "Run {}, {} measured.",
            run.short_id(),
            counted(story.measured() as u128, "shape")
        )));
        let pictures = SweepPictures { story, kernel: &look.kernel }.canvases();
        blocks.extend(pictures.into_iter().map(|(_, canvas)| Block::Figure(canvas)));
    }
    (!blocks.is_empty()).then(|| Section::new("sweep", "Sweep over shapes", blocks))
}

/// What was tried on it, the newest first.
fn tried(look: &KernelLook, view: &View) -> Option<Section> {
    let mut table = Table::new(
        "Commands that judged it, the newest first",
        &["when", "command", "outcome", "why", "speedup #", "hypothesis", "configuration"],
    );
    for one in look.attempts.iter().rev().take(MOST) {
        table.row(vec![
            moment(one.at_ms, &view.zone).into(),
            Cell::code(format!("kiln {}", one.verb)),
            one.outcome.name().into(),
            one.words.clone().or(one.cause.clone()).unwrap_or_default().into(),
            one.speedup.map_or("-".into(), |value| Cell::figure(value, format!("{value:.2}x"))),
            one.hypothesis.clone().unwrap_or_default().into(),
            Cell::code(one.config.clone().unwrap_or_default()),
        ]);
    }
    (!table.rows.is_empty()).then(|| Section::new("tried", "What was tried", vec![Block::Table(table)]))
}

fn lessons(look: &KernelLook, view: &View) -> Option<Section> {
    let mut table = Table::new("Lessons that commands on it met", &["lesson", "times #", "last", "remedy"]);
    for met in &look.lessons {
        let (title, remedy) = match &met.lesson {
            Some(kept) => (kept.lesson.title.clone(), kept.lesson.remedy.clone()),
            None => (met.id.clone(), String::new()),
        };
        table.row(vec![
            Cell::text(title),
            Cell::figure(met.times as f64, met.times.to_string()),
            moment(met.last_ms, &view.zone).into(),
            remedy.into(),
        ]);
    }
    (!table.rows.is_empty()).then(|| Section::new("lessons", "Lessons met", vec![Block::Table(table)]))
}

fn remarks(look: &KernelLook, view: &View) -> Option<Section> {
    let mut table = Table::new("Remarks of reviewers", &["reviewer", "when", "about", "remark"]);
    for remark in &look.remarks {
        let subject = match &remark.about {
            RemarkSubject::Trial(study, ..) | RemarkSubject::Decision(study) => {
                study.get(study.len().saturating_sub(8)..).unwrap_or(study)
            }
            _ => "",
        };
        let about = [remark.about.name(), subject, &remark.about.part()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        table.row(vec![
            Cell::text(remark.reviewer.clone()),
            moment(remark.at_ms, &view.zone).into(),
            about.into(),
            remark.text.clone().into(),
        ]);
    }
    let block = match table.rows.is_empty() {
        false => Block::Table(table),
        // A page has a form to add the first.
        true if view.is_page => Block::words("No remarks yet."),
        true => return None,
    };
    Some(Section::new("remarks", "Review notes", vec![block]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::document;
    use crate::html::study::tests::look;
    use crate::sample::{study, trials};
    use kiln_app::History;
    use kiln_store::State;

    #[test]
    fn causes_of_refusals_and_what_a_speedup_is_stand_on_the_page() {
        let mut own = study();
        let mut summary = serde_json::to_value(own.summary.as_ref().unwrap().read().unwrap()).unwrap();
        let mut second = summary["workloads"][0].clone();
        second["name"] = "large".into();
        summary["workloads"].as_array_mut().unwrap().push(second);
        summary["sanitized"] = serde_json::json!([{
            "gate": "runtime_failed", "phase": "search", "number": 1, "config": { "LANES": 16 }, "verdict": "bugs_found",
            "findings": [{
                "cause": "misaligned_shared", "tool": "memcheck", "kernel": "k", "file": "softmax.cu", "line": 7, "count": 3,
                "facts": {}, "explanation": "an access is misaligned", "fix": "pad rows by 16 bytes",
            }],
        }]);
        own.summary = Some(kiln_store::Kept::found(summary));
        // The process of the newest was killed: its record still says that it runs.
        let mut killed = look(study(), trials()).story.now;
        killed.gone = true;
        (killed.study.state, killed.study.verdict, killed.study.summary) = (State::Running, None, None);
        let look = KernelLook {
            kernel: "softmax".into(),
            path: "kernels/softmax".into(),
            history: History {
                studies: vec![killed, look(own, trials()).story.now],
                runs: Vec::new(),
                validations: Vec::new(),
                retired: None,
                kernel: None,
                others: Vec::new(),
                namesakes: Vec::new(),
                emptied: None,
                more: false,
                damaged: 0,
            },
            changes: None,
            profiles: Vec::new(),
            diagnoses: Vec::new(),
            fixes: Vec::new(),
            sweeps: Vec::new(),
            tuned: Ok(Vec::new()),
            lessons: Vec::new(),
            attempts: Vec::new(),
            sessions: Vec::new(),
            remarks: Vec::new(),
            next: Err(Vec::new()),
            at_ms: 0,
        };
        let html = document("t", &kernel_sections(&look, &View::page("kiln")));
        assert!(html.contains("<td>interrupted</td>") && !html.contains("<td>running</td>"), "{html}");
        assert!(html.contains("As study abcd0123 found them.") && html.contains("softmax.cu:7"), "{html}");
        assert!(html.contains("1.50x (geometric mean over 2 workloads)"), "{html}");
        assert!(html.contains("1.50x [1.45, 1.55], geometric mean over 2 workloads, in study abcd0123"), "{html}");
    }
}
