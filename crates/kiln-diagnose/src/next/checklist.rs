//! Checklists that fill themselves in. In: the tree's items and facts. Out: each item done, open or not known, with its evidence and what
//! helps.

use serde::Serialize;

use super::fact::{Datum, Facts};
use super::thresholds::Thresholds;
use super::tree::{ItemNode, Tree};
use super::walk::{said, typed_whole};

/// How an item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// It is so.
    Done,
    /// It is not.
    Open,
    /// The evidence does not say: to be ticked by hand.
    Unknown,
}

/// An item, filled in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    /// The checklist: `pre-flight`, `during` or `closing`.
    pub list: String,
    /// What is to be so.
    pub says: String,
    /// How it stands.
    pub state: ItemState,
    /// The evidence; none where there is none to show.
    pub evidence: Option<String>,
    /// What helps; none where it is done, nothing does, or what it takes is not known.
    pub command: Option<String>,
}

/// Every item, in the order of the file.
pub fn checklists(tree: &Tree, facts: &Facts, thresholds: &Thresholds) -> Vec<Item> {
    tree.item.iter().map(|node| item(node, facts, thresholds)).collect()
}

fn item(node: &ItemNode, facts: &Facts, thresholds: &Thresholds) -> Item {
    let state = match facts.get(node.fact.as_str()) {
        None => ItemState::Unknown,
        Some(datum) if (*datum == Datum::Is(false)) == node.unless => ItemState::Done,
        Some(_) => ItemState::Open,
    };
    let tells = node.tells.as_ref().map(|tells| said(tells, facts, thresholds)).filter(|words| !words.is_empty());
    let helps = node.command.as_ref().filter(|_| state != ItemState::Done);
    Item {
        list: node.list.clone(),
        says: said(&node.says, facts, thresholds),
        state,
        evidence: tells,
        command: helps.and_then(|command| typed_whole(command, facts, thresholds)),
    }
}
