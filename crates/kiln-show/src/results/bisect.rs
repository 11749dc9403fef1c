//! The first bad commit, in words: what it is, what it does, and what was judged on the way.

use std::fmt;

use kiln_app::{BisectOutcome, Bisected, Commit, JudgedCommit, Slowdown};
use serde_json::{Value, json};

use crate::words::command::quoted;
use crate::words::number::{counted, stretch};
use crate::words::refusal::refusal;
use crate::words::table::{Align, lines};

/// Everything `kiln bisect` says.
pub struct BisectView<'a> {
    /// What was found.
    pub found: &'a Bisected,
    /// The command that goes on.
    pub command: &'a str,
}

impl BisectView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        json!(self.found)
    }

    fn headline(&self) -> String {
        let Bisected { kernel, until, culprit, candidates, .. } = self.found;
        let what = match until.as_str() {
            "build" => "does not build",
            "check" => "is not correct",
            _ => "is slower",
        };
        match (self.found.outcome, culprit) {
            (BisectOutcome::Found, Some(culprit)) => {
                format!("{} is the first commit where {kernel} {what}", culprit.short())
            }
            (BisectOutcome::Narrowed, _) => {
                let several = counted(candidates.len() as u128, "commit");
                format!("{kernel} {what} since one of {several}; those between cannot be judged")
            }
            _ => format!("{kernel}: stopped before the first bad commit is known"),
        }
    }
}

/// A change of time in per cent, with its interval.
fn percent(one: &Slowdown) -> String {
    let percent = |ratio: f64| format!("{:+.1}", 100.0 * (ratio - 1.0));
    match one.identical {
        true => "identical".into(),
        false => {
            let (low, high) = (percent(one.ratio_ci95.low), percent(one.ratio_ci95.high));
            format!("{} % [{low}, {high}]", percent(one.ratio))
        }
    }
}

fn line(commit: &Commit) -> String {
    format!("{} {} ({})", commit.short(), commit.subject, commit.author)
}

impl fmt::Display for BisectView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = self.found;
        writeln!(f, "{}", self.headline())?;
        if let Some(culprit) = &found.culprit {
            writeln!(f, "  {}", line(culprit))?;
        }
        if let Some(before) = &found.before {
            writeln!(f, "  the last good one: {}", line(before))?;
        }
        for one in &found.change {
            let on = if one.workload.is_empty() { String::new() } else { format!(" on {}", one.workload) };
            writeln!(f, "  time{on}, against the last good one: {}", percent(one))?;
        }
        for candidate in &found.candidates {
            writeln!(f, "  {}", line(candidate))?;
        }
        let row = |one: &JudgedCommit| {
            let looks = if one.looks > 1 { format!(" ({} looks)", one.looks) } else { String::new() };
            vec![
                one.commit.short().to_string(),
                one.verdict.into(),
                format!("{}{looks}", first_line(&one.words)),
                one.commit.subject.clone(),
            ]
        };
        if !found.judged.is_empty() {
            let titles = ["commit", "verdict", "why", "subject"].map(String::from).to_vec();
            let rows: Vec<Vec<String>> = std::iter::once(titles).chain(found.judged.iter().map(row)).collect();
            write!(f, "\n{}", lines(&rows, &[Align::Left; 4]))?;
        }
        if let Some(why) = &found.refusal {
            write!(f, "\n{}", refusal(why, false))?;
        }
        let resumed = match found.resumed {
            0 => String::new(),
            n => format!(", {n} of them before an interruption"),
        };
        // The good one is among those that were evaluated, and others may lie before it.
        let after = if found.commits > 0 { format!(" ({} after the good one)", found.commits) } else { String::new() };
        let commits = counted(found.evaluated as u128, "commit");
        writeln!(f, "\n{commits} evaluated{resumed}, in {}{after}", stretch(found.seconds))?;
        for note in &found.notes {
            writeln!(f, "note: {note}")?;
        }
        let culprit = found.culprit.as_ref();
        match found.outcome {
            BisectOutcome::Interrupted => writeln!(f, "next\n  {}", self.command),
            BisectOutcome::Found if found.merge => {
                let commit = culprit.map_or("", Commit::short);
                writeln!(f, "it is a merge; next, within the branch it merged")?;
                let path = quoted(&found.path);
                let range = format!("--good $(git merge-base {commit}^1 {commit}^2) --bad {commit}^2");
                writeln!(f, "  kiln bisect {path} --until {} {range}", found.until)
            }
            BisectOutcome::Found => writeln!(f, "next\n  git show {}", culprit.map_or("", Commit::short)),
            BisectOutcome::Narrowed => writeln!(f, "next\n  make one of them build, or look at each: git show COMMIT"),
        }
    }
}

/// A compiler says more than a row holds.
fn first_line(words: &str) -> &str {
    words.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(name: &str, subject: &str) -> Commit {
        Commit { commit: name.repeat(20), subject: subject.into(), author: "Ada".into(), at_ms: 1_700_000_000_000 }
    }

    fn found() -> Bisected {
        let slow: Slowdown = serde_json::from_value(
            json!({ "workload": "s512", "ratio": 1.052, "ratio_ci95": [1.047, 1.057], "identical": false }),
        )
        .unwrap();
        let judged = |commit: &Commit, verdict, words: &str, looks| JudgedCommit {
            commit: commit.clone(),
            verdict,
            words: words.into(),
            looks,
            slowdown: Vec::new(),
        };
        let (good, bad) = (commit("ab", "Wider loads"), commit("cd", "Tidy up"));
        Bisected {
            kernel: "softmax".into(),
            path: "kernels/softmax".into(),
            until: "fast:3%".into(),
            outcome: BisectOutcome::Found,
            good: Some(good.clone()),
            bad: bad.clone(),
            culprit: Some(bad.clone()),
            before: Some(good.clone()),
            candidates: Vec::new(),
            merge: false,
            change: vec![slow],
            refusal: None,
            commits: 63,
            evaluated: 8,
            resumed: 3,
            judged: vec![judged(&good, "good", "+0.1 % [-0.3, +0.5] on s512", 2), judged(&bad, "bad", "two\nlines", 1)],
            seconds: 83.0,
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_culprit_comes_first() {
        let command = "kiln bisect kernels/softmax";
        let found = found();
        insta::assert_snapshot!(BisectView { found: &found, command }, @r"
        cdcdcdcdcdcd is the first commit where softmax is slower
          cdcdcdcdcdcd Tidy up (Ada)
          the last good one: abababababab Wider loads (Ada)
          time on s512, against the last good one: +5.2 % [+4.7, +5.7]

          commit        verdict  why                                    subject
          abababababab  good     +0.1 % [-0.3, +0.5] on s512 (2 looks)  Wider loads
          cdcdcdcdcdcd  bad      two                                    Tidy up

        8 commits evaluated, 3 of them before an interruption, in 1 min 23 s (63 after the good one)
        next
          git show cdcdcdcdcdcd
        ");
        let merged = Bisected { merge: true, ..found.clone() };
        let words = BisectView { found: &merged, command }.to_string();
        assert!(
            words.contains("kiln bisect kernels/softmax --until fast:3% --good $(git merge-base cdcdcdcdcdcd^1"),
            "{words}"
        );
        let stopped = Bisected { outcome: BisectOutcome::Interrupted, culprit: None, before: None, ..found.clone() };
        let words = BisectView { found: &stopped, command }.to_string();
        assert!(
            words.starts_with("softmax: stopped before") && words.ends_with("next\n  kiln bisect kernels/softmax\n")
        );
        let candidates = vec![commit("ef", "One"), commit("01", "Two")];
        let narrowed = Bisected { outcome: BisectOutcome::Narrowed, culprit: None, candidates, ..found };
        let words = BisectView { found: &narrowed, command }.to_string();
        assert!(
            words.starts_with("softmax is slower since one of 2 commits; those between cannot be judged"),
            "{words}"
        );
    }
}
