//! `arguments` of a target or an implementation: which of the file's arguments it takes. In: their names. Logs names that are
//! no arguments, another order than the file's, and outputs that are left out: nothing could be checked then.

use kiln_core::{Report, Span};

use crate::model::Role;
use crate::reading::log::{Log, expected_one_of};
use crate::tables::argument::ArgumentDraft;

pub(crate) fn check_taken(log: &Log, taken: Option<&(Span, Vec<(String, Span)>)>, arguments: &[ArgumentDraft]) {
    let Some((key, names)) = taken else { return };
    let mut last = None;
    for (name, span) in names {
        let Some(place) = arguments.iter().position(|a| a.name == *name) else {
            let known: Vec<&str> = arguments.iter().map(|a| a.name.as_str()).collect();
            let report = Report::error(format!("{name} is not an argument")).label(expected_one_of(&known));
            log.add(span.clone(), report.maybe_hint(log.did_you_mean(name, known)));
            continue;
        };
        if last.is_some_and(|last| place <= last) {
            let report = Report::error(format!("{name} is out of order")).label("expected the order of [[arguments]]");
            log.add(span.clone(), report.hint("each name once, in the order in which the file lists them"));
        }
        last = Some(place);
    }
    let is_output = |a: &&ArgumentDraft| matches!(a.role, Some(Role::Out | Role::Inout));
    let lacking = |a: &&ArgumentDraft| !names.iter().any(|(name, _)| *name == a.name);
    if let Some(output) = arguments.iter().filter(is_output).find(lacking) {
        let report = Report::error(format!("it leaves out {}, an output", output.name));
        log.add(key.clone(), report.label("expected every argument of role out or inout"));
    }
}
