//! What builds have left, and how to be rid of it.

use camino::Utf8PathBuf;

use crate::failure::Failure;
use crate::project::Project;

/// What the build cache holds, or held until it was cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheHolds {
    /// Where it lies.
    pub folder: Utf8PathBuf,
    /// Whether it was cleared.
    pub cleared: bool,
    /// Libraries.
    pub entries: u64,
    /// Bytes in all.
    pub bytes: u64,
}

/// Looks into the build cache, or clears it.
pub fn cache(project: &Project, clear: bool) -> Result<CacheHolds, Failure> {
    let cache = project.cache();
    let state = if clear { cache.clear()? } else { cache.state()? };
    Ok(CacheHolds { folder: cache.root().into(), cleared: clear, entries: state.entries, bytes: state.bytes })
}
