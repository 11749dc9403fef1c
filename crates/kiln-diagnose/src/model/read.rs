//! Outcomes from JSON lines. In: a file's name and text. Out: its outcomes. Refuses the file with every mistake in it, each with its line: what is not
//! JSON, keys that are missing or unknown, a cause that kiln does not name, speedups that cannot be.

use kiln_core::{Report, nearest};

use super::outcome::{Outcome, Ratio};
use crate::profile::Bottleneck;

/// Reads a file of outcomes. Empty lines are skipped.
pub fn read_outcomes(file: &str, text: &str) -> Result<Vec<Outcome>, Vec<Report>> {
    let (mut all, mut mistakes) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match outcome(line) {
            Ok(outcome) => all.push(outcome),
            Err(wrong) => {
                let Wrong { what, expected, hint } = wrong;
                let report = Report::error(format!("{file}, line {}: {what}", number + 1)).label(expected);
                mistakes.push(report.maybe_hint(hint));
            }
        }
    }
    if mistakes.is_empty() { Ok(all) } else { Err(mistakes) }
}

struct Wrong {
    what: String,
    expected: String,
    hint: Option<String>,
}

fn wrong(what: impl Into<String>, expected: &str) -> Wrong {
    Wrong { what: what.into(), expected: expected.into(), hint: None }
}

fn outcome(line: &str) -> Result<Outcome, Wrong> {
    let form = "expected one outcome as a JSON object: kernel, workload, chip, cause, fix, promised, measured, command, source";
    let read: Outcome = serde_json::from_str(line).map_err(|error| wrong(error.to_string(), form))?;
    for (key, value) in [("kernel", &read.kernel), ("chip", &read.chip)] {
        if value.trim().is_empty() {
            return Err(wrong(format!("{key} is empty"), "expected a name: outcomes are pooled by it"));
        }
    }
    if Bottleneck::of_id(&read.cause).is_none() {
        let near = nearest(&read.cause, Bottleneck::ALL.iter().map(|cause| cause.id()));
        let expected = "expected a cause of docs/diagnosis.md".to_string();
        let hint = near.map(|near| format!("did you mean {near}?"));
        return Err(Wrong { what: format!("`{}` is no cause of a kernel's time", read.cause), expected, hint });
    }
    let promised = read.promised.iter().map(|ratio| ("promised", ratio));
    for (key, ratio) in promised.chain([("measured", &read.measured)]) {
        check(key, ratio)?;
    }
    Ok(read)
}

/// A speedup beyond this is a mistake, whatever was measured.
const MOST: f64 = 1e6;

fn check(key: &str, own: &Ratio) -> Result<(), Wrong> {
    let speedup = |name: &str, value: f64| match value > 1.0 / MOST && value < MOST {
        true => Ok(()),
        false => Err(wrong(format!("{key}.{name} is {value}"), "expected a speedup above 0, such as 1.5")),
    };
    speedup("ratio", own.ratio)?;
    own.low.map_or(Ok(()), |low| speedup("low", low))?;
    own.high.map_or(Ok(()), |high| speedup("high", high))?;
    match own.low.zip(own.high) {
        Some((low, high)) if low > high => {
            Err(wrong(format!("{key} goes from {low} to {high}"), "expected low, then high"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"kernel":"k","workload":"w","chip":"NVIDIA H200","cause":"small_grid","fix":"use more blocks","promised":{"ratio":4.0},"measured":{"ratio":3.0,"low":2.9,"high":3.1},"command":"kiln bench","source":"here"}"#;

    #[test]
    fn a_line_is_an_outcome_with_or_without_its_intervals() {
        let all = read_outcomes("a.jsonl", &format!("{LINE}\n\n{LINE}\n")).unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].promised, all[0].measured.high), (Some(Ratio::of(4.0)), Some(3.1)));
        let text = serde_json::to_string(&all[0]).unwrap();
        assert_eq!(read_outcomes("b.jsonl", &text).unwrap()[0], all[0]);
        let short = r#"{"kernel":"k","chip":"c","cause":"small_grid","promised":null,"measured":{"ratio":1.2}}"#;
        assert_eq!(read_outcomes("c.jsonl", short).unwrap()[0].log_promise(), None);
    }

    #[test]
    fn every_mistake_has_its_line() {
        let bad = [
            ("{", "EOF"),
            (&LINE.replace("small_grid", "small_grit"), "did you mean small_grid?"),
            (&LINE.replace("4.0", "-1"), "promised.ratio is -1"),
            (&LINE.replace("2.9", "3.4"), "measured goes from 3.4 to 3.1"),
            (&LINE.replace("\"kernel\":\"k\"", "\"kernel\":\" \""), "kernel is empty"),
            (&LINE.replace("\"low\"", "\"least\""), "unknown field `least`"),
            (&LINE.replace("measured", "gain"), "missing field `measured`"),
            (&LINE.replace("promised", "promise"), "missing field `promised`"),
        ];
        let text: String = bad.iter().map(|(line, _)| format!("{line}\n")).collect();
        let reports = read_outcomes("bad.jsonl", &text).unwrap_err();
        assert_eq!(reports.len(), bad.len());
        for (place, (report, (_, words))) in reports.iter().zip(&bad).enumerate() {
            let told = report.to_string();
            assert!(told.contains(&format!("bad.jsonl, line {}", place + 1)) && told.contains(words), "{told}");
        }
    }
}
