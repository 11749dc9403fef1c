//! Frames of a processor's stack: `#0 0x5617f41cb365 in scale /src/scale.c:3:12`, `#4 0x55 in _start (/bin/scale+0x1130)`.

use crate::sanitizer::function_name;
use crate::source::last_part;

/// One frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// The function, without its parameters.
    pub function: Option<String>,
    /// The file as printed.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
}

impl Frame {
    /// Reads a frame; none for any other line.
    pub(super) fn read(line: &str) -> Option<Frame> {
        let rest = line.trim_start().strip_prefix('#')?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0)?;
        let rest = rest[digits..].trim_start();
        let rest = rest.strip_prefix("0x").map_or(rest, |rest| rest.split_once(' ').map_or("", |(_, rest)| rest));
        let rest = rest.trim().strip_prefix("in ").unwrap_or(rest.trim());
        let (function, place) = split_place(without_module(rest));
        let (file, line) = file_line(place);
        let function = function.trim_end_matches("<null>").trim_end();
        let function = Some(function_name(function)).filter(|name| !name.is_empty());
        Some(Frame { function, file: file.map(Into::into), line })
    }

    /// Whether it belongs to the program, and not to the sanitizer or the C library.
    pub(super) fn is_own(&self) -> bool {
        let Some(file) = self.file.as_deref() else { return false };
        let outside = [
            "libsanitizer",
            "sysdeps/",
            "/csu/",
            "compiler-rt",
            "asan_",
            "/lsan/",
            "ubsan_",
            "/tsan/rtl",
            "sanitizer_common",
            "/include/c++/",
        ];
        let function = self.function.as_deref().unwrap_or_default();
        !outside.iter().any(|part| file.contains(part)) && !function.contains("interceptor")
    }

    /// `scale.c:3`.
    pub(super) fn source(&self) -> Option<String> {
        Some(format!("{}:{}", last_part(self.file.as_deref()?), self.line?))
    }
}

/// Without the binary, which follows a function that has no line, and in ThreadSanitizer's frames also one that has:
/// `add race.c:5 (race+0x11d7)`, `_start (/bin/a+0x1130) (BuildId: 12ab)`.
fn without_module(text: &str) -> &str {
    let mut text = text.trim_end();
    while let Some((before, module)) = text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        let alone = before.is_empty() || before.ends_with(' ');
        if !alone || !(module.contains("+0x") || module.starts_with("BuildId: ")) {
            break;
        }
        text = before.trim_end();
    }
    text
}

/// The function and the file after it: the last space before a path or a name with a line.
fn split_place(text: &str) -> (&str, &str) {
    let at = text.char_indices().filter(|(_, c)| *c == ' ').map(|(at, _)| at);
    let mut places = at.filter(|at| file_line(&text[at + 1..]).1.is_some());
    // A path may have spaces; a function's parameters end with a parenthesis.
    match places.find(|at| text[at + 1..].starts_with(['/', '.']) || !text[at + 1..].contains(')')) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, ""),
    }
}

/// `scale.c:3` or `scale.c:3:12`.
pub(super) fn file_line(text: &str) -> (Option<&str>, Option<u32>) {
    let Some((before, last)) = text.rsplit_once(':') else { return (None, None) };
    let Ok(last) = last.trim().parse::<u32>() else { return (None, None) };
    match before.rsplit_once(':').map(|(file, line)| (file, line.parse::<u32>())) {
        Some((file, Ok(line))) => (Some(file), Some(line)),
        _ => (Some(before), Some(last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_both_compilers_are_read() {
        for (line, function, file, number) in [
            ("    #0 0x5617 in scale /home/user/src/a.c:3", Some("scale"), Some("/home/user/src/a.c"), Some(3)),
            ("    #1 0x5617 in main /home/user/my src/a.c:7:12", Some("main"), Some("/home/user/my src/a.c"), Some(7)),
            (
                "    #2 0x7f in __libc_start_main_impl ../csu/libc-start.c:360",
                Some("__libc_start_main_impl"),
                Some("../csu/libc-start.c"),
                Some(360),
            ),
            ("    #4 0x5617 in _start (/home/user/bin/a+0x1130)", Some("_start"), None, None),
            ("    #4 0x5617 in _start (/home/user/bin/a+0x1130) (BuildId: 12ab)", Some("_start"), None, None),
            ("    #0 0x55 in void add<float>(float*, int) a.cpp:9:3", Some("add"), Some("a.cpp"), Some(9)),
            ("    #0 0x55 (/lib/x.so+0x12)", None, None, None),
            ("    #0 add /home/user/race.c:5 (race+0x11d7)", Some("add"), Some("/home/user/race.c"), Some(5)),
            (
                "    #0 add(int*) /src/race.cpp:5:9 (race+0x11d7) (BuildId: aa)",
                Some("add"),
                Some("/src/race.cpp"),
                Some(5),
            ),
            ("    #1 <null> <null> (race+0x11d7)", None, None, None),
            ("    #3 _start <null> (race+0x10a0)", Some("_start"), None, None),
        ] {
            let frame = Frame::read(line).unwrap();
            assert_eq!(
                (frame.function.as_deref(), frame.file.as_deref(), frame.line),
                (function, file, number),
                "{line}"
            );
        }
        assert_eq!(Frame::read("SUMMARY: AddressSanitizer"), None);
        assert_eq!(Frame::read("#"), None);
    }
}
