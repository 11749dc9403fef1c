//! A file that is either whole or not there. In: a path and bytes. Refuses, as a fault, a folder that cannot be written.

use std::io::Write;

use camino::Utf8Path;
use kiln_core::Fault;

/// Writes a file that is either whole or not there.
pub fn write_whole(file: &Utf8Path, bytes: &[u8]) -> Result<(), Fault> {
    let folder = file.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let fault = |e: &dyn std::fmt::Display| Fault::new(format!("writing {file}"), e);
    let mut draft = tempfile::Builder::new().prefix(".kiln-").tempfile_in(folder).map_err(|e| fault(&e))?;
    draft.write_all(bytes).map_err(|e| fault(&e))?;
    // A draft is private; what it becomes is as readable as any other file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        draft.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(|e| fault(&e))?;
    }
    draft.persist(file).map_err(|e| fault(&e.error))?;
    Ok(())
}
