//! As much of XML as compute-sanitizer writes: elements and text, no attributes that matter, five entities. In: a document,
//! whole or cut, or several. Out: their elements; one whose end is missing says so.

/// An element with what is in it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
    /// Its end was there.
    pub(super) closed: bool,
}

impl Element {
    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.trim())
    }
}

/// Real documents have seven levels.
const DEEPEST: usize = 32;

/// Reads the elements of the outermost level.
pub(super) fn read(document: &str) -> Vec<Element> {
    let mut roots = Vec::new();
    let mut open: Vec<Element> = Vec::new();
    let mut rest = document;
    while let Some(start) = rest.find('<') {
        if let Some(element) = open.last_mut() {
            element.text.push_str(&plain(&rest[..start]));
        }
        let Some(end) = rest[start..].find('>') else { break };
        let tag = &rest[start + 1..start + end];
        rest = &rest[start + end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            close(&mut open, &mut roots, name.trim());
        } else if !tag.starts_with(['?', '!']) {
            let alone = tag.ends_with('/');
            let name = tag.trim_end_matches('/').split_whitespace().next().unwrap_or_default();
            let element = Element { name: name.into(), closed: alone, ..Element::default() };
            match alone || open.len() >= DEEPEST {
                true => leave(&mut open, &mut roots, element),
                false => open.push(element),
            }
        }
    }
    while let Some(element) = open.pop() {
        leave(&mut open, &mut roots, element);
    }
    roots
}

/// Closes the innermost element of this name, and what was left open in it. An end without a start is skipped.
fn close(open: &mut Vec<Element>, roots: &mut Vec<Element>, name: &str) {
    let Some(depth) = open.iter().rposition(|element| element.name == name) else { return };
    while open.len() > depth {
        if let Some(mut element) = open.pop() {
            element.closed = open.len() == depth;
            leave(open, roots, element);
        }
    }
}

fn leave(open: &mut [Element], roots: &mut Vec<Element>, element: Element) {
    match open.last_mut() {
        Some(parent) => parent.children.push(element),
        None => roots.push(element),
    }
}

fn plain(text: &str) -> String {
    match text.contains('&') {
        true => ["&quot;", "&apos;", "&lt;", "&gt;", "&amp;"]
            .into_iter()
            .zip(["\"", "'", "<", ">", "&"])
            .fold(text.to_owned(), |text, (entity, plain)| text.replace(entity, plain)),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_nest_and_entities_are_read() {
        let roots = read("<?xml version=\"1.0\"?>\n<a x=\"1\"><b>1 &lt; 2 &amp;&amp; &quot;x&quot;</b><c/></a><d/>");
        assert_eq!(roots.len(), 2);
        assert_eq!(roots[0].text_of("b"), Some("1 < 2 && \"x\""));
        assert!(roots[0].closed && roots[0].children[1].closed && roots[1].closed);
    }

    #[test]
    fn a_cut_document_keeps_what_is_whole() {
        let roots = read("<a><b><c>1</c></b><b><c>2</c>");
        assert!(!roots[0].closed);
        assert_eq!(roots[0].children.iter().map(|b| b.closed).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "<a>".repeat(100_000);
        assert_eq!(read(&deep).len(), 1);
    }
}
