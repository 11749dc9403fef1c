//! What a build gives, and how it is read back from the cache: the product, the compiler's words and the symbols of the
//! entries lie side by side in one folder.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Fault;

use crate::toolchains::compile::words;
use crate::words::usage::{Usage, usage};
use crate::words::warning::warnings;

/// Everything the compiler said.
pub(crate) const LOG: &str = "log";
/// Which symbol each entry has, as JSON.
pub(crate) const SYMBOLS: &str = "symbols.json";

/// The hash of the product.
pub(crate) const SEAL: &str = "seal";

/// Entries as they were asked for, with their symbols.
pub(crate) type Symbols = Vec<(String, String)>;

/// A built library or cubin, in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The shared library, or the cubin.
    pub library: Utf8PathBuf,
    /// The hash of everything that went into it.
    pub key: String,
    /// How long the compiler took; none when it came from the cache.
    pub built_in: Option<Duration>,
    /// What each kernel needs of the device, as the assembler counted it; empty for C.
    pub usage: Vec<Usage>,
    /// Each entry as it was asked for, with its symbol in the cubin.
    pub symbols: Vec<(String, String)>,
    /// Warnings worth showing, a few.
    pub warnings: Vec<String>,
}

impl Artifact {
    /// What the assembler counted for an entry, by the name it was asked for.
    pub fn usage_of(&self, entry: &str) -> Option<&Usage> {
        let (_, symbol) = self.symbols.iter().find(|(name, _)| name == entry)?;
        self.usage.iter().find(|usage| usage.symbol == *symbol)
    }

    /// The artifact whose files lie in `folder`.
    pub(crate) fn read(
        folder: &Utf8Path,
        product: &str,
        key: &str,
        built_in: Option<Duration>,
    ) -> Result<Artifact, Fault> {
        let log = words(&folder.join(LOG))?;
        let unread = |e: std::io::Error| Fault::new("reading the build cache", e).hint("empty it: kiln cache --clear");
        let symbols = serde_json::from_slice(&fs_err::read(folder.join(SYMBOLS)).map_err(unread)?);
        let sealed = fs_err::read_to_string(folder.join(SEAL)).map_err(unread)?;
        if sealed != hash(folder, product).map_err(unread)? {
            return Err(unread(std::io::Error::other(format!("{product} is not what was built"))));
        }
        Ok(Artifact {
            library: folder.join(product),
            key: key.to_string(),
            built_in,
            usage: usage(&log),
            symbols: symbols.map_err(|e| unread(e.into()))?,
            warnings: warnings(&log),
        })
    }

    /// Puts the product's hash beside it, so that damage is seen.
    pub(crate) fn seal(folder: &Utf8Path, product: &str) -> std::io::Result<()> {
        fs_err::write(folder.join(SEAL), hash(folder, product)?)
    }

    /// Puts what is not in the log beside the product.
    pub(crate) fn write_symbols(folder: &Utf8Path, symbols: &Symbols) -> std::io::Result<()> {
        fs_err::write(folder.join(SYMBOLS), serde_json::to_vec(symbols)?)
    }
}

fn hash(folder: &Utf8Path, product: &str) -> std::io::Result<String> {
    Ok(blake3::hash(&fs_err::read(folder.join(product))?).to_hex().to_string())
}
