//! Room in a folder, and whether it can be used.

use std::io::{self, Write};

use camino::Utf8Path;

/// Bytes of a file system.
pub(crate) struct Room {
    /// In all.
    pub(crate) whole: u64,
    /// For this user.
    pub(crate) free: u64,
}

/// The room where `folder` lies; none when the system does not say.
pub(crate) fn room(folder: &Utf8Path) -> Option<Room> {
    let found = rustix::fs::statvfs(folder.as_str()).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    // Some file systems have no size of their own.
    (found.f_blocks > 0).then(|| Room { whole: bytes(found.f_blocks), free: bytes(found.f_bavail) })
}

/// Writes a few bytes to a file without a name, which is gone again at once.
pub(crate) fn try_writing(folder: &Utf8Path) -> io::Result<()> {
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(&[0; 4096])?;
    file.flush()
}
