//! The kernels that each side ran, in a line: what foreign code really launched. Nothing where no names are known, or where
//! both sides read the same: a note of the verdict says so where that matters.

use kiln_core::kernel_list;
use kiln_study::Confirmed;

/// One line: the candidate's kernels, then each baseline's under its name.
pub(crate) fn kernels<'k>(
    candidate: &[String],
    baselines: impl Iterator<Item = (&'k str, &'k [String])>,
) -> Option<String> {
    let own = kernel_list(candidate);
    let others: Vec<_> = baselines.map(|(name, names)| (name, kernel_list(names))).collect();
    if !others.is_empty() && others.iter().all(|(_, list)| *list == own) {
        return None;
    }
    let known = std::iter::once(("candidate", own)).chain(others).filter(|(_, list)| !list.is_empty());
    let sides: Vec<String> = known.map(|(name, list)| format!("{name} {list}")).collect();
    (!sides.is_empty()).then(|| format!("kernels: {}", sides.join("; ")))
}

/// Each line once, with the workloads it is about where those are not all.
pub(crate) fn by_workload(workloads: &[Confirmed], baseline: &str) -> Vec<String> {
    let line = |w: &Confirmed| kernels(&w.kernels, std::iter::once((baseline, &w.baseline_kernels[..])));
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, line) in workloads.iter().filter_map(|w| Some((w.name.as_str(), line(w)?))) {
        match found.iter_mut().find(|(known, _)| *known == line) {
            Some((_, on)) => on.push(name),
            None => found.push((line, vec![name])),
        }
    }
    let worded = |(line, on): (String, Vec<&str>)| match on.len() == workloads.len() {
        true => line,
        false => format!("{}: {line}", on.join(", ")),
    };
    found.into_iter().map(worded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_stand_in_one_line() {
        let list = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let (own, torch, none) = (list(&["softmax_rows"]), list(&["_Z6reducePf", "_Z3expPf"]), list(&[]));
        let line = |own: &[String], other: &[String]| kernels(own, std::iter::once(("torch", other)));
        assert_eq!(line(&own, &torch).unwrap(), "kernels: candidate softmax_rows; torch reduce, exp");
        assert_eq!(line(&none, &torch).unwrap(), "kernels: torch reduce, exp");
        assert_eq!(kernels(&own, std::iter::empty()).unwrap(), "kernels: candidate softmax_rows");
        assert_eq!(line(&own, &none).unwrap(), "kernels: candidate softmax_rows");
        assert_eq!(line(&own, &own), None);
        assert_eq!(line(&none, &none), None);
    }
}
