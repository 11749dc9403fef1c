//! What an attempt is about and what it runs on, as cheaply as that can be known. In: a kernel file. Out: its name, its folder, a digest
//! of its text and sources; and the parts of the environment that people change, as lines.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_spec::KernelSpec;

use crate::kernel::{KernelFile, folder as folder_of};

/// Files that decide what is computed.
const SOURCES: [&str; 16] =
    ["c", "cc", "cpp", "cu", "cuh", "cxx", "def", "h", "hh", "hpp", "hxx", "inc", "inl", "ipp", "py", "tpp"];
/// A larger file is data.
pub(super) const LARGEST: u64 = 4 << 20;
/// Folders within the kernel's that headers may lie in, and so many files: beyond them it is no kernel's folder.
const DEEPEST: usize = 4;
const MOST: usize = 500;

/// The kernel an attempt is about; empty where it is about none.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    pub(crate) kernel: String,
    pub(crate) path: String,
    pub(crate) sources: Option<String>,
    /// The files behind that digest.
    pub(crate) files: Vec<Utf8PathBuf>,
    /// Names of each target's baselines, its first one first.
    pub(crate) baselines: Vec<Vec<String>>,
}

impl About {
    /// A kernel that was read.
    pub(crate) fn of(file: &KernelFile, path: &Utf8Path) -> About {
        let files = sources(file, path);
        let names = |target: &kiln_spec::Target| target.baselines.iter().map(|one| one.name.to_string()).collect();
        let baselines = file.spec.targets.iter().map(names).collect();
        let kernel = file.spec.name.clone();
        let own = folder_of(path);
        let held = files.iter().map(|file| {
            let within = file.strip_prefix(own).unwrap_or(file);
            Some((within.to_owned(), std::fs::read(file).ok()?))
        });
        About { kernel, path: inside(path), sources: digest(&file.spec, held), files, baselines }
    }

    /// A kernel by its name alone.
    pub(crate) fn named(kernel: &str, path: &Utf8Path) -> About {
        About { kernel: kernel.into(), path: inside(path), ..About::default() }
    }
}

impl About {
    /// Whether a speedup over a baseline counts where `wanted` is to be beaten. A target that has none of that name is held against its
    /// first.
    pub(crate) fn counts(&self, over: Option<&str>, wanted: Option<&str>) -> bool {
        let (Some(over), Some(wanted)) = (over, wanted) else { return true };
        let first = |target: &&Vec<String>| target.first().is_some_and(|first| first == over);
        let without = |target: &&Vec<String>| !target.iter().any(|name| name == wanted);
        over == wanted || self.baselines.iter().filter(without).any(|target| first(&target))
    }
}

/// The kernel's folder as it is typed from the project's, where it lies in it.
pub(crate) fn inside(path: &Utf8Path) -> String {
    let folder = folder_of(path);
    let whole = folder.canonicalize_utf8().unwrap_or_else(|_| folder.to_owned());
    let here = Utf8Path::new(".").canonicalize_utf8().unwrap_or_default();
    match whole.strip_prefix(&here) {
        Ok(inside) if inside.as_str().is_empty() => ".".into(),
        Ok(inside) => inside.to_string(),
        Err(_) => whole.to_string(),
    }
}

/// A digest of the kernel file and of its sources by their paths within its folder, in the order of those; none where one of them
/// cannot be read.
pub(super) fn digest(
    spec: &KernelSpec,
    sources: impl Iterator<Item = Option<(Utf8PathBuf, Vec<u8>)>>,
) -> Option<String> {
    let mut hash = blake3::Hasher::new();
    hash.update(spec.source.text.as_bytes());
    for source in sources {
        let (file, bytes) = source?;
        hash.update(file.as_str().trim_start_matches("./").as_bytes());
        hash.update(&bytes);
    }
    Some(hash.finalize().to_hex()[..16].to_string())
}

/// The files of the kernel in a folder as they are now; none where it cannot be read.
pub(crate) fn sources_at(path: &str) -> Vec<Utf8PathBuf> {
    let path = Utf8Path::new(path);
    KernelFile::read(path).map_or_else(|_| Vec::new(), |file| sources(&file, path))
}

/// The files a kernel is made of: its own, those that it names, and sources and headers in its folder.
fn sources(file: &KernelFile, path: &Utf8Path) -> Vec<Utf8PathBuf> {
    let folder = folder_of(path);
    let named = file.spec.targets.iter().flat_map(|target| &target.implementations).flat_map(|one| &one.sources);
    let mut all: Vec<Utf8PathBuf> = named.map(|source| folder.join(source)).collect();
    all.push(if path.is_dir() { path.join("kernel.toml") } else { path.to_owned() });
    within(folder, DEEPEST, &mut all);
    all.retain(|file| std::fs::metadata(file).is_ok_and(|about| about.is_file() && about.len() <= LARGEST));
    all.sort();
    all.dedup();
    all
}

/// Adds the sources in a folder and in those below it. What has a kernel file is another kernel, and what is hidden or made by tools is
/// nobody's source.
fn within(folder: &Utf8Path, deepest: usize, all: &mut Vec<Utf8PathBuf>) {
    for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
        let (path, is_folder) = (entry.path(), entry.file_type().is_ok_and(|kind| kind.is_dir()));
        if all.len() >= MOST {
            return;
        }
        if is_folder && deepest > 0 && is_open(entry.file_name()) && !MARKS.iter().any(|mark| path.join(mark).exists())
        {
            within(path, deepest - 1, all);
        } else if !is_folder && is_source(path) {
            all.push(path.to_owned());
        }
    }
}

/// Files whose folder is something else than a part of the kernel.
const MARKS: [&str; 3] = ["kernel.toml", "kiln-export.json", "pyvenv.cfg"];

/// Whether a folder's name says that people keep sources in it.
fn is_open(name: &str) -> bool {
    !name.starts_with('.') && !name.starts_with("__")
}

fn is_source(file: &Utf8Path) -> bool {
    file.extension().is_some_and(|end| SOURCES.contains(&end))
}

/// The sources among the files of a commit, by the same rules; all paths are within the kernel's folder.
pub(super) fn sources_among(files: &[&Utf8Path]) -> Vec<Utf8PathBuf> {
    let is_other = |folder: &Utf8Path| {
        folder
            .file_name()
            .is_some_and(|name| !is_open(name) || MARKS.iter().any(|mark| files.contains(&&*folder.join(mark))))
    };
    let is_own = |file: &Utf8Path| {
        let above: Vec<&Utf8Path> = file.ancestors().skip(1).filter(|above| !above.as_str().is_empty()).collect();
        above.len() <= DEEPEST && !above.into_iter().any(is_other)
    };
    files.iter().filter(|file| is_source(file) && is_own(file)).map(|file| file.to_path_buf()).collect()
}

/// Parts of the environment that people change between two attempts.
const VARIABLES: [&str; 8] = [
    "CC",
    "CXX",
    "CUDA_HOME",
    "CUDA_VISIBLE_DEVICES",
    "KILN_PYTHON",
    "LD_LIBRARY_PATH",
    "OMP_NUM_THREADS",
    "VIRTUAL_ENV",
];

/// What this runs on, as `NAME=VALUE` lines.
pub fn environment() -> String {
    let read = |file: &str| std::fs::read_to_string(file).ok();
    let host = read("/proc/sys/kernel/hostname").map(|name| format!("host={}", name.trim()));
    let driver = read("/proc/driver/nvidia/version").and_then(|text| {
        let words = text.lines().next()?.split_whitespace();
        let version =
            words.into_iter().find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))?;
        Some(format!("driver={version}"))
    });
    let kiln = format!("kiln={}", env!("CARGO_PKG_VERSION"));
    let variables = VARIABLES.iter().filter_map(|name| {
        let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
        Some(format!("{name}={}", value.replace('\n', " ")))
    });
    let lines: Vec<String> = host.into_iter().chain(driver).chain([kiln]).chain(variables).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str =
        "[kernel]\nname = \"k\"\nentry = \"k\"\n[tunables]\nX = [1, 2]\n[target.cpu]\nsource = \"k.c\"\n";

    #[test]
    fn a_speedup_over_another_baseline_does_not_count() {
        let named = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let about = About { baselines: vec![named(&["sdpa", "flash"]), named(&["naive"])], ..About::default() };
        let counts = |over, wanted| about.counts(Some(over), Some(wanted));
        assert!(counts("sdpa", "sdpa") && counts("flash", "flash") && about.counts(None, Some("sdpa")));
        assert!(!counts("flash", "sdpa") && !counts("sdpa", "flash"));
        assert!(counts("naive", "sdpa"), "the other target has no sdpa");
        assert!(about.counts(Some("flash"), None), "nothing was asked for");
    }

    #[test]
    fn an_edit_of_a_source_or_a_header_is_seen_and_a_result_beside_them_is_not() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(place.path()).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("kernel.toml", SPEC);
        write("k.c", "int a;");
        write("k.h", "int b;");
        let now = || About::of(&KernelFile::read(folder).unwrap(), folder).sources.unwrap();
        let first = now();
        write("results.json", "{}");
        assert_eq!(now(), first);
        write("k.h", "int c;");
        let second = now();
        write("k.c", "int d;");
        assert!(first != second && second != now());
        // Wherever the compiler may find it; another kernel's is not this one's.
        std::fs::create_dir_all(folder.join("parts/deep")).unwrap();
        std::fs::create_dir_all(folder.join("other")).unwrap();
        write("other/kernel.toml", SPEC);
        let third = now();
        write("other/k.h", "");
        assert_eq!(now(), third);
        write("parts/deep/k.hh", "int e;");
        assert_ne!(now(), third);
        assert!(environment().lines().all(|line| line.contains('=')));
    }
}
