//! XML logs (`--xml --save FILE`). In: one or several such documents. Out: the runs, with the same records a text log
//! gives. The XML has no summary and no output of the program; the nearest allocation and errors that were not printed are
//! in the text only. A document without its end is a run that did not end, and one without records says no more than that
//! nothing was recorded: it looks the same when the program never reached the device.

mod element;

use element::Element;

use super::place::{function_name, hex};
use super::text::{head, tool_of};
use super::{Access, ApiCall, Direction, Hazard, Party, Place, Record, Run, SanitizerLog, Severity, What};
use crate::Tool;

const ROOT: &str = "ComputeSanitizerOutput";

/// Whether a log is XML.
pub(super) fn looks_like(log: &str) -> bool {
    let start = log.trim_start_matches('\u{feff}').trim_start();
    start.starts_with("<?xml") || start.starts_with("<ComputeSanitizer") || start.starts_with("<record>")
}

/// Reads XML.
pub(super) fn read(log: &str) -> SanitizerLog {
    let mut result = SanitizerLog::default();
    for root in element::read(log) {
        let mut run = Run::new(Tool::ComputeSanitizer);
        run.is_xml = true;
        run.ended = root.name == ROOT && root.closed;
        let loose = (root.name == "record").then_some(&root);
        for element in loose.into_iter().chain(root.children.iter().filter(|child| child.name == "record")) {
            // Half a record says half of what happened.
            if !element.closed {
                continue;
            }
            let record = record(element);
            if run.tool == Tool::ComputeSanitizer {
                run.tool = tool_of(&record.what).unwrap_or(run.tool);
            }
            run.records.push(record);
        }
        if root.name == ROOT || !run.records.is_empty() {
            result.runs.push(run);
        }
    }
    // Cut within the first tag.
    if result.runs.is_empty() && log.contains("<ComputeSanitizer") {
        result.runs.push(Run { is_xml: true, ..Run::new(Tool::ComputeSanitizer) });
    }
    result
}

fn record(element: &Element) -> Record {
    let what = element.child("what");
    let text = what.map(first_line).unwrap_or_default();
    let kind = element.text_of("kind").unwrap_or_default();
    let severity = match element.text_of("level") {
        Some("Warning" | "WARNING") => Severity::Warning,
        Some("Info" | "INFO") => Severity::Info,
        _ => Severity::Error,
    };
    let known = what.and_then(race).or_else(|| what.and_then(api)).or_else(|| Some(head(&text)?.what));
    let words = || format!("{kind}: {text}").trim_matches([':', ' ']).to_owned();
    let mut record = Record::new(known.unwrap_or_else(|| What::Unrecognised { words: words() }), severity);
    if let Some(what) = what {
        fields(&mut record.what, what);
    }
    record.place = element.child("where").map(place);
    record.frames = frames(element, "deviceStack").map(place).collect();
    record.host = frames(element, "hostStack").filter_map(|frame| host(frame.text_of("func")?)).collect();
    let who = element.child("who");
    let index = |name| who.and_then(|who| who.child(name)).and_then(triple);
    record.thread = index("threadIdx");
    record.block = index("blockIdx");
    if let What::UninitialisedCopy { api, .. } = &mut record.what
        && api.is_empty()
    {
        *api = record.host.iter().find(|name| name.starts_with("cuda")).cloned().unwrap_or_default();
    }
    record
}

/// What a text log has in its first line, and XML in several elements: `Barrier error` and `Missing init`, or an exception.
fn first_line(what: &Element) -> String {
    let text = what.text_of("text").or_else(|| what.text_of("exception")).unwrap_or_default();
    match what.text_of("type") {
        Some(kind) if text.ends_with("error") => format!("{text} detected. {kind}"),
        _ => text.into(),
    }
}

fn frames<'a>(element: &'a Element, stack: &str) -> impl Iterator<Item = &'a Element> {
    element.child(stack).into_iter().flat_map(|stack| &stack.children).filter(|child| child.name == "frame")
}

/// Functions a person wrote or called; the runtime's own have names made of digits.
fn host(function: &str) -> Option<String> {
    let own =
        !function.starts_with("libcudart_static_") && !function.starts_with("__libc_start") && function != "_start";
    own.then(|| function.into())
}

fn triple(element: &Element) -> Option<[u32; 3]> {
    let part = |name| element.text_of(name)?.parse().ok();
    Some([part("x")?, part("y")?, part("z")?])
}

fn place(element: &Element) -> Place {
    Place {
        function: function_name(element.text_of("func").unwrap_or_default()),
        file: element.text_of("path").map(Into::into),
        line: element.text_of("line").and_then(|line| line.parse().ok()),
        offset: element.text_of("pc").and_then(hex),
    }
}

/// What has fields of its own.
fn fields(record: &mut What, what: &Element) {
    let address = what.text_of("address").and_then(hex);
    match record {
        What::Access(access) | What::Uninitialised(access) => accessed(access, address, what),
        What::Leak { bytes, address: at, device_heap } => {
            *at = address.or(*at);
            *bytes = what.text_of("size").and_then(|size| size.parse().ok()).unwrap_or(*bytes);
            *device_heap |= what.text_of("type").is_some_and(|kind| kind.contains("heap"));
        }
        What::UninitialisedCopy { api, size } => {
            let found = what.text_of("accessSize").or_else(|| what.text_of("size"));
            *size = found.and_then(|size| size.parse().ok()).unwrap_or(*size);
            if let Some(name) = what.text_of("api") {
                *api = name.into();
            }
        }
        _ => {}
    }
}

fn accessed(access: &mut Access, address: Option<u64>, what: &Element) {
    access.address = address.or(access.address);
    access.size = what.text_of("size").and_then(|size| size.parse().ok()).unwrap_or(access.size);
}

fn race(what: &Element) -> Option<What> {
    let mut parties: Vec<Party> = Vec::new();
    for side in what.children.iter().filter(|child| matches!(child.name.as_str(), "source" | "destination")) {
        let direction = match side.text_of("direction")? {
            "Write" | "write" => Direction::Write,
            "Atomic" | "atomic" => Direction::Atomic,
            _ => Direction::Read,
        };
        let hazards = side.text_of("count").and_then(|count| count.parse().ok()).unwrap_or(0);
        let thread = side.child("threadIdx").and_then(triple);
        parties.push(Party { direction, place: side.child("where").map(place), thread, hazards });
    }
    if parties.is_empty() {
        return None;
    }
    Some(match what.text_of("text").and_then(head).map(|record| record.what) {
        Some(What::Hazard(hazard)) => What::Hazard(Hazard { parties, ..hazard }),
        _ => What::Race { parties },
    })
}

fn api(what: &Element) -> Option<What> {
    Some(What::Api(ApiCall {
        name: what.text_of("api")?.into(),
        error: what.text_of("error")?.into(),
        code: what.text_of("result").and_then(|code| code.parse().ok()),
        message: what.text_of("message").unwrap_or_default().into(),
    }))
}
