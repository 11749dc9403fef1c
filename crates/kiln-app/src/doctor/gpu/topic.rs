//! One thing asked of every GPU, made into one finding: a line for each, and whatever has to be done about any of them.

use crate::doctor::{Finding, Health};
use kiln_run::Card;

/// What was found on one GPU.
pub(crate) struct Look {
    /// In words.
    pub(crate) words: String,
    /// What to do; none when all is well.
    pub(crate) fix: Option<String>,
}

impl Look {
    pub(crate) fn well(words: impl Into<String>) -> Look {
        Look { words: words.into(), fix: None }
    }

    pub(crate) fn ill(words: impl Into<String>, fix: impl Into<String>) -> Look {
        Look { words: words.into(), fix: Some(fix.into()) }
    }
}

/// One thing to ask.
pub(crate) struct Topic {
    pub(crate) id: &'static str,
    pub(crate) why: &'static str,
    /// Whether slices have an answer of their own.
    pub(crate) slices: bool,
    pub(crate) judge: fn(&Card) -> Look,
}

impl Topic {
    /// The finding on one GPU or slice.
    pub(crate) fn on(&self, card: &Card) -> Finding {
        self.gather(&[card])
    }

    /// The finding over all GPUs; a line says whose it is where there are several.
    pub(crate) fn of(&self, cards: &[Card]) -> Finding {
        let asked: Vec<&Card> = cards.iter().filter(|card| self.slices || !card.is_slice()).collect();
        self.gather(&asked)
    }

    fn gather(&self, asked: &[&Card]) -> Finding {
        let (mut lines, mut fixes) = (Vec::new(), Vec::new());
        for card in asked {
            let Look { words, fix } = (self.judge)(card);
            lines.push(match (asked.len(), card.is_slice()) {
                (1, _) => words,
                (_, true) => format!("{}: {words}", card.uuid),
                (_, false) => format!("GPU {}: {words}", card.index),
            });
            fixes.extend(fix.filter(|fix| !fixes.contains(fix)));
        }
        let state = if fixes.is_empty() { Health::Ok } else { Health::Warn };
        let fix = (!fixes.is_empty()).then(|| fixes.join("; "));
        Finding { id: self.id, state, what: lines.join("\n"), why: self.why, fix, lesson: None }
    }
}
