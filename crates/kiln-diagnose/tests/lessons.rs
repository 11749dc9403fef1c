//! Every shipped lesson against cases of tests/lessons/cases: what really went wrong once, which it must match before any other
//! lesson does, and what went wrong otherwise or not at all, which it must not match.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::sync::OnceLock;

use kiln_core::{Fault, Refusal};
use kiln_diagnose::lessons::{Habit, Library, Symptoms, shipped};
use kiln_diagnose::profile::{self, Pages, Subject, code, ptxas};
use kiln_diagnose::{Sources, asan, sanitizer};
use serde::Deserialize;
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The cases of one lesson.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    matches: Vec<Case>,
    clean: Vec<Case>,
}

/// One case: where it was seen, and one of the ways in which kiln sees things.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    from: String,
    /// Put together from kiln's words, because what it takes to see it was not at hand.
    #[serde(default)]
    composed: bool,
    refusal: Option<Refusal>,
    fault: Option<Words>,
    finding: Option<Examined>,
    /// A log, relative to the repository.
    sanitizer: Option<String>,
    /// A page, relative to fixtures/ncu, and the program of it where it has several.
    ncu: Option<String>,
    program: Option<String>,
    /// The cause that `kiln profile` names without counters.
    coarse: Option<String>,
    /// A message of another kind.
    said: Option<String>,
    habits: Option<Vec<Habit>>,
    /// The commands that show the habits.
    #[serde(default)]
    commands: Vec<String>,
    arch: Option<String>,
    #[serde(default)]
    kinds: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    what: String,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Examined {
    id: String,
    state: String,
    what: String,
}

impl Case {
    fn symptoms(&self) -> Symptoms {
        let seen = match self {
            Case { refusal: Some(refusal), .. } => Symptoms::from(refusal),
            Case { fault: Some(Words { what, why }), .. } => Symptoms::from(&Fault::new(what, why)),
            Case { finding: Some(Examined { id, state, what }), .. } => {
                assert!(["warn", "fail"].contains(&state.as_str()), "{}: {state}", self.from);
                Symptoms::of_environment(id, what)
            }
            Case { sanitizer: Some(log), .. } => logged(log),
            Case { ncu: Some(page), program, .. } => profiled(page, program.as_deref()),
            Case { coarse: Some(cause), .. } => Symptoms { causes: vec![cause.clone()], ..Symptoms::default() },
            Case { said: Some(text), .. } => Symptoms { text: text.clone(), ..Symptoms::default() },
            Case { habits: Some(habits), commands, .. } => {
                assert!(!commands.is_empty(), "{}: habits are shown by commands", self.from);
                Symptoms::of_habits(habits)
            }
            Case { from, .. } => panic!("{from}: a case without symptoms"),
        };
        seen.on(self.arch.as_deref()).of(self.kinds.clone())
    }
}

fn logged(log: &str) -> Symptoms {
    let text = fs::read_to_string(format!("{ROOT}/{log}")).unwrap_or_else(|error| panic!("{log}: {error}"));
    if log.contains("/cpu/") {
        return Symptoms::from(&asan::diagnose(&asan::read(&text), &Sources::none()));
    }
    // `NAME_planted.TOOL.txt` or `NAME_fixed.TOOL.txt`, of `NAME.cu`.
    let (folder, name) = log.rsplit_once('/').unwrap();
    let program = name.split_once("_planted.").or(name.split_once("_fixed.")).unwrap().0;
    let folder = folder.replace("/planted", "/programs");
    let source = fs::read_to_string(format!("{ROOT}/{folder}/{program}.cu")).unwrap();
    let sources = Sources::none().with(format!("{program}.cu"), source);
    Symptoms::from(&sanitizer::diagnose(&sanitizer::read(&text), &sources))
}

/// A program of a recorded page, or the only one of another page.
fn profiled(page: &str, program: Option<&str>) -> Symptoms {
    static PAGES: OnceLock<BTreeMap<&str, Pages>> = OnceLock::new();
    let folder = format!("{ROOT}/fixtures/ncu");
    let read = |page: &str| {
        let file = File::open(format!("{folder}/{page}")).unwrap_or_else(|error| panic!("{page}: {error}"));
        Pages::read(BufReader::new(file)).unwrap()
    };
    let Some(program) = program else {
        return Symptoms::from(&profile::diagnose(&Subject::of(read(page).dominant().unwrap())));
    };
    let recorded = ["recorded/planted.raw.csv", "recorded/fixed.raw.csv"];
    let pages = PAGES.get_or_init(|| recorded.map(|page| (page, read(page))).into());
    let answers: Value =
        serde_json::from_str(&fs::read_to_string(format!("{folder}/recorded/answers.json")).unwrap()).unwrap();
    let kernel = answers[program]["kernel"].as_str().unwrap_or_else(|| panic!("no program {program}"));
    let found = pages[page].kernels.iter().find(|own| ptxas::base_name(&own.name) == kernel);
    let mut subject = Subject::of(found.unwrap_or_else(|| panic!("{program} is not on the page {page}")));
    // The source is that of the planted program.
    if page.contains("planted") {
        let source = fs::read_to_string(format!("{folder}/planted/{program}.cu")).unwrap();
        subject.hints = code::hints(&source, &subject.kernel);
    }
    Symptoms::from(&profile::diagnose(&subject))
}

fn cases() -> BTreeMap<String, Cases> {
    let folder = fs::read_dir(format!("{ROOT}/tests/lessons/cases")).unwrap();
    let read = |entry: Result<fs::DirEntry, std::io::Error>| {
        let path = entry.unwrap().path();
        let cases = serde_json::from_str(&fs::read_to_string(&path).unwrap());
        let cases: Cases = cases.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path.file_stem().unwrap().to_str().unwrap().to_string(), cases)
    };
    folder.map(read).collect()
}

#[test]
fn every_lesson_matches_its_cases_before_any_other_and_no_clean_one() {
    let (library, mut wrong) = (Library::default(), Vec::new());
    for (id, Cases { matches, clean }) in cases() {
        for case in &matches {
            let seen = case.symptoms();
            let found: Vec<(&str, u32)> =
                library.matching(&seen).iter().map(|own| (own.lesson.id.as_str(), own.score)).collect();
            if found.first().is_none_or(|(best, _)| *best != id) {
                wrong.push(format!("{id}, {}: found {found:?} for {seen:?}", case.from));
            }
        }
        for case in &clean {
            let seen = case.symptoms();
            if let Some(own) = library.matching(&seen).iter().find(|own| own.lesson.id == id) {
                wrong.push(format!("{id} matches the clean case {} with {}: {seen:?}", case.from, own.score));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lessons about what only a GPU shows, and no recorded run has: their cases are put together from kiln's words.
const COMPOSED: [&str; 5] =
    ["fallback_ran", "index_modulo_tile", "install_the_tools", "missing_proxy_fence", "persisting_l2"];

#[test]
fn every_lesson_has_a_real_case_and_a_clean_one() {
    let cases = cases();
    let ids: Vec<&str> = shipped().iter().map(|lesson| lesson.id.as_str()).collect();
    assert_eq!(cases.keys().collect::<Vec<_>>(), ids, "one file of cases for each lesson");
    assert!(ids.len() >= 32);
    for (id, Cases { matches, clean }) in &cases {
        assert!(!matches.is_empty() && !clean.is_empty(), "{id} needs both");
        let captured = matches.iter().any(|case| !case.composed);
        assert_eq!(captured, !COMPOSED.contains(&id.as_str()), "{id}");
    }
}

/// A healthy kernel, a passing check and a quiet machine have nothing to be taught.
#[test]
fn nothing_wrong_matches_nothing() {
    assert!(Library::default().matching(&Symptoms::default()).is_empty());
    let on = Symptoms::default().on(Some("sm_90a")).of(["attention", "cuda"]);
    assert!(Library::default().matching(&on).is_empty());
}
