//! What each verb answers about itself: how long its builds may take, and whether it prints for people or for machines.

use super::{ClaimsFormat, CompareFormat, LessonsVerb, SessionVerb, Verb};

impl Verb {
    /// Seconds a build may take, for verbs that build.
    pub(crate) fn build_limit(&self) -> Option<f64> {
        match self {
            Verb::Gate(args) => args.building.build_limit,
            Verb::Check(args) => args.building.build_limit,
            Verb::Fuzz(args) => args.building.build_limit,
            Verb::Bench(args) => args.building.build_limit,
            Verb::Sweep(args) => args.building.build_limit,
            Verb::Ci(args) => args.building.build_limit,
            Verb::Bisect(args) => args.building.build_limit,
            Verb::Claims(args) => args.building.build_limit,
            Verb::Reproduce(args) => args.building.build_limit,
            Verb::Tune(args) => args.building.build_limit,
            Verb::Profile(args) => args.building.build_limit,
            Verb::Sanitize(args) => args.building.build_limit,
            Verb::Debug(args) => args.building.build_limit,
            Verb::Export(args) => args.building.build_limit,
            _ => None,
        }
    }

    /// Whether what it prints is for people: everything but JSON, tables for spreadsheets, lists and scripts.
    pub(crate) fn for_people(&self) -> bool {
        let machines = match self {
            Verb::Space(args) => args.list,
            Verb::History(args) => args.export.is_some() || args.csv,
            Verb::Show(args) => args.csv,
            Verb::Ci(args) => args.printing.format != CompareFormat::Text || args.printing.out.is_some(),
            Verb::Claims(args) => args.format != ClaimsFormat::Text,
            Verb::Profile(args) => args.out.is_some(),
            Verb::Compare(args) => args.printing.format != CompareFormat::Text || args.printing.out.is_some(),
            Verb::Session(args) => matches!(
                &args.verb,
                SessionVerb::End { printing, .. } | SessionVerb::Report { printing, .. } if printing.markdown
            ),
            Verb::Lessons(args) => matches!(args.verb, Some(LessonsVerb::Show { toml: true, .. })),
            Verb::Mcp(_) | Verb::Schema(_) | Verb::Completions(_) | Verb::Man(_) | Verb::Worker(_) => true,
            _ => false,
        };
        !machines && !self.json()
    }

    /// Whether what it prints is JSON: what `--json` asks for, and formats of other tools that are JSON too.
    pub(crate) fn prints_json(&self) -> bool {
        use CompareFormat::{Bencher, BenchmarkAction, Sarif};
        let others = |format: CompareFormat| matches!(format, Bencher | BenchmarkAction | Sarif);
        let another = match self {
            Verb::History(args) => args.export.is_some(),
            Verb::Ci(args) => others(args.printing.format()),
            Verb::Compare(args) => others(args.printing.format()),
            Verb::Schema(_) => true,
            _ => false,
        };
        another || self.json()
    }

    /// Whether `--json` was asked for; then mistakes are printed as JSON too.
    pub(crate) fn json(&self) -> bool {
        match self {
            Verb::Space(args) => args.json,
            Verb::Gate(args) => args.json,
            Verb::Cache(args) => args.json,
            Verb::Tune(args) => args.json,
            Verb::Check(args) => args.json,
            Verb::Fuzz(args) => args.json,
            Verb::Bench(args) => args.json,
            Verb::Bisect(args) => args.json,
            Verb::Sweep(args) => args.json,
            Verb::Diagnose(args) => args.json,
            Verb::Profile(args) => args.json,
            Verb::Sanitize(args) => args.json,
            Verb::Debug(args) => args.json,
            Verb::Claims(args) => args.json || args.format == ClaimsFormat::Json,
            Verb::Reproduce(args) => args.json,
            Verb::Ci(args) => args.printing.format() == CompareFormat::Json,
            Verb::Compare(args) => args.printing.format() == CompareFormat::Json,
            Verb::Next(args) => args.json,
            Verb::History(args) => args.json,
            Verb::Show(args) => args.json,
            Verb::Report(args) => args.json,
            Verb::Plot(args) => args.json,
            Verb::Simulate(args) => args.json,
            Verb::Doctor(args) => args.json,
            Verb::Explain(args) => args.json,
            Verb::Lessons(args) => args.json,
            Verb::Session(args) => args.json,
            Verb::Retire(args) => args.json,
            Verb::Review(args) => args.json,
            Verb::Serve(args) => args.json,
            Verb::Init(args) => args.json,
            Verb::Export(args) => args.json,
            Verb::Capture(_)
            | Verb::Mcp(_)
            | Verb::Schema(_)
            | Verb::Studies(_)
            | Verb::Try(_)
            | Verb::Completions(_)
            | Verb::Man(_)
            | Verb::Worker(_) => false,
        }
    }
}
