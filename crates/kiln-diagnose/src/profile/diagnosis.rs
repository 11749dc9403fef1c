//! From a subject to a diagnosis: every rule is asked, those that claim their cause are ranked by the speedup that its removal promises. It
//! serialises as `{"cause","confidence","expected_speedup","evidence","ranked","roofline","fixes","kernel","launches","time_us"}`, with
//! `not_collected` where the page lacks metrics; what else is known is for people.

use serde::{Deserialize, Serialize};

use super::cause::Bottleneck;
use super::load::Load;
use super::metric as m;
use super::name;
use super::position::Position;
use super::promotion::Activity;
use super::roofline::Roofline;
use super::rule::{Condition, Evidence, Fix, Rule, rounded};
use super::rules;
use super::subject::Subject;

/// What a kernel's time goes to, and what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileDiagnosis {
    /// The first of `ranked`; none if no rule applies.
    pub cause: Option<Bottleneck>,
    /// How sure that is, from 0 to 1: how far the numbers are beyond their thresholds, and how far ahead of the next cause.
    pub confidence: f64,
    /// The speedup when it is removed.
    pub expected_speedup: f64,
    /// The metrics that say so. A healthy value of any of them ends the claim.
    pub evidence: Vec<Evidence>,
    /// Every cause that applies, the one that promises most first.
    pub ranked: Vec<Ranked>,
    /// Where the kernel stands under the roofs.
    pub roofline: Roofline,
    /// What to change for the first cause.
    pub fixes: Vec<Fix>,
    /// The kernel, as ncu has it.
    pub kernel: String,
    /// How many launches of it the page has.
    pub launches: u64,
    /// The time of the longest, in microseconds; none if it was not collected.
    pub time_us: Option<f64>,
    /// Metrics that rules need and the page does not have: their causes are neither claimed nor excluded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_collected: Vec<String>,
    /// The first cause in two sentences.
    #[serde(skip)]
    pub explanation: String,
    /// What warps wait for, the most frequent first.
    #[serde(skip)]
    pub stalls: Vec<Stall>,
    /// How busy each unit is, from DRAM to the pipes; empty where one was not collected.
    #[serde(skip)]
    pub units: Vec<UnitLoad>,
    /// Where it stands under the roofs in absolute figures.
    #[serde(skip)]
    pub position: Option<Position>,
    /// The way it works, to be compared with that of another profile.
    #[serde(skip)]
    pub activity: Activity,
}

impl ProfileDiagnosis {
    /// The kernel's name for people, without what it returns and its parameters.
    pub fn name(&self) -> &str {
        name::shown(&self.kernel)
    }
}

/// A cause and its worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The cause.
    pub cause: Bottleneck,
    /// The speedup when it is removed.
    pub expected_speedup: f64,
}

/// A reason to wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// ncu's name.
    pub reason: String,
    /// Its part of a warp's time.
    pub share: f64,
}

/// A unit and the share of the time for which it is busy.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitLoad {
    /// Its name for people.
    pub unit: &'static str,
    /// The share of its peak.
    pub share: f64,
}

/// A rule applied to a subject, whether it claims its cause or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The cause.
    pub cause: Bottleneck,
    /// Whether all conditions hold.
    pub holds: bool,
    /// The conditions with their values. None where the rule does not apply to kernels of this kind.
    pub conditions: Vec<Condition>,
    /// Metrics that it rests on and the page does not have: with any, nothing is claimed.
    pub not_collected: Vec<&'static str>,
    /// The speedup, were the cause removed.
    pub expected_speedup: f64,
    /// What it says.
    pub explanation: String,
}

/// Causes that promise less are not worth a change; those at the roofline are named all the same.
const WORTH: f64 = 1.05;

/// Names the cause of a kernel's time.
pub fn diagnose(subject: &Subject) -> ProfileDiagnosis {
    let found = ranked(subject);
    let first = found.first();
    ProfileDiagnosis {
        cause: first.map(|(rule, _)| rule.cause),
        confidence: confidence(subject, &found),
        expected_speedup: first.map_or(1.0, |(_, gain)| rounded(*gain)),
        evidence: first.map(|(rule, _)| evidence(subject, rule)).unwrap_or_default(),
        ranked: found
            .iter()
            .map(|(rule, gain)| Ranked { cause: rule.cause, expected_speedup: rounded(*gain) })
            .collect(),
        roofline: Roofline::of(subject),
        fixes: first.map(|(rule, gain)| (rule.fixes)(subject, *gain)).unwrap_or_default(),
        explanation: first.map(|(rule, _)| (rule.explain)(subject)).unwrap_or_default(),
        kernel: subject.kernel.clone(),
        launches: subject.launches,
        time_us: (!subject.lacks(m::DURATION)).then(|| rounded(subject.micros())),
        not_collected: not_collected(subject),
        stalls: stalls(subject),
        units: units(subject),
        position: Position::of(subject),
        activity: Activity::of(subject),
    }
}

/// What the page lacks of that which rules need.
fn not_collected(subject: &Subject) -> Vec<String> {
    let units = m::UNITS.iter().copied().filter(|unit| subject.lacks(unit));
    let all = names(units.chain(rules::ALL.iter().flat_map(|rule| rule.missing(subject))));
    all.into_iter().map(String::from).collect()
}

/// Metrics under the first name of each, each once.
fn names(metrics: impl Iterator<Item = m::Metric>) -> Vec<&'static str> {
    let mut all: Vec<&str> = Vec::new();
    for name in metrics.filter_map(|metric| metric.first()) {
        if !all.contains(name) {
            all.push(name);
        }
    }
    all
}

/// The rules that claim their cause, the one that promises most first.
pub(super) fn ranked(subject: &Subject) -> Vec<(&'static Rule, f64)> {
    let mut found: Vec<(&Rule, f64)> = rules::ALL
        .iter()
        .filter(|rule| rule.holds(subject))
        .map(|rule| (rule, (rule.gain)(subject)))
        .filter(|(rule, gain)| *gain > WORTH || at_roofline(rule.cause))
        .collect();
    found.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    found
}

/// Every rule with its values, in the order of the causes.
pub fn applied(subject: &Subject) -> Vec<Applied> {
    let apply = |rule: &Rule| {
        let not_collected = names(rule.missing(subject));
        // Without its metrics a rule has no figures to speak of.
        let known = not_collected.is_empty();
        Applied {
            cause: rule.cause,
            holds: rule.holds(subject),
            conditions: (rule.conditions)(subject),
            not_collected,
            expected_speedup: if known { rounded((rule.gain)(subject)) } else { 1.0 },
            explanation: if known { (rule.explain)(subject) } else { String::new() },
        }
    };
    rules::ALL.iter().map(apply).collect()
}

/// Whether a cause says that nothing is left to gain.
pub fn at_roofline(cause: Bottleneck) -> bool {
    matches!(cause, Bottleneck::AtRooflineDram | Bottleneck::AtRooflineFp32 | Bottleneck::AtRooflineTensor)
}

/// The metrics that say what is wrong, as far as each of them alone decides: with a healthy value another cause comes first.
fn evidence(subject: &Subject, rule: &Rule) -> Vec<Evidence> {
    let decides = |metric: &str, threshold: f64| {
        let mut healthy = subject.clone();
        healthy.launch.set(metric, threshold);
        ranked(&healthy).first().is_none_or(|(first, _)| first.cause != rule.cause)
    };
    let conditions = (rule.conditions)(subject);
    let symptoms = conditions.iter().filter(|condition| !condition.context);
    symptoms
        .filter_map(|own| Some(Evidence { metric: own.metric.into(), value: own.value?, threshold: own.threshold }))
        .filter(|own| decides(&own.metric, own.threshold))
        .collect()
}

/// No surer than this where a unit that bounds the promise was not collected.
const UNSURE: f64 = 0.5;

/// Half of it is how far the first condition is beyond its threshold, half how far the next cause is behind.
fn confidence(subject: &Subject, found: &[(&Rule, f64)]) -> f64 {
    let Some((rule, gain)) = found.first() else { return 0.0 };
    let conditions = (rule.conditions)(subject);
    let margin = conditions.first().and_then(|first| {
        let (value, threshold) = (first.value?.abs(), first.threshold.abs());
        let (less, more) = if first.above() { (threshold, value) } else { (value, threshold) };
        Some(if more > 0.0 { 1.0 - less / more } else { 0.0 })
    });
    let lead = found.get(1).map_or(1.0, |(_, next)| 1.0 - (next / gain).min(1.0));
    let by_units = rule.cause != Bottleneck::LaunchBound && !at_roofline(rule.cause);
    let most = if by_units && !subject.has_units() { UNSURE } else { 0.99 };
    rounded((0.5 + 0.25 * margin.unwrap_or(0.0).clamp(0.0, 1.0) + 0.25 * lead).min(most))
}

fn units(subject: &Subject) -> Vec<UnitLoad> {
    let all = Load::of(subject).units().into_iter().filter(|_| subject.has_units());
    all.map(|(unit, share)| UnitLoad { unit, share: rounded(share) }).collect()
}

fn stalls(subject: &Subject) -> Vec<Stall> {
    let share = |(reason, metric): &(&str, m::Metric)| Stall { reason: (*reason).into(), share: subject.stall(metric) };
    let mut all: Vec<Stall> = m::STALLS.iter().map(share).filter(|stall| stall.share >= 0.01).collect();
    all.sort_by(|one, other| other.share.total_cmp(&one.share));
    all.iter_mut().for_each(|stall| stall.share = rounded(stall.share));
    all
}
