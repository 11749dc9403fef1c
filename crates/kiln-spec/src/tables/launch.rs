//! `[[target.cuda.launches]]`: grid, block and what else a launch takes. Refuses a launch without a grid or a block.

use kiln_core::Span;

use crate::model::Launch;
use crate::reading::item::Item;
use crate::reading::section::Section;

/// What a launch may hold.
pub(crate) const KEYS: [&str; 7] = ["grid", "block", "shared", "cluster", "cooperative", "entry", "zero"];

/// A launch as read: the names under `zero` still have to be found among the arguments.
#[derive(Clone)]
pub(crate) struct LaunchDraft {
    pub(crate) launch: Launch,
    pub(crate) zero: Vec<(String, Span)>,
    /// What messages call it: `target.cuda.launches`.
    pub(crate) path: String,
}

pub(crate) fn read_launch(item: &Item) -> Option<LaunchDraft> {
    let section = Section::open(item, &KEYS)?;
    let extent = |item: Option<&Item>| item.map(|i| i.formulas(1, 3)).unwrap_or_default();
    let mut zero = Vec::new();
    for item in section.get("zero").and_then(Item::list).unwrap_or_default() {
        zero.extend(item.string().map(|name| (name.to_owned(), item.span())));
    }
    let launch = Launch {
        entry: section.get("entry").and_then(Item::string).map(str::to_owned),
        grid: extent(section.require("grid", "grid = [...]")),
        block: extent(section.require("block", "block = [...]")),
        shared: section.get("shared").and_then(Item::formula),
        cluster: extent(section.get("cluster")),
        cooperative: section.get("cooperative").and_then(Item::boolean).unwrap_or(false),
        zero: zero.iter().map(|(name, _)| name.clone()).collect(),
    };
    Some(LaunchDraft { launch, zero, path: item.path.clone() })
}
