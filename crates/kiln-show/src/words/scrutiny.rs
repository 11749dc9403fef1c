//! How much a verdict's timed calls were checked, in words.

use kiln_store::CheckedCalls;
use kiln_study::Confirmed;

use crate::words::number::grouped;

/// Calls compared with other sides and calls held against the reference; in a second line, the share of wrong calls that finds.
pub(crate) fn checked(found: &CheckedCalls) -> String {
    let CheckedCalls { timed, compared, reference, detects } = *found;
    let number = |count: u64| grouped(count.into());
    let finds = match detects {
        Some(share) => {
            format!("\n    errors in {} of calls or more would be found (99.9 % confidence)", three_digits(share))
        }
        None => String::new(),
    };
    if compared == 0 {
        return format!("{} of {} timed calls checked against the reference{finds}", number(reference), number(timed));
    }
    format!(
        "{} of {} timed calls compared with other sides, {} checked against the reference{finds}",
        number(compared),
        number(timed),
        number(reference)
    )
}

/// The line of the workload on which the fewest calls were checked; nothing for studies that did not record it.
pub(crate) fn least_checked(workloads: &[Confirmed]) -> Option<String> {
    let known = workloads.iter().filter_map(|w| Some((&w.name, w.checked?)));
    let (name, least) = known.min_by_key(|(_, found)| (found.reference, found.compared))?;
    let line = checked(&least);
    Some(if workloads.len() > 1 { format!("least checked, {name}: {line}") } else { line })
}

/// Each note once, with the workloads it is about where those are not all.
pub(crate) fn notes(workloads: &[Confirmed]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for note in workloads.iter().flat_map(|w| &w.notes) {
        if seen.contains(&note.as_str()) {
            continue;
        }
        seen.push(note);
        let on: Vec<&str> = workloads.iter().filter(|w| w.notes.contains(note)).map(|w| &*w.name).collect();
        lines.push(if on.len() == workloads.len() { note.clone() } else { format!("{}: {note}", on.join(", ")) });
    }
    lines
}

/// A share in percent with three digits.
fn three_digits(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals = match percent {
        p if p < 9.995 => 2,
        p if p < 99.95 => 1,
        _ => 0,
    };
    format!("{percent:.decimals$} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_what_they_find_are_told() {
        let found = CheckedCalls { timed: 12_800, compared: 12_700, reference: 7, detects: Some(0.627_2) };
        assert_eq!(
            checked(&found),
            "12,700 of 12,800 timed calls compared with other sides, 7 checked against the reference\n    errors in 62.7 % of \
             calls or more would be found (99.9 % confidence)"
        );
        let alone = CheckedCalls { timed: 6_400, compared: 0, reference: 100, detects: Some(0.066_7) };
        assert_eq!(
            checked(&alone),
            "100 of 6,400 timed calls checked against the reference\n    errors in 6.67 % of calls or more would be found \
             (99.9 % confidence)"
        );
        let nothing = CheckedCalls { timed: 5, compared: 0, reference: 0, detects: None };
        assert_eq!(checked(&nothing), "0 of 5 timed calls checked against the reference");
    }
}
