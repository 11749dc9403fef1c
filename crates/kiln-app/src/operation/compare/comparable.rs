//! Whether two runs can be compared, and in what. In: both. Out: what else differs between them, in words, and the side that may
//! serve as a yardstick. Refuses runs that would compare machines or settings instead of kernels.

use kiln_core::Report;
use kiln_formats::RunFile;
use kiln_store::Environment;
use serde::Deserialize;

use super::Pair;
use crate::failure::Failure;

/// What differs between the runs and may matter.
pub(super) fn comparable(base: &RunFile, candidate: &RunFile, anyway: bool) -> Result<Vec<String>, Failure> {
    let text = |words: &Option<String>| words.clone();
    let must = [
        ("kernel", Some(base.kernel.clone()), Some(candidate.kernel.clone())),
        ("device", text(&base.device), text(&candidate.device)),
        ("target", text(&base.target), text(&candidate.target)),
        ("variant", text(&base.variant), text(&candidate.variant)),
        ("cache", text(&base.cache), text(&candidate.cache)),
        ("threads", base.threads.map(|n| n.to_string()), candidate.threads.map(|n| n.to_string())),
    ];
    let mut notes = Vec::new();
    for (what, one, other) in must {
        // What a format does not say cannot differ.
        let (Some(one), Some(other)) = (one, other) else { continue };
        if one == other || one.is_empty() || other.is_empty() {
            continue;
        }
        let words = format!("the runs differ in {what}: {one} and {other}");
        if !anyway {
            return Err(Report::error(words)
                .label("a difference of their times would say nothing about the kernel")
                .hint("measure both on the same machine with the same settings; --anyway compares them all the same")
                .into());
        }
        notes.push(words);
    }
    let may = [
        ("configuration", text(&base.config), text(&candidate.config)),
        ("kernel file", text(&base.spec_hash), text(&candidate.spec_hash)),
        ("commit", text(&base.commit), text(&candidate.commit)),
        ("compiler", environment(base).compiler, environment(candidate).compiler),
        ("host", environment(base).host, environment(candidate).host),
        ("source", Some(base.source.clone()), Some(candidate.source.clone())),
    ];
    for (what, one, other) in may {
        if let (Some(one), Some(other)) = (one, other)
            && one != other
        {
            notes.push(format!("{what}: {one}, then {other}"));
        }
    }
    Ok(notes)
}

/// A side that both runs measured on every workload, with the same code as far as that is known.
pub(super) fn yardstick(base: &RunFile, candidate: &RunFile, side: &str, pairs: &[Pair<'_>]) -> Option<String> {
    let packages = |run: &RunFile| environment(run).python;
    let names = pairs.first()?.0.sides.iter().map(|other| other.name.as_str()).filter(|name| *name != side);
    let fits = |(one, other): &Pair<'_>, name: &str| {
        let (Some(unit), Some(other_unit)) = (one.side(name), other.side(name)) else { return false };
        let rounds = |found: Option<&kiln_core::MeasuredSide>| found.map_or(0, |found| found.rounds.len());
        let whole = unit.rounds.len() == rounds(one.side(side)) && other_unit.rounds.len() == rounds(other.side(side));
        // Without machine code it is a Python function, and as good as its packages.
        let same = match (&unit.code, &other_unit.code) {
            (Some(one), Some(other)) => one == other,
            (None, None) => packages(base) == packages(candidate),
            _ => false,
        };
        whole && same && unit.rounds.iter().chain(&other_unit.rounds).all(|round| !round.is_empty())
    };
    names.into_iter().find(|name| pairs.iter().all(|pair| fits(pair, name))).map(String::from)
}

fn environment(run: &RunFile) -> Environment {
    Environment::deserialize(&run.environment).unwrap_or_default()
}
