//! The study a user means. In: an id or a piece of one, a study's name, `last`, or a kernel's name. Out: that study. Refuses what fits
//! none, with the nearest name there is, and a piece that fits more than one, with those.

use kiln_core::{Fault, nearest};

use crate::damage::TABLES;
use crate::read::{select_studies, study};
use crate::{Store, Study};

/// A shorter piece of an id fits too much to be meant as one.
pub(crate) const SHORTEST: usize = 4;
/// How many studies a fault shows, and how many of the newest it looks through for a near one.
const SHOWN: usize = 5;
const NEWEST: i64 = 500;
/// Tables whose records are meant by a piece of their id.
const PIECES: [&str; 3] = ["studies", "runs", "validations"];

impl Store {
    /// The study of that full id or name, the newest of all for `last`, the newest of the kernel of that name, or the one whose
    /// id begins or ends so (at least 4 characters). A kernel goes before a piece of an id: otherwise its name would
    /// come to mean something else on the day a random id happens to end like it.
    pub fn find(&self, name: &str) -> Result<Study, Fault> {
        let what = &format!("looking for study `{name}`");
        let id = name.to_ascii_lowercase();
        let exact = [
            select_studies!("WHERE id = $1").bind(&id),
            select_studies!("WHERE id = (SELECT study FROM study_names WHERE name = $1)").bind(name),
            match name {
                "last" => select_studies!("ORDER BY started_ms DESC, id DESC LIMIT $1").bind(NEWEST),
                _ => select_studies!("WHERE kernel = $1 ORDER BY started_ms DESC, id DESC LIMIT $2")
                    .bind(name)
                    .bind(NEWEST),
            },
        ];
        let [by_id, by_name, newest] = exact;
        for statement in [by_id, by_name] {
            if let Some(found) = self.read(what, statement, study)?.pop() {
                return Ok(found);
            }
        }
        // Of those that can be read.
        match self.list_counted(what, newest, study)? {
            (found, 0) if found.is_empty() => {}
            (found, _) => {
                let none = || Fault::new(what, "none of them can be read").hint("`kiln doctor` shows what is damaged");
                return found.into_iter().next().ok_or_else(none);
            }
        }
        // Digits and dashes alone, so that nothing in it means more to LIKE than itself.
        let piece = id.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        if piece && id.len() >= SHORTEST {
            let like = select_studies!("WHERE id LIKE $1 OR id LIKE $2 ORDER BY started_ms DESC, id DESC LIMIT $3")
                .bind(format!("{id}%"))
                .bind(format!("%{id}"))
                .bind(SHOWN as i64 + 1);
            let mut found = self.read(what, like, study)?;
            match found.len() {
                0 => {}
                1 => return found.pop().ok_or_else(|| Fault::new(what, "no study fits")),
                _ => return Err(ambiguous(what, &found)),
            }
        }
        self.nothing(what, name, piece)
    }

    /// The id of the one study, run or validation that a piece of an id fits, or of the record whose id it is, whether or not it
    /// can be read.
    pub fn id_of(&self, name: &str) -> Result<Option<String>, Fault> {
        let (what, id) = (&format!("looking for `{name}`"), name.to_ascii_lowercase());
        if id.len() < SHORTEST || !id.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
            return Ok(None);
        }
        let fits = |table: &str| match PIECES.contains(&table) {
            true => format!("SELECT id FROM {table} WHERE id LIKE $1 OR id LIKE $2"),
            false => format!("SELECT id FROM {table} WHERE id = $3"),
        };
        let like = sqlx::query(sqlx::AssertSqlSafe(TABLES.map(fits).join(" UNION ")));
        let like = like.bind(format!("{id}%")).bind(format!("%{id}")).bind(id.as_str());
        let mut found = self.read(what, like, |row| row.get::<String>("id"))?;
        Ok(found.pop().filter(|_| found.is_empty()))
    }

    /// The fault that says what is there instead.
    fn nothing(&self, what: &str, name: &str, piece: bool) -> Result<Study, Fault> {
        let newest = sqlx::query("SELECT id, kernel FROM studies ORDER BY started_ms DESC, id DESC LIMIT $1");
        let ids = self.list(what, newest.bind(NEWEST), |row| Ok((row.get("id")?, row.get("kernel")?)))?;
        let Some((last, _)): Option<&(String, String)> = ids.first() else {
            return Err(Fault::new(what, "the store holds no studies yet"));
        };
        let kernels = self.list(what, sqlx::query("SELECT DISTINCT kernel FROM studies ORDER BY kernel"), |row| {
            row.get::<String>("kernel")
        })?;
        let fault = Fault::new(what, "no study has that id or name, and no kernel of that name has a study");
        if let Some(kernel) = nearest(name, kernels.iter().map(String::as_str)) {
            return Err(fault.hint(format!("did you mean `{kernel}`?")));
        }
        if piece && name.len() < SHORTEST {
            return Err(fault.hint(format!("a piece of an id has at least {SHORTEST} characters")));
        }
        // A mistyped id is most like the end of one: the beginning is the time, alike in all of them.
        let ends = ids.iter().filter_map(|(id, _)| id.get(id.len().checked_sub(name.len())?..));
        if let Some(end) = nearest(&name.to_ascii_lowercase(), ends.filter(|_| piece)) {
            let full = ids.iter().find(|(id, _)| id.ends_with(end)).map_or(end, |(id, _)| id);
            return Err(fault.hint(format!("did you mean `{full}`?")));
        }
        let some: Vec<&str> = kernels.iter().take(SHOWN).map(String::as_str).collect();
        let more = if kernels.len() > SHOWN { ", ..." } else { "" };
        Err(fault.hint(format!("kernels with studies: {}{more}; the last study is {last}", some.join(", "))))
    }
}

fn ambiguous(what: &str, found: &[Study]) -> Fault {
    let shown: Vec<String> = found.iter().take(SHOWN).map(|s| format!("{} ({})", s.id, s.kernel)).collect();
    let more = if found.len() > SHOWN { ", and more" } else { "" };
    Fault::new(what, format!("it fits {}{more}", shown.join(", ")))
        .hint("give more characters; the end of an id is random")
}
