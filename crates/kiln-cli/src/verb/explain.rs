//! `kiln explain`: what a name that kiln prints means, and what to do about it.

use kiln_app::{Ending, Explained, Failure, explain, explained};
use kiln_show::{explanation, explanations};
use serde_json::{Value, json};

use crate::args::ExplainArgs;
use crate::output;

pub(crate) fn run(args: &ExplainArgs) -> Result<Ending, Failure> {
    let all: Vec<Explained> = match &args.name {
        Some(name) => vec![explain(name)?],
        None => explained().collect(),
    };
    let object =
        |one: &Explained| json!({ "name": one.name, "kind": one.kind, "meaning": one.meaning, "text": one.text });
    output::data(&match (&all[..], args.json) {
        (some, true) => format!("{}\n", json!({ "explained": some.iter().map(object).collect::<Vec<Value>>() })),
        ([one], false) => explanation(one),
        (some, false) => explanations(some),
    })?;
    Ok(Ending::Done)
}
