//! `next`: the one thing to do now.

use kiln_app::{Failure, NextRequest, next};
use kiln_show::NextView;

use crate::mcp::answer::Answer;
use crate::mcp::arguments::{Kind, may};
use crate::mcp::tool::{Call, Effect, Tool, never};

pub(in crate::mcp) static NEXT: Tool = Tool {
    name: "next",
    title: "What to do next with a kernel",
    about: "Start here, and come back after every step. Walks kiln's decision tree over what is recorded of the kernel and answers with one thing to do, \
            the kiln command for it, the reason with its numbers and the questions that led there. Runs nothing. A fact that is missing is not known: do not \
            guess it, and do not skip the step that would find it out. `gain` is an expectation, never a result.",
    arguments: &[&[
        may(
            "kernel",
            Kind::Named,
            "a kernel's folder, its kernel.toml or its name; default: the kernel in the project's folder, else the one worked on last",
        ),
        may(
            "what",
            Kind::OneOf(&["step", "tree", "checklist"]),
            "one step, the whole tree with the way through it, or the checklists",
        ),
    ]],
    answers: &["kiln next", "kiln next --tree", "kiln next --checklist"],
    own: None,
    effect: Effect::Looks,
    repeatable: true,
    measures: never,
    run,
};

fn run(call: &Call<'_>) -> Result<Answer, Failure> {
    let step = next(call.project, &NextRequest { kernel: call.given.path("kernel"), ..NextRequest::default() })?;
    let view = NextView { step: &step, kiln: call.kiln };
    Ok(Answer::found(match call.given.words("what").as_str() {
        "tree" => view.tree_json(),
        "checklist" => view.checklist_json(),
        _ => view.json(),
    }))
}
