//! What differs between a result and the one measured now. In: both runs. Out: differences by name, each with what it was and is.

use kiln_core::CANDIDATE;
use kiln_formats::RunFile;
use serde::Serialize;
use serde_json::Value;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What differs.
    pub what: String,
    /// As it was; none where that is not known.
    pub then: Option<String>,
    /// As it is.
    pub now: Option<String>,
}

/// What of the environment may matter, and where it is in a run's account.
const PARTS: [(&str, &str); 14] = [
    ("processor", "/processor"),
    ("GPU", "/gpu/name"),
    ("driver", "/gpu/driver"),
    ("CUDA compiler", "/cuda"),
    ("compiler", "/compiler"),
    ("Python", "/python/version"),
    ("NumPy", "/python/numpy"),
    ("PyTorch", "/python/torch"),
    ("system", "/system"),
    ("governor", "/governor"),
    ("processors", "/cpus"),
    ("threads", "/threads"),
    ("host", "/host"),
    ("kiln", "/kiln"),
];

/// Differences of the environment.
pub(super) fn environment(then: &RunFile, now: &RunFile) -> Vec<Difference> {
    let text = |run: &RunFile, place: &str| match run.environment.pointer(place) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    PARTS.iter().filter_map(|(what, place)| difference(what, text(then, place), text(now, place))).collect()
}

/// Differences of the code; `sources` are hashes of the kernel's files, where both are known.
pub(super) fn code(then: &RunFile, now: &RunFile, sources: (Option<String>, Option<String>)) -> Vec<Difference> {
    let mut found = Vec::new();
    found.extend(difference("commit", then.commit.clone(), now.commit.clone()));
    found.extend(difference("kernel file", then.spec_hash.clone(), now.spec_hash.clone()));
    if let (Some(then), Some(now)) = sources {
        found.extend(difference("sources", Some(then), Some(now)));
    }
    for workload in &then.workloads {
        let Some(other) = now.workloads.iter().find(|other| other.name == workload.name) else { continue };
        for side in &workload.sides {
            let code = other.side(&side.name).map(|side| side.code.clone());
            if let (Some(then), Some(Some(now))) = (&side.code, code) {
                let who = if side.name == CANDIDATE { "the kernel" } else { side.name.as_str() };
                found.extend(difference(&format!("machine code of {who}"), Some(short(then)), Some(short(&now))));
            }
        }
    }
    found.dedup();
    found
}

fn difference(what: &str, then: Option<String>, now: Option<String>) -> Option<Difference> {
    (then != now).then(|| Difference { what: what.into(), then, now })
}

fn short(hash: &str) -> String {
    hash.get(..16).unwrap_or(hash).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let mut then = RunFile::by("kiln 0.1.0");
        then.environment = json!({ "host": "a", "compiler": "gcc 12", "cpus": [0, 1], "gpu": null });
        then.commit = Some("one".into());
        let mut now = then.clone();
        assert_eq!((environment(&then, &now), code(&then, &now, (None, None))), (vec![], vec![]));
        now.environment = json!({ "host": "a", "compiler": "gcc 13", "cpus": [0, 1, 2], "gpu": { "name": "H200" } });
        now.commit = Some("two".into());
        let names: Vec<String> = environment(&then, &now).into_iter().map(|d| d.what).collect();
        assert_eq!(names, ["GPU", "compiler", "processors"]);
        assert_eq!(code(&then, &now, (Some("x".into()), Some("y".into()))).len(), 2);
    }
}
