//! The compiler's words, made short: the first error with its source line. In: what it wrote to stderr. Out: the lines
//! from the first error to the next message, and where it is.

/// What a failed compilation is best shown as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// `file:line: error: ...`, or the last line when no error is marked.
    pub(crate) headline: String,
    /// That and the source line with its caret, as the compiler shows it.
    pub(crate) excerpt: String,
}

/// Lines of context kept behind the headline.
const CONTEXT: usize = 6;

pub(crate) fn complaint(stderr: &str) -> Complaint {
    let lines: Vec<&str> = stderr.lines().collect();
    let marked = |l: &str| l.contains("error:") || l.contains("undefined reference") || l.contains("Error:");
    let first = lines.iter().position(|l| marked(l)).unwrap_or(lines.len().saturating_sub(1));
    let rest = lines.get(first + 1..).unwrap_or_default();
    let shown = rest.iter().take_while(|l| !marked(l) && !l.contains("warning:") && !l.contains("note:")).take(CONTEXT);
    let headline = lines.get(first).copied().unwrap_or("the compiler said nothing").trim().to_string();
    let mut excerpt = headline.clone();
    shown.for_each(|line| excerpt.extend(["\n", line]));
    Complaint { headline, excerpt }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_and_its_line_are_kept() {
        let stderr = "k.c: In function 'f':\nk.c:3:5: warning: unused\n    3 |   int x;\nk.c:4:12: error: 'y' undeclared\n    4 |     return y;\n      |            ^\nk.c:9:1: error: more\n";
        let complaint = complaint(stderr);
        assert_eq!(complaint.headline, "k.c:4:12: error: 'y' undeclared");
        assert_eq!(complaint.excerpt, "k.c:4:12: error: 'y' undeclared\n    4 |     return y;\n      |            ^");
    }

    #[test]
    fn silence_is_survived() {
        assert_eq!(complaint("").headline, "the compiler said nothing");
        assert_eq!(complaint("killed\n").headline, "killed");
    }
}
