//! Pictures into a folder. In: files by name. Out: where they lie. Refuses a folder that cannot be made or written to.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Fault;
use kiln_study::write_whole;

use crate::failure::Failure;

/// Writes files into a folder, which is made where it is missing.
pub fn write_pictures(folder: &Utf8Path, files: &[(&str, String)]) -> Result<Vec<Utf8PathBuf>, Failure> {
    fs_err::create_dir_all(folder).map_err(|error| Fault::new(format!("making {folder} for the pictures"), error))?;
    let mut written = Vec::with_capacity(files.len());
    for (name, content) in files {
        let file = folder.join(name);
        write_whole(&file, content.as_bytes())?;
        written.push(file);
    }
    Ok(written)
}
