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
