//! What there is to say at the end of a bisection. In: where the change lies, and everything that was found. Out: [`Bisected`],
//! with the culprit measured in turns with the commit before it.

use kiln_core::Refusal;

use super::course::{Answer, Course, Halt, name};
use super::evidence::Slowdown;
use super::state::Found;
use super::{BisectOutcome, BisectUntil, Bisected, JudgedCommit};
use crate::failure::Failure;

impl Course<'_> {
    /// Everything there is to say.
    pub(super) fn told(
        mut self,
        answer: Option<Answer>,
        good: Option<String>,
        resumed: usize,
    ) -> Result<Bisected, Failure> {
        let described = |commit: &String| self.repository.described(commit);
        let (mut culprit, mut before, mut candidates) = (None, None, Vec::new());
        if let Some(answer) = &answer {
            before = answer.before.map_or(good.clone(), |place| Some(self.row[place].clone()));
            let first = answer.before.map_or(0, |place| place + 1);
            match first == answer.culprit {
                true => culprit = Some(self.row[answer.culprit].clone()),
                false => {
                    candidates = self.row[first..=answer.culprit].iter().map(described).collect::<Result<_, _>>()?
                }
            }
        }
        let mut change = Vec::new();
        if let (Some(culprit), Some(before)) = (&culprit, &before) {
            change = self.change(culprit, before)?;
        }
        let described = |commit: &String| self.repository.described(commit);
        let outcome = match (&answer, &culprit) {
            (None, _) => BisectOutcome::Interrupted,
            (_, Some(_)) => BisectOutcome::Found,
            (_, None) => BisectOutcome::Narrowed,
        };
        if outcome != BisectOutcome::Interrupted {
            self.state.done();
        }
        let merge = match &culprit {
            Some(commit) => self.repository.commit(&format!("{commit}^2")).is_ok(),
            None => false,
        };
        let refusal = culprit.as_ref().and_then(|commit| self.refusal(commit));
        Ok(Bisected {
            kernel: self.kernel.clone(),
            path: self.request.selecting.path.to_string(),
            until: self.request.until.to_string(),
            outcome,
            good: good.as_ref().map(described).transpose()?,
            bad: described(&self.bad)?,
            culprit: culprit.as_ref().map(described).transpose()?,
            before: before.as_ref().map(described).transpose()?,
            candidates,
            merge,
            change,
            refusal,
            commits: self.row.len(),
            evaluated: self.evaluated().len(),
            resumed,
            judged: self.judged()?,
            seconds: self.state.seconds + self.seconds(),
            notes: self.notes,
        })
    }

    fn refusal(&self, commit: &str) -> Option<Refusal> {
        self.state.of_commit(commit).iter().find_map(|one| match one {
            Found::Refused { refusal, .. } => Some(refusal.clone()),
            _ => None,
        })
    }

    /// How much slower the culprit is than the commit before it, measured in turns.
    fn change(&mut self, culprit: &str, before: &str) -> Result<Vec<Slowdown>, Failure> {
        if !matches!(self.request.until, BisectUntil::Fast(_)) {
            return Ok(Vec::new());
        }
        if self.reference.as_deref() == Some(before) {
            return Ok(self.slowdown(culprit).unwrap_or_default());
        }
        let held = match self.held(before) {
            Ok(held) => held,
            Err(Halt::Failed(failure)) => return Err(failure),
            Err(Halt::Stopped) => return Ok(Vec::new()),
        };
        match self.looker.look(culprit, Some((before, &held))) {
            Ok(Found::Measured { workloads, .. }) => {
                if !workloads.iter().any(|one| one.ratio_ci95.low > 1.0) {
                    self.notes.push("measured against the commit before it, the culprit is not slower".into());
                }
                Ok(workloads)
            }
            // Asked to stop, or not to be measured: the culprit is known all the same.
            Ok(_) => Ok(Vec::new()),
            Err(_) if self.project.is_stopped() => Ok(Vec::new()),
            Err(failure) => Err(failure),
        }
    }

    /// Commits that were really looked at; what others are measured against is one of them.
    fn evaluated(&self) -> Vec<&String> {
        let looked = self.state.evaluated.iter();
        looked.chain(self.reference.iter().filter(|commit| !self.state.evaluated.contains(commit))).collect()
    }

    fn judged(&self) -> Result<Vec<JudgedCommit>, Failure> {
        let known = self.state.holds.keys().filter(|commit| !self.state.of_commit(commit).is_empty());
        let mut commits: Vec<&String> = known.collect();
        commits.extend(self.reference.iter().filter(|commit| self.state.of_commit(commit).is_empty()));
        let mut judged = Vec::new();
        for commit in commits {
            let evaluated = self.state.evaluated.contains(commit);
            judged.push(JudgedCommit {
                commit: self.repository.described(commit)?,
                verdict: self.standing(commit).map_or("unclear", name),
                words: self.words(commit),
                looks: if evaluated { self.looks(commit) } else { 0 },
                slowdown: self.slowdown(commit).unwrap_or_default(),
            });
        }
        // Oldest first, in the order of the row, not of clocks.
        let place = |one: &JudgedCommit| self.row.iter().position(|commit| *commit == one.commit.commit);
        judged.sort_by_key(|one| (place(one).map_or(0, |place| place + 1), one.commit.at_ms));
        Ok(judged)
    }
}
