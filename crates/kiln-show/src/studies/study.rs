//! A study's story, from its record: what was asked, on what machine, how the search went, what it came to, what was
//! refused and why. Works for a study that never ended, as far as its record goes.

mod campaign;
mod convergence;
mod csv;
mod headline;
mod json;
mod phases;
mod refusals;
mod repeat;

#[cfg(test)]
mod tests;

use std::fmt;

use kiln_store::{Note, State, Trial};
use serde_json::Value;

use campaign::campaigns;
pub(crate) use csv::line as csv_line;
pub use repeat::repeat;

use crate::results::fuzz::validated;
use crate::studies::outcome::OutcomeView;
use crate::studies::past::Past;
use crate::words::command::Command;
use crate::words::number::{counted, duration};
use crate::words::remark::remarks_in;
use crate::words::table::{Align, lines};
use crate::words::time::{clock, moment};

/// Everything `kiln show` says.
pub struct StudyView<'a> {
    /// The study.
    pub past: &'a Past,
    /// Its trials, in the order recorded.
    pub trials: &'a [Trial],
    /// Remarks, in the order noted.
    pub notes: &'a [Note],
    /// The command that repeats it.
    pub repeat: &'a str,
    /// How kiln is called so that it finds the same store.
    pub kiln: &'a str,
}

impl StudyView<'_> {
    /// One object, without samples.
    pub fn json(&self) -> Value {
        json::object(self)
    }

    /// Every refusal with its reason, after one line that says of what; with `verbose` compilers' commands, too.
    pub fn refusals(&self, verbose: bool) -> String {
        format!("{}\n{}", headline::line(self.past), refusals::all(self.trials, verbose))
    }

    /// Every trial as a row of a CSV table.
    pub fn csv(&self) -> String {
        csv::table(self.trials)
    }

    /// Every trial, after one line that says of what.
    pub fn every_trial(&self) -> String {
        let mut rows = vec![["phase", "number", "state", "time", "configuration"].map(String::from).to_vec()];
        for trial in self.trials {
            let state = match &trial.refusal {
                Some(refusal) => format!("{} {}", trial.state.name(), refusal.gate),
                None => trial.state.name().into(),
            };
            let cost = trial.cost.map_or("-".into(), duration);
            rows.push(vec![trial.phase.clone(), trial.number.to_string(), state, cost, trial.config.clone()]);
        }
        use Align::{Left, Right};
        let table = match self.trials {
            [] => "  no trials are recorded\n".into(),
            _ => lines(&rows, &[Left, Right, Left, Right, Left]),
        };
        format!("{}\n{table}", headline::line(self.past))
    }

    fn write_end(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let study = &self.past.study;
        let Some(recorded) = &study.summary else { return writeln!(f, "\n{}", self.unfinished()) };
        match recorded.read() {
            Ok(summary) => {
                write!(f, "\n{}", OutcomeView { summary })?;
                self.past.validated.iter().try_for_each(|made| {
                    let when = moment(made.at_ms, &self.past.zone);
                    writeln!(f, "{}, {when}", validated(made))
                })
            }
            // Another kiln's summary: its verdict is still worth telling.
            Err(why) => {
                let verdict = study.verdict.as_deref().unwrap_or("no verdict");
                writeln!(f, "\n{verdict}; the figures cannot be read by this kiln ({why}), --json has them")
            }
        }
    }

    fn unfinished(&self) -> String {
        let study = &self.past.study;
        let words = match self.past.state {
            State::Running => return format!("still running, as process {}", study.owner),
            State::Interrupted => "interrupted",
            State::Failed => "ended by a fault",
            State::Finished => return "finished, without a summary".into(),
        };
        let tried = counted(self.past.trials as u128, "configuration");
        format!("{words} after {tried}; continue with: {}", Command::resume(self.kiln, study))
    }

    fn write_notes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |n: &Note| vec![clock(n.at_ms, &self.past.zone), n.kind.clone(), n.text.clone()];
        match self.notes {
            [] => Ok(()),
            notes => {
                let rows: Vec<Vec<String>> = notes.iter().map(row).collect();
                write!(f, "\nnotes\n{}", lines(&rows, &[Align::Left; 3]))
            }
        }
    }
}

impl fmt::Display for StudyView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&headline::line(self.past))?;
        f.write_str(&headline::facts(self.past, self.repeat))?;
        f.write_str(&self.past.study.environment.read().map_or_else(|_| String::new(), headline::environment))?;
        f.write_str(&phases::table(self.trials))?;
        let campaigns = campaigns(self.trials);
        campaigns.iter().try_for_each(|c| {
            f.write_str(&convergence::text(c))?;
            f.write_str(&convergence::then(c, &self.past.study, self.trials, self.notes))
        })?;
        self.write_end(f)?;
        campaigns.iter().try_for_each(|c| f.write_str(&c.fastest()))?;
        f.write_str(&refusals::by_gate(self.trials))?;
        self.write_notes(f)?;
        f.write_str(&remarks_in(&self.past.remarks, &self.past.zone))
    }
}
