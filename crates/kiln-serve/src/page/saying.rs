//! Forms for notes, remarks and answers. In: a look at a study or a kernel. Out: one section; the script sends what is typed. An answer is a remark about the
//! same subject: those that have remarks are offered by their last words. Each subject is offered once, and those with remarks in the order of the first.

use std::fmt::Write;

use kiln_app::{KernelLook, Remark, RemarkSubject, StudyLook, TrialFilter};
use kiln_show::html::escaped;
use serde_json::{Value, json};

use super::views::Part;

/// So much of a remark shows what it was.
const SHOWN: usize = 60;

/// Something to remark on: what the script sends, and in words.
type Subject = (Value, String);

/// A note on a study, and remarks on it and its trials.
pub(super) fn study(look: &StudyLook, filter: &TrialFilter) -> Part {
    let (now, study) = (&look.story.now, &look.story.now.study);
    let mut subjects: Vec<Subject> =
        vec![(json!({ "kind": "decision", "study": study.id }), "the study's result".into())];
    if let Some(trial) = filter.trial.as_deref().and_then(|words| look.trial(words)) {
        let words = format!("the trial {} {}", trial.phase, trial.number);
        subjects.insert(
            0,
            (json!({ "kind": "trial", "study": study.id, "phase": trial.phase, "number": trial.number }), words),
        );
    }
    answers(&mut subjects, &now.remarks);
    let mut html = format!("<form data-send=\"/note\" data-study=\"{}\" aria-label=\"Note\">", escaped(&study.id));
    html.push_str("<label class=\"wide\">Note on this study<textarea name=\"text\" rows=\"2\" maxlength=\"10000\" required></textarea></label>");
    html.push_str("<button type=\"submit\">Add the note</button><output></output></form>");
    remark(&mut html, &subjects);
    part(html)
}

/// Remarks on a kernel's causes and the lessons that it met.
pub(super) fn kernel(look: &KernelLook) -> Part {
    let mut subjects: Vec<Subject> = Vec::new();
    for cause in look.profiles.iter().rev().filter_map(|profile| profile.cause.as_deref()) {
        let subject = (json!({ "kind": "cause", "kernel": look.kernel, "cause": cause }), format!("the cause {cause}"));
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    for met in look.lessons.iter().filter(|met| met.lesson.is_some()) {
        subjects.push((json!({ "kind": "lesson", "lesson": met.id }), format!("the lesson {}", met.id)));
    }
    answers(&mut subjects, &look.remarks);
    let mut html = String::new();
    if subjects.is_empty() {
        html.push_str("<p>Remarks are made on studies, on causes that a profile names, and on lessons that were met. This kernel has no profile and met no lesson.</p>");
    } else {
        remark(&mut html, &subjects);
    }
    part(html)
}

/// Subjects that have remarks already, by the last of each.
fn answers(subjects: &mut Vec<Subject>, remarks: &[Remark]) {
    for own in remarks {
        let about = match &own.about {
            RemarkSubject::Trial(study, phase, number) => {
                json!({ "kind": "trial", "study": study, "phase": phase, "number": number })
            }
            RemarkSubject::Decision(study) => json!({ "kind": "decision", "study": study }),
            RemarkSubject::Lesson(lesson) => json!({ "kind": "lesson", "lesson": lesson }),
            RemarkSubject::Cause(kernel, cause) => json!({ "kind": "cause", "kernel": kernel, "cause": cause }),
        };
        let text: String = own.text.chars().take(SHOWN).collect();
        let dots = if own.text.chars().count() > SHOWN { "..." } else { "" };
        let on = format!("{} {}", own.about.name(), own.about.part());
        let words = format!("answer {} on {}: {text}{dots}", own.reviewer, on.trim());
        match subjects.iter_mut().find(|(subject, _)| *subject == about) {
            Some((_, last)) => *last = words,
            None => subjects.push((about, words)),
        }
    }
}

fn remark(html: &mut String, subjects: &[Subject]) {
    html.push_str("<form data-send=\"/remark\" aria-label=\"Remark\"><label>Remark on<select name=\"about\">");
    for (value, words) in subjects {
        // Writing to a string cannot fail.
        let _ = write!(html, "<option value=\"{}\">{}</option>", escaped(&value.to_string()), escaped(words));
    }
    html.push_str("</select></label><label>Your name<input name=\"reviewer\" maxlength=\"200\" autocomplete=\"name\" required></label>");
    html.push_str("<label class=\"wide\">Remark<textarea name=\"text\" rows=\"2\" maxlength=\"10000\" required></textarea></label>");
    html.push_str("<button type=\"submit\">Add the remark</button><output></output></form>");
}

fn part(forms: String) -> Part {
    let (id, title) = ("say", "Add a note or a remark");
    let html = format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n{forms}\
         <noscript><p>Sending needs JavaScript; kiln review add does the same.</p></noscript></section>\n"
    );
    Part { id: id.into(), title: title.into(), html }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remark(study: &str, reviewer: &str, text: &str) -> Remark {
        let (about, kiln_version) = (RemarkSubject::Decision(study.into()), String::new());
        Remark { id: text.into(), at_ms: 0, about, reviewer: reviewer.into(), text: text.into(), kiln_version }
    }

    #[test]
    fn a_subject_is_offered_once_and_a_new_remark_moves_no_other() {
        let own = (json!({ "kind": "decision", "study": "a" }), "the study's result".to_string());
        let mut said = vec![remark("b", "Ada", "why?"), remark("c", "Ada", "how?")];
        let offered = |said: &[Remark]| {
            let mut subjects = vec![own.clone()];
            answers(&mut subjects, said);
            subjects
        };
        let before = offered(&said);
        assert_eq!(before.len(), 3);
        said.extend([remark("c", "Grace", "so"), remark("a", "Grace", "measured"), remark("d", "Ada", "x")]);
        let after = offered(&said);
        let subjects = |all: &[Subject]| all.iter().map(|(subject, _)| subject.clone()).collect::<Vec<_>>();
        assert_eq!(subjects(&after)[..3], subjects(&before));
        assert_eq!(after[2].1, "answer Grace on decision: so");
        assert_eq!(after[0].1, "answer Grace on decision: measured");
    }
}
