//! The decision tree as indented text. In: the tree and the way through it. Out: every question once, in the order it is asked; the longer way
//! goes on at the same depth, the other is indented below its question. `*` marks the way, `>` its end.

use std::collections::BTreeSet;

use kiln_app::{DecisionTree, NextStep, TreeQuestion, TreeStep};

use crate::words::visible::visible;

/// The tree.
pub(super) fn tree(step: &NextStep) -> String {
    let mut drawing = Drawing { tree: step.tree, step, drawn: BTreeSet::new(), text: String::new() };
    drawing.node(&step.tree.start, 0, "", "");
    drawing.text
}

struct Drawing<'a> {
    tree: &'a DecisionTree,
    step: &'a NextStep,
    drawn: BTreeSet<&'a str>,
    text: String,
}

impl<'a> Drawing<'a> {
    /// A node and all that follows it. `way` is the answer to `parent` that leads to it, where it branches off.
    fn node(&mut self, id: &'a str, depth: usize, way: &str, parent: &str) {
        let (mut id, mut way) = (id, way);
        loop {
            let Some(question) = self.tree.question(id) else { return self.end(id, depth, way, parent) };
            let told = self.asked(id).map(answered).unwrap_or_default();
            let mark = if self.asked(id).is_some() { "*" } else { " " };
            self.line(mark, depth, way, &format!("{}{told}", self.said(&question.ask)));
            self.drawn.insert(&question.id);
            let mut ways = ways(question);
            // The way with most behind it goes on at this depth.
            let open = |to: &str| self.tree.question(to).is_some() && !self.drawn.contains(to);
            let place = (0..ways.len()).filter(|at| open(ways[*at].1)).max_by_key(|at| self.behind(ways[*at].1));
            let on = place.map(|place| ways.remove(place));
            for (way, to) in ways {
                match self.drawn.contains(to) {
                    true => self.again(to, depth + 1, way),
                    false => self.node(to, depth + 1, way, &question.id),
                }
            }
            // What a branch has drawn is not drawn again.
            match on {
                Some((way, to)) if self.drawn.contains(to) => return self.again(to, depth + 1, way),
                Some((_, to)) => id = to,
                None => return,
            }
            way = "";
        }
    }

    fn end(&mut self, id: &str, depth: usize, way: &str, parent: &str) {
        // Several ways may end at the same advice.
        let came = self.step.advice.path.last().is_some_and(|last| last.node == parent);
        let here = self.step.advice.node == id && came;
        let words = match (here, self.tree.leaf(id)) {
            (true, _) => visible(&self.step.advice.action).into_owned(),
            (false, Some(leaf)) => leaf.r#do.replace(['{', '}', '[', ']'], ""),
            (false, None) => id.to_string(),
        };
        self.line(if here { ">" } else { " " }, depth, way, &words);
    }

    fn again(&mut self, id: &str, depth: usize, way: &str) {
        let ask = self.tree.question(id).map_or_else(|| id.to_string(), |question| self.said(&question.ask));
        self.line(" ", depth, way, &format!("as above: {ask}"));
    }

    fn line(&mut self, mark: &str, depth: usize, way: &str, words: &str) {
        let way = if way.is_empty() { String::new() } else { format!("{way}: ") };
        self.text.push_str(&format!("{mark} {}{way}{words}\n", "  ".repeat(depth)));
    }

    /// How many questions a way may still ask.
    fn behind(&self, id: &str) -> usize {
        let (mut seen, mut left) = (BTreeSet::new(), vec![id]);
        while let Some(question) = left.pop().and_then(|id| self.tree.question(id)) {
            if seen.insert(&question.id) {
                left.extend(ways(question).into_iter().map(|(_, to)| to).filter(|to| self.tree.question(to).is_some()));
            }
        }
        seen.len()
    }

    fn asked(&self, id: &str) -> Option<&'a TreeStep> {
        self.step.advice.path.iter().find(|step| step.node == id)
    }

    /// A question with its thresholds.
    fn said(&self, ask: &str) -> String {
        let all = &self.step.thresholds.0;
        all.iter().fold(ask.to_string(), |text, (name, own)| text.replace(&format!("{{{name}}}"), &own.shown()))
    }
}

fn answered(step: &TreeStep) -> String {
    let value = step.value.as_ref().map(|value| format!(" ({})", visible(value))).unwrap_or_default();
    format!(" {}{value}", step.answer.name())
}

/// Answers and where they lead; `not known` only where that is a way of its own.
fn ways(question: &TreeQuestion) -> Vec<(&str, &str)> {
    let mut ways = vec![("yes", question.yes.as_str()), ("no", question.no.as_str())];
    let unknown = question.unknown.as_deref().filter(|unknown| *unknown != question.no && *unknown != question.yes);
    ways.extend(unknown.map(|unknown| ("not known", unknown)));
    ways
}
