//! The script, the style sheet and the icon: parts of the binary. In: a path. Out: the file; nothing is ever read from a disk.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// Where they are.
const FOLDER: &str = "/asset/";
const SCRIPT: &str = include_str!("asset/page.js");
const STYLE: &str = include_str!("asset/page.css");
const ICON: &str = include_str!("asset/icon.svg");

/// One of them.
#[derive(Clone, Copy)]
pub(super) enum Asset {
    Script,
    Style,
    Icon,
}

impl Asset {
    const ALL: [Asset; 3] = [Asset::Script, Asset::Style, Asset::Icon];

    fn name(self) -> &'static str {
        match self {
            Asset::Script => "page.js",
            Asset::Style => "page.css",
            Asset::Icon => "icon.svg",
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Asset::Script => "text/javascript; charset=utf-8",
            Asset::Style => "text/css; charset=utf-8",
            Asset::Icon => "image/svg+xml",
        }
    }

    fn text(self) -> String {
        match self {
            Asset::Script => SCRIPT.into(),
            Asset::Style => format!("{}\n{STYLE}", kiln_show::html::STYLE),
            Asset::Icon => ICON.into(),
        }
    }

    /// Its address, which is another one in the next version: browsers may keep it.
    pub(super) fn address(self) -> String {
        static EDITION: OnceLock<u64> = OnceLock::new();
        let edition = EDITION.get_or_init(|| {
            let mut all = DefaultHasher::new();
            Asset::ALL.iter().for_each(|one| one.text().hash(&mut all));
            all.finish()
        });
        format!("{FOLDER}{}?{edition:016x}", self.name())
    }
}

/// Whether a path is one of theirs.
pub(super) fn is_one(path: &str) -> bool {
    found(path).is_some()
}

fn found(path: &str) -> Option<Asset> {
    let name = path.strip_prefix(FOLDER)?;
    Asset::ALL.into_iter().find(|one| one.name() == name)
}

/// The asset of a name; none for any other.
pub(super) fn asset(path: &str) -> Option<Response> {
    let one = found(path)?;
    let headers = [(CONTENT_TYPE, one.kind()), (CACHE_CONTROL, "public, max-age=31536000, immutable")];
    Some((headers, one.text()).into_response())
}
