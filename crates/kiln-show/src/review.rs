//! A review as a folder of files that a person reads without kiln. In: everything recorded of a study and its kernel. Out: files by name: a report in Markdown, the
//! evidence as JSON and CSV, figures, and a template for remarks.

mod evidence;
mod report;
mod template;

use kiln_app::{Review, file_remarks, winners, workloads_together, write_remarks};
use kiln_store::Remark;

use crate::html::searches;
use crate::picture::{FoundLater, Funnel, SearchPicture};
use crate::studies::columns::Columns;
use crate::studies::past::Past;
use crate::studies::study::{StudyView, repeat};

/// Everything `kiln review export` writes.
pub struct ReviewView<'a> {
    /// What is recorded.
    pub review: &'a Review,
    /// How kiln is called so that it finds the same store.
    pub kiln: &'a str,
}

impl ReviewView<'_> {
    /// Files by name, the report first.
    pub fn files(&self) -> Vec<(String, String)> {
        let review = self.review;
        let (past, trials) = (Past::of(&review.story.now), &review.story.now.trials);
        let repeat = repeat(self.kiln, &past.study);
        let study = StudyView { past: &past, trials, notes: &review.story.notes, repeat: &repeat, kiln: self.kiln };
        let figures = self.figures(&past);
        let mut files = vec![
            ("report.md".to_string(), report::markdown(review, &past, &study, &figures)),
            ("remarks.toml".to_string(), template::text(review, &past)),
            ("evidence/study.json".to_string(), pretty(&study.json())),
            ("evidence/trials.csv".to_string(), study.csv()),
            ("evidence/kernel.toml".to_string(), past.study.spec_text.clone()),
            ("evidence/history.csv".to_string(), evidence::history(review)),
            ("evidence/profiles.json".to_string(), pretty(&evidence::profiles(review))),
        ];
        let remarks: Vec<Remark> = past.remarks.iter().chain(&review.causes).cloned().collect();
        if !remarks.is_empty() {
            files.push(("evidence/remarks.toml".to_string(), write_remarks(&file_remarks(&remarks))));
        }
        files.extend(figures);
        files
    }

    fn figures(&self, past: &Past) -> Vec<(String, String)> {
        let (trials, winners) = (&self.review.story.now.trials, winners(&past.study));
        let mut all = Vec::new();
        for (place, own) in searches(trials).into_iter().enumerate() {
            let columns = Columns::of(trials);
            let winner = winners.iter().find(|(of, _)| of.is_none() || of.as_deref() == own.workload);
            let winner = winner.map(|(_, config)| config.to_string());
            let picture = SearchPicture {
                name: &own.name(&past.study.kernel),
                trials,
                places: &own.places,
                columns: &columns,
                winner: winner.as_deref(),
                later: FoundLater::of(&past.study, trials, own.workload),
                improvements: &[],
                over: if own.workload.is_some() { 1 } else { workloads_together(&past.study) },
                shows_refused: true,
            };
            let name =
                if place == 0 { "figures/search.svg".into() } else { format!("figures/search-{}.svg", place + 1) };
            all.extend(picture.convergence().map(|canvas| (name, canvas.standalone())));
        }
        let title = format!("{}: what is left after each gate", past.study.kernel);
        let funnel = Funnel::of(trials.iter().filter(|trial| trial.phase_id().is_searching())).picture(&title);
        all.extend(funnel.map(|canvas| ("figures/gates.svg".to_string(), canvas.standalone())));
        all
    }
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}
