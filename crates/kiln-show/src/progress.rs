//! A study as it goes, on standard error: one line that is rewritten on a terminal, and elsewhere a line for each phase and a
//! sign of life every ten seconds. In: events. Out: text; nothing is decided here.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use kiln_app::{Count, Event, What};
use kiln_store::PhaseId;

use crate::event::remark;
use crate::words::number::{counted, duration};

/// How often a line is written where lines stay.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// How often the line on a terminal is rewritten.
const REFRESH: Duration = Duration::from_millis(100);

/// The width of a terminal that does not say.
const USUAL_WIDTH: usize = 80;

/// Shows events.
#[derive(Debug)]
pub struct Progress {
    live: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    phase: String,
    planned: usize,
    done: usize,
    phase_began: Instant,
    shown: Instant,
    /// Trials of this phase.
    trials: usize,
    refused: Vec<(&'static str, usize)>,
    best: Option<f64>,
    default: Option<f64>,
    /// Whether a line stands on the terminal that must be wiped first.
    dirty: bool,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress::new()
    }
}

impl Progress {
    /// For the standard error there is.
    pub fn new() -> Progress {
        let now = Instant::now();
        let state = State {
            phase: String::new(),
            planned: 0,
            done: 0,
            phase_began: now,
            shown: now,
            trials: 0,
            refused: Vec::new(),
            best: None,
            default: None,
            dirty: false,
        };
        Progress { live: std::io::stderr().is_terminal(), state: Mutex::new(state) }
    }

    /// Takes an event in and shows what is worth it.
    pub fn hear(&self, event: &Event) {
        let Ok(mut state) = self.state.lock() else { return };
        match &event.what {
            What::Study { kernel, target, configurations: Count(configurations), workloads, seed, recorded } => {
                let study = event.study.as_deref().unwrap_or_default();
                let on = if workloads.is_empty() { String::new() } else { format!(" on {}", workloads.join(", ")) };
                let valid = counted(*configurations, "configuration");
                self.line(&mut state, &format!("{kernel}, target {target}, {valid}{on}"));
                let from = if *recorded > 0 {
                    format!(", {} from the record", counted(*recorded as u128, "trial"))
                } else {
                    String::new()
                };
                self.line(&mut state, &format!("study {study}, seed {seed}{from}"));
            }
            What::Warning { .. } | What::Note { .. } | What::Silence { .. } => {
                self.line(&mut state, &remark(event).unwrap_or_default());
            }
            What::Baseline { name, workload, median_ms, roofline } => {
                let share = roofline.map_or(String::new(), |s| format!(", {:.0} % of this machine's limit", 100.0 * s));
                self.line(&mut state, &format!("baseline {name} on {workload}: {}{share}", duration(median_ms / 1e3)));
            }
            What::Phase { phase, planned } => {
                self.close(&mut state);
                state.phase = phase.clone();
                (state.planned, state.done, state.trials, state.phase_began) = (*planned, 0, 0, Instant::now());
                if *planned > 0 {
                    self.refresh(&mut state, false);
                }
            }
            What::Trial { phase, cost_ms, refusal, best, .. } => {
                state.done += 1;
                state.trials += 1;
                if let Some(refusal) = refusal {
                    let gate = refusal.gate.name();
                    match state.refused.iter_mut().find(|(g, _)| *g == gate) {
                        Some((_, count)) => *count += 1,
                        None => state.refused.push((gate, 1)),
                    }
                }
                let cost = cost_ms.map(|ms| ms / 1e3);
                if PhaseId::parse(phase).is_default() {
                    state.default = cost;
                }
                if *best {
                    state.best = cost;
                }
                self.refresh(&mut state, false);
            }
            What::FirstLook { baseline, workload, ratio } => {
                self.close(&mut state);
                self.line(&mut state, &first_look(baseline, workload, *ratio));
            }
            What::Step { done, planned, .. } => {
                (state.done, state.planned) = (*done, *planned);
                self.refresh(&mut state, false);
            }
            What::Ablation { .. } => {
                state.done += 1;
                self.refresh(&mut state, false);
            }
            What::PhaseEnd => self.close(&mut state),
            // What is shown next must not be written over.
            What::End { .. } if state.dirty => self.close(&mut state),
            What::End { .. } => {}
        }
    }

    /// Ends a phase with a line that stays.
    fn close(&self, state: &mut State) {
        if !state.phase.is_empty() && state.done > 0 {
            let words = state.words(false);
            self.line(state, &words);
        }
        state.left();
    }

    fn refresh(&self, state: &mut State, now: bool) {
        let pause = if self.live { REFRESH } else { HEARTBEAT };
        if !now && state.shown.elapsed() < pause && !(self.live && state.done == 0) {
            return;
        }
        state.shown = Instant::now();
        let words = state.words(true);
        if self.live {
            let width = terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| usize::from(width.0));
            let words = fitted(words, width.unwrap_or(USUAL_WIDTH));
            let _ = write!(std::io::stderr().lock(), "\r\x1b[2K{words}");
            let _ = std::io::stderr().flush();
            state.dirty = true;
        } else {
            self.line(state, &words);
        }
    }

    /// A line that stays.
    fn line(&self, state: &mut State, text: &str) {
        let wipe = if std::mem::take(&mut state.dirty) { "\r\x1b[2K" } else { "" };
        // Where even this fails, there is nobody left to tell.
        let _ = writeln!(std::io::stderr().lock(), "{wipe}{text}");
        state.shown = Instant::now();
    }
}

impl State {
    /// A phase is over.
    fn left(&mut self) {
        // What comes behind an ablation confirms something faster, or is another search: the search's best is not the best there.
        if PhaseId::parse(&self.phase).name == "ablation" {
            self.best = None;
        }
        self.phase.clear();
    }

    fn words(&self, under_way: bool) -> String {
        // A benchmark may go on beyond its plan, until it knows enough.
        let mut words = match self.done > self.planned {
            true => format!("{:<10} {} rounds, continuing until intervals are narrow enough", self.phase, self.done),
            false => format!("{:<10} {}/{}", self.phase, self.done, self.planned),
        };
        if let Some(best) = self.best {
            words.push_str(&format!("  best {}", duration(best)));
            if let Some(default) = self.default {
                words.push_str(&format!(" ({:.2}x the default)", default / best));
            }
        }
        let refused: usize = self.refused.iter().map(|(_, count)| count).sum();
        if refused > 0 && self.trials > 0 {
            let parts: Vec<String> = self.refused.iter().map(|(gate, count)| format!("{gate} {count}")).collect();
            words.push_str(&format!("  refused {refused} ({})", parts.join(", ")));
        }
        let spent = self.phase_began.elapsed().as_secs_f64();
        if under_way && self.done > 0 && self.done < self.planned {
            let left = spent / self.done as f64 * (self.planned - self.done) as f64;
            words.push_str(&format!("  {left:.0} s left in this phase"));
        } else if !under_way {
            words.push_str(&format!("  {spent:.1} s"));
        }
        words
    }
}

/// The default beside the baseline. Few samples, not in turns: said so, lest it be taken for a verdict.
fn first_look(baseline: &str, workload: &str, ratio: f64) -> String {
    let digits = if ratio < 0.1 { 4 } else { 2 };
    let on = if workload.is_empty() { String::new() } else { format!(" on {workload}") };
    let advice = match ratio {
        ratio if ratio < 0.5 => "; far slower: what limits it comes first",
        ratio if ratio < 1.0 => "; slower: `kiln profile` shows why",
        ratio if ratio < 2.0 => "",
        _ => "; `kiln profile` names the next bottleneck",
    };
    format!("{:<10} {ratio:.digits$}x of {baseline}{on} (a first look, not a verdict){advice}", "default")
}

/// A line that a terminal of this width does not break, which could not be wiped any more.
fn fitted(words: String, width: usize) -> String {
    let room = width.saturating_sub(1);
    if words.chars().count() <= room {
        return words;
    }
    let kept: String = words.chars().take(room.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_look_says_that_it_is_one() {
        let words = "default    1.82x of naive on small (a first look, not a verdict)";
        assert_eq!(first_look("naive", "small", 1.8201), words);
        assert!(
            first_look("naive", "", 0.0123)
                .starts_with("default    0.0123x of naive (a first look, not a verdict); far")
        );
        assert!(first_look("naive", "", 0.82).ends_with("; slower: `kiln profile` shows why"));
        assert!(first_look("naive", "", 2.0).ends_with("; `kiln profile` names the next bottleneck"));
    }

    #[test]
    fn what_the_ablation_found_is_not_called_slower_than_the_best_of_the_search() {
        let progress = Progress::new();
        let mut state = progress.state.lock().unwrap();
        (state.best, state.default, state.done, state.planned) = (Some(2e-3), Some(4e-3), 1, 1);
        for (phase, told) in [("run-off", true), ("ablation", true), ("final", false), ("confirm", false)] {
            state.phase = phase.into();
            assert_eq!(state.words(false).contains("  best 2.00 ms (2.00x the default)"), told, "{phase}");
            state.left();
        }
    }

    #[test]
    fn a_line_that_is_rewritten_fits_the_terminal() {
        assert_eq!(fitted("seed 3/20".into(), 80), "seed 3/20");
        assert_eq!(fitted("seed 3/20".into(), 10), "seed 3/20");
        assert_eq!(fitted("seed 3/20  best 1.2 ms".into(), 15), "seed 3/20...");
        assert!(fitted("x".repeat(500), 80).len() == 79);
        assert_eq!(fitted("abc".into(), 0), "...");
    }
}
