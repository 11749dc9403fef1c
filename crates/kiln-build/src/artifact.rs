//! What a build gives.

use std::time::Duration;

use camino::Utf8PathBuf;

/// A built library, in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The shared library.
    pub library: Utf8PathBuf,
    /// The hash of everything that went into it.
    pub key: String,
    /// How long the compiler took; none when it came from the cache.
    pub built_in: Option<Duration>,
}
