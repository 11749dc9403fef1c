//! Whether a study is of the kernel as it is now. In: the study, its notes. Out: what changed since; nothing where that cannot be known.

use camino::Utf8PathBuf;
use kiln_store::{Note, Study};

use crate::kernel::{KernelFile, Opened, Selecting};
use crate::operation::tune::text_hash;
use crate::record::resume::SOURCES;

/// How a kernel is beside how a study found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelSince {
    /// The same.
    Same,
    /// Its file has changed.
    File,
    /// Its file has not, and sources have.
    Sources,
    /// Its file is not there any more.
    Gone,
}

/// What changed since a study.
pub fn kernel_since(study: &Study, notes: &[Note]) -> Option<KernelSince> {
    let folder = study.environment.read().ok().and_then(|on| on.folder.clone());
    // A path is as it was typed: from where kiln was called then.
    let places = [Some(study.path.clone()), folder].into_iter().flatten().map(Utf8PathBuf::from);
    let Some(path) = places.into_iter().find(|path| path.exists()) else { return Some(KernelSince::Gone) };
    // What cannot be read now could be then.
    let Ok(file) = KernelFile::read(&path) else { return Some(KernelSince::File) };
    if text_hash(&file.spec.source.text) != study.spec_hash {
        return Some(KernelSince::File);
    }
    let selecting = Selecting {
        path,
        target: Some(study.target.clone()),
        variant: Some(study.variant.clone()).filter(|variant| !variant.is_empty()),
        ..Selecting::default()
    };
    let opened = Opened::unexamined(&file, &selecting).ok()?;
    let then = notes.iter().rfind(|note| note.kind == SOURCES)?;
    let same = opened.kernel.fingerprint().ok()? == then.text;
    Some(if same { KernelSince::Same } else { KernelSince::Sources })
}
