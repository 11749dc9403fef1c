//! `[target.cuda.implementation.NAME]`: one of several ways to compute the same on a target. In: the table and what the target
//! itself says. Out: a draft as of a target, in which the implementation's own words go before the target's. Refuses a name
//! that is no identifier, an implementation without a source, and keys that belong to the whole target.

use kiln_core::Report;

use crate::model::{ArchRange, Compile, TargetKind};
use crate::reading::item::Item;
use crate::reading::naming::check_identifier;
use crate::reading::section::{Entry, Section};
use crate::tables::launch::read_launch;
use crate::tables::layer::read_layer;
use crate::tables::target::{
    TargetDraft, read_arch, read_compile, read_defines, read_kernels, read_sources, read_taken, refuse_where, twice,
    unfit,
};

/// What an implementation may hold, on whatever target. Dtypes, baselines and the table of winners are the target's.
pub(crate) const KEYS: [&str; 13] = [
    "source",
    "entry",
    "host",
    "compile",
    "defines",
    "archs",
    "launches",
    "kernels",
    "tunables",
    "default",
    "constraints",
    "derived",
    "arguments",
];

/// A draft for each implementation; the target's own where the table cannot be read.
pub(crate) fn read_implementations(item: &Item, base: &TargetDraft) -> Vec<TargetDraft> {
    let Some(section) = Section::free(item) else { return vec![base.clone()] };
    if section.entries.is_empty() {
        let report = Report::error(format!("{} names no implementation", item.path));
        item.error(report.label(format!("expected [{}.NAME]", item.path)));
    }
    refuse_alike(&section);
    let read: Vec<TargetDraft> = section.entries.iter().filter_map(|entry| read(entry, base)).collect();
    if read.is_empty() { vec![base.clone()] } else { read }
}

/// Logs a name that differs from one before it in case alone: as a macro of C (`KILN_NAME_SHORT`), both are the same.
fn refuse_alike(section: &Section) {
    for (at, entry) in section.entries.iter().enumerate() {
        let alike = |other: &&Entry| other.key.eq_ignore_ascii_case(entry.key);
        if let Some(first) = section.entries[..at].iter().find(alike) {
            let report = Report::error(format!("implementations {} and {} differ in case alone", first.key, entry.key))
                .label("expected another name: as macros of C both are the same");
            section.log.add(entry.key_span.clone(), report);
        }
    }
}

fn read(entry: &Entry, base: &TargetDraft) -> Option<TargetDraft> {
    let (item, kind) = (&entry.item, base.kind);
    check_identifier(item.log, "implementation", entry.key, entry.key_span.clone());
    if KEYS.contains(&entry.key) && !item.raw().is_table() {
        let report = Report::error(format!("{} is no implementation", item.path)).label("expected a table");
        let place = format!("target.{}.implementation", kind.name());
        item.log.add(entry.key_span.clone(), report.hint(format!("write {} under [{place}.NAME]", entry.key)));
        return None;
    }
    let section = Section::open(item, &KEYS)?;
    refuse_where(&section, kind, unfit_here);
    let mut draft = TargetDraft {
        name: Some(entry.key.into()),
        span: section.span.clone(),
        ranges: section.get("archs").map(read_ranges).unwrap_or_default(),
        ..base.clone()
    };
    let text = |key: &str| section.get(key).and_then(Item::string).map(str::to_owned);
    draft.entry = text("entry").or(draft.entry);
    draft.host = section.get("host").and_then(Item::boolean).or(draft.host);
    draft.sources = section.get("source").map(read_sources).unwrap_or(draft.sources);
    if let Some(own) = section.get("compile").and_then(|item| read_compile(item, kind)) {
        draft.compile = over(draft.compile, own);
    }
    let own = section.get("defines").map(read_defines).unwrap_or_default();
    draft.defines.retain(|define| !own.iter().any(|own| own.name == define.name));
    draft.defines.extend(own);
    if let Some(launches) = section.get("launches").map(Item::tables) {
        draft.launches = launches.iter().filter_map(read_launch).collect();
    }
    if let Some(entry) = section.entry("kernels") {
        draft.kernels = Some((entry.key_span.clone(), read_kernels(&entry.item)));
    }
    draft.arguments = section.entry("arguments").map(read_taken).or(draft.arguments);
    draft.layers.push(read_layer(&section));
    refuse_no_source(&section, &draft);
    Some(draft)
}

/// Why a key means nothing for an implementation on a kind of target. A Python function is not built for an architecture, but
/// it may run on some only.
pub(crate) fn unfit_here(kind: TargetKind, key: &str) -> Option<&'static str> {
    if (kind, key) == (TargetKind::Python, "archs") { None } else { unfit(kind, key) }
}

/// Compiler settings of a target with those of an implementation: single settings are replaced, lists go on.
fn over(base: Compile, own: Compile) -> Compile {
    Compile {
        defines: vec![],
        include: base.include.into_iter().chain(own.include).collect(),
        std: own.std.or(base.std),
        flags: base.flags.into_iter().chain(own.flags).collect(),
        compiler: own.compiler.or(base.compiler),
    }
}

/// `"sm_90a"`, or `"sm_80+"` for it and all newer ones.
fn read_ranges(item: &Item) -> Vec<ArchRange> {
    let mut ranges = Vec::new();
    for item in item.list().unwrap_or_default() {
        let Some(name) = item.string() else { continue };
        let (arch, newer) = name.strip_suffix('+').map_or((name, false), |arch| (arch, true));
        let Some(from) = read_arch(&item, arch) else { continue };
        let range = ArchRange { from, newer };
        match ranges.contains(&range) {
            true => twice(&item, name),
            false => ranges.push(range),
        }
    }
    ranges
}

/// A Python function may name its file in the entry.
fn refuse_no_source(section: &Section, draft: &TargetDraft) {
    let in_entry = draft.kind == TargetKind::Python && draft.entry.as_ref().is_some_and(|entry| entry.contains(':'));
    if draft.sources.is_empty() && !in_entry && !section.misspells("source") && section.get("source").is_none() {
        let expected = match draft.kind {
            TargetKind::Cuda => "expected source = \"FILE.cu\"",
            TargetKind::Cpu => "expected source = \"FILE.c\"",
            TargetKind::Python => "expected entry = \"FILE.py:FUNCTION\"",
        };
        let report = Report::error(format!("{} has no source", section.path)).label(expected);
        section.log.add(section.span.clone(), report);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_that_differ_in_case_alone_are_refused() {
        let file = |second: &str| {
            format!(
                "[kernel]\nname = \"k\"\n[target.cpu.implementation.short]\nsource = \"a.c\"\n\
                 [target.cpu.implementation.{second}]\nsource = \"b.c\"\n"
            )
        };
        assert!(crate::parse("k", file("shorter").as_bytes()).is_ok());
        let reports = crate::parse("k", file("Short").as_bytes()).unwrap_err();
        let said: Vec<&str> = reports.iter().map(|report| report.message.as_str()).collect();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].contains("short") && said[0].contains("Short") && said[0].contains("in case alone"),
            "{said:?}"
        );
    }
}
