//! Remarks of reviewers. In: a remark about a trial, a study's decision, a lesson or a cause. Out: those about something, oldest first. The same words by the same
//! reviewer about the same thing are recorded once.

use kiln_core::Fault;

use crate::Store;
use crate::database::column::Columns;
use crate::database::fault::fault;

/// What a remark is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemarkSubject {
    /// A trial: the study's id, the phase, the number.
    Trial(String, String, u64),
    /// What a study came to: its id.
    Decision(String),
    /// A lesson: its id.
    Lesson(String),
    /// A cause of a kernel's time: the kernel's name, the cause.
    Cause(String, String),
}

/// A remark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// An id like a study's.
    pub id: String,
    /// When it was made, in milliseconds since 1970.
    pub at_ms: i64,
    /// What it is about.
    pub about: RemarkSubject,
    /// Whose it is.
    pub reviewer: String,
    /// The words.
    pub text: String,
    /// The kiln that recorded it.
    pub kiln_version: String,
}

impl Remark {
    /// Whether it is about a study or one of its trials.
    pub fn is_of(&self, study: &str) -> bool {
        matches!(&self.about, RemarkSubject::Trial(id, ..) | RemarkSubject::Decision(id) if id == study)
    }
}

impl RemarkSubject {
    /// `trial`, `decision`, `lesson` or `cause`.
    pub fn name(&self) -> &'static str {
        match self {
            RemarkSubject::Trial(..) => "trial",
            RemarkSubject::Decision(_) => "decision",
            RemarkSubject::Lesson(_) => "lesson",
            RemarkSubject::Cause(..) => "cause",
        }
    }

    /// The study's id, the lesson's id, or the kernel's name.
    pub fn subject(&self) -> &str {
        match self {
            RemarkSubject::Trial(subject, ..)
            | RemarkSubject::Decision(subject)
            | RemarkSubject::Lesson(subject)
            | RemarkSubject::Cause(subject, _) => subject,
        }
    }

    /// What it is about within a study or a kernel: `search 12`, a cause; empty for all of it.
    pub fn part(&self) -> String {
        match self {
            RemarkSubject::Trial(_, phase, number) => format!("{phase} {number}"),
            RemarkSubject::Cause(_, cause) => cause.clone(),
            _ => String::new(),
        }
    }
}

impl Store {
    /// Records remarks: all of them, or none. Gives how many were new.
    pub fn record_remarks(&self, remarks: &[Remark]) -> Result<usize, Fault> {
        let what = "recording remarks";
        self.transaction(what, |session| {
            let mut new = 0;
            for own in remarks {
                let (phase, number) = match &own.about {
                    RemarkSubject::Trial(_, phase, number) => {
                        let large = || Fault::new(what, format!("{number} is too large for the number of a trial"));
                        (Some(phase.clone()), Some(i64::try_from(*number).map_err(|_| large())?))
                    }
                    _ => (None, None),
                };
                let cause = match &own.about {
                    RemarkSubject::Cause(_, cause) => Some(cause.clone()),
                    _ => None,
                };
                // Asked and answered in one transaction: two who add the same file at once record it once.
                let insert = sqlx::query(
                    "INSERT INTO remarks (id, at_ms, about, subject, phase, number, cause, reviewer, words, kiln_version) \
                     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 WHERE NOT EXISTS (SELECT 1 FROM remarks \
                     WHERE about = $3 AND subject = $4 AND phase IS NOT DISTINCT FROM $5 AND number IS NOT DISTINCT FROM $6 \
                     AND cause IS NOT DISTINCT FROM $7 AND reviewer = $8 AND words = $9)",
                )
                .bind(own.id.as_str())
                .bind(own.at_ms)
                .bind(own.about.name())
                .bind(own.about.subject())
                .bind(phase)
                .bind(number)
                .bind(cause)
                .bind(own.reviewer.as_str())
                .bind(own.text.as_str())
                .bind(own.kiln_version.as_str());
                new += session.change(insert).map_err(|e| fault(what, &e))? as usize;
            }
            Ok(new)
        })
    }

    /// Every remark, oldest first.
    pub fn remarks(&self) -> Result<Vec<Remark>, Fault> {
        let statement = sqlx::query(
            "SELECT id, at_ms, about, subject, phase, number, cause, reviewer, words, kiln_version FROM remarks \
             ORDER BY at_ms, id",
        );
        self.list("listing remarks", statement, remark)
    }

    /// The remarks about a study, its trials among them, oldest first.
    pub fn remarks_of(&self, study: &str) -> Result<Vec<Remark>, Fault> {
        Ok(self.remarks()?.into_iter().filter(|own| own.is_of(study)).collect())
    }
}

fn remark(row: Columns<'_>) -> Result<Remark, Fault> {
    let (about, subject): (String, String) = (row.get("about")?, row.get("subject")?);
    let part = |name: &str| -> Result<String, Fault> { Ok(row.get::<Option<String>>(name)?.unwrap_or_default()) };
    let about = match about.as_str() {
        "trial" => RemarkSubject::Trial(subject, part("phase")?, row.count("number")?),
        "decision" => RemarkSubject::Decision(subject),
        "lesson" => RemarkSubject::Lesson(subject),
        "cause" => RemarkSubject::Cause(subject, part("cause")?),
        other => return Err(Fault::new("listing remarks", format!("a remark is about `{other}`"))),
    };
    Ok(Remark {
        id: row.get("id")?,
        at_ms: row.get("at_ms")?,
        about,
        reviewer: row.get("reviewer")?,
        text: row.get("words")?,
        kiln_version: row.get("kiln_version")?,
    })
}
