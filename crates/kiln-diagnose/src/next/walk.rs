//! From facts to advice. In: the tree, facts, thresholds. Out: the advice at the end of the way. Refuses a tree that goes in circles.

use serde::Serialize;

use super::advice::{Advice, Step};
use super::fact::{Datum, Facts};
use super::fill::{filled, filled_whole};
use super::thresholds::Thresholds;
use super::tree::{Leaf, Question, Tree};

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is so.
    Yes,
    /// It is not.
    No,
    /// The evidence does not say.
    Unknown,
}

impl Answer {
    /// The name in messages and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Yes => "yes",
            Answer::No => "no",
            Answer::Unknown => "not known",
        }
    }
}

/// What the facts answer.
pub fn answer(question: &Question, facts: &Facts, thresholds: &Thresholds) -> Answer {
    let Some(datum) = facts.get(question.fact.as_str()) else { return Answer::Unknown };
    let beside = |name: &String| datum.number().zip(thresholds.value(name));
    let so = match (&question.is, &question.below, &question.at_least) {
        (Some(word), _, _) => Some(matches!(datum, Datum::Words(own) if own == word)),
        (_, Some(name), _) => beside(name).map(|(own, limit)| own < limit),
        (_, _, Some(name)) => beside(name).map(|(own, limit)| own >= limit),
        _ => Some(*datum != Datum::Is(false)),
    };
    // A number that is known not to be is below and above nothing.
    if so.unwrap_or(false) { Answer::Yes } else { Answer::No }
}

/// The advice for what is known.
pub fn advise(tree: &Tree, facts: &Facts, thresholds: &Thresholds) -> Result<Advice, String> {
    let (mut path, mut id) = (Vec::new(), &tree.start);
    while path.len() <= tree.question.len() {
        if let Some(leaf) = tree.leaf(id) {
            return Ok(at(leaf, facts, thresholds, path));
        }
        let question = tree.question(id).ok_or_else(|| format!("the decision tree has no `{id}`"))?;
        let found = answer(question, facts, thresholds);
        path.push(Step {
            node: question.id.clone(),
            ask: said(&question.ask, facts, thresholds),
            answer: found,
            value: facts.get(question.fact.as_str()).and_then(Datum::shown),
        });
        id = match (found, &question.unknown) {
            (Answer::Yes, _) => &question.yes,
            (Answer::Unknown, Some(unknown)) => unknown,
            _ => &question.no,
        };
    }
    Err("the decision tree goes in circles".into())
}

fn at(leaf: &Leaf, facts: &Facts, thresholds: &Thresholds, path: Vec<Step>) -> Advice {
    let words = |template: &String| said(template, facts, thresholds);
    let some = |template: &Option<String>| template.as_ref().map(words).filter(|words| !words.trim().is_empty());
    let command = typed(&leaf.command, facts, thresholds);
    // What a command already did is not asked for once more.
    let then = leaf.then.as_ref().map(|then| typed(then, facts, thresholds)).filter(|then| *then != command);
    Advice {
        node: leaf.id.clone(),
        phase: leaf.phase.clone(),
        action: words(&leaf.r#do),
        command,
        then,
        because: words(&leaf.because),
        gain: some(&leaf.gain),
        time: some(&leaf.time),
        path,
    }
}

/// A template for people.
pub(super) fn said(template: &str, facts: &Facts, thresholds: &Thresholds) -> String {
    filled(template, &|name| named(name, facts, thresholds, Datum::shown))
}

/// A template for a shell.
pub(super) fn typed(template: &str, facts: &Facts, thresholds: &Thresholds) -> String {
    filled(template, &|name| named(name, facts, thresholds, Datum::typed))
}

/// The same; none where a part of it is not known, as nobody could type that.
pub(super) fn typed_whole(template: &str, facts: &Facts, thresholds: &Thresholds) -> Option<String> {
    let (words, whole) = filled_whole(template, &|name| named(name, facts, thresholds, Datum::typed));
    whole.then_some(words)
}

fn named(
    name: &str,
    facts: &Facts,
    thresholds: &Thresholds,
    form: impl Fn(&Datum) -> Option<String>,
) -> Option<String> {
    match thresholds.0.get(name) {
        Some(threshold) => Some(threshold.shown()),
        None => facts.get(name).and_then(form),
    }
}
