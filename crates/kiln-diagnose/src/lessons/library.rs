//! The lessons of one place: those that kiln ships, a team's and the user's own; retired ones stay known and match nothing.

use serde::Serialize;

use super::{Lesson, Match, Symptoms, matching, shipped};

/// Where a lesson comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The project's own.
    Own,
    /// A team's, in a shared folder.
    Shared,
    /// Part of kiln.
    Shipped,
}

impl Origin {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Own => "own",
            Origin::Shared => "shared",
            Origin::Shipped => "shipped",
        }
    }
}

/// A lesson in a library.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The lesson.
    pub lesson: Lesson,
    /// Where it comes from.
    pub origin: Origin,
    /// Why it is hidden, if it is.
    pub retired: Option<String>,
}

/// Lessons to look among: the user's own first, then a team's, then kiln's; each by name. Of one name there is only the
/// first.
#[derive(Debug, Clone, PartialEq)]
pub struct Library {
    kept: Vec<Kept>,
}

impl Default for Library {
    fn default() -> Library {
        Library::new(Vec::new(), |_| None)
    }
}

impl Library {
    /// Kiln's own lessons with others; `retired` says why a lesson is hidden.
    pub fn new(others: Vec<(Lesson, Origin)>, retired: impl Fn(&str) -> Option<String>) -> Library {
        let shipped = shipped().iter().cloned().map(|lesson| (lesson, Origin::Shipped));
        let kept = |(lesson, origin): (Lesson, Origin)| Kept { retired: retired(&lesson.id), lesson, origin };
        let mut kept: Vec<Kept> = others.into_iter().chain(shipped).map(kept).collect();
        kept.sort_by(|a, b| (a.origin, &a.lesson.id).cmp(&(b.origin, &b.lesson.id)));
        let mut seen = std::collections::HashSet::new();
        kept.retain(|own| seen.insert(own.lesson.id.clone()));
        Library { kept }
    }

    /// Every lesson.
    pub fn all(&self) -> &[Kept] {
        &self.kept
    }

    /// The lesson of a name, retired or not.
    pub fn get(&self, id: &str) -> Option<&Kept> {
        self.kept.iter().find(|own| own.lesson.id == id)
    }

    /// The lessons in use that fit, the best first.
    pub fn matching(&self, seen: &Symptoms) -> Vec<Match<'_>> {
        matching(self.in_use().map(|own| &own.lesson), seen)
    }

    /// The one that fits best.
    pub fn best(&self, seen: &Symptoms) -> Option<Match<'_>> {
        self.matching(seen).into_iter().next()
    }

    /// The lessons in use that have all these words, the best answer first.
    pub fn search(&self, words: &[String]) -> Vec<&Kept> {
        let mut found: Vec<(usize, &Kept)> =
            self.in_use().filter_map(|own| Some((own.lesson.answers(words)?, own))).collect();
        found.sort_by_key(|(worth, _)| std::cmp::Reverse(*worth));
        found.into_iter().map(|(_, own)| own).collect()
    }

    fn in_use(&self) -> impl Iterator<Item = &Kept> {
        self.kept.iter().filter(|own| own.retired.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons::Habit;

    #[test]
    fn own_lessons_come_first_and_replace_those_of_the_same_name() {
        let blind = Symptoms::of_habits(&[Habit::BlindChange]);
        let shipped = Library::default();
        let best = shipped.best(&blind).unwrap().lesson.clone();
        let own = Lesson { id: "zz_ours".into(), title: "Ours".into(), ..best.clone() };
        let changed = Lesson { title: "Changed".into(), ..best.clone() };
        let library = Library::new(vec![(changed, Origin::Shared), (own, Origin::Own)], |_| None);
        assert_eq!(library.best(&blind).unwrap().lesson.title, "Ours");
        assert_eq!(library.get(&best.id).unwrap().lesson.title, "Changed");
        assert_eq!(library.all().len(), shipped.all().len() + 1);
    }

    #[test]
    fn a_retired_lesson_is_known_and_matches_nothing() {
        let blind = Symptoms::of_habits(&[Habit::BlindChange]);
        let best = Library::default().best(&blind).unwrap().lesson.id.clone();
        let library = Library::new(Vec::new(), |id| (id == best).then(|| "we know".to_string()));
        assert_eq!(library.get(&best).unwrap().retired.as_deref(), Some("we know"));
        assert!(library.matching(&blind).iter().all(|own| own.lesson.id != best));
        let words: Vec<String> = best.split('_').map(String::from).collect();
        assert!(library.search(&words).iter().all(|own| own.lesson.id != best));
        assert_eq!(Library::default().search(&words)[0].lesson.id, best);
    }
}
