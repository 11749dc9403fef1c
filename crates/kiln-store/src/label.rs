//! Names and tags of studies, and their removal. In: a study and what it is to be called. Out: the same again, with the study.
//! Refuses a name that is taken, one that could be mistaken for an id or for `last`, and a study that is not as it was read.

use std::collections::BTreeMap;

use kiln_core::Fault;

use crate::damage::TABLES;
use crate::database::fault::{fault, is_double};
use crate::{Store, Study};

/// How a study is called, beside its id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    /// Its name, which no other study has.
    pub name: Option<String>,
    /// Its tags, in alphabetical order.
    pub tags: Vec<String>,
}

/// Refuses what cannot be the name or the tag of a study.
pub fn check_label(noun: &str, label: &str) -> Result<(), Fault> {
    let refused = |why: &str, hint: String| Err(Fault::new(format!("`{label}` cannot be a {noun}"), why).hint(hint));
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    let letters = || format!("a {noun} has letters, digits, `-`, `_`, `.` and `+`, and does not begin with `-`");
    if label.is_empty() {
        return refused("it is empty", letters());
    }
    if label.starts_with('-') || !label.chars().all(plain) {
        return refused("it has characters that cannot be typed everywhere", letters());
    }
    if noun == NAME && label == "last" {
        return refused("`last` always means the newest study", "choose another name".into());
    }
    if noun == NAME && label.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
        return refused("it could be mistaken for an id", "give it a letter beyond f, such as `run-1`".into());
    }
    Ok(())
}

/// What [`check_label`] calls a name.
pub const NAME: &str = "name";
/// What [`check_label`] calls a tag.
pub const TAG: &str = "tag";

impl Store {
    /// Names a study, or takes its name away.
    pub fn rename(&self, study: &str, name: Option<&str>) -> Result<(), Fault> {
        let what = &format!("naming study {study}");
        name.map_or(Ok(()), |name| check_label(NAME, name))?;
        self.transaction(what, |session| {
            let old = sqlx::query("DELETE FROM study_names WHERE study = $1").bind(study);
            session.change(old).map_err(|e| fault(what, &e))?;
            let Some(name) = name else { return Ok(()) };
            let new = sqlx::query("INSERT INTO study_names (study, name) VALUES ($1, $2)").bind(study).bind(name);
            match session.change(new) {
                Err(e) if is_double(&e) => Err(Fault::new(what, format!("another study is called `{name}`"))
                    .hint(format!("`kiln show {name}` shows it; choose another name, or rename that one"))),
                done => done.map(|_| ()).map_err(|e| fault(what, &e)),
            }
        })
    }

    /// Tags a study; a tag it has stays.
    pub fn tag(&self, study: &str, tag: &str) -> Result<(), Fault> {
        let what = &format!("tagging study {study}");
        check_label(TAG, tag)?;
        let new = sqlx::query("INSERT INTO study_tags (study, tag) VALUES ($1, $2)").bind(study).bind(tag);
        self.transaction(what, |session| match session.change(new) {
            Err(e) if is_double(&e) => Ok(()),
            done => done.map(|_| ()).map_err(|e| fault(what, &e)),
        })
    }

    /// Takes a tag away; whether the study had it.
    pub fn untag(&self, study: &str, tag: &str) -> Result<bool, Fault> {
        let what = &format!("taking a tag from study {study}");
        let old = sqlx::query("DELETE FROM study_tags WHERE study = $1 AND tag = $2").bind(study).bind(tag);
        self.transaction(what, |session| session.change(old).map(|rows| rows > 0).map_err(|e| fault(what, &e)))
    }

    /// The labels of all studies that have some, by id.
    pub fn labels(&self) -> Result<BTreeMap<String, Labels>, Fault> {
        let mut labels: BTreeMap<String, Labels> = BTreeMap::new();
        let what = "reading the names of studies";
        let pair =
            |row: crate::database::column::Columns<'_>| Ok((row.get::<String>("id")?, row.get::<String>("label")?));
        for (study, name) in self.list(what, sqlx::query("SELECT study AS id, name AS label FROM study_names"), pair)? {
            labels.entry(study).or_default().name = Some(name);
        }
        let tags = sqlx::query("SELECT study AS id, tag AS label FROM study_tags ORDER BY study, tag");
        for (study, tag) in self.list(what, tags, pair)? {
            labels.entry(study).or_default().tags.push(tag);
        }
        Ok(labels)
    }

    /// Removes whatever is recorded under an id, readable or not: all of it, or nothing.
    pub fn remove(&self, id: &str) -> Result<(), Fault> {
        let what = &format!("deleting {id}");
        self.transaction(what, |session| {
            let parts = [
                sqlx::query("DELETE FROM measurements WHERE study = $1"),
                sqlx::query("DELETE FROM trials WHERE study = $1"),
                sqlx::query("DELETE FROM notes WHERE study = $1"),
                sqlx::query("DELETE FROM study_names WHERE study = $1"),
                sqlx::query("DELETE FROM study_tags WHERE study = $1"),
                sqlx::query("DELETE FROM remarks WHERE subject = $1 AND about IN ('trial', 'decision')"),
                sqlx::query("DELETE FROM run_sides WHERE run = $1"),
            ];
            let itself = TABLES.iter().map(|table| format!("DELETE FROM {table} WHERE id = $1"));
            let itself = itself.map(|sql| sqlx::query(sqlx::AssertSqlSafe(sql)));
            parts
                .into_iter()
                .chain(itself)
                .try_for_each(|part| session.change(part.bind(id)).map(|_| ()).map_err(|e| fault(what, &e)))
        })
    }

    /// Removes a study with its trials, samples, remarks and labels: all of it, or nothing. Refuses one that is no longer as
    /// it was read: somebody may have begun to run it.
    pub fn delete(&self, study: &Study) -> Result<(), Fault> {
        let what = &format!("deleting study {}", study.id);
        self.transaction(what, |session| {
            // What refers to others goes first.
            let parts = [
                sqlx::query("DELETE FROM measurements WHERE study = $1"),
                sqlx::query("DELETE FROM trials WHERE study = $1"),
                sqlx::query("DELETE FROM notes WHERE study = $1"),
                sqlx::query("DELETE FROM study_names WHERE study = $1"),
                sqlx::query("DELETE FROM study_tags WHERE study = $1"),
                sqlx::query("DELETE FROM remarks WHERE subject = $1 AND about IN ('trial', 'decision')"),
            ];
            for part in parts {
                session.change(part.bind(study.id.as_str())).map_err(|e| fault(what, &e))?;
            }
            let itself = sqlx::query("DELETE FROM studies WHERE id = $1 AND state = $2 AND owner = $3")
                .bind(study.id.as_str())
                .bind(study.state.name())
                .bind(study.owner.as_str());
            match session.change(itself).map_err(|e| fault(what, &e))? {
                0 => Err(Fault::new(what, "it has changed in the meantime, or is gone").hint("try again")),
                _ => Ok(()),
            }
        })
    }
}
