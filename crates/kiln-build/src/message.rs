//! The compiler's words, made short: the first error with its source line. In: what it wrote to stderr. Out: the line of
//! the first error, in the forms of gcc, clang, nvcc, NVRTC and ptxas, and the lines from there to the next message.

/// The file of lines that kiln generates for the entries of a CUDA kernel.
pub(crate) const ENTRIES_FILE: &str = "kiln_entries.cu";
/// What NVRTC calls its own.
const NAME_MAP: &str = "__nv_name_map";

/// What a failed compilation is best shown as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// `file:line: error: ...`, or the last line when no error is marked.
    pub(crate) headline: String,
    /// The source line with its caret, as the compiler shows it.
    pub(crate) excerpt: String,
    /// Whether the headline is an error the compiler marked as one.
    pub(crate) marked: bool,
    /// Whether it is about the entries that were asked for, not about the source.
    pub(crate) of_entries: bool,
}

/// Lines of context kept behind the headline.
const CONTEXT: usize = 6;

/// Forms in which an error is marked; ptxas and nvcc pad the word to a column.
const ERRORS: [&str; 6] = ["error:", "Error:", "undefined reference", "error   :", "fatal   :", "fatal:"];
/// What ends the lines that belong to an error.
const OTHERS: [&str; 4] = ["warning", "note:", "Remark:", " detected in the compilation of "];

pub(crate) fn complaint(stderr: &str) -> Complaint {
    let lines: Vec<&str> = stderr.lines().filter(|l| !l.trim().is_empty()).collect();
    let error = |l: &str| ERRORS.iter().any(|form| l.contains(form));
    let marked = lines.iter().position(|l| error(l));
    let first = marked.unwrap_or(lines.len().saturating_sub(1));
    let rest = lines.get(first + 1..).unwrap_or_default();
    let shown = rest.iter().take_while(|l| !error(l) && !OTHERS.iter().any(|form| l.contains(form))).take(CONTEXT);
    let excerpt: Vec<&str> = shown.copied().collect();
    let headline = lines.get(first).copied().unwrap_or("the compiler said nothing").trim().to_string();
    let place = headline.split_once(": error: ").filter(|(file, _)| {
        file.starts_with(NAME_MAP) || file.split('(').next().is_some_and(|f| f.ends_with(ENTRIES_FILE))
    });
    let (headline, of_entries) = match place {
        Some((_, what)) => (format!("an entry cannot be had: {what}"), true),
        None => (headline, false),
    };
    Complaint { headline, excerpt: excerpt.join("\n"), marked: marked.is_some(), of_entries }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_and_its_line_are_kept() {
        let stderr = "k.c: In function 'f':\nk.c:3:5: warning: unused\n    3 |   int x;\nk.c:4:12: error: 'y' undeclared\n    4 |     return y;\n      |            ^\nk.c:9:1: error: more\n";
        let complaint = complaint(stderr);
        assert_eq!(complaint.headline, "k.c:4:12: error: 'y' undeclared");
        assert_eq!(complaint.excerpt, "    4 |     return y;\n      |            ^");
    }

    #[test]
    fn silence_is_survived() {
        assert_eq!(complaint("").headline, "the compiler said nothing");
        let killed = complaint("killed\n");
        assert_eq!((killed.headline.as_str(), killed.marked), ("killed", false));
    }

    #[test]
    fn the_forms_of_the_cuda_compilers_are_known() {
        let nvcc = "k.cu(1): warning #177-D: unused\n  int x;\n\nk.cu(2): error: identifier \"zz\" is undefined\n   a[0]=zz; }\n        ^\n\n1 error detected in the compilation of \"k.cu\".\n";
        let found = complaint(nvcc);
        assert_eq!(found.headline, "k.cu(2): error: identifier \"zz\" is undefined");
        assert_eq!(found.excerpt, "   a[0]=zz; }\n        ^");
        assert!(found.marked && !found.of_entries);

        let ptxas = "ptxas info    : 0 bytes gmem\nptxas k.ptx, line 38; error   : Unknown modifier '.bar'\nptxas fatal   : Ptx assembly aborted due to errors\n";
        assert_eq!(complaint(ptxas).headline, "ptxas k.ptx, line 38; error   : Unknown modifier '.bar'");
        let fatal = complaint("nvcc fatal   : Unknown option '-foo'\n");
        assert_eq!((fatal.headline.as_str(), fatal.marked), ("nvcc fatal   : Unknown option '-foo'", true));
    }

    #[test]
    fn an_entry_that_does_not_exist_is_told_from_a_wrong_source() {
        let nvrtc = "__nv_name_map(2): error: identifier \"no\" is undefined\n  #pragma nv_mangled_name no\n                          ^\n";
        let found = complaint(nvrtc);
        assert_eq!(found.headline, "an entry cannot be had: identifier \"no\" is undefined");
        assert!(found.of_entries && found.excerpt.contains("nv_mangled_name no"));
        assert!(complaint(&format!("/tmp/x/{ENTRIES_FILE}(3): error: identifier \"no\" is undefined\n")).of_entries);
    }
}
