//! From a subject to a diagnosis: every rule is asked, those that claim their cause are ranked by the speedup that its removal promises. It
//! serialises as `{"cause","confidence","expected_speedup","evidence","ranked","roofline","fixes","kernel","launches","time_us"}`, with
//! `not_collected` where the page lacks metrics; what else is known is for people.

use serde::{Deserialize, Serialize};

use super::cause::Bottleneck;
use super::load::Load;
use super::metric as m;
use super::name;
use super::nothing;
use super::position::Position;
use super::promotion::Activity;
use super::roofline::Roofline;
use super::rule::{Condition, Evidence, Fix, Rule, rounded};
use super::rules;
use super::subject::Subject;
use super::waits::{self, Stall};
use crate::model::Expected;

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
    /// The first cause in two sentences; without one what is busy, or what warps wait for.
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
    /// What to expect by what promises gave before; none where the model was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
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
    /// The speedup when the cause is removed; 1 where it does not hold.
    pub expected_speedup: f64,
    /// What it says; empty where it does not hold.
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
            .map(|(rule, gain)| Ranked { cause: rule.cause, expected_speedup: rounded(*gain), expected: None })
            .collect(),
        roofline: Roofline::of(subject),
        fixes: first.map(|(rule, gain)| (rule.fixes)(subject, *gain)).unwrap_or_default(),
        explanation: first.map_or_else(|| nothing::explain(subject), |(rule, _)| (rule.explain)(subject)),
        kernel: subject.kernel.clone(),
        launches: subject.launches,
        time_us: (!subject.lacks(m::DURATION)).then(|| rounded(subject.micros())),
        not_collected: not_collected(subject),
        stalls: waits::stalls(subject),
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

/// The rules that claim their cause, the one that promises most first. What is inferred without a number that shows it comes last.
pub(super) fn ranked(subject: &Subject) -> Vec<(&'static Rule, f64)> {
    let mut found: Vec<(&Rule, f64)> = rules::ALL
        .iter()
        .filter(|rule| rule.holds(subject))
        .map(|rule| (rule, promise(subject, rule)))
        .filter(|(rule, gain)| *gain > WORTH || at_roofline(rule.cause))
        .collect();
    let guessed = |rule: &Rule| rules::inferred(rule.cause, subject);
    found.sort_by(|(a, one), (b, other)| guessed(a).cmp(&guessed(b)).then(other.total_cmp(one)));
    found
}

/// What to change for a cause that is claimed, in the order of its rule; none for one that is not.
pub fn fixes(subject: &Subject, cause: Bottleneck) -> Vec<Fix> {
    let claimed = ranked(subject).into_iter().find(|(rule, _)| rule.cause == cause);
    claimed.map(|(rule, gain)| (rule.fixes)(subject, gain)).unwrap_or_default()
}

/// What the removal of a cause promises. What is left up to a roof is left on either side of a threshold.
fn promise(subject: &Subject, rule: &Rule) -> f64 {
    if at_roofline(rule.cause) { (rule.gain)(subject) } else { rule.promise(subject) }
}

/// Every rule with its values, in the order of the causes.
pub fn applied(subject: &Subject) -> Vec<Applied> {
    let apply = |rule: &Rule| {
        let (not_collected, holds) = (names(rule.missing(subject)), rule.holds(subject));
        Applied {
            cause: rule.cause,
            holds,
            conditions: (rule.conditions)(subject),
            not_collected,
            // A cause that is not there explains nothing, and its removal gives nothing.
            expected_speedup: if holds { rounded(promise(subject, rule)) } else { 1.0 },
            explanation: if holds { (rule.explain)(subject) } else { String::new() },
        }
    };
    rules::ALL.iter().map(apply).collect()
}

/// Whether a cause says that nothing is left to gain.
pub fn at_roofline(cause: Bottleneck) -> bool {
    matches!(cause, Bottleneck::AtRooflineDram | Bottleneck::AtRooflineFp32 | Bottleneck::AtRooflineTensor)
}

/// The metrics that say what is wrong, as far as each of them alone decides: with a healthy value another cause comes first. Where the cause
/// shows in two places at once, both of them together.
fn evidence(subject: &Subject, rule: &Rule) -> Vec<Evidence> {
    let decide = |all: &[Evidence]| {
        let mut healthy = subject.clone();
        all.iter().for_each(|own| healthy.launch.set(&own.metric, own.threshold));
        ranked(&healthy).first().is_none_or(|(first, _)| first.cause != rule.cause)
    };
    let conditions = (rule.conditions)(subject);
    let symptoms = conditions.iter().filter(|condition| !condition.context);
    let all: Vec<Evidence> = symptoms
        .filter_map(|own| Some(Evidence { metric: own.metric.into(), value: own.value?, threshold: own.threshold }))
        .collect();
    let alone: Vec<Evidence> = all.iter().filter(|own| decide(std::slice::from_ref(*own))).cloned().collect();
    if alone.is_empty() && decide(&all) { all } else { alone }
}

/// No surer than this where a unit that bounds the promise was not collected, or the cause is inferred.
const UNSURE: f64 = 0.5;

/// Beyond its threshold by this part a number leaves no doubt.
const CLEAR: f64 = 0.5;

/// Half of what is open is how far the closest of all conditions is beyond its threshold, half how far the next cause is behind.
fn confidence(subject: &Subject, found: &[(&Rule, f64)]) -> f64 {
    let Some((rule, gain)) = found.first() else { return 0.0 };
    let margin = (rule.margin(subject) / CLEAR).min(1.0);
    let lead = found.get(1).map_or(1.0, |(_, next)| 1.0 - (next / gain).min(1.0));
    let by_units = rule.cause != Bottleneck::LaunchBound && !at_roofline(rule.cause);
    let unsure = (by_units && !subject.has_units()) || rules::inferred(rule.cause, subject);
    let most = if unsure { UNSURE } else { 0.99 };
    rounded((0.5 + 0.25 * margin + 0.25 * lead).min(most))
}

fn units(subject: &Subject) -> Vec<UnitLoad> {
    let all = Load::of(subject).units().into_iter().filter(|_| subject.has_units());
    all.map(|(unit, share)| UnitLoad { unit, share: rounded(share) }).collect()
}
