//! The table of tuned configurations that a target names under `tuned`: for an architecture, a variant and a shape the one
//! that won. In: the table's text and its target, then a workload. Out: entries, and those that serve the workload, nearest
//! shape first. Entries that no longer fit the target's tunables are left out with a warning; text that is no such table is
//! refused.

use std::cmp::Ordering;
use std::sync::Arc;

use kiln_core::{IMPLEMENTATION, Report, Value, Workload};
use kiln_device::Arch;

use crate::model::{Dtype, Implementation, Source, Target, TargetKind};
use crate::reading::file::read_text;
use crate::reading::item::Item;
use crate::reading::log::Log;
use crate::reading::section::Section;
use crate::reading::syntax::read_document;
use crate::select::Selection;
use crate::tables::default::fitting;

/// Where a target's winners are kept, and what is kept there.
#[derive(Debug, Clone, Default)]
pub struct TunedTable {
    /// The file, beside the kernel file; none when the target names none.
    pub file: Option<String>,
    /// What it holds.
    pub entries: Vec<Tuned>,
}

/// One winner.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The architecture it won on; none for targets that have none.
    pub arch: Option<Arch>,
    /// The dtype of each type variable.
    pub variant: Vec<(Arc<str>, Dtype)>,
    /// The workload it was tuned for; empty when the kernel has none.
    pub workload: String,
    /// That workload's dimensions.
    pub dims: Vec<(Arc<str>, Value)>,
    /// The configuration, in the order of the tunables.
    pub config: Vec<(Arc<str>, Value)>,
}

/// What an entry may say. All but the first five is for readers.
const KEYS: [&str; 16] = [
    "arch",
    "variant",
    "workload",
    "dims",
    "config",
    "why",
    "ruled_out",
    "date",
    "device",
    "baseline",
    "best_ms",
    "baseline_ms",
    "speedup",
    "speedup_ci95",
    "study",
    "kiln",
];

/// Reads a table. `name` is only shown in messages. Ok holds warnings too.
pub fn read_tuned(name: &str, bytes: &[u8], target: &Target) -> Result<(Vec<Tuned>, Vec<Report>), Vec<Report>> {
    let text = read_text(name, bytes)?;
    let log = Log::new(Source { name: name.into(), text: text.into() });
    let mut entries = Vec::new();
    if let Some(document) = read_document(&log) {
        let root = Section::root(&log, document.get_ref(), &["tuned"]);
        for item in root.get("tuned").map(Item::tables).unwrap_or_default() {
            entries.extend(read_entry(&item, target));
        }
    }
    let (errors, warnings) = log.finish();
    if errors.is_empty() { Ok((entries, warnings)) } else { Err(errors) }
}

fn read_entry(item: &Item, target: &Target) -> Option<Tuned> {
    let section = Section::open(item, &KEYS)?;
    let stale = |item: &Item, why: String| {
        let report = Report::warning(why).label("this entry is left out");
        item.log.add(item.span(), report.hint("`kiln tune --adopt` writes it anew"));
    };
    let arch = match section.get("arch").map(|item| (item, item.string())) {
        Some((item, Some(name))) => match Arch::parse(name) {
            Ok(arch) => Some(arch),
            Err(e) => {
                item.error(Report::error(e.to_string()));
                return None;
            }
        },
        _ => None,
    };
    let mut variant = Vec::new();
    for entry in section.get("variant").and_then(Section::free).iter().flat_map(|s| &s.entries) {
        let known = target.variants.iter().find(|(name, _)| **name == *entry.key);
        let dtype = entry.item.string()?;
        let Some((name, Some(dtype))) = known.map(|(name, all)| (name, all.iter().find(|d| d.name() == dtype))) else {
            stale(&entry.item, format!("{}={dtype} is no variant of the kernel", entry.key));
            return None;
        };
        variant.push((name.clone(), *dtype));
    }
    let dims = section.get("dims").and_then(Section::free);
    let dims = dims.iter().flat_map(|s| &s.entries).filter_map(|e| Some((e.key.into(), e.item.scalar()?))).collect();
    let stated = section.require("config", "config = { NAME = value, ... }")?;
    let values = Section::free(stated)?;
    let mut config = Vec::new();
    let Some(implementation) = meant(&values, target) else {
        let names: Vec<&str> = target.implementations.iter().filter_map(|one| one.name.as_deref()).collect();
        stale(stated, format!("it names no {IMPLEMENTATION} of the kernel ({})", names.join(", ")));
        return None;
    };
    if let Some(name) = &implementation.name {
        config.push((IMPLEMENTATION.into(), Value::Str(name.clone())));
    }
    for tunable in &implementation.tunables {
        let Some(item) = values.get(&tunable.name) else {
            stale(stated, format!("it has no value for {}", tunable.name));
            return None;
        };
        let value = item.scalar()?;
        let Some(value) = fitting(&value, &tunable.values) else {
            stale(item, format!("{value} is not a value of {}", tunable.name));
            return None;
        };
        config.push((tunable.name.clone(), value));
    }
    let known = |name: &str| {
        implementation.tunable(name).is_some() || (name == IMPLEMENTATION && implementation.name.is_some())
    };
    if let Some(other) = values.entries.iter().find(|e| !known(e.key)) {
        stale(&other.item, format!("{} is not a tunable", other.key));
        return None;
    }
    let workload = section.get("workload").and_then(Item::string).unwrap_or_default().into();
    Some(Tuned { arch, variant, workload, dims, config })
}

/// The implementation that an entry's configuration names, or the only one of a target that names none.
fn meant<'a>(values: &Section, target: &'a Target) -> Option<&'a Implementation> {
    let stated = values.get(IMPLEMENTATION).and_then(|item| item.raw().as_str());
    let named = target.implementations.iter().any(|one| one.name.is_some());
    target.implementations.iter().find(|one| !named || one.name.as_deref() == stated)
}

impl<'a> Selection<'a> {
    /// Entries of the target's table that serve a workload, those for the nearest shape first: of an implementation that
    /// competes, of this architecture, of a variant with elements of the same size, and of the same instance where a name such as `kernel<{D}>` depends on
    /// dimensions.
    pub fn tuned_for(&self, workload: Option<&Workload>) -> Vec<&'a Tuned> {
        let dims = workload.map_or(&[][..], |w| &w.dims);
        let name = workload.map_or("", |w| &w.name);
        let fits = |entry: &&Tuned| {
            let same = |dim: &&str| value(dims, dim) == value(&entry.dims, dim);
            let sizes = |variant: &[(Arc<str>, Dtype)]| -> Vec<_> {
                variant.iter().map(|(name, dtype)| (name.clone(), dtype.bytes())).collect()
            };
            // What a Python target was tuned for is not written into its table.
            (entry.arch == self.arch || (entry.arch.is_none() && self.target.kind == TargetKind::Python))
                && sizes(&entry.variant) == sizes(&self.variant)
                && self.among(entry).is_some_and(|one| self.instance_dims(one).iter().all(same))
        };
        let mut found: Vec<&'a Tuned> = self.target.tuned.entries.iter().rev().filter(fits).collect();
        let far = |entry: &Tuned| (distance(dims, &entry.dims), entry.variant != self.variant, entry.workload != name);
        found.sort_by(|a, b| far(a).partial_cmp(&far(b)).unwrap_or(Ordering::Equal));
        found
    }

    /// The implementation of an entry, where it is one of those that compete.
    fn among(&self, entry: &Tuned) -> Option<&'a Implementation> {
        let named = value(&entry.config, IMPLEMENTATION).filter(|_| self.competing());
        let is = |one: &&&Implementation| named.is_none_or(|name| one.name.as_deref() == Some(&*name.to_string()));
        self.implementations.iter().find(is).copied()
    }

    /// Dimensions that stand in the names of kernels.
    fn instance_dims(&self, implementation: &'a Implementation) -> Vec<&'a str> {
        let entry = implementation.entry.as_ref().or(self.spec.entry.as_ref());
        let launched = implementation.launches.iter().filter_map(|l| l.entry.as_ref());
        let parts = entry.into_iter().chain(launched).flat_map(|name| name.split('{').skip(1));
        parts.filter_map(|part| Some(part.split_once('}')?.0.trim())).collect()
    }
}

fn value<'d>(dims: &'d [(Arc<str>, Value)], name: &str) -> Option<&'d Value> {
    dims.iter().find(|(n, _)| **n == *name).map(|(_, value)| value)
}

/// How far two shapes are apart: doublings from one to the other, added up over all dimensions, so that 512 is as far from 1024 as
/// 4096 is from 8192. What cannot be doubled, such as a mask or a layout, counts as eight doublings where it differs.
fn distance(a: &[(Arc<str>, Value)], b: &[(Arc<str>, Value)]) -> f64 {
    const FAR: f64 = 8.0;
    let number = |value: &Value| match value {
        Value::Int(v) if *v > 0 => Some((*v as f64).log2()),
        Value::Float(v) if *v > 0.0 => Some(v.log2()),
        _ => None,
    };
    let apart = |(name, left): &(Arc<str>, Value)| match value(b, name) {
        Some(right) if left == right => 0.0,
        Some(right) => number(left).zip(number(right)).map_or(FAR, |(l, r)| (l - r).abs()),
        None => FAR,
    };
    a.iter().map(apart).sum::<f64>() + FAR * b.iter().filter(|(name, _)| value(a, name).is_none()).count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Choice;

    const KERNEL: &str = r#"
[kernel]
name = "k"
entry = "f<{D}>"
variants = { T = ["f16", "bf16"] }
[target.cuda]
source = "k.cu"
archs = ["sm_80", "sm_90a"]
tuned = "tuned.toml"
[tunables]
BLOCK = [32, 64]
KIND = ["a", "b"]
[[workloads]]
name = "short"
dims = { S = 512, D = 64, CAUSAL = 0 }
[[workloads]]
name = "long"
dims = { S = 8192, D = 64, CAUSAL = 0 }
[[workloads]]
name = "masked"
dims = { S = 512, D = 64, CAUSAL = 1 }
[[workloads]]
name = "wide"
dims = { S = 512, D = 128, CAUSAL = 0 }
"#;

    fn entry(workload: &str, dims: &str, config: &str) -> String {
        format!(
            "[[tuned]]\narch = \"sm_90a\"\nvariant = {{ T = \"bf16\" }}\nworkload = \"{workload}\"\ndims = {dims}\n\
             config = {config}\nwhy = [\"faster\"]\nspeedup = 1.5\n"
        )
    }

    /// What serves a workload, nearest first, and the warnings.
    fn served(table: &str, workload: &str, arch: &str) -> (Vec<String>, Vec<String>) {
        let (mut spec, _) = crate::parse("k.toml", KERNEL.as_bytes()).unwrap();
        let (entries, warnings) = read_tuned("tuned.toml", table.as_bytes(), &spec.targets[0]).unwrap();
        assert_eq!(spec.targets[0].tuned.file.as_deref(), Some("tuned.toml"));
        spec.targets[0].tuned.entries = entries;
        let choice = Choice { arch: Some(arch), variant: Some("T=bf16"), ..Choice::default() };
        let selection = spec.select(choice).unwrap();
        let workload = spec.workloads.iter().find(|w| &*w.name == workload);
        let found = selection.tuned_for(workload).iter().map(|entry| entry.workload.clone()).collect();
        (found, warnings.iter().map(|w| w.message.clone()).collect())
    }

    #[test]
    fn the_nearest_shape_of_the_same_instance_comes_first() {
        let config = "{ BLOCK = 64, KIND = \"b\" }";
        let table = entry("masked", "{ S = 512, D = 64, CAUSAL = 1 }", config)
            + &entry("long", "{ S = 8192, D = 64, CAUSAL = 0 }", config)
            + &entry("short", "{ S = 512, D = 64, CAUSAL = 0 }", config);
        assert_eq!(served(&table, "short", "sm_90a").0, ["short", "long", "masked"]);
        assert_eq!(served(&table, "long", "sm_90a").0, ["long", "short", "masked"]);
        assert!(served(&table, "wide", "sm_90a").0.is_empty(), "another instance");
        assert!(served(&table, "short", "sm_80").0.is_empty(), "another architecture");
        // Another type of the same size serves too, after the type itself.
        let alike = table.replace("bf16", "f16").replace("\"short\"", "\"alike\"");
        assert_eq!(served(&(alike + &table), "short", "sm_90a").0[..2], ["short", "alike"]);
    }

    #[test]
    fn distances_are_counted_in_doublings() {
        let dims = |pairs: &[(&str, i64)]| -> Vec<(Arc<str>, Value)> {
            pairs.iter().map(|(name, value)| ((*name).into(), Value::Int(*value))).collect()
        };
        let far = |a: &[(&str, i64)], b: &[(&str, i64)]| distance(&dims(a), &dims(b));
        // 400 is nearer to 100 by count, and nearer to 1000 by factor.
        assert!(far(&[("S", 400)], &[("S", 1000)]) < far(&[("S", 400)], &[("S", 100)]));
        assert_eq!(far(&[("S", 512)], &[("S", 1024)]), far(&[("S", 8192)], &[("S", 4096)]));
        // Twice the length and half the heads are as far as four times the length.
        assert_eq!(far(&[("S", 512), ("H", 8)], &[("S", 1024), ("H", 4)]), far(&[("S", 512)], &[("S", 2048)]));
        // A mask weighs as much as eight doublings, and so does a dimension that only one of them has.
        assert_eq!(far(&[("S", 512), ("CAUSAL", 1)], &[("S", 512), ("CAUSAL", 0)]), 8.0);
        assert_eq!(far(&[("S", 512)], &[("S", 512), ("B", 2)]), 8.0);
        let text = |value: &str| vec![(Arc::from("LAYOUT"), Value::from(value))];
        assert_eq!((distance(&text("a"), &text("a")), distance(&text("a"), &text("b"))), (0.0, 8.0));
    }

    #[test]
    fn a_shape_nobody_tuned_has_the_nearest_entry() {
        let config = "{ BLOCK = 64, KIND = \"b\" }";
        let table = entry("short", "{ S = 100, D = 64, CAUSAL = 0 }", config)
            + &entry("long", "{ S = 1000, D = 64, CAUSAL = 0 }", config);
        let (mut spec, _) = crate::parse("k.toml", KERNEL.as_bytes()).unwrap();
        spec.targets[0].tuned.entries = read_tuned("t", table.as_bytes(), &spec.targets[0]).unwrap().0;
        let choice = Choice { arch: Some("sm_90a"), variant: Some("T=bf16"), ..Choice::default() };
        let selection = spec.select(choice).unwrap();
        let at = |s: i64| {
            let dims =
                vec![("S".into(), Value::Int(s)), ("D".into(), Value::Int(64)), ("CAUSAL".into(), Value::Int(0))];
            let shape = Workload { name: "".into(), dims, ..spec.workloads[0].clone() };
            selection.tuned_for(Some(&shape))[0].workload.clone()
        };
        assert_eq!([1, 100, 300, 320, 400, 9000].map(at), ["short", "short", "short", "long", "long", "long"]);
    }

    #[test]
    fn what_no_longer_fits_is_left_out_with_a_warning() {
        let dims = "{ S = 512, D = 64, CAUSAL = 0 }";
        let table = entry("short", dims, "{ BLOCK = 48, KIND = \"b\" }")
            + &entry("short", dims, "{ BLOCK = 32 }")
            + &entry("short", dims, "{ BLOCK = 32, KIND = \"b\", OLD = 1 }")
            + &entry("short", dims, "{ BLOCK = 32, KIND = \"a\" }");
        let (found, warnings) = served(&table, "short", "sm_90a");
        assert_eq!(found, ["short"]);
        assert_eq!(warnings, ["48 is not a value of BLOCK", "it has no value for KIND", "OLD is not a tunable"]);
    }

    #[test]
    fn targets_have_tables_of_their_own() {
        let shared = format!("{KERNEL}\n[target.cpu]\nsource = \"k.c\"\ntuned = \"tuned.toml\"\n");
        let errors = crate::parse("k.toml", shared.as_bytes()).unwrap_err();
        assert_eq!(errors[0].message, "target.cpu has the table of tuned configurations of target.cuda");
        assert!(
            crate::parse("k.toml", shared.replace("\"k.c\"\ntuned = \"tuned", "\"k.c\"\ntuned = \"cpu").as_bytes())
                .is_ok()
        );
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let (spec, _) = crate::parse("k.toml", KERNEL.as_bytes()).unwrap();
        for text in ["[[tuned]]\narch = 3\n", "[[tuned]]\nconfg = {}\n", "tuned = 1\n", "[[tuned]\n"] {
            assert!(read_tuned("tuned.toml", text.as_bytes(), &spec.targets[0]).is_err(), "{text}");
        }
    }
}
