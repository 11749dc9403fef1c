//! Which views there are. In: where somebody is and the query of the address. Out: the page's title, the way there, its sections, and which news matter to
//! it. Refuses what is not recorded, and filters that it does not know.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, PoisonError};

use kiln_app::{
    Failure, Fault, StudiesFilter, StudiesLook, StudyLook, TrialFilter, any_session, compare_stored, look_named_kernel,
    look_studies, past_sessions,
};
use kiln_show::html::{self, Address, Section};

use super::choosing;
use super::desk::Desk;
use super::routes::Pairs;
use super::saying;

/// Where somebody is.
pub(super) enum Place {
    Studies,
    Study(String),
    Why(String),
    Kernel(String),
    Compare(String, String),
    Sessions,
    Session(String),
}

impl Place {
    /// Two sides beside each other, by the query.
    pub(super) fn compare(pairs: &Pairs) -> Place {
        let side = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        Place::Compare(side("a").unwrap_or_default(), side("b").unwrap_or_default())
    }
}

/// Which news matter to a page.
pub(super) enum Matters {
    /// Any.
    All,
    /// Those about some studies, by their ids.
    Studies(Vec<String>),
}

impl Matters {
    /// For the script: `all`, or ids.
    pub(super) fn words(&self) -> String {
        match self {
            Matters::All => "all".into(),
            Matters::Studies(ids) => ids.join(" "),
        }
    }
}

/// A section as the page has it.
pub(super) struct Part {
    pub(super) id: String,
    pub(super) title: String,
    /// One element with that id.
    pub(super) html: String,
}

impl From<&Section> for Part {
    fn from(section: &Section) -> Part {
        Part { id: section.id.into(), title: section.title.clone(), html: section.html() }
    }
}

/// A page.
pub(super) struct Page {
    pub(super) title: String,
    /// Names and addresses of what lies above it.
    pub(super) crumbs: Vec<(String, String)>,
    pub(super) parts: Vec<Part>,
    pub(super) matters: Matters,
    /// How it stands, in a sentence, for whoever listens and does not look.
    pub(super) said: String,
    /// Differs when anything in its sections does.
    pub(super) tag: String,
}

impl Page {
    fn new(title: String, crumbs: Vec<(String, String)>, parts: Vec<Part>, (matters, said): (Matters, String)) -> Page {
        let mut all = DefaultHasher::new();
        title.hash(&mut all);
        parts.iter().for_each(|part| part.html.hash(&mut all));
        Page { title, crumbs, parts, matters, said, tag: format!("{:016x}", all.finish()) }
    }
}

/// The page of a place: drawn once, where it shows a study that is over and the same is asked for again.
pub(super) fn page(desk: &Desk, place: &Place, pairs: &Pairs) -> Result<Arc<Page>, Failure> {
    let (which, name) = match place {
        Place::Study(name) => ("study", name),
        Place::Why(name) => ("why", name),
        _ => return drawn(desk, place, pairs).map(Arc::new),
    };
    let (look, asked) = (desk.study(name)?, format!("{which} {pairs:?}"));
    if let Some(page) = desk.drawn(&look, &asked) {
        return Ok(page);
    }
    let turn = desk.turn(&format!("{} {asked}", look.story.now.study.id));
    let _mine = turn.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(page) = desk.drawn(&look, &asked) {
        return Ok(page);
    }
    let page = Arc::new(drawn(desk, place, pairs)?);
    if !look.story.now.is_running() {
        desk.keep_drawn(&look, asked, &page);
    }
    Ok(page)
}

fn drawn(desk: &Desk, place: &Place, pairs: &Pairs) -> Result<Page, Failure> {
    let view = html::View::page(desk.kiln());
    let parts = |sections: &[Section]| sections.iter().map(Part::from).collect::<Vec<_>>();
    match place {
        Place::Studies => {
            let filter = StudiesFilter::parse(pairs.iter().map(|(key, value)| (key, value)))?;
            let look = look_studies(desk.project(), &filter)?;
            let sections = html::studies_sections(&look, &filter, &view);
            Ok(Page::new("Studies".into(), Vec::new(), parts(&sections), (Matters::All, listed(&look))))
        }
        Place::Study(name) => {
            let filter = TrialFilter::parse(pairs.iter().map(|(key, value)| (key, value)))?;
            let look = desk.study(name)?;
            filter.fits(&look.story.now.study, &look.story.now.trials)?;
            let mut parts = parts(&html::study_sections(&look, &filter, &view));
            parts.push(saying::study(&look, &filter));
            Ok(Page::new(titled(&look), above(&look, false), parts, about(&look)))
        }
        Place::Why(name) => {
            let look = desk.study(name)?;
            let title = format!("Why this configuration: {}", titled(&look));
            Ok(Page::new(title, above(&look, true), parts(&html::why_sections(&look, &view)), about(&look)))
        }
        Place::Kernel(name) => {
            // A name and no place: nothing that somebody asks for over the network opens a file of their choice.
            if name.contains(['/', '\\', '\0']) || name.contains("..") {
                return Err(lost("kernel", name, "this is no name of a kernel".into()).into());
            }
            let look = look_named_kernel(desk.project(), name).map_err(|failure| nowhere("kernel", name, failure))?;
            let mut parts = parts(&html::kernel_sections(&look, &view));
            parts.push(saying::kernel(&look));
            Ok(Page::new(look.kernel.clone(), Vec::new(), parts, (Matters::All, String::new())))
        }
        Place::Compare(a, b) if a.is_empty() || b.is_empty() => {
            let look = look_studies(desk.project(), &StudiesFilter::default())?;
            // Any name of a study stands for it here too.
            let short =
                |name: &String| match Some(name).filter(|name| !name.is_empty()).and_then(|name| desk.study(name).ok())
                {
                    Some(look) => look.story.now.study.short_id().to_string(),
                    None => name.clone(),
                };
            let (a, b) = (short(a), short(b));
            let chosen = (a.as_str(), b.as_str());
            Ok(Page::new(
                "Compare".into(),
                Vec::new(),
                vec![choosing::sides(&look, chosen)],
                (Matters::All, listed(&look)),
            ))
        }
        Place::Compare(a, b) => compared(desk, a, b, &view),
        Place::Sessions => {
            let sections = html::sessions_sections(&past_sessions(desk.project())?, &view);
            Ok(Page::new("Sessions".into(), Vec::new(), parts(&sections), (Matters::All, String::new())))
        }
        Place::Session(id) => {
            let report = any_session(desk.project(), id).map_err(|failure| nowhere("session", id, failure))?;
            let crumbs = vec![("Sessions".to_string(), Address::Sessions.to_string())];
            let title = format!("Session {}", report.session.short_id());
            let sections = html::session_sections(&report, &view);
            Ok(Page::new(title, crumbs, parts(&sections), (Matters::All, String::new())))
        }
    }
}

/// Two studies beside each other, or else two runs.
fn compared(desk: &Desk, a: &str, b: &str, view: &html::View) -> Result<Page, Failure> {
    let parts = |sections: &[Section]| sections.iter().map(Part::from).collect::<Vec<_>>();
    let studies = desk.study(a).and_then(|left| Ok((left, desk.study(b)?)));
    let (left, right) = match studies {
        Ok(both) => both,
        // At least one is none: a run, or nothing at all.
        Err(Failure::Fault(_)) => {
            let sections = html::compare_runs_sections(&compare_stored(desk.project(), a, b)?);
            return Ok(Page::new(
                "Compare two runs".into(),
                Vec::new(),
                parts(&sections),
                (Matters::All, String::new()),
            ));
        }
        Err(failure) => return Err(failure),
    };
    let ids = [&left, &right].map(|look| look.story.now.study.id.clone());
    let title = format!("Compare {} and {}", titled(&left), titled(&right));
    let sections = html::compare_sections(&left, &right, view);
    Ok(Page::new(title, Vec::new(), parts(&sections), (Matters::Studies(ids.into()), String::new())))
}

/// There is nothing of that name.
fn lost(what: &str, name: &str, why: String) -> Fault {
    Fault::new(format!("looking for {what} `{name}`"), why)
}

/// A name that nothing is known of is no mistake in what was typed: there is no such page.
fn nowhere(what: &str, name: &str, failure: Failure) -> Failure {
    let Failure::Input(reports) = failure else { return failure };
    let why: Vec<String> = reports.iter().map(|report| report.message.clone()).collect();
    let hint = reports.into_iter().find_map(|report| report.hint);
    Failure::Fault(Fault { hint, ..lost(what, name, why.join("; ")) })
}

/// A study's news.
fn about(look: &StudyLook) -> (Matters, String) {
    let now = &look.story.now;
    let state = if now.is_running() { "running" } else { "not running" };
    (Matters::Studies(vec![now.study.id.clone()]), format!("{} trials recorded, {state}", now.trials.len()))
}

/// The list's.
fn listed(look: &StudiesLook) -> String {
    let running = look.rows.iter().filter(|row| row.now.is_running()).count();
    format!("{} studies, {running} running", look.rows.len())
}

fn titled(look: &Arc<StudyLook>) -> String {
    let (now, study) = (&look.story.now, &look.story.now.study);
    format!("{} {}", study.kernel, now.labels.name.as_deref().unwrap_or_else(|| study.short_id()))
}

fn above(look: &StudyLook, within: bool) -> Vec<(String, String)> {
    let study = &look.story.now.study;
    let kernel = (study.kernel.clone(), Address::Kernel(study.kernel.clone()).to_string());
    let own = (study.short_id().to_string(), Address::Study(study.short_id().into(), String::new()).to_string());
    if within { vec![kernel, own] } else { vec![kernel] }
}
