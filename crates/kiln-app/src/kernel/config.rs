//! The configuration that was typed. In: `NAME=VALUE,...` and a selection. Out: a whole configuration, and the names that were
//! taken from the default. Refuses names and values that the file does not list, and gaps without a default. Where
//! implementations compete, `implementation=NAME` says whose tunables are meant.

use kiln_core::{Config, IMPLEMENTATION, Report, Value, nearest};
use kiln_space::Problem;
use kiln_spec::{Implementation, Selection, Tunable};

use crate::failure::Failure;

/// The given values with the rest from the default, in declaration order, and the names that were filled in.
pub(crate) fn complete(
    selection: &Selection<'_>,
    problem: &Problem,
    typed: &str,
) -> Result<(Config, Vec<String>), Failure> {
    let given = Config::parse(typed).map_err(|e| Report::error(format!("--config: {e}")))?;
    let allows = |config: &Config| problem.broken(config).is_none();
    let one = implementation(selection, &given, &allows)?;
    let tunables = &one.tunables;
    let mut wrong: Vec<Report> = Vec::new();
    let of = one.name.as_ref().map_or_else(String::new, |name| format!(" of implementation {name}"));
    let named = |name: &str| one.name.is_some() && name == IMPLEMENTATION;
    for (name, _) in given.iter().filter(|(n, _)| one.tunable(n).is_none() && !named(n)) {
        let known = tunables.iter().map(|t| &*t.name);
        let near = nearest(name, known.clone()).map(|near| format!("did you mean {near}?"));
        let other = selection.implementations.iter().find(|other| other.tunable(name).is_some());
        let other = other.and_then(|other| other.name.as_deref()).map(|n| format!("{IMPLEMENTATION}={n} has it"));
        let known: Vec<&str> = known.collect();
        let report = Report::error(format!("--config: {name} is not a tunable{of}"));
        wrong.push(report.label(format!("expected one of {}", known.join(", "))).maybe_hint(other.or(near)));
    }
    let begin = selection.only(one).default_config(&allows);
    let default = |name: &str| begin.as_ref().and_then(|c| c.get(name)).or_else(|| one.default_value(name));
    let mut entries = Vec::with_capacity(tunables.len());
    let (mut defaulted, mut missing) = (Vec::new(), Vec::new());
    if let Some(name) = &one.name {
        entries.push((IMPLEMENTATION.into(), Value::Str(name.clone())));
        if given.get(IMPLEMENTATION).is_none() {
            defaulted.push(IMPLEMENTATION.to_string());
        }
    }
    for tunable in tunables {
        match given.get(&tunable.name) {
            Some(value) => match tunable.listed(value) {
                Some(value) => entries.push((tunable.name.clone(), value.clone())),
                None => wrong.push(unlisted(tunable, value)),
            },
            None => match default(&tunable.name) {
                Some(value) => {
                    defaulted.push(tunable.name.to_string());
                    entries.push((tunable.name.clone(), value.clone()));
                }
                None => missing.push(tunable),
            },
        }
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|t| &*t.name).collect();
        let example: Vec<String> = missing.iter().map(|t| format!("{}={}", t.name, t.values[0])).collect();
        let report = Report::error(format!("--config lacks {}; the file has no default there", names.join(", ")));
        wrong.push(report.hint(format!("add {}", example.join(","))));
    }
    if wrong.is_empty() { Ok((Config::new(entries), defaulted)) } else { Err(wrong.into()) }
}

/// The implementation that is typed, else that of what a study would begin with, else one that has all tunables typed.
fn implementation<'a>(
    selection: &Selection<'a>,
    given: &Config,
    allows: &dyn Fn(&Config) -> bool,
) -> Result<&'a Implementation, Failure> {
    let Some(typed) = given.get(IMPLEMENTATION).filter(|_| selection.competing()) else {
        let begin = selection.default_config(allows);
        let begin = begin.map_or_else(|| selection.first(), |config| selection.implementation(&config));
        // Where it lacks a tunable that is typed, one that has them all is meant.
        let has = |one: &&&'a Implementation| given.iter().all(|(name, _)| one.tunable(name).is_some());
        let others = || selection.implementations.iter().find(has).copied();
        return Ok(if has(&&begin) { begin } else { others().unwrap_or(begin) });
    };
    let typed = typed.to_string();
    let find = |all: &[&'a Implementation]| all.iter().find(|one| one.name.as_deref() == Some(&*typed)).copied();
    if let Some(found) = find(&selection.implementations) {
        return Ok(found);
    }
    let known: Vec<&str> = selection.implementations.iter().filter_map(|one| one.name.as_deref()).collect();
    let expected = format!("expected one of {}", known.join(", "));
    let report = match (find(&selection.left_out), selection.arch) {
        (Some(out), Some(arch)) => {
            let report = Report::error(format!("--config: implementation {typed} does not run on {arch}"));
            report.label(expected).hint(format!("it runs on {}", out.places()))
        }
        _ => {
            let near = nearest(&typed, known.iter().copied()).map(|near| format!("did you mean {near}?"));
            Report::error(format!("--config: there is no implementation `{typed}`")).label(expected).maybe_hint(near)
        }
    };
    Err(report.into())
}

fn unlisted(tunable: &Tunable, value: &Value) -> Report {
    let values: Vec<String> = tunable.values.iter().map(Value::to_string).collect();
    Report::error(format!("--config: {} is not a value of {}", value, tunable.name))
        .label(format!("expected one of {}", values.join(", ")))
}

#[cfg(test)]
mod tests {
    use kiln_spec::{Choice, parse, read_tuned};

    use super::*;

    const KERNEL: &str = r#"
[kernel]
name = "k"
[target.cpu]
source = "k.c"
tuned = "tuned.toml"
[tunables]
A = [1, 2, 4]
WIDTH = ["64", "128"]
[default]
A = 1
WIDTH = "64"
[constraints]
few = "A <= 2"
"#;

    /// What `--config` means with a table of one entry, and the names filled in.
    fn completed(table: &str, typed: &str) -> Result<(String, Vec<String>), String> {
        let (mut spec, _) = parse("k.toml", KERNEL.as_bytes()).unwrap();
        spec.targets[0].tuned.entries = read_tuned("t", table.as_bytes(), &spec.targets[0]).unwrap().0;
        let selection = spec.select(Choice::default()).unwrap();
        let problem = Problem::from_selection(&selection).unwrap();
        let completed = complete(&selection, &problem, typed).map_err(|failure| failure.to_string());
        completed.map(|(config, defaulted)| (config.to_string(), defaulted))
    }

    #[test]
    fn gaps_are_filled_with_what_a_study_would_begin_with() {
        let both = || vec!["A".to_string(), "WIDTH".to_string()];
        assert_eq!(completed("", ""), Ok(("A=1,WIDTH=64".into(), both())));
        let tuned = |a: u32| format!("[[tuned]]\nconfig = {{ A = {a}, WIDTH = \"128\" }}\n");
        assert_eq!(completed(&tuned(2), ""), Ok(("A=2,WIDTH=128".into(), both())));
        assert_eq!(completed(&tuned(2), "A=1"), Ok(("A=1,WIDTH=128".into(), vec!["WIDTH".into()])));
        // An entry that a rule refuses by now serves nobody, here as in a study.
        assert_eq!(completed(&tuned(4), ""), Ok(("A=1,WIDTH=64".into(), both())));
        // What is typed may break rules: showing them is what it is typed for.
        assert_eq!(completed("", "A=4,WIDTH=64"), Ok(("A=4,WIDTH=64".into(), vec![])));
        assert!(completed("", "A=3").unwrap_err().contains("expected one of 1, 2, 4"));
        assert!(completed("", "WIDHT=64").unwrap_err().contains("did you mean WIDTH?"));
    }
}
