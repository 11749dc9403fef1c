//! What to do next, in words and as JSON: the advice with its way, or the checklists. The drawn tree is in `next/drawn.rs`.

mod drawn;

use std::fmt;

use kiln_app::{Advice, ChecklistItem, ChecklistState, NextStep, TreeStep};
use serde_json::{Value, json};

use crate::words::table::{Align, lines};
use crate::words::visible::visible;

/// Everything `kiln next` prints.
pub struct NextView<'a> {
    /// What to do.
    pub step: &'a NextStep,
    /// The command, which may hold `--store`.
    pub kiln: &'a str,
}

/// For what nobody knows.
const UNKNOWN: &str = "not known";

impl NextView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let NextStep { kernel, advice, facts, thresholds, .. } = self.step;
        let Advice { node, phase, action, because, gain, time, path, .. } = advice;
        json!({
            "kernel": kernel,
            "node": node,
            "phase": phase,
            "do": action,
            "command": self.command(&advice.command),
            "then": advice.then.as_ref().map(|then| self.command(then)),
            "because": because,
            "gain": gain,
            "time": time,
            "path": path,
            "facts": facts,
            "thresholds": thresholds,
        })
    }

    /// The whole tree as one object, with the way through it.
    pub fn tree_json(&self) -> Value {
        let NextStep { kernel, advice, thresholds, tree, .. } = self.step;
        json!({
            "kernel": kernel,
            "node": advice.node,
            "path": advice.path,
            "start": tree.start,
            "questions": tree.question,
            "advice": tree.advice,
            "thresholds": thresholds,
        })
    }

    /// The checklists as one object.
    pub fn checklist_json(&self) -> Value {
        let item = |own: &ChecklistItem| {
            json!({
                "list": own.list,
                "says": own.says,
                "state": own.state,
                "evidence": own.evidence,
                "command": own.command.as_ref().map(|command| self.command(command)),
            })
        };
        json!({
            "kernel": self.step.kernel,
            "items": self.step.checklists.iter().map(item).collect::<Vec<_>>(),
        })
    }

    /// The whole tree, drawn.
    pub fn tree(&self) -> String {
        drawn::tree(self.step)
    }

    /// The checklists.
    pub fn checklist(&self) -> String {
        let (mut text, mut list) = (String::new(), "");
        for item in &self.step.checklists {
            if item.list != list {
                let blank = if list.is_empty() { "" } else { "\n" };
                list = &item.list;
                text.push_str(&format!("{blank}{list}\n"));
            }
            let mark = match item.state {
                ChecklistState::Done => "[x]",
                ChecklistState::Open => "[ ]",
                ChecklistState::Unknown => "[?]",
            };
            let evidence = item.evidence.as_ref().map(|words| format!(": {}", visible(words))).unwrap_or_default();
            text.push_str(&format!("  {mark} {}{evidence}\n", item.says));
            if let Some(command) = &item.command {
                text.push_str(&format!("      {}\n", self.command(command)));
            }
        }
        text.push_str("\n[x] done, [ ] open, [?] not known to kiln: look yourself\n");
        text
    }

    /// A command that finds the same store.
    pub(crate) fn command(&self, command: &str) -> String {
        match command.strip_prefix("kiln ") {
            Some(rest) => format!("{} {rest}", self.kiln),
            None => command.to_string(),
        }
    }
}

impl fmt::Display for NextView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NextStep { kernel, advice, .. } = self.step;
        let whose = kernel.as_ref().map(|name| format!("{}: ", visible(name))).unwrap_or_default();
        writeln!(f, "{whose}{}\n  {}\n", visible(&advice.action), self.command(&advice.command))?;
        let known = |words: &Option<String>| words.clone().unwrap_or_else(|| UNKNOWN.into());
        let then = advice.then.as_ref().map(|then| ("then", self.command(then)));
        let parts = [
            Some(("because", advice.because.clone())),
            Some(("gain", known(&advice.gain))),
            Some(("time", known(&advice.time))),
            then,
        ];
        for (name, words) in parts.into_iter().flatten() {
            writeln!(f, "{name:<8} {}", visible(&words))?;
        }
        writeln!(f, "\npath")?;
        let row = |step: &TreeStep| {
            let value = step.value.as_deref().filter(|_| step.answer == kiln_app::Answer::Yes || is_number(step));
            let value = value.map(|value| format!(" ({})", visible(value))).unwrap_or_default();
            vec![step.ask.clone(), format!("{}{value}", step.answer.name())]
        };
        let rows: Vec<Vec<String>> = advice.path.iter().map(row).collect();
        f.write_str(&lines(&rows, &[Align::Left; 2]))
    }
}

fn is_number(step: &TreeStep) -> bool {
    step.value.as_ref().is_some_and(|value| value.starts_with(|c: char| c.is_ascii_digit()))
}
