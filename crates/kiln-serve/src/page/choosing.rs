//! Which two studies to compare. In: the list of studies, and what is chosen already. Out: a form whose answer is the address of the comparison.

use std::fmt::Write;

use kiln_app::StudiesLook;
use kiln_show::html::escaped;

use super::views::Part;

/// Studies that are offered, the newest.
const OFFERED: usize = 200;

/// The form.
pub(super) fn sides(look: &StudiesLook, (a, b): (&str, &str)) -> Part {
    let (id, title) = ("sides", "Two studies");
    let mut html = format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n\
         <form method=\"get\" action=\"/compare\" data-whole aria-label=\"Two studies\">"
    );
    for (key, name, chosen) in [("a", "One", a), ("b", "The other", b)] {
        let _ = write!(html, "<label>{name}<select name=\"{key}\" required><option value=\"\">choose</option>");
        for row in look.rows.iter().take(OFFERED) {
            let study = &row.now.study;
            let is = if study.short_id() == chosen { " selected" } else { "" };
            let called = row.now.labels.name.as_deref().unwrap_or_else(|| study.short_id());
            let words = format!("{} {called} ({})", study.kernel, study.target);
            let _ = write!(html, "<option value=\"{}\"{is}>{}</option>", escaped(study.short_id()), escaped(&words));
        }
        html.push_str("</select></label>");
    }
    html.push_str("<button type=\"submit\">Compare</button></form></section>\n");
    Part { id: id.into(), title: title.into(), html }
}

#[cfg(test)]
mod tests {
    use kiln_app::{Project, Stop};
    use kiln_store::{Kept, Options, State, Store, Study};

    use super::super::desk::Desk;
    use super::super::routes::Pairs;
    use super::super::views::{Place, page};

    fn study(kernel: &str) -> Study {
        Study {
            id: Study::new_id(),
            started_ms: 1,
            ended_ms: None,
            state: State::Interrupted,
            owner: String::new(),
            kernel: kernel.into(),
            path: kernel.into(),
            target: "cpu".into(),
            arch: None,
            variant: String::new(),
            seed: 0,
            strategy: String::new(),
            options: Kept::new(Options::default()),
            environment: Kept::found(serde_json::json!({})),
            git_commit: None,
            spec_hash: String::new(),
            spec_text: String::new(),
            kiln_version: String::new(),
            verdict: None,
            summary: None,
            seconds: 0.0,
        }
    }

    #[test]
    fn the_first_side_is_chosen_by_any_name_of_a_study() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("kiln.db").to_string_lossy().into_owned();
        let store = Store::open(&place).unwrap();
        let (one, other) = (study("softmax"), study("matmul"));
        store.begin(&one).unwrap();
        store.begin(&other).unwrap();
        let desk = Desk::new(&Project::here(Some(place), Stop::never()), "kiln");
        let chosen = format!("<option value=\"{}\" selected>", one.short_id());
        for name in [one.id.as_str(), one.short_id(), "softmax"] {
            let pairs: Pairs = vec![("a".to_string(), name.to_string())];
            let page = page(&desk, &Place::compare(&pairs), &pairs).unwrap();
            let html = &page.parts[0].html;
            assert_eq!(html.matches(" selected").count(), 1, "{name}: {html}");
            assert!(html.contains(&chosen), "{name}: {html}");
        }
    }
}
