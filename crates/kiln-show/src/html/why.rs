//! Why this configuration: the winner against baseline, runner-up and default, what each of its choices is worth, and every candidate that looked faster with the
//! reason why it did not win. In: a look at a study. Out: its sections.

use kiln_app::{Against, CHALLENGER, FasterCandidate, PairedWorkload, RivalKind, StudyLook, Succession, WhyNot};
use kiln_stats::{Estimate, Interval, Verdict};

use super::study::outcome::{summary, worth};
use super::study::trials::repeat_trial;
use super::{Block, Cell, Section, Table, View};
use crate::words::number::duration;
use crate::words::refusal::measured;

/// Candidates listed at most.
const MOST: usize = 100;

/// Why a study's winner won.
pub fn why_sections(look: &StudyLook, view: &View) -> Vec<Section> {
    let study = &look.story.now.study;
    let winners = look.winners();
    if winners.is_empty() {
        let words = "The study has no winner: nothing to explain yet.";
        return vec![Section::new("why", format!("{}: no winner", study.kernel), vec![Block::words(words)])];
    }
    let facts = winners
        .iter()
        .map(|(workload, config)| (workload.clone().unwrap_or("configuration".into()), Cell::code(config.to_string())));
    let mut first = vec![Block::Facts(facts.collect())];
    if let Some(summary) = summary(look) {
        first.push(Block::words(format!("{}: {}.", summary.verdict, summary.reason)));
    }
    for one in &look.successions {
        first.push(Block::words(replaced(one)));
        first.extend(decided(look, one).map(Block::words));
    }
    let mut sections = vec![Section::new("why", format!("{}: why this configuration", study.kernel), first)];
    let against: Vec<Block> = look.against.iter().map(|one| Block::Table(compared(one))).collect();
    match against.is_empty() {
        true => sections.push(Section::new(
            "against",
            "Against whom",
            vec![Block::words("No samples of a comparison are recorded.")],
        )),
        false => {
            let words = "Times are medians of all samples. A speedup compares samples of the same rounds, so noise can set \
                         it apart from the ratio of the two medians: the interval and the verdict count.";
            let mut blocks = against;
            blocks.push(Block::words(words));
            // The ablation may have measured the two side by side.
            let beside = |one: &Succession| {
                look.against.iter().any(|own| own.rival == RivalKind::Default && own.workload == one.workload)
            };
            blocks.extend(look.successions.iter().filter(|one| !one.searched && !beside(one)).map(|one| {
                let on = one.workload.as_ref().map_or(String::new(), |workload| format!(" on {workload}"));
                Block::words(format!(
                    "The winner{on} was not measured while searching, so its time cannot be held against the default's."
                ))
            }));
            let title = match look.successions.is_empty() {
                true => "Against baseline, runner-up and default",
                false => "Against whom",
            };
            sections.push(Section::new("against", title, blocks));
        }
    }
    let choices = summary(look).and_then(|summary| worth(&summary.ablation));
    let choices = match choices {
        Some(table) => Block::Table(table),
        None => Block::words("Not measured: the study had no ablation phase, or the winner is the default."),
    };
    sections.push(Section::new("worth", "What each choice is worth", vec![choices]));
    let mut last = faster(look, view);
    last.blocks.extend(challengers(look));
    sections.push(last);
    sections
}

/// What became of those that ablation found faster, and that did not take the winner's place.
fn challengers(look: &StudyLook) -> Option<Block> {
    let replaced = |text: &String| look.successions.iter().any(|one| one.notes.contains(text));
    let told = look.story.notes.iter().filter(|note| note.kind == CHALLENGER && !replaced(&note.text));
    let lines: Vec<Cell> = told.map(|note| Cell::text(note.text.clone())).collect();
    (!lines.is_empty()).then_some(Block::List(lines))
}

/// Whom the search had found, and how the winner took its place.
fn replaced(succession: &Succession) -> String {
    let Succession { workload, before, notes, winner, searched } = succession;
    let on = workload.as_ref().map_or(String::new(), |workload| format!(" on {workload}"));
    let not_tried = if *searched { "" } else { " The search had not tried it." };
    let found = format!("The search and its finals found {}{on}. ", before.first().map_or("another", String::as_str));
    let capital = |text: &String| {
        let mut letters = text.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    let how = match notes.len() == before.len() {
        true => notes.iter().map(capital).collect::<Vec<_>>().join(". "),
        false => format!("The ablation measured {winner} as faster; it was confirmed and took its place"),
    };
    format!("{found}{how}.{not_tried}")
}

/// What decided, where the ablation's few samples show no difference when they are judged alone.
fn decided(look: &StudyLook, succession: &Succession) -> Option<String> {
    let own = |one: &&Against| one.rival == RivalKind::Replaced && one.workload == succession.workload;
    let unshown = |one: &&PairedWorkload| one.verdict != Verdict::Faster;
    let verdict = look.against.iter().find(own)?.workloads.iter().find(unshown)?.verdict.name();
    Some(format!(
        "The ablation's samples alone are too few to tell the two apart ({verdict} in the table below): it only names whom to confirm. \
         The confirmation decided: it measured each against the baseline."
    ))
}

fn compared(against: &Against) -> Table {
    let Against { rival, what, phase, paired, workloads, overall, workload, .. } = against;
    let how = if *paired { "in turns" } else { "apart, so that a drift of the machine counts" };
    let on = workload.as_ref().map_or(String::new(), |workload| format!(" on {workload}"));
    let caption = format!("The winner{on} against the {} ({what}), measured {how}, in {phase}", rival.name());
    let mut table =
        Table::new(caption, &["workload", "winner #", "rival #", "speedup #", "95 % interval", "samples #", "verdict"]);
    for PairedWorkload { name, speedup, speedup_ci95, winner_s, rival_s, verdict, samples } in workloads {
        table.row(vec![
            Cell::text(name.clone()),
            Cell::figure(*winner_s, duration(*winner_s)),
            Cell::figure(*rival_s, duration(*rival_s)),
            Cell::figure(*speedup, format!("{speedup:.3}x")),
            format!("[{:.3}, {:.3}]", speedup_ci95.low, speedup_ci95.high).into(),
            Cell::figure(*samples as f64, samples.to_string()),
            verdict.name().into(),
        ]);
    }
    if let Some(overall) = overall {
        let (value, interval) = (overall.value, overall.interval);
        let figure = Cell::figure(value, format!("{value:.3}x"));
        let interval = Cell::text(format!("[{:.3}, {:.3}]", interval.low, interval.high));
        table.row(vec![
            "tuned, together (geometric mean)".into(),
            "".into(),
            "".into(),
            figure,
            interval,
            "".into(),
            "".into(),
        ]);
    }
    table
}

/// How a candidate did beside the winner: noise is called noise.
fn side_by_side(phase: &str, ratio: &Estimate, ahead: &str) -> String {
    let Estimate { value, interval: Interval { low, high } } = ratio;
    let figures = format!("{value:.3}x as long as {ahead} [{low:.3}, {high:.3}]");
    if *low > 1.0 {
        return format!("{figures}, side by side in {phase}");
    }
    let found = if *high < 1.0 { "not slower" } else { "no difference shown" };
    format!("{found} side by side in {phase}: {figures}; the median of {ahead} was the shorter one")
}

/// Why it did not win, and what that rests on.
fn reason(why: &WhyNot) -> (String, String) {
    match why {
        WhyNot::Refused { phase, refusal } => {
            (format!("refused by {} in {phase}: {}", refusal.gate, measured(refusal)), refusal.evidence.clone())
        }
        WhyNot::SideBySide { phase, ratio } => (side_by_side(phase, ratio, "the winner"), String::new()),
        WhyNot::Replaced { by, ratio } => {
            let figures = ratio.map_or(String::new(), |Estimate { value, interval: Interval { low, high } }| {
                format!(": {value:.3}x as long side by side [{low:.3}, {high:.3}]")
            });
            (format!("won the finals, until the ablation found {by} faster{figures}"), String::new())
        }
        WhyNot::Behind { phase, ahead, ratio } => {
            let ahead = format!("{ahead}, which won the finals and was replaced later");
            (side_by_side(phase, ratio, &ahead), String::new())
        }
        WhyNot::NotAFinalist => ("not among the finalists that were measured side by side".into(), String::new()),
    }
}

fn faster(look: &StudyLook, view: &View) -> Section {
    let title = "Faster candidates that did not win";
    // What the search did not try has no time there: the winner that it replaced stands for it.
    let stands = look.successions.iter().any(|one| !one.searched);
    if look.faster.is_empty() {
        let words = match stands {
            false => "None was faster than the winner while searching.",
            true => {
                "None was faster while searching than the winner, or than the one it replaced where it was not tried."
            }
        };
        return Section::new("faster", title, vec![Block::words(words)]);
    }
    let (study, trials) = (&look.story.now.study, &look.story.now.trials);
    let (caption, over) = match stands {
        false => {
            ("Configurations whose time while searching was shorter than the winner's", "time over the winner's #")
        }
        true => (
            "Configurations whose time while searching was shorter than the winner's; where the search did not try the \
             winner, than that of the one it replaced",
            "time over that #",
        ),
    };
    let mut table = Table::new(caption, &["trial", over, "why it did not win", "evidence", "configuration", "repeat"]);
    for FasterCandidate { place, ratio, why, .. } in look.faster.iter().take(MOST) {
        let trial = &trials[*place];
        let (reason, evidence) = reason(why);
        let first_line = evidence.lines().next().unwrap_or_default().to_string();
        table.row(vec![
            format!("{} {}", trial.phase, trial.number).into(),
            Cell::figure(*ratio, format!("{ratio:.3}")),
            reason.into(),
            first_line.into(),
            Cell::code(trial.config.clone()),
            Cell::code(repeat_trial(&view.kiln, study, trial)),
        ]);
    }
    let more = look.faster.len().saturating_sub(MOST);
    let mut blocks = vec![Block::Table(table)];
    blocks.extend((more > 0).then(|| Block::words(format!("{more} more are not listed."))));
    Section::new("faster", title, blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_within_noise_is_none() {
        let of = |value, low, high| {
            side_by_side("run-off", &Estimate { value, interval: Interval { low, high } }, "the winner")
        };
        assert_eq!(of(1.2, 1.1, 1.3), "1.200x as long as the winner [1.100, 1.300], side by side in run-off");
        assert!(of(0.906, 0.832, 1.179).starts_with("no difference shown side by side in run-off: 0.906x as long"));
        assert!(of(0.9, 0.8, 0.95).starts_with("not slower side by side"));
    }
}
