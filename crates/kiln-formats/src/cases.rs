//! The file of cases that failed. In: its text. Out: the cases, and the text again. A case is written as it is typed, so that
//! the file can be read, and mended, by people. Refuses a file of another version, and one that is damaged, with the line.

use kiln_core::{Place, Report};
use toml_edit::{Document, Item, Table};

/// The version of the file. Keys may be added within one version.
pub const CASES_FILE: i64 = 1;

/// A case that failed once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCase {
    /// Whether it still does.
    pub state: KeptState,
    /// When it was found, RFC 3339.
    pub found: String,
    /// The target it failed on.
    pub target: String,
    /// The variant, as it is typed; empty where there is none.
    pub variant: String,
    /// The baseline that failed; empty for the kernel.
    pub baseline: String,
    /// The configuration, as it is typed; empty for a baseline.
    pub config: String,
    /// Shape, inputs and seed, as they are typed.
    pub case: String,
    /// The gate that refused it.
    pub gate: String,
    /// What was measured.
    pub measured: String,
    /// Whether it failed only now and then.
    pub intermittent: bool,
    /// The hash of the sources it failed with; empty where an older kiln wrote it.
    pub sources: String,
}

/// How a kept case stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptState {
    /// It failed when it was tried last.
    Failing,
    /// It failed once, and passes since.
    Fixed,
}

impl KeptState {
    /// Its word in the file.
    pub fn name(self) -> &'static str {
        match self {
            KeptState::Failing => "failing",
            KeptState::Fixed => "fixed",
        }
    }
}

impl KeptCase {
    /// Whether it asks the same.
    pub fn is_same(&self, other: &KeptCase) -> bool {
        let asked = |case: &KeptCase| {
            [&case.target, &case.variant, &case.baseline, &case.config, &case.case].map(String::clone)
        };
        asked(self) == asked(other)
    }
}

/// Reads the file of this name.
pub fn read_cases(name: &str, text: &str) -> Result<Vec<KeptCase>, Report> {
    let damaged = |report: Report| report.hint(format!("correct the line, or move {name} away: it is only a memory"));
    let document = Document::parse(text).map_err(|error| {
        let report =
            Report::error(format!("{name} is not TOML: {}", error.message().lines().next().unwrap_or_default()));
        damaged(error.span().map_or(report.clone(), |span| report.at(Place::of(name, text, span))))
    })?;
    let at = |report: Report, item: Option<&Item>| match item.and_then(Item::span) {
        Some(span) => report.at(Place::of(name, text, span)),
        None => report,
    };
    let version = document.get("version");
    match version.and_then(Item::as_integer) {
        Some(CASES_FILE) => {}
        Some(other) => {
            let report = at(Report::error(format!("{name} has version {other}")), version);
            let report = report.label(format!("expected {CASES_FILE}"));
            return Err(report.hint("use the kiln that wrote it, or move it away"));
        }
        None => {
            let report = at(Report::error(format!("{name} does not state its version")), version);
            return Err(damaged(report.label(format!("expected version = {CASES_FILE}"))));
        }
    }
    let Some(item) = document.get("cases") else { return Ok(Vec::new()) };
    let Some(tables) = item.as_array_of_tables() else {
        return Err(damaged(
            at(Report::error(format!("{name} has no list of cases")), Some(item)).label("expected [[cases]]"),
        ));
    };
    let case = |table: &Table| {
        let word = |key: &str, needed: bool| match table.get(key) {
            Some(found) => found.as_str().map(str::to_owned).ok_or_else(|| {
                damaged(at(Report::error(format!("{key} is not text")), Some(found)).label("expected a string"))
            }),
            None if needed => {
                let report = Report::error(format!("a case lacks {key}"));
                let report = table.span().map_or(report.clone(), |span| report.at(Place::of(name, text, span)));
                Err(damaged(report.label(format!("expected {key} = \"...\""))))
            }
            None => Ok(String::new()),
        };
        let state = match word("state", false)?.as_str() {
            "fixed" => KeptState::Fixed,
            "" | "failing" => KeptState::Failing,
            other => {
                let report = at(Report::error(format!("state is \"{other}\"")), table.get("state"));
                return Err(damaged(report.label("expected failing or fixed")));
            }
        };
        Ok(KeptCase {
            state,
            found: word("found", false)?,
            target: word("target", true)?,
            variant: word("variant", false)?,
            baseline: word("baseline", false)?,
            config: word("config", false)?,
            case: word("case", true)?,
            gate: word("gate", false)?,
            measured: word("measured", false)?,
            intermittent: table.get("intermittent").and_then(Item::as_bool).unwrap_or(false),
            sources: word("sources", false)?,
        })
    };
    tables.iter().map(case).collect()
}

/// The file of a kernel's cases.
pub fn write_cases(kernel: &str, cases: &[KeptCase]) -> String {
    let mut text = format!(
        "# Cases that failed, found by `kiln fuzz {kernel}`. They run first next time; one that passes since stays, as fixed.\n\
         version = {CASES_FILE}\n"
    );
    for case in cases {
        text.push_str(&format!("\n[[cases]]\nstate = \"{}\"\n", case.state.name()));
        let words = [
            ("found", &case.found),
            ("target", &case.target),
            ("variant", &case.variant),
            ("baseline", &case.baseline),
            ("config", &case.config),
            ("case", &case.case),
            ("gate", &case.gate),
            ("measured", &case.measured),
            ("sources", &case.sources),
        ];
        for (key, word) in words.into_iter().filter(|(_, word)| !word.is_empty()) {
            text.push_str(&format!("{key} = {}\n", toml_edit::Value::from(word.as_str())));
        }
        if case.intermittent {
            text.push_str("intermittent = true\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case() -> KeptCase {
        KeptCase {
            state: KeptState::Failing,
            found: "2026-03-01T14:05:09Z".into(),
            target: "cpu".into(),
            variant: "T=f32".into(),
            baseline: String::new(),
            config: "BLOCK=64,WAY=\"a b\"".into(),
            case: "S=65,D=64; inputs=declared; seed=0".into(),
            gate: "numerics".into(),
            measured: "0.5 where 0.25 is right\nand more".into(),
            intermittent: true,
            sources: "0123abcd".into(),
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let cases = [case(), KeptCase { state: KeptState::Fixed, variant: String::new(), ..case() }];
        let text = write_cases("k", &cases);
        assert_eq!(read_cases("k.toml", &text).unwrap(), cases);
        assert_eq!(read_cases("k.toml", &write_cases("k", &[])).unwrap(), []);
    }

    #[test]
    fn damage_is_named_with_its_line() {
        let text = write_cases("k", &[case()]);
        let said = |text: &str| read_cases("k.toml", text).unwrap_err().to_string();
        let cut = said(&text[..text.len() - 4]);
        assert!(cut.contains("k.toml is not TOML") && cut.contains("hint: correct the line"), "{cut}");
        let newer = said(&text.replace("version = 1", "version = 2"));
        assert!(newer.contains("k.toml has version 2") && newer.contains("k.toml:2"), "{newer}");
        assert!(said("").contains("does not state its version"), "{}", said(""));
        let lacking = said(&text.replace("case = ", "cas = "));
        assert!(lacking.contains("a case lacks case") && lacking.contains("k.toml:4"), "{lacking}");
        assert!(said(&text.replace("\"failing\"", "\"f\"")).contains("expected failing or fixed"));
        assert!(said("version = 1\ncases = 3\n").contains("expected [[cases]]"));
    }
}
