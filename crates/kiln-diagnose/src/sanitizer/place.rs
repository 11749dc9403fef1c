//! Places in device code, as compute-sanitizer has printed them over the years:
//!
//! ```text
//! row_scale(float *, int)+0x2e0 in b03.cu:29            2023 and later
//! row_scale(float *, int):0x160 in b03.cu:6             the manual
//! 0xd80 in /src/attention.cu:162:void attend<2>(int)    2021 and 2022
//! 0x2c8 in row_scale(float *)                           the same, without line information
//! ```

use kiln_core::readable_kernel;

/// A place in device code. Parts that are not known are empty or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The function, without parameters and template arguments.
    pub function: String,
    /// The source file as it is printed.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The instruction's offset in the function.
    pub offset: Option<u64>,
}

impl Place {
    /// Reads what follows "at".
    pub(super) fn read(text: &str) -> Place {
        let text = text.trim();
        let (code, source) = match split_at_in(text) {
            Some((code, source)) => (code, Some(source)),
            None => (text, None),
        };
        let mut place = Place::default();
        if let Some(offset) = hex(code) {
            // The older form: the offset first, then the file or the function.
            place.offset = Some(offset);
            match source.map(|source| (source, file_line_function(source))) {
                Some((_, Some((file, line, function)))) => {
                    place.file = Some(file.into());
                    place.line = Some(line);
                    place.function = function_name(function);
                }
                Some((function, None)) => place.function = function_name(function),
                None => {}
            }
            return place;
        }
        let at = code.rfind("+0x").map(|at| (at, at + 1)).or_else(|| code.rfind(":0x").map(|at| (at, at + 1)));
        let (function, offset) = match at {
            Some((end, number)) => (&code[..end], hex(&code[number..])),
            None => (code, None),
        };
        place.function = function_name(function);
        place.offset = offset;
        if let Some((file, line)) = source.and_then(file_line) {
            place.file = Some(file.into());
            place.line = Some(line);
        }
        place
    }

    /// `b03.cu:29`, or as much of it as is known.
    pub fn source(&self) -> Option<String> {
        let file = crate::source::last_part(self.file.as_deref()?);
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.into(),
        })
    }
}

/// Splits at the " in " that begins a file; a name of a function has none after its last parenthesis.
fn split_at_in(text: &str) -> Option<(&str, &str)> {
    let at = match text.starts_with("0x") {
        true => text.find(" in ")?,
        false => text.rfind(" in ")?,
    };
    Some((text[..at].trim(), text[at + 4..].trim()))
}

/// `0x2e0`, and nothing else.
pub(super) fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

/// `b03.cu:29`.
fn file_line(text: &str) -> Option<(&str, u32)> {
    let (file, line) = text.rsplit_once(':')?;
    Some((file, line.trim().parse().ok()?))
}

/// `/src/attention.cu:162:void attend<2>(int)`.
fn file_line_function(text: &str) -> Option<(&str, u32, &str)> {
    text.match_indices(':').find_map(|(at, _)| {
        let (line, function) = text[at + 1..].split_once(':')?;
        let line = line.parse().ok()?;
        (at > 0 && !function.starts_with(':')).then_some((&text[..at], line, function))
    })
}

/// A function's name from its whole declaration, mangled or not: no return type, template arguments or parameters.
pub(crate) fn function_name(declaration: &str) -> String {
    // `[clone kernel(int)] called(int)`: a function that was copied for one of its callers.
    let own = declaration.trim();
    let own = own.strip_prefix("[clone ").and_then(|rest| rest.split_once("] ")).map_or(own, |(_, own)| own);
    let text = readable_kernel(own.trim_matches(|c| c == '[' || c == ']'));
    // `(anonymous namespace)::scale(float *)`
    let text = text.replace("(anonymous namespace)::", "");
    let mut name = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 && !name.trim_end().ends_with("operator") => break,
            // What was read so far is the return type.
            ' ' if depth == 0 => name.clear(),
            _ if depth == 0 => name.push(c),
            _ => {}
        }
    }
    name.trim().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(function: &str, file: Option<&str>, line: Option<u32>, offset: Option<u64>) -> Place {
        Place { function: function.into(), file: file.map(Into::into), line, offset }
    }

    #[test]
    fn every_form_is_read() {
        for (text, expected) in [
            (
                "row_scale(float *, const float *, int)+0x2e0 in b03.cu:29",
                place("row_scale", Some("b03.cu"), Some(29), Some(0x2e0)),
            ),
            (
                "unaligned_kernel():0x160 in memcheck_demo.cu:6",
                place("unaligned_kernel", Some("memcheck_demo.cu"), Some(6), Some(0x160)),
            ),
            ("out_of_bounds_kernel()+0x90", place("out_of_bounds_kernel", None, None, Some(0x90))),
            ("kernel_name+0x15520", place("kernel_name", None, None, Some(0x15520))),
            (
                "_Z9row_scalePfi+0x20 in C:\\work\\b03.cu:29",
                place("row_scale", Some("C:\\work\\b03.cu"), Some(29), Some(0x20)),
            ),
            (
                "0xd80 in /src/attention.cu:162:void attend<(bool)1, __half>(T2 *, const int *)",
                place("attend", Some("/src/attention.cu"), Some(162), Some(0xd80)),
            ),
            ("0x2c8 in ns::kernel(float *)", place("ns::kernel", None, None, Some(0x2c8))),
            ("0x79d8", place("", None, None, Some(0x79d8))),
            (
                "void renderCUDA<(unsigned int)6, (unsigned int)16>(const uint2 *, float *)+0x6c0 in back ward.cu:469",
                place("renderCUDA", Some("back ward.cu"), Some(469), Some(0x6c0)),
            ),
            ("", Place::default()),
        ] {
            assert_eq!(Place::read(text), expected, "{text}");
        }
    }

    #[test]
    fn names_lose_what_surrounds_them() {
        for (declaration, name) in [
            ("void add<float>(T1 *, int)", "add"),
            ("(anonymous namespace)::scale(float *)", "scale"),
            ("void (anonymous namespace)::scale<4>(float *)", "scale"),
            ("at::native::copy<std::array<char *, 2>>(int)", "at::native::copy"),
            ("_Z4axpyPKfPfi", "axpy"),
            ("[clone recurse(const float *, int)] deep(const float *, int)", "deep"),
            ("std::vector<float, std::allocator<float> > down<float>(float const*)", "down"),
            ("kernel", "kernel"),
            ("", ""),
        ] {
            assert_eq!(function_name(declaration), name);
        }
    }
}
