//! `[kernel]`: what the kernel is called and the dtypes it comes in. Refuses a file without a name for its kernel.

use kiln_core::Report;

use crate::model::Dtype;
use crate::reading::item::Item;
use crate::reading::naming::{check_label, check_variable};
use crate::reading::section::Section;
use crate::tables::dtype::{dtype, unknown_dtype};
use crate::tables::layer::Named;

/// What the table may hold.
pub(crate) const KEYS: [&str; 5] = ["name", "entry", "host", "variants", "description"];

/// The table as read.
#[derive(Default)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) entry: Option<String>,
    pub(crate) host: bool,
    pub(crate) variants: Vec<Named<Vec<Dtype>>>,
    /// True when the variants could not be read.
    pub(crate) incomplete: bool,
}

pub(crate) fn read_kernel(root: &Section) -> Kernel {
    let Some(item) = root.get("kernel") else {
        if !root.misspells("kernel") {
            let report = Report::error(format!("{} lacks [kernel]", root.log.file()));
            root.log.add_whole(report.label("expected [kernel] with name = \"...\""));
        }
        return Kernel { incomplete: root.misspells("kernel"), ..Kernel::default() };
    };
    let Some(section) = Section::open(item, &KEYS) else {
        return Kernel { incomplete: true, ..Kernel::default() };
    };
    let text = |key| section.get(key).and_then(Item::string).map(str::to_owned);
    if let Some(item) = section.require("name", "name = \"...\"")
        && let Some(name) = item.string()
    {
        check_label(root.log, "kernel", name, item.span());
    }
    let variants = section.get("variants").map(read_variants);
    Kernel {
        name: section.get("name").and_then(|i| i.raw().as_str()).unwrap_or_default().into(),
        description: text("description"),
        entry: text("entry"),
        host: section.get("host").and_then(Item::boolean).unwrap_or(false),
        incomplete: section.misspells("variants") || matches!(variants, Some(None)),
        variants: variants.flatten().unwrap_or_default(),
    }
}

pub(crate) fn read_variants(item: &Item) -> Option<Vec<Named<Vec<Dtype>>>> {
    let section = Section::free(item)?;
    let read = |entry: &crate::reading::section::Entry| {
        check_variable(item.log, "variant", entry.key, entry.key_span.clone());
        if Dtype::ALL.iter().any(|d| d.name() == entry.key) {
            let report = Report::error(format!("{} is a dtype", entry.key));
            item.log.add(entry.key_span.clone(), report.label("expected another name for a variant, such as T"));
        }
        Named { name: entry.key.into(), span: entry.key_span.clone(), body: read_dtypes(&entry.item) }
    };
    Some(section.entries.iter().map(read).collect())
}

fn read_dtypes(item: &Item) -> Option<Vec<Dtype>> {
    let items = item.list()?;
    if items.is_empty() {
        item.error(
            Report::error(format!("{} has no dtypes", item.path)).label("expected at least one, as in [\"f16\"]"),
        );
    }
    let mut dtypes = Vec::new();
    for item in items {
        let Some(name) = item.string() else { continue };
        match dtype(name) {
            None => item.error(unknown_dtype(name, &item, &[])),
            Some(dtype) if dtypes.contains(&dtype) => {
                let report = Report::error(format!("{} has the dtype {name} twice", item.path));
                item.error(report.label("expected each dtype once"));
            }
            Some(dtype) => dtypes.push(dtype),
        }
    }
    (!dtypes.is_empty()).then_some(dtypes)
}
