//! What was found of commits: whether a kernel built, was correct or was as fast as before there. In: a verdict. Out: those of a
//! kernel, newest first. A tree with changes is no commit, and nobody records it as one.

use kiln_core::Fault;

use crate::Store;
use crate::database::column::Columns;
use crate::database::fault::fault;

/// What a commit was judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommitJudged {
    /// It compiles.
    Build,
    /// It is correct.
    Check,
    /// It is as fast as what it was compared with.
    Fast,
}

impl CommitJudged {
    /// All of them; each holds for a commit where the next one does.
    pub const ALL: [CommitJudged; 3] = [CommitJudged::Build, CommitJudged::Check, CommitJudged::Fast];

    /// As it is typed and stored.
    pub fn name(self) -> &'static str {
        match self {
            CommitJudged::Build => "build",
            CommitJudged::Check => "check",
            CommitJudged::Fast => "fast",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<CommitJudged> {
        CommitJudged::ALL.into_iter().find(|judged| judged.name() == name)
    }
}

/// A verdict on a kernel at a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitVerdict {
    /// An id like a study's.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The kernel's name.
    pub kernel: String,
    /// The kernel's folder within its repository.
    pub inside: String,
    /// The commit.
    pub git_commit: String,
    /// What it was judged by.
    pub judged: CommitJudged,
    /// Whether it passed.
    pub good: bool,
    /// The target.
    pub target: String,
    /// The variant, as the user would type it.
    pub variant: String,
    /// The GPU or processor; empty where nothing ran.
    pub device: String,
    /// Why, in a sentence.
    pub words: String,
    /// The kiln that found it.
    pub kiln_version: String,
}

const COLUMNS: &str = "SELECT id, at_ms, kernel, inside, git_commit, judged, good, target, variant, device, words, \
     kiln_version FROM commit_verdicts";

impl Store {
    /// Records a verdict.
    pub fn record_commit(&self, found: &CommitVerdict) -> Result<(), Fault> {
        let what = &format!("recording the verdict on commit {}", found.git_commit);
        let insert = sqlx::query(
            "INSERT INTO commit_verdicts (id, at_ms, kernel, inside, git_commit, judged, good, target, variant, device, \
             words, kiln_version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        )
        .bind(found.id.as_str())
        .bind(found.at_ms)
        .bind(found.kernel.as_str())
        .bind(found.inside.as_str())
        .bind(found.git_commit.as_str())
        .bind(found.judged.name())
        .bind(i64::from(found.good))
        .bind(found.target.as_str())
        .bind(found.variant.as_str())
        .bind(found.device.as_str())
        .bind(found.words.as_str())
        .bind(found.kiln_version.as_str());
        self.transaction(what, |session| session.change(insert).map(|_| ()).map_err(|e| fault(what, &e)))
    }

    /// The verdicts on a kernel's commits, newest first.
    pub fn commits(&self, kernel: &str) -> Result<Vec<CommitVerdict>, Fault> {
        let sql = format!("{COLUMNS} WHERE kernel = $1 ORDER BY at_ms DESC, id DESC");
        let statement = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(kernel.to_string());
        self.list("listing verdicts on commits", statement, verdict)
    }

    /// The verdicts on all commits, in no order.
    pub(crate) fn every_commit(&self) -> Result<Vec<CommitVerdict>, Fault> {
        self.list("listing verdicts on commits", sqlx::query(COLUMNS), verdict)
    }
}

fn verdict(row: Columns<'_>) -> Result<CommitVerdict, Fault> {
    Ok(CommitVerdict {
        id: row.get("id")?,
        at_ms: row.get("at_ms")?,
        kernel: row.get("kernel")?,
        inside: row.get("inside")?,
        git_commit: row.get("git_commit")?,
        judged: row.read("judged", CommitJudged::named)?,
        good: row.count::<i64>("good")? != 0,
        target: row.get("target")?,
        variant: row.get("variant")?,
        device: row.get("device")?,
        words: row.get("words")?,
        kiln_version: row.get("kiln_version")?,
    })
}
