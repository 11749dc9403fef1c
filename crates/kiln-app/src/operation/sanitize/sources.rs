//! The sources that findings point into: those of the target, and headers beside them and in include folders. A file that
//! cannot be read is left out: a finding then names its line and does not show it.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_diagnose::{Diagnosis, Sources};
use kiln_study::Kernel;

/// Bytes of a file that is read at most.
const LARGEST: u64 = 4 << 20;
/// Headers that are read at most.
const MOST: usize = 64;
const HEADERS: [&str; 6] = ["h", "hpp", "hh", "cuh", "inl", "inc"];

/// Sources at hand, named as they lie below the kernel's folder.
pub(crate) fn sources(kernel: &Kernel<'_>) -> Sources {
    texts(kernel).into_iter().fold(Sources::none(), |all, (file, text)| all.with(file.as_str(), text))
}

/// All of them as one text.
pub(crate) fn sources_text(kernel: &Kernel<'_>) -> String {
    let texts: Vec<String> = texts(kernel).into_iter().map(|(_, text)| text).collect();
    texts.join("\n")
}

fn texts(kernel: &Kernel<'_>) -> Vec<(Utf8PathBuf, String)> {
    let all = &kernel.selection.implementations;
    let mut files: Vec<Utf8PathBuf> = Vec::new();
    for file in all.iter().flat_map(|one| &one.sources).map(|source| kernel.folder.join(source)) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let includes = all.iter().flat_map(|one| &one.compile.include).map(|folder| kernel.folder.join(folder));
    let folders = std::iter::once(kernel.folder.clone()).chain(includes);
    let headers = folders.flat_map(|folder| headers(&folder)).take(MOST);
    let headers: Vec<Utf8PathBuf> = headers.filter(|file| !files.contains(file)).collect();
    files.extend(headers);
    let mut texts = Vec::new();
    for file in files {
        if fs_err::metadata(&file).is_ok_and(|about| about.len() <= LARGEST)
            && let Ok(bytes) = fs_err::read(&file)
        {
            texts.push((file, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    texts
}

fn headers(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.into_path());
    files.filter(|file| file.extension().is_some_and(|ending| HEADERS.contains(&ending))).collect()
}

/// Names files of the kernel's folder without it, as the kernel file does.
pub(super) fn relative(diagnosis: &mut Diagnosis, kernel: &Kernel<'_>) {
    let folder = kernel.folder.canonicalize_utf8().unwrap_or_else(|_| kernel.folder.clone());
    for file in diagnosis.findings.iter_mut().filter_map(|finding| finding.file.as_mut()) {
        let path = Utf8PathBuf::from(&*file);
        let below = path.strip_prefix(&folder).or_else(|_| path.strip_prefix(&kernel.folder));
        if let Ok(short) = below.map(|short| short.to_string()) {
            *file = short;
        }
    }
}
