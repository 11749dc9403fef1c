//! The configuration that was typed. In: `NAME=VALUE,...` and a selection. Out: a whole configuration, and the names that were
//! taken from the default. Refuses names and values that the file does not list, and gaps without a default.

use kiln_core::{Config, Report, Value, nearest};
use kiln_space::Problem;
use kiln_spec::{Selection, Tunable};

use crate::failure::Failure;

/// The given values with the rest from the default, in declaration order, and the names that were filled in.
pub(crate) fn complete(
    selection: &Selection<'_>,
    problem: &Problem,
    typed: &str,
) -> Result<(Config, Vec<String>), Failure> {
    let given = Config::parse(typed).map_err(|e| Report::error(format!("--config: {e}")))?;
    let tunables = &selection.target.tunables;
    let mut wrong: Vec<Report> = Vec::new();
    for (name, _) in given.iter().filter(|(n, _)| !tunables.iter().any(|t| t.name == **n)) {
        let known = tunables.iter().map(|t| &*t.name);
        let near = nearest(name, known.clone()).map(|near| format!("did you mean {near}?"));
        let known: Vec<&str> = known.collect();
        let report = Report::error(format!("--config: {name} is not a tunable"));
        wrong.push(report.label(format!("expected one of {}", known.join(", "))).maybe_hint(near));
    }
    let begin = selection.default_config(&|config| problem.broken(config).is_none());
    let default = |name: &str| begin.as_ref().and_then(|c| c.get(name)).or_else(|| selection.default_value(name));
    let mut entries = Vec::with_capacity(tunables.len());
    let (mut defaulted, mut missing) = (Vec::new(), Vec::new());
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
