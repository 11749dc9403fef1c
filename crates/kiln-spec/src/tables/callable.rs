//! `file:function`, as references and baselines name one. In: a string. Out: a [`Callable`]. Refuses a string without a
//! function, and files that nothing here can call.

use kiln_core::Report;

use crate::model::{Baseline, Callable};
use crate::reading::formula::Text;
use crate::reading::item::Item;
use crate::reading::log::expected_one_of;
use crate::reading::naming::{check_label, is_identifier};
use crate::reading::section::Section;

pub(crate) const PYTHON: &[&str] = &["py"];
pub(crate) const BASELINE: &[&str] = &["py", "c", "cu", "cpp", "so"];

/// A callable in a file with one of these extensions.
pub(crate) fn read_callable(item: &Item, extensions: &[&str]) -> Option<Callable> {
    let text = Text::of(item)?;
    let example = format!("expected \"file.{}:function\"", extensions.first().unwrap_or(&"py"));
    let Some((file, function)) = text.content.rsplit_once(':') else {
        item.error(Report::error(format!("{} names no function", item.path)).label(example));
        return None;
    };
    // Python functions may live in a class.
    if !function.split('.').all(is_identifier) {
        let at = text.part(file.len() + 1..text.content.len());
        item.log.add(at, Report::error(format!("\"{function}\" is not a function's name")).label(example));
        return None;
    }
    let dot = file.rfind('.').map_or(file.len(), |i| i + 1);
    let extension = file.get(dot..).unwrap_or_default();
    if extensions.contains(&extension) && dot > 1 {
        return Some(Callable { file: file.into(), function: function.into() });
    }
    let dotted = extensions.iter().map(|e| format!(".{e}"));
    let message = match (file.is_empty(), extension) {
        (true, _) => format!("{} names no file", item.path),
        (_, "") => format!("{file} has no extension"),
        (_, extension) => format!("a function cannot be called from a .{extension} file"),
    };
    let report = Report::error(message).label(expected_one_of(dotted));
    item.log
        .add(text.part(0..file.len()), report.maybe_hint(item.log.did_you_mean(extension, extensions.iter().copied())));
    None
}

/// `[baselines]`: the opponents by name, in file order.
pub(crate) fn read_baselines(item: &Item) -> Vec<Baseline> {
    let mut baselines = Vec::new();
    for entry in Section::free(item).iter().flat_map(|s| &s.entries) {
        check_label(item.log, "baseline", entry.key, entry.key_span.clone());
        let callable = read_callable(&entry.item, BASELINE);
        baselines.extend(callable.map(|callable| Baseline { name: entry.key.into(), callable }));
    }
    baselines
}
