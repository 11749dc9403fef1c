//! Remarks of a reviewer, one in each `[[remark]]`. In: a file's text, or remarks. Out: what is said about which trial, decision, lesson or cause; or the
//! file again, without loss. Refuses remarks about nothing, without words or without a reviewer, each with its line. docs/review.md
//! describes the file.

use kiln_core::Report;

use crate::rows::{Row, Rows};

/// The form's version.
const VERSION: i64 = 1;

/// What a row may say.
const KEYS: [&str; 10] = ["about", "study", "phase", "number", "lesson", "kernel", "cause", "reviewer", "at", "text"];

/// What a remark is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemarkAbout {
    /// One configuration that a study tried.
    Trial {
        /// The study.
        study: String,
        /// The phase.
        phase: String,
        /// The trial's number in it.
        number: u64,
    },
    /// What a study came to: its verdict and its winner.
    Decision {
        /// The study.
        study: String,
    },
    /// A lesson.
    Lesson {
        /// Its id.
        lesson: String,
    },
    /// A cause that diagnoses of a kernel name.
    Cause {
        /// The kernel's name.
        kernel: String,
        /// The cause.
        cause: String,
    },
}

/// A remark as a file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRemark {
    /// What it is about.
    pub about: RemarkAbout,
    /// Whose it is.
    pub reviewer: String,
    /// When it was made, in RFC 3339; none where nobody says.
    pub at: Option<String>,
    /// The words.
    pub text: String,
    /// Its line in the file.
    pub line: usize,
}

/// Reads a file of remarks.
pub fn read_remarks(name: &str, text: &str) -> Result<Vec<FileRemark>, Vec<Report>> {
    let rows = Rows::parse(name, text).map_err(|report| vec![report])?;
    let listed = rows.under("remark", &["version", "reviewer"]).map_err(|report| vec![report])?;
    if rows.version("version") != Some(VERSION) {
        let report = Report::error(format!("{name} does not have `version = {VERSION}` at its top"));
        return Err(vec![report.label("expected a file as `kiln review export` writes it").hint(HINT)]);
    }
    let reviewer = rows.string("reviewer");
    let (mut remarks, mut wrong) = (Vec::new(), Vec::new());
    for row in &listed {
        match remark(row, reviewer.as_deref()) {
            Ok(remark) => remarks.push(remark),
            Err(report) => wrong.push(report),
        }
    }
    if remarks.is_empty() && wrong.is_empty() {
        wrong.push(Report::error(format!("{name} has no remarks")).label("expected [[remark]]").hint(HINT));
    }
    if wrong.is_empty() { Ok(remarks) } else { Err(wrong) }
}

const HINT: &str = "`kiln review export` writes a template, remarks.toml; docs/review.md describes it";

fn remark(row: &Row<'_>, reviewer: Option<&str>) -> Result<FileRemark, Report> {
    row.only(&KEYS)?;
    let about = about(row)?;
    let reviewer = row.text("reviewer")?.or(reviewer.map(String::from)).filter(|name| !name.trim().is_empty());
    let Some(reviewer) = reviewer else {
        return Err(row
            .wrong("reviewer", "the remark has no reviewer")
            .label("expected reviewer = \"NAME\" here or at the top of the file"));
    };
    let text = row.needed("text")?;
    Ok(FileRemark { about, reviewer, at: row.text("at")?, text: text.trim().into(), line: row.line() })
}

fn about(row: &Row<'_>) -> Result<RemarkAbout, Report> {
    let kind = row.needed("about")?;
    let (about, keys): (RemarkAbout, &[&str]) = match kind.as_str() {
        "trial" => {
            let number = row.whole("number")?;
            (
                RemarkAbout::Trial { study: row.needed("study")?, phase: row.needed("phase")?, number },
                &["study", "phase", "number"],
            )
        }
        "decision" => (RemarkAbout::Decision { study: row.needed("study")? }, &["study"]),
        "lesson" => (RemarkAbout::Lesson { lesson: row.needed("lesson")? }, &["lesson"]),
        "cause" => {
            (RemarkAbout::Cause { kernel: row.needed("kernel")?, cause: row.needed("cause")? }, &["kernel", "cause"])
        }
        other => {
            let report = row.wrong("about", format!("a remark cannot be about `{other}`"));
            return Err(report.label("expected trial, decision, lesson or cause"));
        }
    };
    let usual = ["about", "reviewer", "at", "text"];
    row.only(&[&usual, keys].concat())?;
    Ok(about)
}

/// The file for remarks: what [`read_remarks`] reads back the same.
pub fn write_remarks(remarks: &[FileRemark]) -> String {
    let mut file = format!("version = {VERSION}\n");
    for remark in remarks {
        file += &format!("\n[[remark]]\n{}", keys(&remark.about));
        file += &format!("reviewer = {}\n", quoted(&remark.reviewer));
        if let Some(at) = &remark.at {
            file += &format!("at = {}\n", quoted(at));
        }
        file += &format!("text = {}\n", quoted(&remark.text));
    }
    file
}

/// The keys that say what a remark is about.
pub fn remark_keys(about: &RemarkAbout) -> String {
    keys(about)
}

fn keys(about: &RemarkAbout) -> String {
    match about {
        RemarkAbout::Trial { study, phase, number } => {
            format!("about = \"trial\"\nstudy = {}\nphase = {}\nnumber = {number}\n", quoted(study), quoted(phase))
        }
        RemarkAbout::Decision { study } => format!("about = \"decision\"\nstudy = {}\n", quoted(study)),
        RemarkAbout::Lesson { lesson } => format!("about = \"lesson\"\nlesson = {}\n", quoted(lesson)),
        RemarkAbout::Cause { kernel, cause } => {
            format!("about = \"cause\"\nkernel = {}\ncause = {}\n", quoted(kernel), quoted(cause))
        }
    }
}

/// A string of TOML on one line, whatever is in it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            letter if letter.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn abouts() -> Vec<RemarkAbout> {
        let text = String::from;
        vec![
            RemarkAbout::Trial { study: text("019c"), phase: text("small/search"), number: 0 },
            RemarkAbout::Decision { study: text("last") },
            RemarkAbout::Lesson { lesson: text("bank_conflicts") },
            RemarkAbout::Cause { kernel: text("matmul"), cause: text("small_grid") },
        ]
    }

    proptest! {
        #[test]
        fn a_file_reads_back_without_loss(words in prop::collection::vec("\\PC{0,12}[a-z\"\\\\\n\t\u{1}]{1,8}x", 4), at in prop::option::of("2026-11-1[0-9]T00:00:00Z")) {
            let remarks: Vec<FileRemark> = abouts().into_iter().zip(&words).map(|(about, text)| FileRemark {
                about, reviewer: format!("A {text}"), at: at.clone(), text: text.trim().into(), line: 0,
            }).collect();
            let mut read = read_remarks("r.toml", &write_remarks(&remarks)).unwrap();
            read.iter_mut().for_each(|remark| remark.line = 0);
            prop_assert_eq!(read, remarks);
        }
    }

    #[test]
    fn every_mistake_has_its_place_and_what_was_expected() {
        let one = |row: &str| read_remarks("r.toml", &format!("version = 1\nreviewer = \"Ada\"\n[[remark]]\n{row}\n"));
        for (row, words) in [
            ("text = \"x\"", "`about` is missing"),
            ("about = \"study\"\ntext = \"x\"", "expected trial, decision, lesson or cause"),
            ("about = \"lesson\"\ntext = \"x\"", "`lesson` is missing"),
            ("about = \"lesson\"\nlesson = \"hang\"\ntext = \" \"", "`text` is empty"),
            ("about = \"lesson\"\nlesson = \"hang\"\nstudy = \"s\"\ntext = \"x\"", "`study` means nothing here"),
            (
                "about = \"trial\"\nstudy = \"s\"\nphase = \"seed\"\nnumber = -1\ntext = \"x\"",
                "`number` is not a whole number",
            ),
            ("about = \"decision\"\nstudy = \"s\"\ntexts = \"x\"", "did you mean text?"),
        ] {
            let told = one(row).unwrap_err().iter().map(ToString::to_string).collect::<String>();
            assert!(told.contains(words) && told.contains("r.toml:"), "{told}");
        }
        assert_eq!(one("about = \"decision\"\nstudy = \"s\"\ntext = \"well done\"").unwrap()[0].reviewer, "Ada");
        let none = |text: &str| read_remarks("r.toml", text).unwrap_err()[0].to_string();
        assert!(none("version = 1\n").contains("has no remarks") && none("version = 2\n").contains("`version = 1`"));
        let nobody = "version = 1\n[[remark]]\nabout = \"decision\"\nstudy = \"s\"\ntext = \"x\"\n";
        assert!(none(nobody).contains("the remark has no reviewer"));
        assert!(none("version = 1\n[[remark]\n").contains("is not TOML"));
    }
}
