//! The order of things: baseline, default, seed, search, finals, confirmation, ablation. In: a bench and a record. Out: a
//! [`Summary`]. Says plainly when there is nothing to win.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kiln_bench::{Apparatus, Baseline, Evaluation, Event, Staged, Trouble, derive};
use kiln_core::{Config, Fault, Gate};
use kiln_judge::Level;
use kiln_search::{Kind, Knowledge, Observation, Strategy, strategy_with};
use kiln_space::Point;
use kiln_stats::Verdict;

use crate::budget::Budget;
use crate::course::Course;
use crate::phases::attempts::{Attempts, Tried};
use crate::phases::confirm::Opponent;
use crate::phases::contenders::contenders;
use crate::phases::opening::{called, openings, try_openings};
use crate::phases::proof::{Proven, prove, together};
use crate::phases::proposals::{Line, Phase, Source, run};
use crate::promise::promise;
use crate::recording::record::Record;
use crate::recording::summary::{Ablated, Confirmed, Contender, Late, Summary, TuneVerdict};

/// Below this share of the baseline's speed a profile shows more than a search.
const HOPELESS_SHARE: f64 = 0.5;

/// What five rounds of a confirmation take, in trials of the default and the baseline: each round has new workers, and more
/// samples than a trial.
const ROUNDS_IN_TRIALS: f64 = 15.0;

/// What one campaign (all workloads, or one of them) came to.
struct Campaign {
    verdict: TuneVerdict,
    reason: String,
    config: Option<Config>,
    workloads: Vec<Confirmed>,
    ablation: Vec<Ablated>,
    /// How many configurations only the ablation tried.
    ablated: usize,
    attempts: Attempts,
    /// Refusals of finalists and of the confirmation.
    late: Vec<Late>,
    /// Refusals of the ablation.
    set_back_refused: Vec<(Config, Gate)>,
    /// How each implementation did, where several compete.
    implementations: Vec<Contender>,
}

impl Campaign {
    /// One that ended before anything was confirmed.
    fn without_figures(verdict: TuneVerdict, reason: String, config: Option<Config>, attempts: Attempts) -> Campaign {
        Campaign {
            verdict,
            reason,
            config,
            workloads: vec![],
            ablation: vec![],
            ablated: 0,
            attempts,
            late: vec![],
            set_back_refused: vec![],
            implementations: vec![],
        }
    }
}

/// What is done about a default that is far too slow where the study goes on all the same.
pub type OnSlow<'s, A> = &'s mut dyn FnMut(&mut A, &Config);

/// Runs a study from wherever its record ends.
pub fn tune<A: Apparatus>(
    bench: &mut A,
    record: &Record<'_>,
    budget: &Budget,
    study: &str,
    spent: f64,
    slow: OnSlow<'_, A>,
) -> Result<Summary, Trouble> {
    let target = bench.settings().target_speedup.unwrap_or(bench.kernel().selection.spec.objective.target_speedup);
    let (baseline, paces) = baseline(bench, record)?;
    let apart = bench.kernel().selection.spec.objective.per_workload && bench.stages().len() > 1;
    let mut campaigns = Vec::new();
    if apart {
        let stages = bench.exchange_stages(Vec::new());
        let all = stages.len();
        for (place, stage) in stages.into_iter().enumerate() {
            let workload = stage.name().to_string();
            bench.exchange_stages(vec![stage]);
            let course = Course { record, budget: &budget.of(place + 1, all), workload: Some(&workload) };
            campaigns.push(campaign(bench, course, (baseline.as_ref(), &paces), target, slow)?);
        }
    } else {
        let course = Course { record, budget, workload: None };
        campaigns.push(campaign(bench, course, (baseline.as_ref(), &paces), target, slow)?);
    }
    let name = baseline.map(|b| b.name);
    let mut summary = summarise(campaigns, apart, target, name)?;
    summary.seed = bench.settings().seed;
    summary.study = study.into();
    summary.seconds = spent + budget.elapsed(bench.now()).as_secs_f64();
    bench.tell(&Event::Finished);
    Ok(summary)
}

/// How fast a baseline is.
#[derive(Default)]
struct Paces {
    /// Its median on each workload, in seconds.
    medians: Vec<(String, f64)>,
    /// Seconds that checking and measuring it took, for each workload.
    trial: f64,
}

/// A baseline, if there is one, and how fast it is.
type Paced<S> = (Option<Baseline<S>>, Paces);

/// The baseline to beat, checked and measured; none when the file names none that can be run here.
fn baseline<A: Apparatus>(bench: &mut A, record: &Record<'_>) -> Result<Paced<A::Subject>, Trouble> {
    if record.is_replay() {
        // Nothing is run: its name is all that is needed.
        let stated = &bench.kernel().selection.target.baselines;
        let chosen = bench.settings().baseline.as_ref().or(record.baseline_name());
        let name = chosen.filter(|name| stated.iter().any(|b| b.name == **name)).cloned();
        return Ok((name.map(|name| Baseline { name, subject: A::nothing() }), Paces::default()));
    }
    let wanted = bench.settings().baseline.clone();
    let found = bench.baselines(wanted.as_deref())?;
    for kiln_bench::Unmeasured { name, refusal } in &found.skipped {
        let why = format!("{}: {}", refusal.gate, refusal.measured);
        if bench.settings().baseline.is_some() {
            let fault = Fault::new(format!("using the baseline {name}"), why);
            return Err(Fault { hint: refusal.hint.clone(), ..fault }.into());
        }
        bench.note(format!("baseline {name} is skipped: {why}"));
    }
    let Some(chosen) = found.ready.into_iter().next() else { return Ok((None, Paces::default())) };
    bench.tell(&Event::Phase { phase: "baseline", planned: 1 });
    let way = bench.measure_baseline(&chosen)?;
    let trial = (way.check_s + way.measure_s) / bench.stages().len().max(1) as f64;
    let (mut slowest, mut paces) = (0.0_f64, Paces { medians: Vec::new(), trial });
    for (stage, measured) in bench.stages().iter().zip(way.measured()) {
        let seconds = measured.median();
        slowest = slowest.max(seconds);
        paces.medians.push((stage.name().to_string(), seconds));
        let roofline = bench.share_of_limit(stage, seconds);
        bench.tell(&Event::Baseline { name: &chosen.name, workload: stage.name(), seconds, roofline });
    }
    bench.expect_calls_of(slowest);
    record.note("baseline", &chosen.name)?;
    Ok((Some(chosen), paces))
}

/// A strategy that is told.
struct Searched {
    strategy: Box<dyn Strategy>,
    kind: Kind,
}

impl Source for Searched {
    fn next(&mut self) -> Option<Point> {
        self.strategy.ask(1).pop()
    }

    fn told(&mut self, point: &Point, evaluation: &Evaluation) {
        self.strategy.tell(point, observation(evaluation));
    }

    fn listens(&self) -> bool {
        !matches!(self.kind, Kind::Random | Kind::Latin)
    }

    fn promise(&self) -> Option<f64> {
        self.strategy.expected_improvement()
    }
}

fn observation(evaluation: &Evaluation) -> Observation {
    evaluation.cost().map_or(Observation::Failed, Observation::Time)
}

/// Every phase, on the workloads the bench has now.
fn campaign<A: Apparatus>(
    bench: &mut A,
    course: Course<'_>,
    (baseline, paces): (Option<&Baseline<A::Subject>>, &Paces),
    target: f64,
    slow: OnSlow<'_, A>,
) -> Result<Campaign, Trouble> {
    let record = course.record;
    let named = |phase: &str| course.phase(phase);
    let mut attempts = Attempts::default();
    // A study that goes on begins as it began, also when the table of tuned configurations has changed since.
    let begun = record.config(&named("default")).and_then(|text| bench.kernel().read_config(text));
    let workloads: Vec<_> = bench.stages().iter().map(|stage| stage.workload()).collect();
    let default = match begun {
        None if record.has(&named("seed")) && !record.has(&named("default")) => None,
        begun => begun.or_else(|| bench.kernel().default_for(&workloads)),
    };
    if let (None, Some(stated)) = (&default, bench.kernel().stated_default()) {
        let why = bench.kernel().broken(&stated).map_or(String::new(), |(refusal, _)| {
            format!(": {} does not hold, {} with {}", refusal.rule, refusal.limit, refusal.evidence)
        });
        bench.note(format!("the default configuration {stated} is not tried{why}"));
    }
    let openings = openings(bench, course, default.as_ref(), &workloads);
    let sound = try_openings(bench, course, &openings, &mut attempts)?;
    if let (Some(baseline), Some((best, recorded))) = (baseline, &sound.best) {
        let ratio = first_look(bench, &baseline.name, paces, &best.evaluation, !recorded);
        let far = ratio.is_some_and(|ratio| ratio < HOPELESS_SHARE);
        let phase = named("standing");
        // What was decided once stays so, and what has searched already goes on.
        let asked = record.has(&phase) || far && !record.has(&named("seed"));
        let what = called(&best.config, openings.len());
        let reason = match asked {
            true => half_speed(bench, record, baseline, (&what, &best.config), &phase)?,
            false => None,
        };
        // A study of one campaign says at its end what limits what it came to.
        let begins = !record.is_replay() && !record.has(&named("seed"));
        if far && begins && (reason.is_none() || course.workload.is_some()) {
            slow(bench, &best.config);
        }
        if let Some(reason) = reason {
            let config = Some(best.config.clone());
            return Ok(Campaign::without_figures(TuneVerdict::Stopped, reason, config, attempts));
        }
    }
    let own = sound.best.as_ref().map_or(0.0, |(best, _)| best.evaluation.check_s + best.evaluation.measure_s);
    let sound = sound.first;
    let proof = course.rest_takes(bench) + bench.level_takes(Level::Full);
    let theirs = paces.trial * bench.stages().len() as f64;
    let rounds = Duration::try_from_secs_f64(ROUNDS_IN_TRIALS * (own + theirs)).unwrap_or_default();
    let budget = &course.budget.with_proof(bench.now(), proof + rounds);
    let space = Arc::clone(&bench.kernel().space);
    let first = default.as_ref().and_then(|d| space.locate(d));
    let kind = Kind::parse(&bench.settings().strategy).map_err(|e| Fault::new("choosing a search strategy", e))?;
    let knowledge = Knowledge {
        priors: bench.priors(),
        default: first.clone(),
        score: promise(bench.kernel(), bench.gpu()),
        ..Knowledge::default()
    };
    let seed = derive(bench.settings().seed, &["search", &course.purpose()], 0);
    let mut search = Searched { strategy: strategy_with(kind, Arc::clone(&space), seed, &knowledge), kind };
    for tried in &attempts.all {
        if let Some(point) = space.locate(&tried.config) {
            search.told(&point, &tried.evaluation);
        }
    }
    // No more than there are, so that what is left is told right. The defaults were tried already.
    let begun = openings.iter().filter(|config| space.locate(config).is_some()).count();
    let most = usize::try_from(space.len()).unwrap_or(usize::MAX).saturating_sub(begun);
    let seed = Phase { name: named("seed"), planned: bench.settings().seed_trials.min(most), may_end: false };
    let left = most.saturating_sub(seed.planned);
    let rest = Phase { name: named("search"), planned: bench.settings().search_trials.min(left), may_end: true };
    let mut line = Line::new(vec![seed, rest]);
    run(bench, record, budget, &mut line, 0, &mut search, &mut attempts)?;

    if bench.settings().stop_rule
        && let Some(refusal) = attempts.alike()
    {
        let (gate, measured, all) = (refusal.gate, &refusal.measured, attempts.all.len());
        let reason = format!(
            "all of the first {all} configurations were refused alike, by {gate}: {measured} (--no-stop continues anyway)"
        );
        return Ok(Campaign::without_figures(TuneVerdict::NoValidCandidate, reason, None, attempts));
    }
    // The best of the seed is no slower than a default that was held against the rule.
    let unruled = sound.is_none() || record.has(&named("rule"));
    if let (Some(baseline), Some(best), true) = (baseline, attempts.best(), unruled) {
        let of = ("after the seed phase the best configuration", &best.config);
        if let Some(reason) = half_speed(bench, record, baseline, of, &named("rule"))? {
            let config = Some(best.config.clone());
            return Ok(Campaign::without_figures(TuneVerdict::Stopped, reason, config, attempts));
        }
    }

    run(bench, record, budget, &mut line, 1, &mut search, &mut attempts)?;
    bench.quiet();
    warned_of(bench, &attempts);

    // A default that was refused is nothing to be measured against.
    let opponent = match (baseline, sound) {
        (Some(baseline), _) => Some(Opponent { name: baseline.name.clone(), subject: baseline.subject.clone() }),
        (None, Some(default)) => {
            bench.note("no baseline can be run: the default configuration takes its place".into());
            own_default(bench, record, &default)?
        }
        (None, None) => None,
    };
    let proven = prove(bench, course, &attempts, opponent.as_ref())?;
    let implementations = contenders(bench.kernel(), course, &attempts, &proven);
    let Proven { winner, unopposed, ablation, ablated, set_back_refused, late, .. } = proven;
    let ablated = ablated.len();
    let Some((config, workloads)) = winner else {
        let (verdict, reason) = match (&unopposed, &opponent) {
            (Some(_), None) => (TuneVerdict::NotReached, "there is nothing to measure the winner against".to_string()),
            _ => (TuneVerdict::NoValidCandidate, refusals_in_words(&attempts, &late)),
        };
        let workloads = vec![];
        return Ok(Campaign {
            verdict,
            reason,
            config: unopposed,
            workloads,
            ablation,
            ablated,
            attempts,
            late,
            set_back_refused,
            implementations,
        });
    };
    let (verdict, reason) = judge(&workloads, target);
    Ok(Campaign {
        verdict,
        reason,
        config: Some(config),
        workloads,
        ablation,
        ablated,
        attempts,
        late,
        set_back_refused,
        implementations,
    })
}

/// What the file asks to be warned of, once, with a count.
fn warned_of<A: Apparatus>(bench: &A, attempts: &Attempts) {
    let warning = |tried: &Tried| tried.evaluation.resources.iter().find_map(|r| r.warning.clone());
    let mut warned = attempts.all.iter().filter_map(|tried| Some((&tried.config, warning(tried)?)));
    if let Some((config, words)) = warned.next() {
        let (count, all) = (1 + warned.count(), attempts.all.len());
        bench.note(format!(
            "{count} of {all} configurations have less occupancy than asked for, such as {config}: {words}"
        ));
    }
}

/// The default beside the baseline on the smallest workload, for whoever waits. Both have few samples, and not in turns.
fn first_look<A: Apparatus>(
    bench: &A,
    baseline: &str,
    paces: &Paces,
    evaluation: &Evaluation,
    told: bool,
) -> Option<f64> {
    let ours = evaluation.measured().first()?;
    let (workload, theirs) = paces.medians.iter().find(|(workload, _)| *workload == ours.workload)?;
    let ratio = Some(theirs / ours.median()).filter(|ratio| ratio.is_finite())?;
    if told {
        bench.tell(&Event::FirstLook { baseline, workload, ratio });
    }
    Some(ratio)
}

/// The default configuration as an opponent; none when it is refused.
fn own_default<A: Apparatus>(
    bench: &mut A,
    record: &Record<'_>,
    default: &Config,
) -> Result<Option<Opponent<A::Subject>>, Fault> {
    let name = "the default configuration".to_string();
    if record.is_replay() {
        return Ok(Some(Opponent { name, subject: A::nothing() }));
    }
    let build = bench.build(default)?;
    Ok(match bench.built(build)? {
        kiln_core::Outcome::Passed(subject) => Some(Opponent { name, subject }),
        kiln_core::Outcome::Refused(_) => None,
    })
}

/// The rule after the default, or after the seed phase where there was none to hold against it: under half the baseline's speed on the smallest workload, stop
/// and say why.
fn half_speed<A: Apparatus>(
    bench: &mut A,
    record: &Record<'_>,
    baseline: &Baseline<A::Subject>,
    (what, config): (&str, &Config),
    phase: &str,
) -> Result<Option<String>, Fault> {
    if !bench.settings().stop_rule {
        return Ok(None);
    }
    // Measured next to each other, once: a decision to stop must not rest on two different moments.
    let Some((theirs, ours)) = crate::phases::confirm::glance(bench, record, config, baseline, phase)? else {
        return Ok(None);
    };
    let share = theirs / ours;
    let near = (HOPELESS_SHARE - 0.005..HOPELESS_SHARE).contains(&share);
    let digits = if share < 0.1 || near { 4 } else { 2 };
    let smallest = bench.stages().first().map_or("", Staged::name);
    let on = if smallest.is_empty() { String::new() } else { format!(" on {smallest}") };
    if share >= HOPELESS_SHARE {
        if share < 1.0 {
            bench.note(format!("{what} runs at {share:.2}x of {}{on}", baseline.name));
        }
        return Ok(None);
    }
    Ok(Some(format!(
        "{what} runs at {share:.digits$}x of {}{on}, under {HOPELESS_SHARE}x: remove what limits it before searching on",
        baseline.name
    )))
}

/// Whether the aim was reached: the speedup, intervals apart, an effect that is not small.
fn judge(workloads: &[Confirmed], target: f64) -> (TuneVerdict, String) {
    let tuned: Vec<&Confirmed> = workloads.iter().filter(|w| !w.holdout).collect();
    let Some(whole) = together(workloads.iter()) else {
        return (TuneVerdict::NotReached, "the confirmation has no samples".into());
    };
    if let Some(unclear) = tuned.iter().find(|w| w.verdict != Verdict::Faster) {
        let on = if unclear.name.is_empty() { String::new() } else { format!("on {} ", unclear.name) };
        let words = format!("{on}the winner is {} against the baseline", unclear.verdict);
        return (TuneVerdict::NotReached, words);
    }
    if whole.value < target {
        return (TuneVerdict::NotReached, format!("confirmed {:.2}x (target {target:.2}x)", whole.value));
    }
    (TuneVerdict::Reached, format!("confirmed {:.2}x (target {target:.2}x)", whole.value))
}

fn refusals_in_words(attempts: &Attempts, late: &[Late]) -> String {
    let counts = refusals(std::iter::once((attempts, late, &[][..])));
    if counts.is_empty() {
        return "no configuration was tried".into();
    }
    let parts: Vec<String> = counts.iter().map(|(gate, count)| format!("{gate} {count}")).collect();
    format!("no configuration passed every gate; refused: {}", parts.join(", "))
}

/// What was refused while searching, of finalists, and in the ablation.
type Refused<'a> = (&'a Attempts, &'a [Late], &'a [(Config, Gate)]);

/// Every refusal by gate: as many as the record holds.
fn refusals<'a>(campaigns: impl Iterator<Item = Refused<'a>>) -> BTreeMap<Gate, usize> {
    let mut counts = BTreeMap::new();
    for (attempts, late, set_back) in campaigns {
        let early = attempts.all.iter().filter_map(|t| Some(t.evaluation.refusal()?.gate));
        let later = late.iter().map(|late| late.refusal.gate).chain(set_back.iter().map(|(_, gate)| *gate));
        early.chain(later).for_each(|gate| *counts.entry(gate).or_insert(0) += 1);
    }
    counts
}

/// One summary of one or several campaigns.
fn summarise(campaigns: Vec<Campaign>, apart: bool, target: f64, baseline: Option<String>) -> Result<Summary, Fault> {
    let ablated: usize = campaigns.iter().map(|c| c.ablated).sum();
    let trials = ablated + campaigns.iter().map(|c| c.attempts.all.len()).sum::<usize>();
    let refused = refusals(campaigns.iter().map(|c| (&c.attempts, &c.late[..], &c.set_back_refused[..])));
    // The worst of several: a study over workloads apart has reached its aim when every one of them has.
    let order = [TuneVerdict::NoValidCandidate, TuneVerdict::Stopped, TuneVerdict::NotReached, TuneVerdict::Reached];
    let rank = |c: &Campaign| order.iter().position(|v| *v == c.verdict);
    let gain = |c: &Campaign| together(c.workloads.iter()).map_or(0.0, |whole| whole.value);
    let worst = campaigns.iter().min_by(|a, b| rank(a).cmp(&rank(b)).then(gain(a).total_cmp(&gain(b))));
    let count = campaigns.len();
    let (verdict, reason) = worst.map_or((TuneVerdict::NoValidCandidate, String::new()), |c| {
        let own = c.workloads.iter().find(|one| !one.holdout && apart && count > 1);
        let on = own.map_or(String::new(), |one| format!(" on {}, the smallest of {count} workloads", one.name));
        (c.verdict, c.reason.replacen(" (target", &format!("{on} (target"), 1))
    });
    let config = if apart { None } else { campaigns.first().and_then(|c| c.config.clone()) };
    let mut workloads: Vec<Confirmed> = Vec::new();
    let (mut ablation, mut late, mut implementations) = (Vec::new(), Vec::new(), Vec::new());
    for campaign in campaigns {
        late.extend(campaign.late);
        implementations.extend(campaign.implementations);
        for mut confirmed in campaign.workloads {
            confirmed.config = if apart { campaign.config.clone() } else { None };
            workloads.push(confirmed);
        }
        ablation.extend(campaign.ablation);
    }
    workloads.sort_by_key(|w| w.holdout);
    let whole = together(workloads.iter());
    Ok(Summary {
        price: None,
        cost: None,
        verdict,
        reason,
        workloads,
        config,
        speedup: whole.map(|w| w.value),
        speedup_ci95: whole.map(|w| w.interval),
        target_speedup: target,
        baseline,
        trials,
        ablated: Some(ablated),
        refused,
        late,
        sanitized: Vec::new(),
        limit: None,
        implementations,
        ablation,
        seed: 0,
        seconds: 0.0,
        study: String::new(),
    })
}
