//! The compiler's words: the first error as a headline, and its whole message. In: what it wrote to stderr. Out: the line of
//! the first error, in the forms of gcc, clang, nvcc, NVRTC and ptxas, and everything from where it is introduced to the end,
//! up to a bound.

/// The file of lines that kiln generates for the entries of a CUDA kernel.
pub(crate) const ENTRIES_FILE: &str = "kiln_entries.cu";
/// What NVRTC calls its own.
const NAME_MAP: &str = "__nv_name_map";

/// What a failed compilation is best shown as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// `file:line: error: ...`, or the last line when no error is marked.
    pub(crate) headline: String,
    /// Everything else it said of this error and of those after it.
    pub(crate) message: String,
    /// Whether the headline is an error the compiler marked as one.
    pub(crate) marked: bool,
    /// Whether it is about the entries that were asked for, not about the source.
    pub(crate) of_entries: bool,
}

/// Lines and bytes of a message that are kept.
const LINES: usize = 60;
const BYTES: usize = 8_000;

/// Forms in which an error is marked; ptxas and nvcc pad the word to a column.
const ERRORS: [&str; 6] = ["error:", "Error:", "undefined reference", "error   :", "fatal   :", "fatal:"];
/// Remarks of the assembler, which it makes of every kernel.
const REMARKS: [&str; 2] = ["ptxas info ", "ptxas         ."];

pub(crate) fn complaint(stderr: &str) -> Complaint {
    let remark = |l: &&str| REMARKS.iter().any(|form| l.starts_with(form)) || l.contains(" bytes stack frame");
    let lines: Vec<&str> = stderr.lines().filter(|l| !l.trim().is_empty() && !remark(l)).collect();
    let error = |l: &str| ERRORS.iter().any(|form| l.contains(form));
    let marked = lines.iter().position(|l| error(l));
    let first = marked.unwrap_or(lines.len().saturating_sub(1));
    // `In file included from a.h:3,`, `k.c: In function 'f':`, `required from here`.
    let introduces = |l: &&&str| [":", ",", "required from here"].iter().any(|end| l.trim_end().ends_with(end));
    let before = lines[..first.min(lines.len())].iter().rev().take_while(introduces).count();
    let from = if before > 0 { first - before } else { first + 1 };
    let message = bounded(lines.get(from..).unwrap_or_default());
    let headline = lines.get(first).copied().unwrap_or("the compiler said nothing").trim().to_string();
    let place = headline.split_once(": error: ").filter(|(file, _)| {
        file.starts_with(NAME_MAP) || file.split('(').next().is_some_and(|f| f.ends_with(ENTRIES_FILE))
    });
    let (headline, of_entries) = match place {
        Some((_, what)) => (format!("an entry cannot be had: {what}"), true),
        None => (headline, false),
    };
    Complaint { headline, message, marked: marked.is_some(), of_entries }
}

/// The lines as text, and how many were left out.
fn bounded(lines: &[&str]) -> String {
    let mut bytes = 0;
    let fits = lines.iter().take(LINES).take_while(|line| {
        bytes += line.len() + 1;
        bytes <= BYTES
    });
    let kept = fits.count();
    let mut text = lines[..kept].join("\n");
    match lines.len() - kept {
        0 => {}
        1 => text.push_str("\n(1 more line)"),
        more => text.push_str(&format!("\n({more} more lines)")),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_message_is_kept_from_where_it_is_introduced() {
        let stderr = "k.c: In function 'f':\nk.c:3:5: warning: unused\n    3 |   int x;\nk.c:4:12: error: 'y' undeclared\n    4 |     return y;\n      |            ^\nk.c:9:1: error: more\n";
        let complaint = complaint(stderr);
        assert_eq!(complaint.headline, "k.c:4:12: error: 'y' undeclared");
        assert_eq!(complaint.message, "    4 |     return y;\n      |            ^\nk.c:9:1: error: more");
        let included = "In file included from k.c:1:\na.h: In function 'g':\na.h:2:1: error: no\n  2 | x\n";
        let found = super::complaint(included);
        assert_eq!((found.headline.as_str(), found.message.as_str()), ("a.h:2:1: error: no", included.trim_end()));
    }

    #[test]
    fn a_message_is_bounded_and_says_by_how_much() {
        let long: String = (0..100).map(|i| format!("k.c:{i}: error: no\n")).collect();
        let message = complaint(&long).message;
        assert!(message.ends_with("k.c:60: error: no\n(39 more lines)"), "{message}");
        let wide = format!("k.c:1: error: no\n{}\n", "x".repeat(9_000));
        assert_eq!(complaint(&wide).message.trim(), "(1 more line)");
    }

    #[test]
    fn what_the_assembler_remarks_of_every_kernel_is_left_out() {
        let log = "ptxas info    : 0 bytes gmem\nptxas         .     0 bytes stack frame, 0 bytes spill stores\n\
                   ptxas info    : Compile time = 2.2 ms\nptxas error   : Entry function 'big' uses too much shared data\n";
        let found = complaint(log);
        assert_eq!(found.headline, "ptxas error   : Entry function 'big' uses too much shared data");
        assert_eq!((found.message.as_str(), found.marked), ("", true));
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
        assert_eq!(found.message, "   a[0]=zz; }\n        ^\n1 error detected in the compilation of \"k.cu\".");
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
        assert!(found.of_entries && found.message.contains("nv_mangled_name no"));
        assert!(complaint(&format!("/tmp/x/{ENTRIES_FILE}(3): error: identifier \"no\" is undefined\n")).of_entries);
    }
}
