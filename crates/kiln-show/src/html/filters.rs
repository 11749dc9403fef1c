//! The form by which a page's filter is changed. In: what can be chosen and what is. Out: HTML that works without a script: sending it leads to
//! the address of the same page with another filter.

use std::fmt::Write;

use super::markup::escaped;

/// One choice of a form.
pub(crate) enum Choice<'c> {
    /// One of some values, or any.
    Among(&'c str, &'c str, Vec<String>, Option<String>),
    /// A text or a number.
    Typed(&'c str, &'c str, Option<String>),
}

/// A form whose choices become the query of the address.
pub(crate) fn form(action: &str, name: &str, choices: &[Choice<'_>]) -> String {
    let mut html = format!("<form method=\"get\" action=\"{}\" aria-label=\"{}\">\n", escaped(action), escaped(name));
    for choice in choices {
        // Writing to a string cannot fail.
        let _ = match choice {
            Choice::Among(key, title, values, chosen) => {
                let option = |value: &String| {
                    let is = if chosen.as_ref() == Some(value) { " selected" } else { "" };
                    format!("<option value=\"{0}\"{is}>{0}</option>", escaped(value))
                };
                // A choice that is none of those offered, such as several at once, is kept.
                let odd = chosen.iter().filter(|chosen| !values.contains(chosen)).map(option);
                let options: String = odd.chain(values.iter().map(option)).collect();
                writeln!(
                    html,
                    "<label>{}<select name=\"{}\"><option value=\"\">any</option>{options}</select></label>",
                    escaped(title),
                    escaped(key)
                )
            }
            Choice::Typed(key, title, value) => writeln!(
                html,
                "<label>{}<input name=\"{}\" value=\"{}\" size=\"10\"></label>",
                escaped(title),
                escaped(key),
                escaped(value.as_deref().unwrap_or_default())
            ),
        };
    }
    html + "<button type=\"submit\">Filter</button>\n</form>\n"
}

/// Links to the pages of a long table, and which of them is shown.
pub(crate) fn pages(shown: usize, all: usize, address: impl Fn(usize) -> String) -> String {
    if all < 2 {
        return String::new();
    }
    let near = (0..all).filter(|page| *page == 0 || page + 1 == all || page.abs_diff(shown) <= 2);
    let (mut html, mut last) = (String::from("<nav aria-label=\"Pages of the table\"><ul>"), 0);
    for page in near {
        if page > last + 1 {
            html.push_str("<li>...</li>");
        }
        last = page;
        let current = if page == shown { " aria-current=\"page\"" } else { "" };
        let _ = write!(html, "<li><a href=\"{}\"{current}>{}</a></li>", escaped(&address(page)), page + 1);
    }
    html + "</ul></nav>\n"
}
