//! A folder with a commented kernel.toml, a small kernel that works, in C and in CUDA, and a baseline to beat. In: a path whose
//! last part names the kernel. Out: the files written. Refuses a name that C cannot have, and to write over anything.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;

use crate::failure::Failure;

/// File endings and what is written there; `{{name}}` stands for the kernel's name.
const FILES: [(&str, &str); 4] = [
    ("kernel.toml", include_str!("init/kernel.toml")),
    ("{{name}}.c", include_str!("init/softmax.c")),
    ("{{name}}.cu", include_str!("init/softmax.cu")),
    ("naive.c", include_str!("init/naive.c")),
];

/// Words a C or CUDA function cannot be called.
const KEYWORDS: [&str; 60] = [
    "alignas",
    "alignof",
    "and",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "main",
    "namespace",
    "new",
    "not",
    "operator",
    "or",
    "private",
    "public",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "true",
    "try",
    "typedef",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
];

/// Writes a small kernel that works into `folder`.
pub fn init(folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>, Failure> {
    if folder.as_str().is_empty() {
        let report = Report::error("the kernel has no name").label("expected a folder's name");
        return Err(report.hint("`kiln init my_kernel` writes one called my_kernel").into());
    }
    // `.` and `..` are called what the folder is called.
    let here = match folder.file_name() {
        Some(_) => folder.to_owned(),
        None => folder.canonicalize_utf8()?,
    };
    let name = here.file_name().unwrap_or_default();
    if KEYWORDS.contains(&name) {
        return Err(Report::error(format!("`{name}` is a word of C or C++ and cannot name a function")).into());
    }
    if !is_identifier(name) {
        return Err(Report::error(format!("`{name}` cannot name a kernel"))
            .label("expected a C name: letters, digits and _, not beginning with a digit")
            .into());
    }
    let files = FILES.map(|(file, text)| (folder.join(file.replace("{{name}}", name)), text.replace("{{name}}", name)));
    if let Some((taken, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(Report::error(format!("{taken} exists already"))
            .hint("choose another name, or move it away; nothing was written")
            .into());
    }
    fs_err::create_dir_all(folder)?;
    for (path, text) in &files {
        fs_err::write(path, text)?;
    }
    Ok(files.map(|(path, _)| path).into())
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
