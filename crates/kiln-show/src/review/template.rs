//! The file that a reviewer fills in: how it works, and an example for each thing that a remark can be about, with the ids of this study.

use kiln_app::{RemarkAbout, Review, remark_keys};

use crate::studies::past::Past;

/// The template. Every example is a comment: as it is, it has no remarks.
pub(super) fn text(review: &Review, past: &Past) -> String {
    let study = past.study.id.clone();
    let trials = &review.story.now.trials;
    // The fastest trial of the search, else the first.
    let searched = trials.iter().filter(|trial| trial.phase_id().is_searching() && trial.cost.is_some());
    let fastest = searched.min_by(|one, other| one.cost.unwrap_or(f64::MAX).total_cmp(&other.cost.unwrap_or(f64::MAX)));
    let trial = fastest.or(trials.first()).map(|trial| RemarkAbout::Trial {
        study: study.clone(),
        phase: trial.phase.clone(),
        number: trial.number,
    });
    let cause = review
        .profiles
        .iter()
        .rev()
        .find_map(|profile| profile.cause.clone())
        .map(|cause| RemarkAbout::Cause { kernel: past.study.kernel.clone(), cause });
    let examples = [
        Some(("What the study came to: its verdict and its winner.", RemarkAbout::Decision { study })),
        trial.map(|about| ("One configuration; evidence/trials.csv lists them by phase and number.", about)),
        cause.map(|about| ("A cause that profiles of this kernel name.", about)),
        Some((
            "A lesson; `kiln lessons` lists them.",
            RemarkAbout::Lesson { lesson: "measure_before_optimising".into() },
        )),
    ];
    let mut text = format!(
        "# Remarks on {}. Take the # away from an example, or write your own, and attach them:\n#\n#     kiln review add remarks.toml\n\n\
         version = 1\nreviewer = \"\"   # your name\n",
        past.study.kernel
    );
    for (words, about) in examples.into_iter().flatten() {
        let keys: String = remark_keys(&about).lines().map(|line| format!("# {line}\n")).collect();
        text += &format!("\n# {words}\n# [[remark]]\n{keys}# text = \"\"\"\n# Your words.\n# \"\"\"\n");
    }
    text
}
