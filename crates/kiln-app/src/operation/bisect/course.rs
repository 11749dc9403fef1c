//! The course of a bisection: find the ends, judge what `search` names until the change lies between two neighbours, look at both
//! again, and name the second. A look that contradicts an earlier one moves the search; what is found is saved after every
//! look.

use std::collections::BTreeSet;
use std::time::Instant;

use kiln_core::Report;
use kiln_store::CommitJudged;

use super::evidence::{self, Slowdown, together};
use super::judge::{Judge, inside_of};
use super::search::{Next, Standing, left, next};
use super::state::{Found, State};
use super::{BisectRequest, BisectUntil, Bisected, ends};
use crate::failure::Failure;
use crate::kernel::{KernelFile, folder};
use crate::operation::bench;
use crate::operation::history::good_commits;
use crate::project::Project;
use crate::record::commits::AtCommit;
use crate::repository::{Repository, short};
use crate::teller::Teller;

/// Looks at a commit at most; what is unclear then is not to be judged here.
const MOST_LOOKS: usize = 4;

/// Why a course ends before its end.
pub(super) enum Halt {
    /// It was asked to stop.
    Stopped,
    /// Something failed.
    Failed(Failure),
}

impl<F: Into<Failure>> From<F> for Halt {
    fn from(failure: F) -> Halt {
        Halt::Failed(failure.into())
    }
}

/// A bisection on its way.
pub(super) struct Course<'c> {
    pub(super) project: &'c Project,
    pub(super) request: &'c BisectRequest,
    pub(super) teller: &'c Teller<'c>,
    pub(super) repository: &'c Repository,
    pub(super) bad: String,
    /// The commit that others are measured against.
    pub(super) reference: Option<String>,
    pub(super) notes: Vec<String>,
    pub(super) looker: Judge<'c>,
    pub(super) state: State,
    pub(super) kernel: String,
    /// The commits in question, once both ends are known.
    pub(super) row: Vec<String>,
    began: Instant,
}

/// Where the change lies.
pub(super) struct Answer {
    pub(super) before: Option<usize>,
    pub(super) culprit: usize,
}

impl<'c> Course<'c> {
    pub(super) fn run(
        project: &'c Project,
        request: &'c BisectRequest,
        teller: &'c Teller<'c>,
    ) -> Result<Bisected, Failure> {
        let path = &request.selecting.path;
        if !path.exists() {
            let report =
                Report::error(format!("there is nothing at {path}")).label("expected a kernel's folder or file");
            return Err(report.hint("check out a commit that has it: `git log -- PATH` lists some").into());
        }
        let otherwise = "run it in the clone of the kernel's repository";
        let repository = Repository::around(folder(path), "a bisection goes through its commits", otherwise)?;
        let inside = repository.inside(path);
        let (Some(inside), Some(own)) = (inside, inside_of(&repository, path)) else {
            return Err(Report::error(format!("{path} is not in the repository {}", repository.folder)).into());
        };
        let bad = repository.commit(&request.bad)?;
        let kernel = KernelFile::read(path).map_or_else(|_| own.to_string(), |file| file.spec.name);
        let question = format!(
            "{:?}",
            (&repository.folder, &inside, &bad, named(&repository, request)?, {
                let selecting = &request.selecting;
                (&selecting.target, &selecting.workload, &selecting.variant, &selecting.device, &request.config)
            })
        );
        let question = format!("{question} {}", request.until);
        let state = State::of(project, &question, request.restart);
        let looks = state.found.values().map(Vec::len).sum::<usize>() as u64;
        let (trees, selected) = ([None, None], None);
        let looker = Judge { project, request, teller, repository: &repository, inside, trees, looks, selected };
        bench::sensible(&looker.as_bench())?;
        // From here on Ctrl-C is a wish, so that worktrees are removed and what is known is kept.
        project.stopped();
        let resumed = state.evaluated.len();
        if resumed > 0 {
            let known = kiln_core::counted(resumed as u128, "commit");
            teller.note(format!(
                "going on with what an interrupted bisection found: {known} judged (--restart forgets it)"
            ));
        }
        let mut course = Course {
            project,
            request,
            teller,
            repository: &repository,
            bad,
            reference: None,
            notes: Vec::new(),
            looker,
            state,
            kernel,
            row: Vec::new(),
            began: Instant::now(),
        };
        let good = ends::good(&mut course);
        let found = good.and_then(|good| Ok((course.between(&good)?, good)));
        let (answer, good) = match found {
            Ok((answer, good)) => (Some(answer), Some(good)),
            Err(Halt::Stopped) => (None, course.reference.clone()),
            // Nothing says that a fault after Ctrl-C is more than that.
            Err(Halt::Failed(_)) if project.is_stopped() => (None, course.reference.clone()),
            Err(Halt::Failed(failure)) => return Err(failure),
        };
        course.told(answer, good, resumed)
    }

    /// Judges commits until the change lies between two that were looked at twice.
    fn between(&mut self, good: &str) -> Result<Answer, Halt> {
        self.row = self.repository.between(good, &self.bad)?;
        loop {
            let known = self.known();
            match next(&known) {
                Next::Judge(place) => {
                    let commit = self.row[place].clone();
                    self.judge(&commit)?;
                }
                Next::NothingBad => {
                    let words = self.words(&self.bad);
                    let report = Report::error(format!("--bad {} was bad once, and is not: {words}", self.request.bad));
                    return Err(report.hint("use more samples, or a larger limit: --until fast:10%").into());
                }
                Next::Between(before, culprit) => {
                    let again = [before.map(|place| self.row[place].clone()), Some(self.row[culprit].clone())];
                    let mut looked = false;
                    for commit in again.into_iter().flatten() {
                        looked |= self.confirm(&commit)?;
                    }
                    if !looked {
                        return Ok(Answer { before, culprit });
                    }
                }
            }
        }
    }

    fn known(&self) -> Vec<Option<Standing>> {
        self.row.iter().map(|commit| self.standing(commit)).collect()
    }

    /// What is known of a commit; none where it has to be looked at, or looked at again.
    pub(super) fn standing(&self, commit: &str) -> Option<Standing> {
        let found = self.state.of_commit(commit);
        if self.reference.as_deref() == Some(commit) {
            return Some(Standing::Good);
        }
        if let BisectUntil::Fast(limit) = self.request.until {
            let without = found.iter().any(|one| matches!(one, Found::Refused { .. } | Found::Unjudged { .. }));
            if without {
                return Some(Standing::Unjudged);
            }
            let measured = self.slowdown(commit)?;
            let bad = if commit == self.bad { None } else { self.slowdown(&self.bad) };
            return evidence::standing(&measured, 1.0 + limit, bad.as_deref());
        }
        let strict = self.request.until == BisectUntil::Build;
        let standing = |one: &Found| match one {
            Found::Refused { refusal, .. } if strict || !refusal.gate.is_of_the_build() => Standing::Bad,
            Found::Refused { .. } | Found::Unjudged { .. } | Found::Measured { .. } => Standing::Unjudged,
            Found::Passed { .. } => Standing::Good,
        };
        // Wrong once is wrong.
        let all: Vec<Standing> = found.iter().map(standing).collect();
        [Standing::Bad, Standing::Unjudged, Standing::Good].into_iter().find(|one| all.contains(one))
    }

    /// All measurements of a commit against the good one, as one for each workload; none where there are none.
    pub(super) fn slowdown(&self, commit: &str) -> Option<Vec<Slowdown>> {
        let reference = self.state.holds.get(self.reference.as_ref()?)?;
        let of = |one: &'_ Found| match one {
            Found::Measured { against, workloads } if against == reference => Some(workloads.clone()),
            _ => None,
        };
        let looks: Vec<Vec<Slowdown>> = self.state.of_commit(commit).iter().filter_map(of).collect();
        let first = looks.first()?;
        let workload = |name: &str| -> Option<Slowdown> {
            together(&looks.iter().flatten().filter(|one| one.workload == name).collect::<Vec<_>>())
        };
        Some(first.iter().filter_map(|one| workload(&one.workload)).collect())
    }

    /// Looks at a commit until it is known what it is.
    pub(super) fn judge(&mut self, commit: &str) -> Result<Standing, Halt> {
        loop {
            if let Some(standing) = self.standing(commit) {
                return Ok(standing);
            }
            if self.looks(commit) >= MOST_LOOKS {
                let words = self.words(commit);
                self.state.add(
                    commit,
                    Found::Unjudged { why: format!("too noisy to tell: {words}") },
                    self.seconds(),
                )?;
                continue;
            }
            self.look(commit)?;
        }
    }

    /// Looks at a commit once more, where one look is not enough; whether it did.
    fn confirm(&mut self, commit: &str) -> Result<bool, Halt> {
        // A compiler says the same again; the good commit is what others are measured against.
        let once = self.request.until == BisectUntil::Build || self.reference.as_deref() == Some(commit);
        if once || self.looks(commit) >= 2 {
            return Ok(false);
        }
        self.teller.note(format!("{}: looking again before saying so", short(commit)));
        self.look(commit)?;
        Ok(true)
    }

    /// How often a commit was looked at, for what counts now.
    pub(super) fn looks(&self, commit: &str) -> usize {
        let reference = self.reference.as_ref().and_then(|reference| self.state.holds.get(reference));
        let counts = |one: &&Found| match one {
            Found::Measured { against, .. } => Some(against) == reference,
            _ => true,
        };
        self.state.of_commit(commit).iter().filter(counts).count()
    }

    /// What a commit holds; commits that hold the same share what is found.
    pub(super) fn held(&mut self, commit: &str) -> Result<String, Halt> {
        if let Some(held) = self.state.holds.get(commit) {
            return Ok(held.clone());
        }
        let held = self.looker.holds(commit)?;
        self.state.holds.insert(commit.into(), held.clone());
        Ok(held)
    }

    fn look(&mut self, commit: &str) -> Result<(), Halt> {
        if self.project.is_stopped() {
            return Err(Halt::Stopped);
        }
        let known = self.state.holds.contains_key(commit);
        self.held(commit)?;
        if !known && self.standing(commit).is_some() {
            self.teller.note(format!("{}: the same files as one that is known", short(commit)));
            return Ok(());
        }
        let against = match (&self.request.until, self.reference.clone()) {
            (BisectUntil::Fast(_), Some(reference)) => Some((self.held(&reference)?, reference)),
            _ => None,
        };
        let began = Instant::now();
        let other = against.as_ref().map(|(held, reference)| (reference.as_str(), held.as_str()));
        let found = self.looker.look(commit, other)?;
        self.state.add(commit, found, self.seconds())?;
        let standing = self.standing(commit);
        let words = self.words(commit);
        self.record(commit, standing, &words);
        let seconds = began.elapsed().as_secs_f64();
        let left = match left(&self.known()) {
            0 => String::new(),
            left => format!("; about {left} more to judge"),
        };
        let subject = self.repository.described(commit).map_or_else(|_| String::new(), |found| found.subject);
        let verdict = standing.map_or("unclear", name);
        self.teller.note(format!("{} {verdict}: {words} ({seconds:.1} s{left}): {subject}", short(commit)));
        if self.project.is_stopped() {
            return Err(Halt::Stopped);
        }
        Ok(())
    }

    /// Why a commit is what it is, in words.
    pub(super) fn words(&self, commit: &str) -> String {
        if self.reference.as_deref() == Some(commit) {
            return "what others are measured against".into();
        }
        let found = self.state.of_commit(commit);
        let gravest = found.iter().find(|one| matches!(one, Found::Refused { .. } | Found::Unjudged { .. }));
        match gravest.or(found.last()) {
            None => "not looked at".into(),
            Some(Found::Passed { words }) => words.clone(),
            Some(Found::Unjudged { why }) => why.clone(),
            Some(Found::Refused { refusal, workload }) => {
                let on = if workload.is_empty() { String::new() } else { format!(" on {workload}") };
                format!("{}{on}: {}", refusal.gate, refusal.measured)
            }
            Some(Found::Measured { workloads, .. }) => {
                let measured = self.slowdown(commit).unwrap_or_else(|| workloads.clone());
                let words = measured.iter().map(slowdown_words).collect::<Vec<_>>().join(", ");
                if words.is_empty() { "it cannot be measured against the good commit".into() } else { words }
            }
        }
    }

    fn record(&self, commit: &str, standing: Option<Standing>, words: &str) {
        let good = match standing {
            Some(Standing::Good) => true,
            Some(Standing::Bad) => false,
            _ => return,
        };
        // A check records what it finds itself.
        if self.request.until == BisectUntil::Check {
            return;
        }
        let Some(inside) = inside_of(self.repository, &self.request.selecting.path) else { return };
        let selecting = &self.request.selecting;
        let asked = || (selecting.target.clone().unwrap_or_default(), selecting.variant.clone().unwrap_or_default());
        let (target, variant) = self.looker.selected.clone().unwrap_or_else(asked);
        AtCommit {
            kernel: &self.kernel,
            inside: &inside,
            commit,
            judged: self.request.until.judged(),
            good,
            target: &target,
            variant: &variant,
            device: "",
            words,
        }
        .record(self.project, self.teller);
    }

    /// Commits that are recorded as good.
    pub(super) fn recorded_good(&self) -> Result<BTreeSet<String>, Halt> {
        let inside = inside_of(self.repository, &self.request.selecting.path);
        let (Some(store), Some(inside)) = (self.project.recorded()?, inside) else { return Ok(BTreeSet::new()) };
        let judged: CommitJudged = self.request.until.judged();
        Ok(good_commits(&store, &self.kernel, &self.request.selecting.path, &inside, judged)?)
    }

    pub(super) fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}

/// The good commit as it is asked for; a name that moves asks another question.
fn named(repository: &Repository, request: &BisectRequest) -> Result<Option<String>, Failure> {
    request.good.as_ref().map(|asked| repository.commit(asked)).transpose()
}

pub(super) fn name(standing: Standing) -> &'static str {
    match standing {
        Standing::Good => "good",
        Standing::Bad => "bad",
        Standing::Unjudged => "unjudged",
    }
}

/// A slowdown in per cent, with its interval.
fn slowdown_words(one: &Slowdown) -> String {
    let on = if one.workload.is_empty() { String::new() } else { format!(" on {}", one.workload) };
    if one.identical {
        return format!("identical machine code{on}");
    }
    let percent = |ratio: f64| format!("{:+.1}", 100.0 * (ratio - 1.0));
    let (low, high) = (percent(one.ratio_ci95.low), percent(one.ratio_ci95.high));
    format!("{} % [{low}, {high}]{on}", percent(one.ratio))
}
