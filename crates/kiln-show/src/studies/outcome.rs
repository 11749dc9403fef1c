//! What a study came to: verdict, winner, figures on every workload, what each choice is worth. The same words whether the
//! study has just ended or was read back from the store.

use std::fmt;

use kiln_app::DiagnosisVerdict;
use kiln_study::{Contender, Late, SanitizedRefusal, StudyLimit, Summary, TuneVerdict};

use crate::words::kernels::by_workload;
use crate::words::number::duration;
use crate::words::refusal::measured;
use crate::words::scrutiny::{least_checked, notes};
use crate::words::table::{Align, lines};
use crate::words::visible::visible;
use crate::words::warnings::gathered;

/// The result itself, without how it was come by.
pub(crate) struct OutcomeView<'a> {
    /// The study's end.
    pub(crate) summary: &'a Summary,
}

impl fmt::Display for OutcomeView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.summary;
        writeln!(f, "{}: {}", s.verdict, s.reason)?;
        for late in &s.late {
            let Late { phase, config, refusal } = late;
            writeln!(
                f,
                "refused in {phase}, faster than the rest: {config}\n  {}: {}",
                refusal.gate,
                measured(refusal)
            )?;
        }
        if let Some(config) = &s.config {
            writeln!(f, "\nconfiguration\n  {config}")?;
        }
        if !s.workloads.is_empty() {
            let baseline = s.baseline.as_deref().unwrap_or("default");
            writeln!(f, "\nagainst {baseline}, {} samples a side", s.workloads[0].samples)?;
            let mut rows = vec![
                ["workload", "best", baseline, "speedup", "95 % interval", "effect", "p", "verdict"]
                    .map(String::from)
                    .to_vec(),
            ];
            for w in &s.workloads {
                let name = if w.holdout { format!("{} (holdout)", w.name) } else { w.name.clone() };
                rows.push(vec![
                    name,
                    duration(w.best_ms / 1e3),
                    duration(w.baseline_ms / 1e3),
                    format!("{:.2}x", w.speedup),
                    format!("[{:.2}, {:.2}]", w.speedup_ci95.low, w.speedup_ci95.high),
                    format!("{:+.2}", w.cliffs_delta),
                    p_value(w.p_value),
                    w.verdict.name().into(),
                ]);
            }
            if let (Some(speedup), Some(interval)) = (s.speedup, s.speedup_ci95) {
                let interval = format!("[{:.2}, {:.2}]", interval.low, interval.high);
                let (all, blank) = ("tuned, together".to_string(), String::new());
                rows.push(vec![all, blank.clone(), blank, format!("{speedup:.2}x"), interval]);
            }
            use Align::{Left, Right};
            f.write_str(&lines(&rows, &[Left, Right, Right, Right, Left, Right, Right, Left]))?;
            for line in by_workload(&s.workloads, baseline) {
                writeln!(f, "  {line}")?;
            }
            if let Some(line) = least_checked(&s.workloads) {
                writeln!(f, "  {line}")?;
            }
            for note in notes(&s.workloads) {
                writeln!(f, "  {note}")?;
            }
            let warnings: Vec<(String, String)> = s
                .workloads
                .iter()
                .flat_map(|w| w.warnings.iter().map(|words| (w.name.clone(), words.clone())))
                .collect();
            for line in gathered(&warnings) {
                writeln!(f, "  {line}")?;
            }
        }
        if s.workloads.iter().any(|w| w.config.is_some()) {
            writeln!(f, "\nconfigurations")?;
            for w in &s.workloads {
                if let Some(config) = &w.config {
                    writeln!(f, "  {}: {config}", w.name)?;
                }
            }
        }
        contenders(f, &s.implementations)?;
        if !s.ablation.is_empty() {
            writeln!(f, "\nablation: the winner with one tunable set back to its default")?;
            let rows: Vec<Vec<String>> = s
                .ablation
                .iter()
                .map(|a| {
                    let worth = match (a.worth, &a.why) {
                        (Some(worth), _) => format!("{worth:.2}x as long"),
                        (None, Some(why)) => why.clone(),
                        (None, None) => "-".into(),
                    };
                    let of = a.workload.as_ref().map_or(String::new(), |workload| format!("{workload}: "));
                    vec![format!("{of}{}", a.tunable), format!("{} -> {}", a.from, a.to), worth]
                })
                .collect();
            f.write_str(&lines(&rows, &[Align::Left, Align::Left, Align::Left]))?;
        }
        s.limit.iter().try_for_each(|limit| limited(f, limit, s.verdict == TuneVerdict::Stopped))?;
        causes(f, &s.sanitized)
    }
}

/// How each implementation did: its best beside the winner, or why there is none.
fn contenders(f: &mut fmt::Formatter<'_>, all: &[Contender]) -> fmt::Result {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(f, "\nimplementations: the best of each, and its time over the winner's")?;
    let rows: Vec<Vec<String>> = all.iter().map(contender).collect();
    f.write_str(&lines(&rows, &[Align::Left, Align::Right, Align::Left, Align::Left]))
}

fn contender(one: &Contender) -> Vec<String> {
    let of = one.workload.as_ref().map_or(String::new(), |workload| format!("{workload}: "));
    let gates = one.refused.iter().map(|(gate, count)| format!("{gate} {count}")).collect::<Vec<_>>().join(", ");
    let (refused, tried) = (one.refused.values().sum::<usize>(), one.trials);
    let tried = match (&one.left_out, refused) {
        (Some(_), _) => String::new(),
        (None, 0) => format!("{tried} tried"),
        (None, refused) => format!("{tried} tried, {refused} refused ({gates})"),
    };
    let standing = match (&one.left_out, one.ratio, &one.measured_in) {
        (Some(_), _, _) => "left out".to_string(),
        (None, Some(1.0), None) => "the winner".to_string(),
        (None, Some(ratio), _) => format!("{ratio:.2}x as long"),
        (None, None, _) if one.config.is_none() => "none passed".to_string(),
        (None, None, _) => "-".to_string(),
    };
    let place = match (&one.left_out, one.measured_in.as_deref()) {
        (Some(why), _) => why.clone(),
        (None, Some("search")) => format!("{tried}; measured in the search only"),
        (None, _) => tried,
    };
    let config = one.config.as_ref().map(|config| config.tunables().to_string()).unwrap_or_default();
    vec![format!("{of}{}", one.name), standing, place, config]
}

/// What limits the kernel now, and what to change first. A study that stopped is far behind its baseline.
fn limited(f: &mut fmt::Formatter<'_>, limit: &StudyLimit, stopped: bool) -> fmt::Result {
    let StudyLimit { workload, cause, coarse, bound, explanation, fix, page, promoted, .. } = limit;
    let on = if workload.is_empty() { String::new() } else { format!(" on {workload}") };
    let coarse = if *coarse { ", coarse" } else { "" };
    match cause {
        Some(cause) => writeln!(f, "\nwhat limits it{on}: {cause}, {}{coarse}", limit.worth(stopped))?,
        None => {
            writeln!(f, "\nwhat limits it{on}: no known cause, bound by {bound}{coarse}")?;
            return if explanation.is_empty() { Ok(()) } else { writeln!(f, "  {}", visible(explanation)) };
        }
    }
    writeln!(f, "  {}", visible(explanation))?;
    fix.iter().try_for_each(|fix| writeln!(f, "  fix: {}", visible(fix)))?;
    if !promoted.is_empty() {
        writeln!(f, "  profiled in full, because it works in another way than the default: {}", promoted.join("; "))?;
    }
    page.iter().try_for_each(|page| writeln!(f, "  kiln diagnose --ncu {page}"))
}

/// What tools say of refusals: every cause with its place and its fix, and of which they found none.
fn causes(f: &mut fmt::Formatter<'_>, sanitized: &[SanitizedRefusal]) -> fmt::Result {
    let (found, unknown): (Vec<_>, Vec<_>) =
        sanitized.iter().partition(|refusal| refusal.diagnosis.verdict == DiagnosisVerdict::BugsFound);
    if !found.is_empty() {
        writeln!(f, "\ncauses of refusals, the first of each gate sanitized")?;
    }
    for SanitizedRefusal { gate, config, diagnosis, .. } in found {
        writeln!(f, "  {gate}: {config}")?;
        for finding in &diagnosis.findings {
            let place = match (&finding.file, finding.line) {
                (Some(file), Some(line)) => format!(" at {file}:{line}"),
                _ => String::new(),
            };
            writeln!(f, "    {}{}: {}", finding.cause, visible(&place), visible(&finding.explanation))?;
            if let Some(line) = finding.facts.text("source_line") {
                writeln!(f, "      | {}", visible(line))?;
            }
            writeln!(f, "      fix: {}", visible(&finding.fix))?;
        }
    }
    if !unknown.is_empty() {
        let gates: Vec<&str> = unknown.iter().map(|refusal| refusal.gate.name()).collect();
        writeln!(f, "\nsanitizers found no cause of {}: this does not make the kernel correct", gates.join(", "))?;
    }
    Ok(())
}

/// A probability without more digits than it deserves.
fn p_value(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".into() } else { format!("{p:.4}") }
}
