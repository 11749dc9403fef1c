//! `[target.cuda]`, `[target.cpu]`, `[target.python]`: where the kernel can run and how it is built there. Refuses a file
//! without a target, unknown kinds of targets, and keys that mean nothing for the kind.

use std::sync::Arc;

use kiln_core::{Report, Span};
use kiln_device::Arch;
use toml::de::DeValue;

use crate::model::{ArchRange, Baseline, Compile, CudaCompiler, Dtype, TargetKind};
use crate::reading::item::Item;
use crate::reading::log::expected_one_of;
use crate::reading::naming::check_identifier;
use crate::reading::section::{Entry, Section};
use crate::tables::callable::read_baselines;
use crate::tables::implementation::read_implementations;
use crate::tables::kernel::read_variants;
use crate::tables::launch::{LaunchDraft, read_launch};
use crate::tables::layer::{Layer, Named, read_layer};

/// What a target may hold, of whatever kind.
pub(crate) const KEYS: [&str; 18] = [
    "source",
    "entry",
    "host",
    "device",
    "compile",
    "defines",
    "archs",
    "variants",
    "launches",
    "kernels",
    "tunables",
    "default",
    "tuned",
    "constraints",
    "derived",
    "baselines",
    "arguments",
    "implementation",
];

/// What `compile` may hold.
pub(crate) const COMPILE_KEYS: [&str; 4] = ["include", "std", "flags", "compiler"];
/// Where a Python function works: on the processor, or on a GPU.
pub(crate) const DEVICES: [(&str, bool); 2] = [("cpu", false), ("cuda", true)];

/// A target as read, before it is merged with what the file says for all targets; one for each of its implementations.
#[derive(Clone)]
pub(crate) struct TargetDraft {
    pub(crate) kind: TargetKind,
    pub(crate) span: Span,
    /// The implementation's name.
    pub(crate) name: Option<Arc<str>>,
    /// Where the implementation runs; everywhere when empty.
    pub(crate) ranges: Vec<ArchRange>,
    /// The arguments it takes, and where the file says so; all of them when it does not.
    pub(crate) arguments: Option<(Span, Vec<(String, Span)>)>,
    /// Those of the whole target, which baselines take.
    pub(crate) shared_arguments: Option<Vec<String>>,
    pub(crate) entry: Option<String>,
    pub(crate) host: Option<bool>,
    pub(crate) on_gpu: bool,
    pub(crate) sources: Vec<String>,
    pub(crate) compile: Compile,
    /// What is defined besides the tunables: where, and as what text.
    pub(crate) defines: Vec<Named<String>>,
    pub(crate) archs: Vec<Arch>,
    pub(crate) variants: Vec<Named<Vec<Dtype>>>,
    pub(crate) launches: Vec<LaunchDraft>,
    /// Parts of names of kernels, and where the file asks for them.
    pub(crate) kernels: Option<(Span, Vec<String>)>,
    pub(crate) baselines: Vec<Baseline>,
    pub(crate) tuned: Option<String>,
    /// What it says of its own: the target's, then the implementation's.
    pub(crate) layers: Vec<Layer>,
}

impl TargetDraft {
    /// A target that says nothing.
    pub(crate) fn empty(kind: TargetKind) -> TargetDraft {
        TargetDraft {
            kind,
            span: 0..0,
            name: None,
            ranges: vec![],
            arguments: None,
            shared_arguments: None,
            entry: None,
            host: None,
            on_gpu: false,
            sources: vec![],
            compile: Compile::default(),
            defines: vec![],
            archs: vec![],
            variants: vec![],
            launches: vec![],
            kernels: None,
            baselines: vec![],
            tuned: None,
            layers: vec![Layer::default()],
        }
    }

    /// What messages call it: `target.cuda`, `target.cuda.implementation.hopper`.
    pub(crate) fn path(&self) -> String {
        let kind = self.kind.name();
        self.name
            .as_ref()
            .map_or_else(|| format!("target.{kind}"), |name| format!("target.{kind}.implementation.{name}"))
    }

    /// Whether it takes an argument of the file.
    pub(crate) fn takes(&self, argument: &str) -> bool {
        self.arguments.as_ref().is_none_or(|(_, taken)| taken.iter().any(|(name, _)| name == argument))
    }
}

pub(crate) fn read_targets(root: &Section) -> Vec<TargetDraft> {
    let Some(item) = root.get("target") else {
        if !root.misspells("target") {
            let report = Report::error(format!("{} has no target", root.log.file()));
            root.log.add_whole(report.label("expected [target.cuda], [target.cpu] or [target.python]"));
        }
        return vec![];
    };
    let Some(section) = Section::free(item) else { return vec![] };
    if section.entries.is_empty() {
        let report = Report::error("target names no target");
        item.error(report.label("expected [target.cuda], [target.cpu] or [target.python]"));
    }
    let targets: Vec<TargetDraft> = section.entries.iter().flat_map(read_target).collect();
    refuse_shared_tables(root, &targets);
    targets
}

/// Entries of a table do not say which target they are for.
fn refuse_shared_tables(root: &Section, targets: &[TargetDraft]) {
    for (at, target) in targets.iter().enumerate() {
        let other = |other: &&TargetDraft| other.kind != target.kind;
        let same = |found: &&TargetDraft| target.tuned.is_some() && found.tuned == target.tuned && other(found);
        if let Some(other) = targets[..at].iter().find(same) {
            let report = Report::error(format!(
                "target.{} has the table of tuned configurations of target.{}",
                target.kind.name(),
                other.kind.name()
            ));
            root.log.add(target.span.clone(), report.label("expected a file of its own under `tuned`"));
        }
    }
}

fn read_target(entry: &Entry) -> Vec<TargetDraft> {
    let Some((section, base)) = read_own(entry) else { return vec![] };
    match section.get("implementation") {
        Some(item) => read_implementations(item, &base),
        None => vec![base],
    }
}

/// What a target says itself.
fn read_own<'a>(entry: &Entry<'a>) -> Option<(Section<'a>, TargetDraft)> {
    let item = &entry.item;
    let words = TargetKind::ALL.iter().map(|(word, _)| *word);
    let Some((_, kind)) = TargetKind::ALL.iter().find(|(word, _)| *word == entry.key) else {
        // `source` right under [target] is a forgotten kind, not a kind.
        let forgotten = KEYS.contains(&entry.key).then(|| "write it under [target.cuda]".to_owned());
        let report = Report::error(format!("unknown target {}", entry.key))
            .label(expected_one_of(words.clone()))
            .maybe_hint(item.log.did_you_mean(entry.key, words))
            .maybe_hint(forgotten);
        item.log.add(entry.key_span.clone(), report);
        return None;
    };
    let section = Section::open(item, &KEYS)?;
    refuse_unfit(&section, *kind);
    let launches = section.get("launches").map(Item::tables).unwrap_or_default();
    let arguments = section.entry("arguments").map(read_taken);
    let draft = TargetDraft {
        kind: *kind,
        span: section.span.clone(),
        name: None,
        ranges: vec![],
        shared_arguments: arguments.as_ref().map(|(_, all)| all.iter().map(|(name, _)| name.clone()).collect()),
        arguments,
        entry: section.get("entry").and_then(Item::string).map(str::to_owned),
        host: section.get("host").and_then(Item::boolean),
        on_gpu: *kind == TargetKind::Cuda || section.get("device").is_some_and(read_device),
        sources: section.get("source").map(read_sources).unwrap_or_default(),
        compile: section.get("compile").and_then(|item| read_compile(item, *kind)).unwrap_or_default(),
        defines: section.get("defines").map(read_defines).unwrap_or_default(),
        archs: section.get("archs").map(read_archs).unwrap_or_default(),
        variants: section.get("variants").and_then(read_variants).unwrap_or_default(),
        baselines: section.get("baselines").map(read_baselines).unwrap_or_default(),
        launches: launches.iter().filter_map(read_launch).collect(),
        kernels: section.entry("kernels").map(|entry| (entry.key_span.clone(), read_kernels(&entry.item))),
        tuned: section.get("tuned").and_then(Item::string).map(str::to_owned),
        layers: vec![read_layer(&section)],
    };
    Some((section, draft))
}

/// The names of the arguments that are taken.
pub(crate) fn read_taken(entry: &Entry) -> (Span, Vec<(String, Span)>) {
    let named = entry.item.list().unwrap_or_default();
    let names = named.iter().filter_map(|item| Some((item.string()?.to_owned(), item.span()))).collect();
    (entry.key_span.clone(), names)
}

/// Why a key means nothing for a kind of target, if it does not.
pub(crate) fn unfit(kind: TargetKind, key: &str) -> Option<&'static str> {
    match (kind, key) {
        (TargetKind::Cuda, "device") => Some("a cuda target is always on a GPU"),
        (TargetKind::Cpu, "archs" | "launches") => Some("only a cuda target has it"),
        (TargetKind::Cpu, "device") => Some("only a python target has it"),
        (TargetKind::Cpu, "kernels") => Some("a cpu target runs no kernels on a GPU"),
        (TargetKind::Python, "archs" | "launches" | "compile" | "defines") => {
            Some("a python function builds and launches itself")
        }
        (TargetKind::Python, "arguments") => Some("a python function takes all of them"),
        _ => None,
    }
}

/// A key that would be read and then never used is a mistake worth a word.
fn refuse_unfit(section: &Section, kind: TargetKind) {
    refuse_where(section, kind, unfit);
}

/// The same by another rule.
pub(crate) fn refuse_where(section: &Section, kind: TargetKind, unfit: fn(TargetKind, &str) -> Option<&'static str>) {
    for (entry, why) in section.entries.iter().filter_map(|e| Some((e, unfit(kind, e.key)?))) {
        let report = Report::error(format!("{} does not fit a {} target", entry.key, kind.name())).label(why);
        let elsewhere =
            "write it under [target.python] with device = \"cuda\", or under [target.cuda] with host = true";
        let hint = (entry.key == "kernels").then(|| elsewhere.to_owned());
        section.log.add(entry.key_span.clone(), report.maybe_hint(hint));
    }
}

pub(crate) fn read_sources(item: &Item) -> Vec<String> {
    match item.raw() {
        DeValue::Array(_) => item.strings(),
        DeValue::String(_) => item.string().map(str::to_owned).into_iter().collect(),
        _ => {
            item.wrong("a file name, or a list of them");
            vec![]
        }
    }
}

pub(crate) fn read_compile(item: &Item, kind: TargetKind) -> Option<Compile> {
    let section = Section::open(item, &COMPILE_KEYS)?;
    if let (TargetKind::Cpu, Some(compiler)) = (kind, section.entries.iter().find(|e| e.key == "compiler")) {
        let report = Report::error("compiler does not fit a cpu target").label("only a cuda target has it");
        section.log.add(compiler.key_span.clone(), report.hint("the C compiler is $CC, or cc"));
    }
    Some(Compile {
        defines: vec![],
        include: section.get("include").map(Item::strings).unwrap_or_default(),
        std: section.get("std").and_then(Item::string).map(str::to_owned),
        flags: section.get("flags").map(Item::strings).unwrap_or_default(),
        compiler: section.get("compiler").and_then(|item| item.word(&CudaCompiler::ALL)),
    })
}

/// What is defined besides the tunables, as texts.
pub(crate) fn read_defines(item: &Item) -> Vec<Named<String>> {
    let mut defines = Vec::new();
    for entry in Section::free(item).iter().flat_map(|section| &section.entries) {
        check_identifier(item.log, "define", entry.key, entry.key_span.clone());
        let text = match entry.item.raw() {
            DeValue::String(text) => text.to_string(),
            DeValue::Boolean(value) => u8::from(*value).to_string(),
            DeValue::Integer(_) | DeValue::Float(_) => match entry.item.scalar() {
                Some(value) => value.to_string(),
                None => continue,
            },
            _ => {
                entry.item.wrong("a number, a boolean or a text");
                continue;
            }
        };
        defines.push(Named { name: entry.key.into(), span: entry.key_span.clone(), body: Some(text) });
    }
    defines
}

fn read_device(item: &Item) -> bool {
    item.word(&DEVICES).unwrap_or(false)
}

/// Kernels that every sample must run, each by a part of its name.
pub(crate) fn read_kernels(item: &Item) -> Vec<String> {
    let mut kernels: Vec<String> = Vec::new();
    let Some(list) = item.list() else { return kernels };
    if list.is_empty() {
        item.error(Report::error(format!("{} is empty", item.path)).label("expected names of kernels, or no such key"));
    }
    for item in list {
        let Some(name) = item.string() else { continue };
        if kernels.iter().any(|known| known == name) {
            let report = Report::error(format!("{} has {name} twice", item.path));
            item.error(report.label("expected each name once"));
        } else {
            kernels.push(name.to_owned());
        }
    }
    kernels
}

fn read_archs(item: &Item) -> Vec<Arch> {
    let mut archs = Vec::new();
    for item in item.list().unwrap_or_default() {
        let Some(name) = item.string() else { continue };
        let Some(arch) = read_arch(&item, name) else { continue };
        match archs.contains(&arch) {
            true => twice(&item, name),
            false => archs.push(arch),
        }
    }
    archs
}

/// An architecture by its name.
pub(crate) fn read_arch(item: &Item, name: &str) -> Option<Arch> {
    match Arch::parse(name) {
        Ok(arch) => Some(arch),
        Err(unknown) => {
            item.error(
                Report::error(format!("unknown architecture {name}"))
                    .label(expected_one_of(Arch::all().iter().map(Arch::name)))
                    .maybe_hint(unknown.nearest().map(|arch| format!("did you mean {arch}?"))),
            );
            None
        }
    }
}

/// An architecture that is listed a second time.
pub(crate) fn twice(item: &Item, name: &str) {
    let report = Report::error(format!("{} has {name} twice", item.path));
    item.error(report.label("expected each architecture once"));
}
