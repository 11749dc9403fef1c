//! Which kernels a subject's samples ran. In: the names that its worker reports with every sample. Out: all of them together,
//! whether they are the baseline's, and a refusal where a sample ran none that the kernel file asks for.
//!
//! Kernels of a cubin are named by kiln's own process. For functions in Python and host launchers, names come from the process
//! that the subject runs in, so they are its claims.

use kiln_core::{Gate, Refusal, is_kernel, kernel_list, kernel_matches};

use crate::duels::duel::is_candidate;
use crate::workers::subject::Subject;

/// Names that are reported.
const SHOWN: usize = 16;
/// Names that are kept to compare.
const KEPT: usize = 256;
/// Characters of a name: what C++ makes of templates can be very long.
const LONGEST: usize = 1024;

/// Kernels of the samples of one subject on one workload.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ran {
    names: Vec<String>,
    /// Whether there were samples whose kernels are not known.
    pub(crate) unknown: bool,
}

impl Ran {
    /// Adds what one sample ran.
    pub(crate) fn add(&mut self, names: &[String]) {
        self.unknown |= names.is_empty();
        for name in names {
            let end = name.char_indices().nth(LONGEST).map_or(name.len(), |(at, _)| at);
            if self.names.iter().any(|known| *known == name[..end]) {
                continue;
            }
            match self.names.len() < KEPT {
                true => self.names.push(name[..end].into()),
                false => self.unknown = true,
            }
        }
    }

    /// Adds what other samples ran.
    pub(crate) fn merge(&mut self, other: Ran) {
        if !other.names.is_empty() {
            self.add(&other.names);
        }
        self.unknown |= other.unknown;
    }

    /// The names to report.
    pub(crate) fn shown(&self) -> Vec<String> {
        self.names.iter().take(SHOWN).cloned().collect()
    }

    /// Whether both are known and ran the same kernels, whatever the driver copied and filled besides.
    fn is_same(&self, other: &Ran) -> bool {
        let sorted = |ran: &Ran| {
            let mut names: Vec<_> = ran.names.iter().filter(|name| is_kernel(name)).cloned().collect();
            names.sort_unstable();
            names
        };
        let own = sorted(self);
        !self.unknown && !other.unknown && !own.is_empty() && own == sorted(other)
    }

    /// The note for a candidate that runs a baseline's kernels.
    fn same_as(&self, baseline: &str) -> String {
        let kernels: Vec<_> = self.names.iter().filter(|name| is_kernel(name)).collect();
        let list = kernel_list(&kernels);
        format!("the candidate runs kernels of the same names as {baseline} ({list}): a fallback, or the same code")
    }
}

/// Notes on the first subject's kernels, where foreign code chooses them.
pub(crate) fn remarks(subjects: &[(String, Subject)], ran: &[Ran], required: &[String]) -> Vec<String> {
    let Some((((name, subject), own), others)) = subjects.iter().zip(ran).next().zip(ran.get(1..)) else {
        return Vec::new();
    };
    if !is_candidate(name) || !subject.is_foreign() {
        return Vec::new();
    }
    let mut remarks = Vec::new();
    if own.unknown && !required.is_empty() {
        remarks.push(unchecked(required));
    }
    for ((name, baseline), other) in subjects[1..].iter().zip(others) {
        // Another configuration of the same source has kernels of the same names.
        let same = baseline.config().is_empty() && own.is_same(other);
        if let Some(baseline) = name.strip_prefix("baseline:").filter(|_| same) {
            remarks.push(own.same_as(baseline));
        }
    }
    remarks
}

/// The note where the file asks for kernels and it is not known which ran.
pub(crate) fn unchecked(required: &[String]) -> String {
    let names = quoted(required);
    format!("kernels {names} not checked: samples were not captured in a CUDA graph that shows its kernels")
}

/// The refusal of a sample that lacks one of the kernels asked for; none where what it ran is not known.
pub(crate) fn wrong_kernel(required: &[String], ran: &[String]) -> Option<Refusal> {
    if ran.is_empty() {
        return None;
    }
    let lacks = |text: &&String| !ran.iter().any(|name| kernel_matches(name, text));
    let missing: Vec<String> = required.iter().filter(lacks).cloned().collect();
    (!missing.is_empty()).then(|| Refusal {
        gate: Gate::WrongKernel,
        rule: "kernels".into(),
        measured: format!("a timed sample ran {}", kernel_list(ran)),
        limit: format!("kernels with {} in their names", quoted(&missing)),
        evidence: format!("all names: {}", ran.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(" ")),
        hint: Some(
            "the candidate may have fallen back to other code; if these are its kernels, name them in `kernels`".into(),
        ),
    })
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use kiln_core::Outcome;
    use kiln_run::{PROTOCOL, Worker, WorkerLimits};

    use super::*;
    use crate::workers::idle::Rested;
    use crate::workers::seat::Seat;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    fn ran(samples: &[&[&str]]) -> Ran {
        let mut ran = Ran::default();
        samples.iter().for_each(|names| ran.add(&list(names)));
        ran
    }

    #[test]
    fn samples_are_taken_together() {
        let both = ran(&[&["a", "b"], &["b", "c"]]);
        assert_eq!((both.shown(), both.unknown), (list(&["a", "b", "c"]), false));
        assert!(ran(&[&["a"], &[]]).unknown);
        let many: Vec<String> = (0..300).map(|number| format!("k{number}")).collect();
        let mut all = Ran::default();
        all.add(&many);
        assert_eq!((all.shown().len(), all.names.len(), all.unknown), (SHOWN, KEPT, true));
        let mut long = Ran::default();
        long.add(&["é".repeat(2000)]);
        assert_eq!(long.shown()[0].chars().count(), LONGEST);
        let mut merged = ran(&[&["a"]]);
        merged.merge(Ran::default());
        assert_eq!(merged, ran(&[&["a"]]));
        merged.merge(ran(&[&["b"], &[]]));
        assert_eq!((merged.shown(), merged.unknown), (list(&["a", "b"]), true));
    }

    #[test]
    fn the_same_kernels_are_the_same_set() {
        let own = ran(&[&["a", "[memcpy]", "b"]]);
        assert!(own.is_same(&ran(&[&["b", "a", "[memset]"]])));
        assert!(!own.is_same(&ran(&[&["a"]])) && !own.is_same(&ran(&[&["a", "b"], &[]])));
        assert!(!ran(&[]).is_same(&ran(&[])) && !ran(&[&["[memcpy]"]]).is_same(&ran(&[&["[memcpy]"]])));
        assert_eq!(
            own.same_as("torch"),
            "the candidate runs kernels of the same names as torch (a, b): a fallback, or the same code"
        );
    }

    #[test]
    fn a_verdict_names_the_baseline_whose_kernels_are_run() {
        let python = |file: &str| Subject::Python {
            interpreter: "python3".into(),
            file: file.into(),
            function: "f".into(),
            config: Default::default(),
            device: true,
            ahead: None,
        };
        let named = |name: &str, subject: Subject| (name.to_string(), subject);
        let subjects = [
            named("candidate", python("k.py")),
            named("baseline:torch", python("b.py")),
            named("baseline:other", python("b.py")),
        ];
        let all = [ran(&[&["a"]]), ran(&[&["a"]]), ran(&[&["b"]])];
        let found = remarks(&subjects, &all, &[]);
        assert!(matches!(&found[..], [one] if one.contains("the same names as torch (a)")), "{found:?}");
        let unknown = [ran(&[&[]]), ran(&[&["a"]]), ran(&[&["b"]])];
        assert_eq!(remarks(&subjects, &unknown, &[]), Vec::<String>::new());
        let found = remarks(&subjects, &unknown, &list(&["own"]));
        assert!(matches!(&found[..], [one] if one.starts_with("kernels `own` not checked: ")), "{found:?}");
        // The default configuration in a baseline's place.
        let mut default = subjects.clone();
        if let Subject::Python { config, .. } = &mut default[1].1 {
            *config = kiln_core::Config::parse("B=1").unwrap();
        }
        assert_eq!(remarks(&default, &all, &[]), Vec::<String>::new());
        // What kiln launches itself needs no note.
        let mut launched = subjects.clone();
        launched[0].1 = Subject::nothing();
        assert_eq!(remarks(&launched, &all, &[]), Vec::<String>::new());
    }

    /// A worker whose samples run these kernels: a shell that answers every question with them.
    fn seat(kernels: &str, required: &[&str]) -> Seat {
        let script = format!(
            r#"echo '{{"id":0,"answer":{{"ready":{PROTOCOL}}}}}'
            while read -r line; do
                id=${{line#*:}}; id=${{id%%,*}}
                echo '{{"id":'$id',"answer":{{"times":{{"nanoseconds":[9],"calls":1,"wall_nanoseconds":9,"untimed_nanoseconds":0,"kernels":{kernels}}}}}}}'
            done"#
        );
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]);
        let worker = Worker::start(command, WorkerLimits::default()).unwrap();
        let mut seat =
            Seat::new(Rested::new(worker), WorkerLimits::default().time, true, None, None, Default::default());
        seat.required = list(required).into();
        seat
    }

    #[test]
    fn a_seat_remembers_what_samples_ran_and_refuses_others_than_asked_for() {
        let mut right = seat(r#"["_Z7softmaxPf","[memset]"]"#, &["softmax"]);
        assert!(matches!(right.timing(1, 1).unwrap(), Outcome::Passed(_)));
        assert_eq!(right.ran, ran(&[&["_Z7softmaxPf", "[memset]"]]));
        let mut wrong = seat(r#"["reduce","exp"]"#, &["softmax"]);
        let Outcome::Refused(refusal) = wrong.timing(1, 1).unwrap() else { panic!() };
        assert_eq!((refusal.gate, &*refusal.measured), (Gate::WrongKernel, "a timed sample ran reduce, exp"));
        // Unknown kernels refuse nobody.
        let mut unknown = seat("[]", &["softmax"]);
        assert!(matches!(unknown.timing(1, 1).unwrap(), Outcome::Passed(_)));
        assert!(unknown.ran.unknown);
    }

    #[test]
    fn a_sample_without_the_kernels_asked_for_is_refused() {
        let asked = list(&["softmax_rows", "reduce"]);
        assert_eq!(wrong_kernel(&asked, &list(&["softmax_rows_0d1d", "_ZN2at6native13reduce_kernelEv"])), None);
        // Not known, and nothing asked for.
        assert_eq!(wrong_kernel(&asked, &[]), None);
        assert_eq!(wrong_kernel(&[], &list(&["anything"])), None);
        let refusal = wrong_kernel(&asked, &list(&["_ZN2at6native13reduce_kernelEv", "[memcpy]"])).unwrap();
        assert_eq!(refusal.gate, Gate::WrongKernel);
        assert_eq!(refusal.measured, "a timed sample ran reduce_kernel, [memcpy]");
        assert_eq!(refusal.limit, "kernels with `softmax_rows` in their names");
        assert_eq!(refusal.evidence, "all names: _ZN2at6native13reduce_kernelEv [memcpy]");
    }
}
