//! CUDA source as text, as far as it can be read without a compiler: comments, parentheses, statements, launches.

use super::Context;

/// Longer statements are not looked through.
const LONGEST_STATEMENT: u32 = 12;
const MOST_LAUNCHES: usize = 64;

/// `kernel<<<grid, block, shared, stream>>>(arguments)`.
pub(super) struct Launch {
    /// Grid, block, and what else is given.
    pub(super) configuration: Vec<String>,
    /// What the kernel gets.
    pub(super) arguments: Vec<String>,
    /// The source up to it.
    pub(super) before: String,
}

impl Context<'_> {
    /// The statement that a line is part of, up to that line: inline assembly often goes over several.
    pub(super) fn statement(&self, file: &str, line: u32) -> String {
        let mut found: Vec<&str> = Vec::new();
        for number in (line.saturating_sub(LONGEST_STATEMENT)..=line).rev() {
            let text = self.sources.line(file, number).unwrap_or_default();
            if number != line && (text.is_empty() || text.ends_with([';', '{', '}']) || text.starts_with('#')) {
                break;
            }
            found.push(text);
        }
        found.reverse();
        found.join(" ")
    }

    /// A line to show; one that goes on with a statement is shown with what it goes on with.
    pub(super) fn shown(&self, file: &str, line: u32) -> Option<String> {
        let own = self.sources.line(file, line)?;
        Some(match own.starts_with([':', ',', '"', '?', '+', '|', '&']) {
            true => self.statement(file, line),
            false => own.into(),
        })
    }

    /// The launches of a kernel in all sources.
    pub(super) fn launches(&self, kernel: &str) -> Vec<Launch> {
        self.sources.files().flat_map(|(_, text)| launches(text, kernel)).collect()
    }
}

/// Whether a source has a kernel of this name.
pub(super) fn declares(source: &str, kernel: &str) -> bool {
    let name = kernel.rsplit("::").next().unwrap_or(kernel);
    source.match_indices("__global__").any(|(at, _)| {
        let head = source[at..].split('{').next().unwrap_or_default();
        head.match_indices(name).any(|(at, _)| {
            let before = head[..at].chars().next_back();
            let after = head[at + name.len()..].trim_start();
            after.starts_with('(') && !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
    })
}

fn launches(source: &str, kernel: &str) -> Vec<Launch> {
    let text = without_comments(source);
    let wanted = kernel.rsplit("::").next().unwrap_or(kernel);
    let mut found = Vec::new();
    for (at, _) in text.match_indices("<<<").take(MOST_LAUNCHES) {
        let before = text[..at].trim_end();
        let name = without_template(before);
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let name = name.rsplit(|c: char| !is_part(c)).next().unwrap_or_default();
        let Some((configuration, rest)) = text[at + 3..].split_once(">>>") else { continue };
        let Some((arguments, _)) = parenthesis(rest) else { continue };
        if name == wanted && !name.is_empty() {
            found.push(Launch {
                configuration: listed(configuration),
                arguments: listed(arguments),
                before: before.into(),
            });
        }
    }
    found
}

/// Without the template arguments at its end.
fn without_template(text: &str) -> &str {
    if !text.ends_with('>') {
        return text;
    }
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            '>' => depth += 1,
            '<' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return text[..at].trim_end();
        }
    }
    text
}

/// What stands between commas that are in no parentheses.
fn listed(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match (c, parts.last_mut()) {
            (',', _) if depth == 0 => parts.push(String::new()),
            (_, Some(part)) => part.push(c),
            _ => {}
        }
    }
    parts.iter().map(|part| squeezed(part)).collect()
}

/// What is in the parentheses a text begins with, and what follows.
pub(super) fn parenthesis(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start().strip_prefix('(')?;
    let mut depth = 1_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
    }
    None
}

/// On one line, with single spaces.
pub(super) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same text with spaces for comments.
pub(super) fn without_comments(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        text.push_str(&rest[..at]);
        let (end, block) = match rest[at..].starts_with("//") {
            true => (rest[at..].find('\n'), false),
            false => (rest[at + 2..].find("*/").map(|end| end + 4), true),
        };
        let end = end.map_or(rest.len(), |end| at + end);
        if block {
            text.extend(rest[at..end].chars().filter(|c| *c == '\n'));
        }
        rest = &rest[end..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_found_by_their_kernel() {
        let source = "// scale<<<1, 1>>>(no);\n\
                      scale<<<dim3(n / 32, 1), 256>>>(x, y + f(1, 2), n);\n\
                      ns::tile<float, (3 > 2)> <<<grid, block, 64 * 1024, stream>>>(x);\n other<<<1, 32>>>();";
        let scale = launches(source, "scale");
        assert_eq!(scale.len(), 1);
        assert_eq!(scale[0].configuration, ["dim3(n / 32, 1)", "256"]);
        assert_eq!(scale[0].arguments, ["x", "y + f(1, 2)", "n"]);
        assert_eq!(launches(source, "other")[0].arguments, [""]);
        assert_eq!(launches(source, "absent").len(), 0);
    }

    #[test]
    fn templates_are_no_part_of_a_name() {
        let found = launches("ns::tile<float, 4><<<grid, block, 65536>>>(x);", "a::tile");
        assert_eq!(found[0].configuration, ["grid", "block", "65536"]);
    }
}
