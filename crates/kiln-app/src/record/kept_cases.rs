//! Where the failing cases of `kiln fuzz` are, and which of them still fail: other verbs look at those first. In: a kernel. Out: the file, and a
//! case as it is typed. A file that cannot be read says nothing here; `kiln fuzz` names what is wrong with it.

use camino::Utf8PathBuf;
use kiln_core::Config;
use kiln_formats::{KeptState, read_cases};
use kiln_study::Kernel;

use crate::kernel::read_bounded;
use crate::project::Project;

/// A larger file is not one of these.
pub(crate) const LARGEST: u64 = 1 << 20;

/// Where the cases of a kernel are kept: by its name and by its folder, since two may have one name.
pub(crate) fn place(project: &Project, kernel: &Kernel<'_>) -> Utf8PathBuf {
    let here = std::env::current_dir().ok().and_then(|here| here.canonicalize().ok());
    let here = here.and_then(|here| Utf8PathBuf::from_path_buf(here).ok());
    // What moves together with the project keeps its cases.
    let folder = here.and_then(|here| kernel.folder.strip_prefix(&here).ok().map(Utf8PathBuf::from));
    let folder = folder.unwrap_or_else(|| kernel.folder.clone());
    let hash = blake3::hash(folder.as_str().as_bytes()).to_hex();
    project.folder().join("fuzz").join(format!("{}-{}.toml", kernel.name(), &hash[..8]))
}

/// The newest case in which a configuration failed when it was asked about last.
pub(crate) fn failing(project: &Project, kernel: &Kernel<'_>, config: &Config) -> Option<String> {
    let file = place(project, kernel);
    let text = String::from_utf8_lossy(&read_bounded(&file, LARGEST).ok()?).into_owned();
    let own = config.to_string();
    let cases = read_cases(file.as_str(), &text).ok()?;
    let fails = cases.into_iter().find(|case| {
        let here = (case.target.as_str(), case.variant.as_str()) == (kernel.target(), &kernel.variant());
        here && case.state == KeptState::Failing && case.baseline.is_empty() && case.config == own
    });
    fails.map(|case| case.case)
}
