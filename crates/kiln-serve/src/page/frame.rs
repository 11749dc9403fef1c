//! What is around the sections of a page: head, way here, contents, keys. In: a title and sections. Out: a document that works without the script, which adds
//! what moves. Everything that somebody wrote is escaped.

use std::fmt::Write;

use axum::http::StatusCode;
use kiln_app::Report;
use kiln_show::html::escaped;

use super::asset::Asset;
use super::views::{Page, Part};

/// Keys, with what they do. The script heeds them.
const KEYS: [(&str, &str); 8] = [
    ("?", "show or hide these keys"),
    ("j, k", "next and previous section"),
    ("↑ ↓ ← →", "move among the points of a plot or the rows of a table"),
    ("Home, End", "first and last of them"),
    ("Enter", "open what is selected"),
    ("/", "to the filter"),
    ("g", "to the list of studies"),
    ("Esc", "back out"),
];

/// A whole page.
pub(super) fn page(page: &Page, token: &str) -> String {
    let Page { title, crumbs, parts, matters, tag, .. } = page;
    let mut html = head(title, Some(token));
    let _ = write!(html, "<body data-watch=\"{}\" data-tag=\"{}\">", escaped(&matters.words()), tag);
    html.push_str("<a class=\"skip\" href=\"#main\">Skip to the content</a>");
    header(&mut html, crumbs, true);
    let _ = write!(html, "<main id=\"main\" tabindex=\"-1\"><h1 id=\"title\">{}</h1>", escaped(title));
    contents(&mut html, parts);
    html.push_str("<div id=\"sections\">");
    parts.iter().for_each(|part| html.push_str(&part.html));
    html.push_str("</div></main>");
    html.push_str("<div id=\"news\" class=\"unseen\" role=\"status\" aria-live=\"polite\"></div>");
    keys(&mut html);
    html.push_str("</body></html>");
    html
}

/// A page that leads on to another at once.
pub(super) fn entered(path: &str) -> String {
    let path = escaped(path);
    let mut html = head("Welcome", None);
    html = html.replacen("<title>", &format!("<meta http-equiv=\"refresh\" content=\"0; url={path}\"><title>"), 1);
    html.push_str("<body>");
    header(&mut html, &[], false);
    let _ = write!(
        html,
        "<main id=\"main\" class=\"sorry\"><h1>Welcome</h1><p><a href=\"{path}\">To the page</a></p></main></body></html>"
    );
    html
}

/// A page that says why there is none.
pub(super) fn sorry(status: StatusCode, reports: &[Report]) -> String {
    let title = status.canonical_reason().unwrap_or("Refused");
    let mut html = head(title, None);
    html.push_str("<body>");
    header(&mut html, &[], false);
    let _ = write!(html, "<main id=\"main\" class=\"sorry\"><h1>{}</h1>", escaped(title));
    for report in reports {
        let _ = write!(html, "<p>{}</p>", escaped(&report.message));
        if !report.label.is_empty() {
            let _ = write!(html, "<p>{}.</p>", escaped(&report.label));
        }
        for words in report.hint.iter() {
            let _ = write!(html, "<p class=\"hint\">hint: {}</p>", escaped(words));
        }
    }
    html.push_str("</main></body></html>");
    html
}

fn head(title: &str, token: Option<&str>) -> String {
    let mut html = String::from("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    html.push_str("<meta name=\"color-scheme\" content=\"light dark\">");
    if let Some(token) = token {
        let _ = write!(html, "<meta name=\"kiln-token\" content=\"{token}\">");
    }
    let _ = write!(
        html,
        "<title>{} - kiln</title><link rel=\"icon\" href=\"{}\"><link rel=\"stylesheet\" href=\"{}\"><script src=\"{}\" defer></script></head>",
        escaped(title),
        Asset::Icon.address(),
        Asset::Style.address(),
        Asset::Script.address()
    );
    html
}

fn header(html: &mut String, crumbs: &[(String, String)], live: bool) {
    html.push_str("<header class=\"top\"><a class=\"brand\" href=\"/\">kiln</a><nav aria-label=\"You are here\"><ol>");
    for (name, address) in crumbs {
        let _ = write!(html, "<li><a href=\"{}\">{}</a></li>", escaped(address), escaped(name));
    }
    html.push_str("</ol></nav>");
    html.push_str("<nav class=\"views\" aria-label=\"Views\"><a href=\"/\">Studies</a> <a href=\"/sessions\">Sessions</a> <a href=\"/compare\">Compare</a></nav>");
    if live {
        // Its width does not change with its words.
        html.push_str("<span id=\"live\" class=\"live\" data-state=\"off\"><span class=\"dot\" aria-hidden=\"true\"></span><span class=\"words\">connecting</span></span>");
        html.push_str(
            "<button id=\"show-keys\" type=\"button\" aria-haspopup=\"dialog\" hidden>Keys <kbd>?</kbd></button>",
        );
    }
    html.push_str("</header>");
}

fn contents(html: &mut String, parts: &[Part]) {
    if parts.len() < 3 {
        return;
    }
    html.push_str("<nav id=\"contents\" class=\"contents\" aria-label=\"On this page\"><ul>");
    for part in parts {
        let _ = write!(html, "<li><a href=\"#{}\">{}</a></li>", escaped(&part.id), escaped(&part.title));
    }
    html.push_str("</ul></nav>");
}

fn keys(html: &mut String) {
    html.push_str("<dialog id=\"keys\" aria-labelledby=\"keys-title\"><h2 id=\"keys-title\">Keys</h2><dl>");
    for (key, does) in KEYS {
        let _ = write!(html, "<dt><kbd>{}</kbd></dt><dd>{}</dd>", escaped(key), escaped(does));
    }
    html.push_str("</dl><form method=\"dialog\"><button>Close</button></form></dialog>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_says_what_was_expected() {
        let report = Report::error("there is no sort `<x>`").label("expected newest, oldest").hint("look again");
        let html = sorry(StatusCode::BAD_REQUEST, &[report]);
        assert!(html.contains("<p>there is no sort `&lt;x&gt;`</p><p>expected newest, oldest.</p>"), "{html}");
        assert!(html.contains("hint: look again"), "{html}");
    }
}
