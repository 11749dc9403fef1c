//! The tree as it is written. In: `tree.toml`, which is part of the binary. Out: its questions, advice, items and thresholds. Refuses keys
//! that nobody knows and ways that lead nowhere; a test reads it, so that a kiln with such a tree is not built.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::thresholds::Threshold;

/// Everything in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// The first question.
    pub start: String,
    /// Numbers to compare with.
    pub threshold: BTreeMap<String, Threshold>,
    /// Questions.
    pub question: Vec<Question>,
    /// Where ways end.
    pub advice: Vec<Leaf>,
    /// What checklists ask.
    pub item: Vec<ItemNode>,
}

/// A question with its ways.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Its stable name.
    pub id: String,
    /// For people.
    pub ask: String,
    /// What is looked at.
    pub fact: String,
    /// Yes if the fact is this word.
    #[serde(default)]
    pub is: Option<String>,
    /// Yes if the fact is below this threshold.
    #[serde(default)]
    pub below: Option<String>,
    /// Yes if the fact is at least this threshold.
    #[serde(default)]
    pub at_least: Option<String>,
    /// Where to go on.
    pub yes: String,
    /// Where to go on.
    pub no: String,
    /// Where to go on where the fact is not known; as `no` without.
    #[serde(default)]
    pub unknown: Option<String>,
}

/// Where a way ends: one thing to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leaf {
    /// Its stable name.
    pub id: String,
    /// The phase of the loop it belongs to.
    pub phase: String,
    /// The thing to do.
    pub r#do: String,
    /// The command for it.
    pub command: String,
    /// The command that follows.
    #[serde(default)]
    pub then: Option<String>,
    /// Why, with numbers.
    pub because: String,
    /// What it may give.
    #[serde(default)]
    pub gain: Option<String>,
    /// What it takes.
    #[serde(default)]
    pub time: Option<String>,
}

/// An item of a checklist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemNode {
    /// The checklist.
    pub list: String,
    /// What is to be so.
    pub says: String,
    /// What is looked at.
    pub fact: String,
    /// Whether it is done when the fact is false.
    #[serde(default)]
    pub unless: bool,
    /// The evidence.
    #[serde(default)]
    pub tells: Option<String>,
    /// What helps while it is not done.
    #[serde(default)]
    pub command: Option<String>,
}

impl Tree {
    /// The question of that name.
    pub fn question(&self, id: &str) -> Option<&Question> {
        self.question.iter().find(|own| own.id == id)
    }

    /// The advice of that name.
    pub fn leaf(&self, id: &str) -> Option<&Leaf> {
        self.advice.iter().find(|own| own.id == id)
    }

    fn parse(text: &str) -> Result<Tree, String> {
        let tree: Tree = toml::from_str(text).map_err(|error| error.to_string())?;
        let there = |id: &str| tree.question(id).is_some() || tree.leaf(id).is_some();
        let ways = tree.question.iter().flat_map(|own| [Some(&own.yes), Some(&own.no), own.unknown.as_ref()]);
        let lost = ways.flatten().chain([&tree.start]).find(|id| !there(id)).cloned();
        match lost {
            Some(lost) => Err(format!("the decision tree leads to `{lost}`, which it does not have")),
            None => Ok(tree),
        }
    }
}

/// The tree of this kiln.
pub fn tree() -> Result<&'static Tree, &'static str> {
    static TREE: OnceLock<Result<Tree, String>> = OnceLock::new();
    TREE.get_or_init(|| Tree::parse(include_str!("tree.toml"))).as_ref().map_err(String::as_str)
}
