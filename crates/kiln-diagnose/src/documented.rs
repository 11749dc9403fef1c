//! What the documentation says about a name. In: a page with a heading for each, and the name. Out: the text under its heading.

/// The part of a page under a name's heading; empty where there is none.
pub(crate) fn part(page: &'static str, name: &str) -> &'static str {
    let heading = format!("### `{name}`\n");
    let part = page.split_once(&*heading).map_or("", |(_, rest)| rest);
    part.split("\n#").next().unwrap_or_default().trim()
}
