//! From a path to a spec. In: a folder, a kernel.toml, a T1 file or a cache. Out: the spec and how long it took to read.
//! Refuses what is not there, too large or of another kind, before reading it.

use std::io::{ErrorKind, Read};
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;
use kiln_spec::{Choice, KernelSpec, Selection, Target};

use crate::failure::Failure;
use crate::kernel::Selecting;
use crate::teller::{Listener, Teller};

/// A kernel file that was read.
pub struct KernelFile {
    pub(crate) spec: KernelSpec,
    pub(crate) recorded: Option<u64>,
    pub(crate) warnings: Vec<Report>,
    /// When the file's bytes were in memory.
    pub(crate) read_at: Instant,
}

fn load(path: &Utf8Path) -> Result<KernelFile, Failure> {
    let file = find(path)?;
    let is_toml = file.extension() == Some("toml");
    let largest = if is_toml { kiln_spec::LARGEST_FILE } else { kiln_formats::LARGEST_FILE };
    let bytes = read_bounded(&file, largest)?;
    let read_at = Instant::now();
    if is_toml {
        let (mut spec, mut warnings) = kiln_spec::parse(file.as_str(), &bytes)?;
        for target in &mut spec.targets {
            let Some(table) = tuned_table(&file, target) else { continue };
            let (entries, more) = kiln_spec::read_tuned(table.as_str(), &read_bounded(&table, largest)?, target)?;
            target.tuned.entries = entries;
            warnings.extend(more);
        }
        return Ok(KernelFile { spec, recorded: None, warnings, read_at });
    }
    let imported = kiln_formats::read(file.as_str(), &bytes)?;
    Ok(KernelFile { spec: imported.spec, recorded: imported.recorded, warnings: imported.warnings, read_at })
}

/// Where a target's winners are kept, once there are some.
fn tuned_table(kernel_file: &Utf8Path, target: &Target) -> Option<Utf8PathBuf> {
    let folder = kernel_file.parent().unwrap_or(Utf8Path::new(""));
    let table = folder.join(target.tuned.file.as_ref()?);
    table.exists().then_some(table)
}

/// A file's bytes, if there are not too many; what a file says of its size beforehand need not be true.
pub(crate) fn read_bounded(file: &Utf8Path, largest: u64) -> Result<Vec<u8>, Failure> {
    let meta = match fs_err::metadata(file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Err(Report::error(format!("there is no file `{file}`")).into());
        }
        found => found?,
    };
    if !meta.is_file() {
        return Err(Report::error(format!("{file} is not a plain file")).into());
    }
    let mut bytes = Vec::new();
    let mut read = meta.len();
    if read <= largest {
        fs_err::File::open(file)?.take(largest + 1).read_to_end(&mut bytes)?;
        read = bytes.len() as u64;
    }
    if read > largest {
        return Err(Report::error(format!("{file} has {} MB", read / 1_000_000))
            .label(format!("expected at most {} KiB", largest >> 10))
            .hint("is this the right file?")
            .into());
    }
    Ok(bytes)
}

/// The file meant by a path: itself, or the kernel.toml inside a folder.
fn find(path: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let missing = |what: String, hint: &str| Failure::from(Report::error(what).hint(hint));
    match fs_err::metadata(path) {
        Ok(meta) if meta.is_dir() => {
            let inside = path.join("kernel.toml");
            match fs_err::metadata(&inside) {
                Ok(_) => Ok(inside),
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    Err(missing(format!("{path} has no kernel.toml"), "`kiln init NAME` writes one"))
                }
                Err(e) => Err(e.into()),
            }
        }
        Ok(_) => match path.extension() {
            Some("toml" | "json" | "gz") => Ok(path.into()),
            _ => Err(missing(
                format!("{path} is neither a .toml nor a .json file"),
                "give a kernel's folder, its kernel.toml, a T1 file or a Kernel Tuner cache",
            )),
        },
        Err(e) if e.kind() == ErrorKind::NotFound => {
            Err(missing(format!("{path} does not exist"), "give a kernel's folder or its kernel.toml"))
        }
        Err(e) => Err(e.into()),
    }
}

impl KernelFile {
    /// Reads what lies at a path.
    pub fn read(path: &Utf8Path) -> Result<KernelFile, Failure> {
        load(path)
    }

    /// The same for an operation that somebody listens to: a file that cannot be read is its end.
    pub fn read_heard(path: &Utf8Path, listener: Listener<'_>) -> Result<KernelFile, Failure> {
        let read = load(path);
        if let Err(failure) = &read {
            Teller::new(listener).end_with(failure);
        }
        read
    }

    /// What the flags select.
    pub(crate) fn select(&self, selecting: &Selecting) -> Result<Selection<'_>, Failure> {
        Ok(self.spec.select(Choice {
            target: selecting.target.as_deref(),
            arch: selecting.arch.as_deref(),
            workload: selecting.workload.as_deref(),
            variant: selecting.variant.as_deref(),
            implementation: selecting.implementation.as_deref(),
            runs_on: None,
        })?)
    }
}
