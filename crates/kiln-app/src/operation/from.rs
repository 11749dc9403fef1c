//! A kernel.toml begun from a kernel that somebody has. In: a source in CUDA, C, C++ or Python, or a script of Kernel Tuner. Out: a
//! kernel.toml with what was found in it and the open questions, and whether that compiles. Refuses files it cannot read, a
//! signature that the compiler contradicts, and to write over anything.

mod c_source;
mod check;
mod python_source;
mod script;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;
use kiln_formats::source::{Found, QUESTION, kernel_toml, questions};

use crate::failure::Failure;
use crate::kernel::read_bounded;
use crate::operation::from::check::Stage;
use crate::project::Project;

pub use check::Compiled;

/// No kernel comes near it.
const LARGEST: u64 = 4 << 20;

/// What a kernel.toml is to be made from.
#[derive(Debug, Clone, Default)]
pub struct FromRequest {
    /// The user's file.
    pub file: Utf8PathBuf,
    /// Where to write; beside the file when none.
    pub folder: Option<Utf8PathBuf>,
    /// The kernel, where the file has several.
    pub entry: Option<String>,
}

/// A question that is marked in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenQuestion {
    /// The file.
    pub file: Utf8PathBuf,
    /// Its line, from 1.
    pub line: usize,
    /// The question.
    pub text: String,
}

/// What was written.
#[derive(Debug, Clone)]
pub struct Begun {
    /// The folder.
    pub folder: Utf8PathBuf,
    /// The files.
    pub files: Vec<Utf8PathBuf>,
    /// The kernel's name.
    pub kernel: String,
    /// Its tunables.
    pub tunables: Vec<String>,
    /// The questions in the files.
    pub questions: Vec<OpenQuestion>,
    /// Whether it compiles.
    pub compiled: Compiled,
}

/// What a reading gives: the kernel, further files to write, and how to check it.
pub(crate) struct Reading {
    pub(crate) found: Found,
    /// Names and texts of files beside the kernel.toml.
    pub(crate) beside: Vec<(String, String)>,
    /// How a compiler can check it; none for Python.
    pub(crate) stage: Option<Stage>,
}

/// Begins a kernel.toml.
pub fn init_from(project: &Project, request: &FromRequest) -> Result<Begun, Failure> {
    let file = &request.file;
    let parent = file.parent().filter(|p| !p.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let folder = request.folder.clone().unwrap_or_else(|| parent.to_owned());
    let text = read_source(file)?;
    let entry = request.entry.as_deref();
    let reading = match file.extension() {
        Some("cu" | "cuh" | "c" | "cc" | "cpp" | "cxx") => c_source::read(file, &text, &folder, entry)?,
        Some("py") => python_source::read(file, &text, &folder, entry)?,
        _ => {
            return Err(Report::error(format!("cannot read a kernel from {file}"))
                .label("expected a .cu, .cpp, .c or .py file")
                .into());
        }
    };
    let Reading { mut found, beside, stage } = reading;
    let places: Vec<Utf8PathBuf> = std::iter::once("kernel.toml")
        .chain(beside.iter().map(|(name, _)| name.as_str()))
        .map(|n| folder.join(n))
        .collect();
    if let Some(taken) = places.iter().find(|path| path.exists()) {
        return Err(Report::error(format!("{taken} exists already"))
            .hint(format!("name another folder: `kiln init --from {file} FOLDER`; nothing was written"))
            .into());
    }
    let compiled = check::check(project, &mut found, stage)?;
    let name = file.file_name().unwrap_or_default();
    let written = std::iter::once(("kernel.toml".to_owned(), kernel_toml(&found, name))).chain(beside);
    fs_err::create_dir_all(&folder)?;
    let mut open = Vec::new();
    for ((_, text), path) in written.zip(&places) {
        let asked = if text.contains(QUESTION) { questions(&text) } else { Vec::new() };
        open.extend(asked.into_iter().map(|(line, text)| OpenQuestion { file: path.clone(), line, text }));
        fs_err::write(path, text)?;
    }
    let tunables = found.tunables.iter().map(|t| t.name.clone()).collect();
    Ok(Begun { folder, files: places, kernel: found.name, tunables, questions: open, compiled })
}

/// A source's text; what is not UTF-8 in its comments does not matter, nor does the mark that some editors begin a file with.
pub(crate) fn read_source(file: &Utf8Path) -> Result<String, Failure> {
    let bytes = read_bounded(file, LARGEST)?;
    Ok(String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).into_owned())
}

/// A file as it is named from a folder.
pub(crate) fn relative(file: &Utf8Path, folder: &Utf8Path) -> Result<String, Failure> {
    let absolute = |path: &Utf8Path| -> Result<Utf8PathBuf, Failure> {
        let path = std::path::absolute(path.as_std_path())?;
        let path =
            Utf8PathBuf::from_path_buf(path).map_err(|p| Report::error(format!("{} is not UTF-8", p.display())))?;
        // `a/../b` is `b`; the folder need not be there yet.
        let mut plain = Utf8PathBuf::new();
        for part in path.components() {
            if part.as_str() == ".." {
                plain.pop();
            } else if part.as_str() != "." {
                plain.push(part);
            }
        }
        Ok(plain)
    };
    let (file, folder) = (absolute(file)?, absolute(folder)?);
    let shared = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| "..");
    let down: Vec<&str> = file.components().skip(shared).map(|c| c.as_str()).collect();
    Ok(up.chain(down).collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_an_editor_is_no_text() {
        let folder = tempfile::tempdir().unwrap();
        let file = Utf8Path::from_path(folder.path()).unwrap().join("k.c");
        fs_err::write(&file, b"\xef\xbb\xbf#ifndef A\r\n// \xf6").unwrap();
        assert_eq!(read_source(&file).unwrap(), "#ifndef A\r\n// \u{fffd}");
    }

    #[test]
    fn files_are_named_from_the_folder() {
        let named = |file: &str, folder: &str| relative(Utf8Path::new(file), Utf8Path::new(folder)).unwrap();
        assert_eq!(named("/a/b/k.cu", "/a/b"), "k.cu");
        assert_eq!(named("/a/b/k.cu", "/a/c/d"), "../../b/k.cu");
        assert_eq!(named("k.cu", "./new"), "../k.cu");
        assert_eq!(named("x/../k.cu", "."), "k.cu");
    }
}
