//! The sources of the package. In: a plan. Out: copies of the kernel's files and of what they include, laid out as they were, and
//! for each binary one generated file with its configuration as defines. Refuses sources that cannot be read.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_build::{Request, included};
use kiln_spec::Implementation;

use crate::failure::Failure;
use crate::operation::export::builds::Binary;
use crate::operation::export::{Plan, slashed};

/// Files of the sources, and how a generated file names them.
pub(super) struct Sources {
    /// Paths below `src` with their contents.
    pub(super) files: Vec<(Utf8PathBuf, Vec<u8>)>,
    /// Of each part of the plan, in order.
    parts: Vec<(Option<Arc<str>>, PartSources)>,
}

/// What a part is compiled from.
#[derive(Debug, Clone, Default)]
pub(super) struct PartSources {
    /// The sources in order, below `src`.
    pub(super) units: Vec<Utf8PathBuf>,
    /// Include folders, below `src`.
    pub(super) includes: Vec<Utf8PathBuf>,
}

impl Sources {
    /// What a part is compiled from.
    pub(super) fn of(&self, part: &Implementation) -> PartSources {
        let own = self.parts.iter().find(|(name, _)| *name == part.name);
        own.map(|(_, sources)| sources.clone()).unwrap_or_default()
    }
}

/// Copies of all files that are compiled.
pub(super) fn sources(plan: &Plan<'_>) -> Result<Sources, Failure> {
    let real = |path: &String| plan.sources.join(path).canonicalize_utf8();
    let (mut all, mut parts): (Vec<Utf8PathBuf>, Vec<_>) = (Vec::new(), Vec::new());
    for part in plan.parts() {
        let units: Vec<Utf8PathBuf> = part.sources.iter().map(real).collect::<Result<_, _>>()?;
        let folders: Vec<Utf8PathBuf> = part.compile.include.iter().filter_map(|path| real(path).ok()).collect();
        let mut found = units.clone();
        for unit in &units {
            for file in included(unit, &folders) {
                found.push(file.canonicalize_utf8()?);
            }
        }
        for file in found {
            if !all.contains(&file) {
                all.push(file);
            }
        }
        parts.push((part.name.clone(), PartSources { units, includes: folders }));
    }
    let root = shared(&all);
    let below = |path: &Utf8Path| path.strip_prefix(&root).unwrap_or(path).to_owned();
    let used = |folder: &Utf8PathBuf| folder.starts_with(&root) && all.iter().any(|file| file.starts_with(folder));
    for (_, part) in &mut parts {
        part.units = part.units.iter().map(|unit| below(unit)).collect();
        part.includes = part.includes.iter().filter(|folder| used(folder)).map(|folder| below(folder)).collect();
    }
    let mut files = Vec::with_capacity(all.len());
    for file in &all {
        files.push((below(file), fs_err::read(file)?));
    }
    Ok(Sources { files, parts })
}

/// The innermost folder that holds all files.
fn shared(files: &[Utf8PathBuf]) -> Utf8PathBuf {
    let mut root = files.first().and_then(|file| file.parent()).unwrap_or(Utf8Path::new("/")).to_owned();
    while !files.iter().all(|file| file.starts_with(&root)) {
        let Some(parent) = root.parent() else { break };
        root = parent.to_owned();
    }
    root
}

/// One source with its configuration fixed.
pub(super) fn fixed(plan: &Plan<'_>, binary: &Binary, request: &Request, sources: &Sources) -> String {
    let variant = binary.variant_words();
    let about = [variant.as_str(), binary.arch.as_ref().map_or("", |arch| arch.name())];
    let about: Vec<&str> = about.into_iter().filter(|word| !word.is_empty()).collect();
    let mut text = format!("/* {}", plan.interface.name);
    if !about.is_empty() {
        text += &format!(" for {}", about.join(" on "));
    }
    text += &format!(" with {}. */\n", binary.config);
    for define in defines(request) {
        text += &format!("#define {define}\n");
    }
    text += "\n";
    for unit in &sources.of(plan.part_of(&binary.config)).units {
        text += &format!("#include \"{}\"\n", slashed(unit));
    }
    for (number, (entry, _)) in binary.symbols.iter().filter(|(entry, _)| entry.contains('<')).enumerate() {
        text += &format!(
            "\n/* Has nvcc compile this instance. */\n__attribute__((used)) static const auto kiln_entry_{number} = &{entry};\n"
        );
    }
    text
}

/// Names with their values, as the compiler gets them by flags.
fn defines(request: &Request) -> Vec<String> {
    let flags = request.defines().into_iter().chain(request.flags.iter().cloned());
    let define = |flag: String| {
        let text = flag.strip_prefix("-D")?.to_string();
        let (name, value) = text.split_once('=').unwrap_or((&text, "1"));
        Some(format!("{name} {value}"))
    };
    flags.filter_map(define).collect()
}

/// Flags that are no defines.
pub(super) fn flags(request: &Request) -> Vec<String> {
    let mut flags: Vec<String> = request.std.iter().map(|std| format!("-std={std}")).collect();
    flags.extend(request.flags.iter().filter(|flag| !flag.starts_with("-D")).cloned());
    flags
}

/// Whether a kernel keeps something from launch to launch: a `__device__` variable that is no constant. Launches on two streams must
/// not share it.
pub(super) fn keeps_state(files: &[(Utf8PathBuf, Vec<u8>)]) -> bool {
    files.iter().any(|(_, bytes)| has_variable(&String::from_utf8_lossy(bytes)))
}

fn has_variable(text: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
    code.match_indices("__device__").any(|(at, word)| {
        let before = code[..at].rsplit([';', '}', '{', '\n']).next().unwrap_or_default();
        let rest = &code[at + word.len()..];
        let end = rest.find(['(', ';', '=', '[', '{']).unwrap_or(rest.len());
        let constant = |part: &str| part.contains("const");
        !rest[end..].starts_with('(') && end < rest.len() && !constant(before) && !constant(&rest[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_on_the_device_are_told_from_functions_and_constants() {
        assert!(has_variable("__device__ unsigned taken, finished;"));
        assert!(has_variable("static __device__ int counts[4];") && has_variable("__device__ int x = 3;"));
        assert!(!has_variable("#define DEVICE __device__ __forceinline__\n__device__ float f(float x) { return x; }"));
        assert!(!has_variable("__device__ constexpr int N = 4;\nstatic const __device__ float PI = 3;"));
        assert!(!has_variable("__global__ void k(float *x) {}"));
    }
}
