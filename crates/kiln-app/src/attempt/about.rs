//! What an attempt is about and what it runs on, as cheaply as that can be known. In: a kernel file. Out: its name, its folder, a digest
//! of its text and sources; and the parts of the environment that people change, as lines.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_spec::KernelSpec;

use crate::kernel::{KernelFile, folder};

/// Files that decide what is computed.
pub(super) const SOURCES: [&str; 8] = ["c", "cc", "cpp", "cu", "cuh", "h", "hpp", "py"];
/// A larger file is data.
const LARGEST: u64 = 4 << 20;

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
        let (kernel, path) = (file.spec.name.clone(), inside(path));
        let held = files.iter().map(|file| Some((file.clone(), std::fs::read(file).ok()?)));
        About { kernel, path, sources: digest(&file.spec, held), files, baselines }
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
    let folder = folder(path);
    let whole = folder.canonicalize_utf8().unwrap_or_else(|_| folder.to_owned());
    let here = Utf8Path::new(".").canonicalize_utf8().unwrap_or_default();
    match whole.strip_prefix(&here) {
        Ok(inside) if inside.as_str().is_empty() => ".".into(),
        Ok(inside) => inside.to_string(),
        Err(_) => whole.to_string(),
    }
}

/// A digest of the kernel file and of its sources, in the order of their paths; none where one of them cannot be read.
pub(super) fn digest(
    spec: &KernelSpec,
    sources: impl Iterator<Item = Option<(Utf8PathBuf, Vec<u8>)>>,
) -> Option<String> {
    let mut hash = blake3::Hasher::new();
    hash.update(spec.source.text.as_bytes());
    for source in sources {
        let (file, bytes) = source?;
        hash.update(file.file_name().unwrap_or_default().as_bytes());
        hash.update(&bytes);
    }
    Some(hash.finalize().to_hex()[..16].to_string())
}

/// The files of the kernel in a folder as they are now; none where it cannot be read.
pub(crate) fn sources_at(path: &str) -> Vec<Utf8PathBuf> {
    let path = Utf8Path::new(path);
    KernelFile::read(path).map_or_else(|_| Vec::new(), |file| sources(&file, path))
}

/// The files a kernel is made of: its own, those that it names, and sources and headers beside it.
fn sources(file: &KernelFile, path: &Utf8Path) -> Vec<Utf8PathBuf> {
    let folder = folder(path);
    let named = file.spec.targets.iter().flat_map(|target| &target.implementations).flat_map(|one| &one.sources);
    let mut all: Vec<Utf8PathBuf> = named.map(|source| folder.join(source)).collect();
    all.push(if path.is_dir() { path.join("kernel.toml") } else { path.to_owned() });
    let beside = folder.read_dir_utf8().into_iter().flatten().flatten().map(|entry| entry.into_path());
    all.extend(beside.filter(|file| file.extension().is_some_and(|end| SOURCES.contains(&end))));
    all.retain(|file| std::fs::metadata(file).is_ok_and(|about| about.is_file() && about.len() <= LARGEST));
    all.sort();
    all.dedup();
    all
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
        assert!(environment().lines().all(|line| line.contains('=')));
    }
}
