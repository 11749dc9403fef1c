//! The ratchet: the best confirmed result of a kernel on each machine and workload, in a TOML file that is committed and reviewed
//! beside the kernel. In: its text. Out: its entries, and the text again with some of them moved; remarks and what is not
//! moved stay as they were. Refuses a damaged file and one of a later version: nothing in it may be lost. docs/ci.md
//! describes it.

use kiln_core::Report;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table};

use crate::rows::{Row, Rows};

/// The file's usual name.
pub const RATCHET: &str = "kiln-ratchet.toml";
/// The version this kiln writes.
const VERSION: i64 = 1;
const HEADING: &str = "best";
/// At the top of a new file.
const PREFACE: &str = "# The best confirmed results of this kernel, which `kiln ci` compares new commits with.\n\
                       # `kiln ci --update` writes it, only on a confirmed improvement. To accept a slower kernel, delete its entry and update.\n";
/// What an entry may say.
const KEYS: [&str; 23] = [
    "kernel",
    "target",
    "variant",
    "workload",
    "shape",
    "config",
    "cache",
    "threads",
    "median_ms",
    "ci95_ms",
    "samples",
    "baseline",
    "baseline_version",
    "ratio",
    "ratio_ci95",
    "device",
    "driver",
    "compiler",
    "code",
    "commit",
    "date",
    "kiln",
    "remark",
];

/// One entry.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RatchetEntry {
    /// The kernel; none in files of an older kiln, which have the entries of one kernel.
    pub kernel: Option<String>,
    /// The target.
    pub target: String,
    /// The variant; empty without one.
    pub variant: String,
    /// The workload; empty for a file without any.
    pub workload: String,
    /// The workload's dimensions, such as `S=4096 D=128`, where the entry says them.
    pub shape: Option<String>,
    /// The configuration, as it would be typed.
    pub config: String,
    /// Whether caches were warm or cold.
    pub cache: String,
    /// Threads it might use.
    pub threads: u64,
    /// Milliseconds of one call, and the interval of that median.
    pub median_ms: f64,
    /// The interval of that median.
    pub ci95_ms: [f64; 2],
    /// Samples behind it.
    pub samples: u64,
    /// The baseline measured in the same rounds, and how many times as fast as it the kernel is.
    pub baseline: Option<RatchetBaseline>,
    /// The GPU or processor.
    pub device: String,
    /// The GPU's driver.
    pub driver: Option<String>,
    /// The compiler.
    pub compiler: Option<String>,
    /// The start of the hash of its machine code.
    pub code: Option<String>,
    /// The commit it was measured at.
    pub commit: Option<String>,
    /// The day.
    pub date: String,
    /// The kiln that measured it.
    pub kiln: String,
}

/// The kernel against its own baseline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RatchetBaseline {
    /// Its name.
    pub name: String,
    /// What tells one baseline of that name from another: its machine code, or its packages.
    pub version: Option<String>,
    /// The baseline's time over the kernel's.
    pub ratio: f64,
    /// The interval of that.
    pub ratio_ci95: [f64; 2],
}

/// A ratchet file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ratchet {
    /// The entries, in file order.
    pub entries: Vec<RatchetEntry>,
}

impl RatchetEntry {
    /// Whether it is of this kernel, as far as it says.
    pub fn is_of(&self, kernel: &str) -> bool {
        self.kernel.as_ref().is_none_or(|own| own == kernel)
    }

    /// Whether two are of the same workload of the same kernel on the same device.
    fn is_same(&self, other: &RatchetEntry) -> bool {
        self.key() == other.key() && other.kernel.as_ref().is_none_or(|kernel| self.is_of(kernel))
    }

    /// What tells entries of a kernel apart: one for each workload of a target and variant on a device, with these caches and
    /// threads.
    fn key(&self) -> (&str, &str, &str, &str, &str, u64) {
        (&self.target, &self.variant, &self.workload, &self.device, &self.cache, self.threads)
    }
}

/// Reads a ratchet.
pub fn read_ratchet(name: &str, text: &str) -> Result<Ratchet, Report> {
    let damaged = |report: Report| match report.hint {
        Some(_) => report,
        None => report.hint("restore it from git, or correct it: docs/ci.md describes the file"),
    };
    let rows = Rows::parse(name, text).map_err(damaged)?;
    match rows.version("version") {
        Some(VERSION) => {}
        Some(other) => {
            return Err(Report::error(format!("{name} has version {other}; this kiln reads version {VERSION}"))
                .hint("use the kiln that wrote it, or a newer one"));
        }
        None => return Err(damaged(Report::error(format!("{name} has no version")).label("expected version = 1"))),
    }
    let rows = rows.under(HEADING, &["version"]).map_err(damaged)?;
    let entries = rows.iter().map(entry).collect::<Result<Vec<_>, _>>().map_err(damaged)?;
    let twice = entries.iter().enumerate().find(|(at, one)| entries[..*at].iter().any(|other| other.is_same(one)));
    match twice {
        None => Ok(Ratchet { entries }),
        Some((_, one)) => Err(damaged(Report::error(format!(
            "{name} has two entries for workload `{}` on {}",
            one.workload, one.device
        )))),
    }
}

fn entry(row: &Row<'_>) -> Result<RatchetEntry, Report> {
    row.only(&KEYS)?;
    let interval = |key: &str| row.interval(key)?.ok_or_else(|| row.wrong(key, format!("`{key}` is missing")));
    let baseline = match row.text("baseline")? {
        None => None,
        Some(name) => Some(RatchetBaseline {
            name,
            version: row.text("baseline_version")?,
            ratio: row.needed_number("ratio")?,
            ratio_ci95: interval("ratio_ci95")?,
        }),
    };
    Ok(RatchetEntry {
        kernel: row.text("kernel")?,
        target: row.needed("target")?,
        variant: row.text("variant")?.unwrap_or_default(),
        workload: row.text("workload")?.unwrap_or_default(),
        shape: row.text("shape")?,
        config: row.text("config")?.unwrap_or_default(),
        cache: row.needed("cache")?,
        threads: row.needed_number("threads")? as u64,
        median_ms: row.needed_number("median_ms")?,
        ci95_ms: interval("ci95_ms")?,
        samples: row.needed_number("samples")? as u64,
        baseline,
        device: row.needed("device")?,
        driver: row.text("driver")?,
        compiler: row.text("compiler")?,
        code: row.text("code")?,
        commit: row.text("commit")?,
        date: row.text("date")?.unwrap_or_default(),
        kiln: row.text("kiln")?.unwrap_or_default(),
    })
}

impl Ratchet {
    /// The text of a file with these entries put in place of their like, or behind all others. `text` is the file as it is; empty
    /// for a new one. Refuses a damaged file.
    pub fn moved(name: &str, text: &str, entries: &[RatchetEntry]) -> Result<String, Report> {
        let begun = if text.trim().is_empty() { format!("{PREFACE}version = {VERSION}\n") } else { text.to_string() };
        let known = read_ratchet(name, &begun)?;
        let unreadable =
            |error: toml_edit::TomlError| Report::error(format!("{name} is not TOML: {}", error.message()));
        let mut document: DocumentMut = begun.parse().map_err(unreadable)?;
        let tables = document.entry(HEADING).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        let tables =
            tables.as_array_of_tables_mut().ok_or_else(|| Report::error(format!("{name} has no [[{HEADING}]]")))?;
        for entry in entries {
            let place = known.entries.iter().position(|old| old.is_same(entry));
            let old = place.and_then(|place| tables.get_mut(place));
            match old {
                Some(old) => {
                    let remark = old.get("remark").cloned();
                    let mut new = table(entry);
                    new.decor_mut().clone_from(old.decor());
                    new.set_position(old.position());
                    if let Some(remark) = remark {
                        new["remark"] = remark;
                    }
                    keep_comments(old, &mut new);
                    *old = new;
                }
                None => {
                    let mut new = table(entry);
                    new.decor_mut().set_prefix("\n");
                    tables.push(new);
                }
            }
        }
        Ok(document.to_string())
    }
}

/// Comments above and behind values stay with their keys.
fn keep_comments(old: &Table, new: &mut Table) {
    for (key, item) in old.iter() {
        let above = old.key(key).map(|key| key.leaf_decor().clone());
        if let (Some(above), Some(mut key)) = (above, new.key_mut(key)) {
            *key.leaf_decor_mut() = above;
        }
        let behind = item.as_value().and_then(|value| value.decor().suffix().cloned());
        if let (Some(behind), Some(value)) = (behind, new.get_mut(key).and_then(Item::as_value_mut)) {
            value.decor_mut().set_suffix(behind);
        }
    }
}

fn table(entry: &RatchetEntry) -> Table {
    let mut table = Table::new();
    let mut say = |key: &str, value: Option<toml_edit::Value>| {
        if let Some(value) = value {
            table[key] = Item::Value(value);
        }
    };
    let text = |text: &str| Some(text).filter(|text| !text.is_empty()).map(Into::into);
    let maybe = |words: &Option<String>| words.as_deref().and_then(text);
    let pair = |[low, high]: [f64; 2]| Some(Array::from_iter([rounded(low), rounded(high)]).into());
    say("kernel", maybe(&entry.kernel));
    say("target", text(&entry.target));
    say("variant", text(&entry.variant));
    say("workload", text(&entry.workload));
    say("shape", maybe(&entry.shape));
    say("config", text(&entry.config));
    say("cache", text(&entry.cache));
    say("threads", Some((entry.threads as i64).into()));
    say("median_ms", Some(rounded(entry.median_ms).into()));
    say("ci95_ms", pair(entry.ci95_ms));
    say("samples", Some((entry.samples as i64).into()));
    if let Some(baseline) = &entry.baseline {
        say("baseline", text(&baseline.name));
        say("baseline_version", maybe(&baseline.version));
        say("ratio", Some(rounded(baseline.ratio).into()));
        say("ratio_ci95", pair(baseline.ratio_ci95));
    }
    say("device", text(&entry.device));
    say("driver", maybe(&entry.driver));
    say("compiler", maybe(&entry.compiler));
    say("code", maybe(&entry.code));
    say("commit", maybe(&entry.commit));
    say("date", text(&entry.date));
    say("kiln", text(&entry.kiln));
    table
}

/// With six digits: more are not known.
fn rounded(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(workload: &str, median_ms: f64) -> RatchetEntry {
        RatchetEntry {
            target: "cpu".into(),
            workload: workload.into(),
            config: "VEC=8,EXP=poly".into(),
            cache: "warm".into(),
            threads: 1,
            median_ms,
            ci95_ms: [0.9 * median_ms, 1.1 * median_ms],
            samples: 100,
            baseline: Some(RatchetBaseline {
                name: "naive".into(),
                version: None,
                ratio: 4.25,
                ratio_ci95: [4.0, 4.5],
            }),
            device: "a processor".into(),
            date: "2026-11-17".into(),
            ..RatchetEntry::default()
        }
    }

    #[test]
    fn entries_come_back_and_moving_one_leaves_everything_else() {
        let first = Ratchet::moved("r", "", &[entry("short", 0.5), entry("long", 2.0)]).unwrap();
        assert_eq!(read_ratchet("r", &first).unwrap().entries, [entry("short", 0.5), entry("long", 2.0)]);
        // By hand: remarks above an entry and in it.
        let by_hand = first.replace(
            "[[best]]\ntarget = \"cpu\"\nworkload = \"long\"",
            "# why\n[[best]]\nremark = \"odd\"\ntarget = \"cpu\"\nworkload = \"long\"",
        );
        assert_ne!(by_hand, first);
        let moved = Ratchet::moved("r", &by_hand, &[entry("long", 1.0)]).unwrap();
        assert!(
            moved.starts_with(PREFACE) && moved.contains("# why\n[[best]]") && moved.contains("remark = \"odd\""),
            "{moved}"
        );
        assert_eq!(read_ratchet("r", &moved).unwrap().entries, [entry("short", 0.5), entry("long", 1.0)]);
        // Another machine has an entry of its own.
        let other = RatchetEntry { device: "a GPU".into(), ..entry("short", 0.5) };
        let both = Ratchet::moved("r", &moved, std::slice::from_ref(&other)).unwrap();
        assert!(both.starts_with(&moved));
        assert_eq!(read_ratchet("r", &both).unwrap().entries[2], other);
    }

    #[test]
    fn kernels_that_share_a_file_have_entries_of_their_own() {
        let of = |kernel: &str, ms: f64| RatchetEntry { kernel: Some(kernel.into()), ..entry("short", ms) };
        let both = Ratchet::moved("r", "", &[of("a", 0.5), of("b", 2.0)]).unwrap();
        let moved = Ratchet::moved("r", &both, &[of("b", 1.0)]).unwrap();
        assert_eq!(read_ratchet("r", &moved).unwrap().entries, [of("a", 0.5), of("b", 1.0)]);
        // An entry that does not say its kernel is of whoever has the file, and says so from then on.
        let older = Ratchet::moved("r", "", &[entry("short", 3.0)]).unwrap();
        let newer = Ratchet::moved("r", &older, &[of("a", 2.0)]).unwrap();
        assert_eq!(read_ratchet("r", &newer).unwrap().entries, [of("a", 2.0)]);
    }

    #[test]
    fn a_damaged_file_is_named_and_never_written_over() {
        let good = Ratchet::moved("r", "", &[entry("short", 0.5)]).unwrap();
        for (from, to, words) in [
            ("version = 1", "version = 2", "version 2; this kiln reads version 1"),
            ("version = 1\n", "", "has no version"),
            ("median_ms = 0.5", "median_ms = \"fast\"", "not a positive number"),
            ("median_ms = 0.5\n", "", "`median_ms` is missing"),
            ("ci95_ms = [0.45, 0.55]", "ci95_ms = [0.55, 0.45]", "expected [low, high]"),
            ("samples", "sampels", "did you mean samples?"),
            ("[[best]]", "[[best", "is not TOML"),
            ("[[best]]", "[[worst]]", "means nothing here"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from}");
            let said = read_ratchet("r", &bad).unwrap_err().to_string();
            assert!(said.contains(words) && said.contains("hint: "), "{from}: {said}");
            assert!(Ratchet::moved("r", &bad, &[entry("short", 0.1)]).is_err());
        }
        let twice = format!("{good}\n{}", good.split_once("\n\n").unwrap().1);
        assert!(read_ratchet("r", &twice).unwrap_err().to_string().contains("two entries"), "{twice}");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "\\PC{0,200}", value in "\\PC{0,20}") {
            let _ = read_ratchet("r", &text);
            let _ = read_ratchet("r", &format!("version = 1\n[[best]]\ntarget = \"cpu\"\nmedian_ms = {value}\n"));
        }
    }
}
