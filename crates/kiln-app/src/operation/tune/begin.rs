//! The record of a study that begins: what was asked for, of which file, on which machine.

use kiln_store::{Environment, Kept, State, Study};
use kiln_study::{Bench, Kernel, Settings, environment, options};
use serde::Serialize;
use serde_json::{Value, json};

use crate::repository::git;

/// A new study.
pub(crate) fn new_study(path: &str, kernel: &Kernel<'_>, settings: &Settings, bench: &Bench<'_>) -> Study {
    Study {
        id: Study::new_id(),
        started_ms: jiff::Timestamp::now().as_millisecond(),
        ended_ms: None,
        state: State::Running,
        owner: owner(bench),
        kernel: kernel.name().into(),
        path: path.into(),
        target: kernel.target().into(),
        arch: kernel.selection.arch.map(|a| a.name().to_string()),
        variant: kernel.variant(),
        seed: settings.seed,
        strategy: settings.strategy.clone(),
        options: Kept::new(options(settings)),
        environment: environment_of(kernel, bench),
        git_commit: git_commit(kernel),
        spec_hash: spec_hash(kernel),
        spec_text: kernel.selection.spec.source.text.to_string(),
        kiln_version: env!("CARGO_PKG_VERSION").into(),
        verdict: None,
        summary: None,
        seconds: 0.0,
    }
}

/// What it runs on, and the folder that kernels of one name are distinguished by.
pub(crate) fn environment_of(kernel: &Kernel<'_>, bench: &Bench<'_>) -> Kept<Environment> {
    #[derive(Serialize)]
    struct InFolder<'k> {
        #[serde(flatten)]
        environment: Value,
        folder: &'k str,
    }
    Kept::found(json!(InFolder { environment: environment(bench), folder: kernel.folder.as_str() }))
}

/// A hash of the kernel file.
pub(crate) fn spec_hash(kernel: &Kernel<'_>) -> String {
    text_hash(&kernel.selection.spec.source.text)
}

/// The same of its text.
pub(crate) fn text_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_string()
}

/// This process, as a study's record names it.
pub(crate) fn owner(bench: &Bench<'_>) -> String {
    format!("{}@{}", std::process::id(), bench.machine.host)
}

/// The commit the kernel's folder is at, with a `+` when files differ from it; none outside a repository.
pub(crate) fn git_commit(kernel: &Kernel<'_>) -> Option<String> {
    let git = |words: &[&str]| git(&kernel.folder, words).ok()?.ok();
    let commit = git(&["rev-parse", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--", "."])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}+") })
}
