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
    /// Its file has changed, perhaps its name only.
    File,
    /// Its file has not, and sources have.
    Sources,
    /// Its file is not where the study found it: nothing is known of it.
    Gone,
}

/// What changed since a study.
pub fn kernel_since(study: &Study, notes: &[Note]) -> Option<KernelSince> {
    let folder = study.environment.read().ok().and_then(|on| on.folder.clone());
    let mut renamed = false;
    let places = [Some(study.path.clone()), folder].into_iter().flatten().map(Utf8PathBuf::from);
    for path in places.filter(|path| path.exists()) {
        match KernelFile::read(&path) {
            // What cannot be read now could be then.
            Err(_) => return Some(KernelSince::File),
            Ok(file) if file.spec.name == study.kernel => return beside(&file, path, study, notes),
            // A relative path is as it was typed, from where kiln was called then: here it may lead to another kernel.
            Ok(_) => renamed |= path.is_absolute(),
        }
    }
    Some(if renamed { KernelSince::File } else { KernelSince::Gone })
}

fn beside(file: &KernelFile, path: Utf8PathBuf, study: &Study, notes: &[Note]) -> Option<KernelSince> {
    if text_hash(&file.spec.source.text) != study.spec_hash {
        return Some(KernelSince::File);
    }
    let selecting = Selecting {
        path,
        target: Some(study.target.clone()),
        variant: Some(study.variant.clone()).filter(|variant| !variant.is_empty()),
        ..Selecting::default()
    };
    let opened = Opened::unexamined(file, &selecting).ok()?;
    let then = notes.iter().rfind(|note| note.kind == SOURCES)?;
    let same = opened.kernel.fingerprint().ok()? == then.text;
    Some(if same { KernelSince::Same } else { KernelSince::Sources })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[kernel]\nname = \"k\"\nentry = \"k\"\n[tunables]\nA = [1, 2]\n[target.cpu]\nsource = \"k.cpp\"\n\
        [[arguments]]\nname = \"x\"\ntype = \"f32[N]\"\nrole = \"in\"\n[[arguments]]\nname = \"y\"\ntype = \"f32[N]\"\nrole = \"out\"\n\
        [[workloads]]\nname = \"w\"\ndims = { N = 8 }\n[reference]\npython = \"k.py:k\"\n";

    #[test]
    fn a_kernel_is_the_same_until_its_file_or_its_sources_change() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        std::fs::write(place("kernel.toml"), FILE).unwrap();
        std::fs::write(place("k.cpp"), "void k() {}").unwrap();
        std::fs::write(place("k.py"), "").unwrap();
        let mut study = crate::operation::watch::tests::study("1@here".into());
        study.path = folder.path().to_string_lossy().into_owned();
        study.spec_hash = text_hash(FILE);
        let opened = |path: &str| {
            let file = KernelFile::read(path.into()).unwrap();
            let selecting = Selecting { path: path.into(), target: Some("cpu".into()), ..Selecting::default() };
            Opened::unexamined(&file, &selecting).unwrap().kernel.fingerprint().unwrap()
        };
        let notes = [Note { at_ms: 0, kind: SOURCES.into(), text: opened(&study.path) }];
        assert_eq!(kernel_since(&study, &notes), Some(KernelSince::Same));
        assert_eq!(kernel_since(&study, &[]), None);
        std::fs::write(place("k.cpp"), "void k() { }").unwrap();
        assert_eq!(kernel_since(&study, &notes), Some(KernelSince::Sources));
        std::fs::write(place("kernel.toml"), FILE.replace("[1, 2]", "[1, 2, 3]")).unwrap();
        assert_eq!(kernel_since(&study, &notes), Some(KernelSince::File));
        std::fs::write(place("kernel.toml"), FILE.replace("\"k\"\nentry", "\"other\"\nentry")).unwrap();
        assert_eq!(kernel_since(&study, &notes), Some(KernelSince::File));
        let path = std::mem::replace(&mut study.path, place("moved").to_string_lossy().into_owned());
        assert_eq!(kernel_since(&study, &notes), Some(KernelSince::Gone));
        study.path = path;
        std::fs::write(place("kernel.toml"), "broken = [").unwrap();
        assert_eq!(kernel_since(&study, &notes), Some(KernelSince::File));
    }
}
