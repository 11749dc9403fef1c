//! Studies and benchmarks, one a line, newest first.

use std::fmt;

use jiff::tz::TimeZone;
use kiln_app::Decision;
use kiln_store::Validation;
use serde_json::{Value, json};

use crate::results::fuzz::validation;
use crate::results::run::RunView;
use crate::studies::past::Past;
use crate::words::command::quoted;
use crate::words::number::{counted, grouped, stretch};
use crate::words::table::{Align, lines};
use crate::words::time::{moment, stamp};

/// Everything `kiln history` says.
pub struct HistoryView<'a> {
    /// The studies to show.
    pub studies: &'a [Past],
    /// The benchmarks to show.
    pub runs: &'a [RunView<'a>],
    /// The validated configurations to show.
    pub validations: &'a [Validation],
    /// The store they are from.
    pub place: &'a str,
    /// How kiln is called so that it finds the same store.
    pub kiln: &'a str,
    /// The decision by which the kernel is retired, if it is.
    pub retired: Option<&'a Decision>,
    /// The kernel they were asked for by.
    pub kernel: Option<&'a str>,
    /// That kernel as it was typed, for commands that take its folder.
    pub typed: Option<&'a str>,
    /// The tag they were asked for by.
    pub tag: Option<&'a str>,
    /// Kernels that have studies, for when the one asked for has none.
    pub others: &'a [String],
    /// Folders of other kernels of its name that have studies, for when it has none.
    pub namesakes: &'a [String],
    /// Which filter left nothing, in words, where one did.
    pub emptied: Option<&'a str>,
    /// True when there are older ones.
    pub more: bool,
}

impl HistoryView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let studies: Vec<Value> = self.studies.iter().map(Past::json).collect();
        let runs: Vec<Value> = self.runs.iter().map(RunView::short_json).collect();
        let validated: Vec<Value> = self.validations.iter().map(validation).collect();
        let (store, kernel, more) = (self.place, self.kernel, self.more);
        let mut object = json!({ "store": store, "kernel": kernel, "studies": studies, "runs": runs, "validated": validated, "more": more });
        if let Some(made) = self.retired {
            object["retired"] = json!({ "because": made.because, "at": stamp(made.at_ms), "by": made.user });
        }
        object
    }

    fn nothing(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = self.emptied {
            return writeln!(f, "nothing to show: {why}");
        }
        if let Some(tag) = self.tag {
            let of = self.kernel.map_or(String::new(), |kernel| format!(" of {kernel}"));
            return writeln!(f, "no studies{of} have the tag `{tag}` in {}", self.place);
        }
        match self.kernel {
            Some(kernel) if !self.others.is_empty() || !self.namesakes.is_empty() => {
                writeln!(f, "no studies of {kernel} in {}", self.place)?;
                // A copy of a kernel has its name, and another folder.
                self.namesakes
                    .iter()
                    .try_for_each(|folder| writeln!(f, "another {kernel} has some: the one in {folder}"))?;
                match self.others {
                    [] => writeln!(f, "next\n  kiln tune {}", self.typed.unwrap_or(kernel)),
                    others => writeln!(f, "kernels that have some: {}", others.join(", ")),
                }
            }
            Some(kernel) => {
                writeln!(f, "no studies and no runs of {kernel} in {}", self.place)?;
                writeln!(f, "next\n  kiln tune {}", self.typed.unwrap_or(kernel))
            }
            None => {
                writeln!(f, "no studies yet: {} is made by the first", self.place)?;
                writeln!(f, "next\n  kiln init my_kernel\n  kiln tune my_kernel")
            }
        }
    }
}

impl fmt::Display for HistoryView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Align::{Left, Right};
        if let Some(made) = self.retired {
            let when = moment(made.at_ms, &TimeZone::system());
            writeln!(f, "retired {when}: {} ({})", made.because, made.choice)?;
        }
        if self.studies.is_empty() && self.runs.is_empty() && self.validations.is_empty() {
            return self.nothing(f);
        }
        let of = |target: &str, variant: &str| match variant {
            "" => target.to_string(),
            variant => format!("{target} {variant}"),
        };
        let priced = self.studies.iter().any(|past| past.spent().is_some());
        let took = if priced { "took (cost)" } else { "took" };
        let titles = ["when", "study", "kernel", "target", "state", "verdict", "speedup", "trials", took, "device"];
        let mut rows = vec![titles.map(String::from).to_vec()];
        // Only where some have them.
        let named = self.studies.iter().any(|past| past.labels.name.is_some());
        let tagged = self.studies.iter().any(|past| !past.labels.tags.is_empty());
        let more = |name: String, tags: String| named.then_some(name).into_iter().chain(tagged.then_some(tags));
        // A line has room for one of the two; `kiln show` has the other.
        let device = |row: &mut Vec<String>| _ = (named || tagged).then(|| row.pop());
        device(&mut rows[0]);
        rows[0].extend(more("name".into(), "tags".into()));
        for past in self.studies {
            let study = &past.study;
            let speedup = past.speedup().map(|(value, [low, high])| format!("{value:.2}x [{low:.2}, {high:.2}]"));
            let mut row = vec![
                moment(study.started_ms, &past.zone),
                study.short_id().into(),
                study.kernel.clone(),
                of(&study.target, &study.variant),
                past.state.name().into(),
                study.verdict.clone().unwrap_or("-".into()),
                speedup.unwrap_or("-".into()),
                grouped(past.trials as u128),
                match past.spent() {
                    Some((cost, _)) => format!("{} ({cost:.2})", stretch(past.seconds)),
                    None => stretch(past.seconds),
                },
                past.device().into(),
            ];
            device(&mut row);
            row.extend(more(past.labels.name.clone().unwrap_or("-".into()), past.labels.tags.join(", ")));
            rows.push(row);
        }
        if rows.len() > 1 {
            f.write_str(&lines(&rows, &[Left, Left, Left, Left, Left, Left, Left, Right, Right, Left, Left, Left]))?;
        }
        for past in self.studies.iter().filter(|past| !past.remarks.is_empty()) {
            let (count, study) = (counted(past.remarks.len() as u128, "remark"), past.study.short_id());
            writeln!(f, "{study} has {count} of reviewers: {} show {study}", self.kiln)?;
        }
        if !self.runs.is_empty() {
            let rows: Vec<Vec<String>> =
                std::iter::once(RunView::titles()).chain(self.runs.iter().map(RunView::line)).collect();
            f.write_str(if self.studies.is_empty() { "" } else { "\n" })?;
            f.write_str(&lines(&rows, &[Left, Left, Left, Left, Left, Left, Left, Right, Left]))?;
        }
        if !self.validations.is_empty() {
            let zone = TimeZone::system();
            let row = |made: &Validation| {
                let shapes =
                    made.shapes.map_or(String::new(), |shapes| format!(", {}", counted(shapes.into(), "shape")));
                let runs = format!("{} good runs{shapes}", made.runs);
                let of = of(&made.target, &made.variant);
                vec![moment(made.at_ms, &zone), made.kernel.clone(), of, runs, made.device.clone(), made.config.clone()]
            };
            let titles =
                ["when", "kernel", "target", "validated", "device", "configuration"].map(String::from).to_vec();
            let rows: Vec<Vec<String>> = std::iter::once(titles).chain(self.validations.iter().map(row)).collect();
            f.write_str(if self.studies.is_empty() && self.runs.is_empty() { "" } else { "\n" })?;
            f.write_str(&lines(&rows, &[Left; 6]))?;
        }
        if self.more {
            let kernel = self.kernel.map_or(String::new(), |name| format!("{} ", quoted(name)));
            writeln!(
                f,
                "older ones: {} history {kernel}--limit {}",
                self.kiln,
                5 * self.studies.len().max(self.runs.len()).max(self.validations.len())
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{past, study, trials};
    use kiln_store::{State, Study};

    #[test]
    fn one_line_for_each_study() {
        let unfinished =
            Study { state: State::Running, ended_ms: None, verdict: None, summary: None, seconds: 0.0, ..study() };
        let trials = trials();
        let studies =
            [past(unfinished.clone(), false, &trials), past(unfinished, true, &trials), past(study(), true, &[])];
        let view = HistoryView {
            studies: &studies,
            runs: &[],
            validations: &[],
            place: "x.db",
            kiln: "kiln",
            retired: None,
            kernel: None,
            typed: None,
            tag: None,
            others: &[],
            namesakes: &[],
            emptied: None,
            more: true,
        };
        insta::assert_snapshot!(view, @r"
          when              study     kernel   target     state        verdict  speedup             trials        took  device
          2026-03-01 14:05  abcd0123  softmax  cpu T=f32  running      -        -                        5       4.5 s  A Processor
          2026-03-01 14:05  abcd0123  softmax  cpu T=f32  interrupted  -        -                        5       4.5 s  A Processor
          2026-03-01 14:05  abcd0123  softmax  cpu T=f32  finished     reached  1.50x [1.45, 1.55]       5  1 min 23 s  A Processor
        older ones: kiln history --limit 15
        ");
        let object = view.json();
        assert_eq!(object["studies"][1]["state"], "interrupted");
        assert_eq!(object["studies"][2]["speedup_ci95"], json!([1.45, 1.55]));
        assert_eq!(object["studies"][0]["speedup"], Value::Null);
        let labels = kiln_store::Labels { name: Some("before-fix".into()), tags: vec!["a".into(), "b".into()] };
        let named = [Past { labels, ..studies[2].clone() }];
        let named = HistoryView { studies: &named, more: false, ..view };
        let words = named.to_string();
        let rows: Vec<&str> = words.lines().collect();
        assert!(rows[0].ends_with("name        tags") && rows[1].ends_with("before-fix  a, b"), "{words}");
    }

    #[test]
    fn nothing_says_what_to_type() {
        let nothing = HistoryView {
            studies: &[],
            runs: &[],
            validations: &[],
            place: "x.db",
            kiln: "kiln",
            retired: None,
            kernel: None,
            typed: None,
            tag: None,
            others: &[],
            namesakes: &[],
            emptied: None,
            more: false,
        };
        assert!(nothing.to_string().contains("kiln tune my_kernel"));
        let untagged = HistoryView { tag: Some("none"), ..nothing };
        assert_eq!(untagged.to_string(), "no studies have the tag `none` in x.db\n");
        let nothing = HistoryView { tag: None, ..untagged };
        let filtered = HistoryView { emptied: Some("--target cuda leaves none of 3 records"), ..nothing };
        assert_eq!(filtered.to_string(), "nothing to show: --target cuda leaves none of 3 records\n");
        let nothing = HistoryView { emptied: None, ..filtered };
        let others = ["softmax".to_string()];
        let elsewhere = HistoryView { kernel: Some("softmax"), typed: Some("kernels/softmax"), ..nothing };
        assert!(elsewhere.to_string().ends_with("kiln tune kernels/softmax\n"), "the folder, where one was typed");
        let nothing = HistoryView { kernel: None, typed: None, ..elsewhere };
        let folders = ["/old/softmax".to_string()];
        let copied = HistoryView { kernel: Some("softmax"), typed: Some("softmax"), namesakes: &folders, ..nothing };
        let words = "no studies of softmax in x.db\nanother softmax has some: the one in /old/softmax\nnext\n  kiln tune softmax\n";
        assert_eq!(copied.to_string(), words);
        let nothing = HistoryView { kernel: None, typed: None, namesakes: &[], ..copied };
        let none = HistoryView { kernel: Some("sofmax"), others: &others, ..nothing };
        assert_eq!(none.to_string(), "no studies of sofmax in x.db\nkernels that have some: softmax\n");
    }
}
