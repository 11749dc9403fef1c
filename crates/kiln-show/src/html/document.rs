//! A whole document. In: a title and sections. Out: one HTML file with its style: no network, no script; in the colours of the reader's
//! system, with links to its sections first.

use super::block::Section;
use super::markup::escaped;

/// The style of pages and files, figures included.
pub const STYLE: &str = concat!(include_str!("style.css"), include_str!("../picture/figure.css"));

/// One file that anyone can open.
pub fn document(title: &str, sections: &[Section]) -> String {
    let title = escaped(title);
    let link = |section: &Section| format!("<li><a href=\"#{}\">{}</a></li>", section.id, escaped(&section.title));
    let links: String = sections.iter().map(link).collect();
    let body: String = sections.iter().map(Section::html).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header><h1>{title}</h1>\n\
         <nav aria-label=\"Sections\"><ul>{links}</ul></nav></header>\n<main id=\"main\">\n{body}</main>\n</body>\n</html>\n"
    )
}
