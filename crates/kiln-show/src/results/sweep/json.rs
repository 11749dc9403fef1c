//! A sweep for machines.

use serde_json::{Value, json};

use crate::results::run::RunView;
use crate::results::sweep::SweepView;

impl SweepView<'_> {
    /// One object; times in seconds.
    pub fn json(&self) -> Value {
        let (plan, story) = (&self.story.record.sweep, self.story);
        json!({
            "run": RunView::of(self.run).about(),
            "axes": plan.axes,
            "linked": plan.linked,
            "base": plan.base,
            "baselines": plan.baselines,
            "cells": story.record.cells,
            "crossovers": story.crossovers,
            "summary": story.summary,
            "left": story.left,
            "ended": self.ended,
        })
    }
}
