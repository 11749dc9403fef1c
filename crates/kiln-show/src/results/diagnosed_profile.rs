//! What a kernel's time goes to, in words: the cause with its numbers, the fixes, the other causes, the roofs and what warps wait for; and
//! on request one rule with its values.

use std::fmt;

use kiln_app::{AppliedRule, DiagnosedProfile, ExpectedGain, HotLine, ProfileDiagnosis, at_roofline};
use serde_json::{Value, json};

use crate::picture::{ProfilePictures, bar};
use crate::words::number::duration;

/// Everything `kiln diagnose --ncu` says.
pub struct DiagnosedProfileView<'a> {
    /// The diagnosis.
    pub profile: &'a DiagnosedProfile,
    /// Draw the kernel under the roofs, and every unit and reason to wait.
    pub verbose: bool,
}

impl DiagnosedProfileView<'_> {
    /// The same for machines.
    pub fn json(&self) -> Value {
        match self.asked() {
            Some(rule) => rule_json(rule),
            None => {
                let mut all = json!(self.profile.diagnosis);
                all["other_kernels"] = json!(self.profile.others);
                if !self.profile.hot.is_empty() {
                    all["hot_lines"] = json!(self.profile.hot);
                }
                if !self.profile.notes.is_empty() {
                    all["notes"] = json!(self.profile.notes);
                }
                all
            }
        }
    }

    fn asked(&self) -> Option<&AppliedRule> {
        let why = self.profile.why?;
        self.profile.rules.iter().find(|rule| rule.cause == why)
    }
}

impl fmt::Display for DiagnosedProfileView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rule) = self.asked() {
            return why(f, rule, self.profile);
        }
        let diagnosis = &self.profile.diagnosis;
        head(f, diagnosis, self.profile.others)?;
        for (number, fix) in diagnosis.fixes.iter().enumerate() {
            writeln!(f, "  fix {}: {} ({})\n    {}", number + 1, fix.what, times(fix.expected_speedup), fix.how)?;
            if let Some(expected) = &fix.expected {
                writeln!(f, "    {}", expectation(expected))?;
            }
        }
        hot(f, &self.profile.hot)?;
        for other in diagnosis.ranked.iter().skip(1) {
            writeln!(f, "also {}: {}", other.cause, times(other.expected_speedup))?;
        }
        let best = self.profile.ncu.iter().filter_map(|rule| Some((&rule.name, rule.speedup?)));
        if let Some((name, speedup)) = best.reduce(|most, next| if next.1 > most.1 { next } else { most }) {
            writeln!(f, "ncu's first rule: {name}, {}", times(speedup))?;
        }
        roofs(f, diagnosis)?;
        write!(f, "{}", ProfilePictures { diagnosis }.text(self.verbose))?;
        if let Some(lacking) = lacking(&diagnosis.not_collected) {
            writeln!(f, "note: {lacking}")?;
        }
        self.profile.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))
    }
}

/// What a promise is worth, by what promises gave before.
fn expectation(expected: &ExpectedGain) -> String {
    let ExpectedGain { speedup, low, high, outcomes } = expected;
    let noun = if *outcomes == 1 { "outcome" } else { "outcomes" };
    let (speedup, low, high) = (times(*speedup), times(*low), times(*high));
    format!("expect {speedup}, in 8 of 10 cases {low} to {high} ({outcomes} measured {noun} of this cause)")
}

/// How many metrics are named before the others are counted.
const NAMED: usize = 4;

/// What the page lacks, in a line.
fn lacking<T: AsRef<str>>(names: &[T]) -> Option<String> {
    let (named, others) = names.split_at(names.len().min(NAMED));
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    let list: Vec<&str> = named.iter().map(AsRef::as_ref).collect();
    let line = format!("not collected: {}{more}; collect with --set full", list.join(", "));
    (!named.is_empty()).then_some(line)
}

fn head(f: &mut fmt::Formatter<'_>, diagnosis: &ProfileDiagnosis, others: usize) -> fmt::Result {
    let ProfileDiagnosis { cause, launches, time_us, expected_speedup, confidence, .. } = diagnosis;
    let time = time_us.map_or("time not collected".to_owned(), |micros| duration(micros / 1e6));
    let launches = if *launches > 1 { format!(", longest of {launches} launches") } else { String::new() };
    let others = match others {
        0 => String::new(),
        1 => "; the page has 1 more kernel, which took less".into(),
        _ => format!("; the page has {others} more kernels, which took less"),
    };
    let place = format!("{} ({time}{launches}{others})", diagnosis.name());
    let Some(cause) = cause else {
        let bound = diagnosis.roofline.bound.name();
        return match diagnosis.not_collected.is_empty() {
            true => writeln!(f, "no known cause in {place}: bound by {bound}\n  {}", diagnosis.explanation),
            false => writeln!(f, "no cause can be named in {place}: the page lacks metrics"),
        };
    };
    let worth = match at_roofline(*cause) {
        true => at_the_roof(*expected_speedup),
        false => format!("{} without it", times(*expected_speedup)),
    };
    writeln!(f, "{cause} in {place}: {worth} (confidence {confidence})\n  {}", diagnosis.explanation)?;
    for evidence in &diagnosis.evidence {
        let (value, threshold) = (figure(evidence.value), figure(evidence.threshold));
        writeln!(f, "  {} = {value} (threshold {threshold})", evidence.metric)?;
    }
    Ok(())
}

/// The lines that the cause comes from.
fn hot(f: &mut fmt::Formatter<'_>, lines: &[HotLine]) -> fmt::Result {
    if let Some(first) = lines.first() {
        writeln!(f, "hot lines, by {}:", first.by)?;
    }
    for line in lines {
        let file = line.file.as_deref().map(|file| file.rsplit(['/', '\\']).next().unwrap_or(file));
        let place = file.zip(line.line).map_or(String::new(), |(file, line)| format!("{file}:{line}: "));
        let stall = line.stall.as_ref().map_or(String::new(), |stall| format!(", mostly in {stall}"));
        let (share, samples) = (100.0 * line.share, 100.0 * line.samples_share);
        writeln!(f, "  {share:3.0} %  {place}{}\n         {samples:.0} % of the time{stall}", short(&line.source))?;
    }
    Ok(())
}

/// A line of source that fits a terminal.
fn short(source: &str) -> String {
    const LONGEST: usize = 110;
    match source.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &source[..end]),
        None => source.to_owned(),
    }
}

fn roofs(f: &mut fmt::Formatter<'_>, diagnosis: &ProfileDiagnosis) -> fmt::Result {
    let roofline = &diagnosis.roofline;
    match roofline.bound.name() {
        "unknown" => writeln!(f, "roofline: not known what bounds it")?,
        bound => writeln!(f, "roofline: bound by {bound}")?,
    }
    for (name, share) in [("DRAM", roofline.memory_fraction), ("arithmetic", roofline.compute_fraction)] {
        let Some(share) = share else { continue };
        writeln!(f, "  {name:20} {} {:3.0} % of peak", bar(share), 100.0 * share)?;
    }
    Ok(())
}

/// One rule, and how it stands beside the others.
fn why(f: &mut fmt::Formatter<'_>, rule: &AppliedRule, profile: &DiagnosedProfile) -> fmt::Result {
    let ranked = &profile.diagnosis.ranked;
    let rank = ranked.iter().position(|own| own.cause == rule.cause);
    let worth = times(rule.expected_speedup);
    match rank {
        Some(0) => writeln!(f, "{} comes first: {worth}", rule.cause)?,
        Some(rank) => writeln!(f, "{} comes {} of {}: {worth}", rule.cause, rank + 1, ranked.len())?,
        None if rule.holds => writeln!(f, "{} applies, but promises {worth} only", rule.cause)?,
        None if !rule.not_collected.is_empty() => writeln!(f, "{} cannot be decided", rule.cause)?,
        None => writeln!(f, "{} does not apply", rule.cause)?,
    }
    conditions(f, rule)?;
    if let Some(lacking) = lacking(&rule.not_collected) {
        writeln!(f, "  {lacking}")?;
    }
    if rule.holds {
        writeln!(f, "  {}", rule.explanation)?;
    }
    writeln!(f, "the others:")?;
    for other in profile.rules.iter().filter(|other| other.cause != rule.cause) {
        match ranked.iter().find(|own| own.cause == other.cause) {
            Some(own) => writeln!(f, "  {}: {}", other.cause, times(own.expected_speedup))?,
            None => writeln!(f, "  {}: {}", other.cause, missing(other))?,
        }
    }
    Ok(())
}

fn conditions(f: &mut fmt::Formatter<'_>, rule: &AppliedRule) -> fmt::Result {
    if rule.conditions.is_empty() {
        writeln!(f, "  it is for kernels of another kind")?;
    }
    for condition in &rule.conditions {
        let value = condition.value.map_or("not collected".to_owned(), figure);
        let side = if condition.above() { "above" } else { "below" };
        let holds = if condition.holds() { "yes" } else { "no " };
        writeln!(f, "  {holds} {} = {value}, must be {side} {}", condition.metric, figure(condition.threshold))?;
    }
    Ok(())
}

/// What is not there, or the first condition that does not hold.
fn missing(rule: &AppliedRule) -> String {
    if let Some(first) = rule.not_collected.first() {
        return format!("{first} not collected");
    }
    let failing = rule.conditions.iter().find(|condition| !condition.holds());
    match failing {
        Some(condition) => {
            let value = condition.value.map_or("not collected".to_owned(), figure);
            let side = if condition.above() { "not above" } else { "not below" };
            format!("{} = {value}, {side} {}", condition.metric, figure(condition.threshold))
        }
        None if rule.conditions.is_empty() => "for kernels of another kind".into(),
        None => format!("promises {} only", times(rule.expected_speedup)),
    }
}

fn rule_json(rule: &AppliedRule) -> Value {
    let conditions: Vec<Value> = rule
        .conditions
        .iter()
        .map(|own| {
            let side = if own.above() { "above" } else { "below" };
            json!({"metric": own.metric, "value": own.value, "threshold": own.threshold, "side": side, "holds": own.holds()})
        })
        .collect();
    let mut all = json!({
        "cause": rule.cause,
        "holds": rule.holds,
        "expected_speedup": rule.expected_speedup,
        "conditions": conditions,
        "explanation": rule.explanation,
    });
    if !rule.not_collected.is_empty() {
        all["not_collected"] = json!(rule.not_collected);
    }
    all
}

/// What is left at a roof.
pub(super) fn at_the_roof(most: f64) -> String {
    if most > 1.05 { format!("at most {} left to the roof", times(most)) } else { "nothing left to gain".into() }
}

/// A speedup with three digits that count.
pub(crate) fn times(speedup: f64) -> String {
    match speedup {
        speedup if speedup >= 100.0 => format!("{speedup:.0}x"),
        speedup if speedup >= 10.0 => format!("{speedup:.1}x"),
        _ => format!("{speedup:.2}x"),
    }
}

/// A value with three digits that count.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{value:.3e}"),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
