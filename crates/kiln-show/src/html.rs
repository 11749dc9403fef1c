//! Views for a browser and for files: sections of words, tables and figures. In: what `kiln-app` looked up. Out: for each page its
//! sections, each with a stable id, as HTML or as Markdown; and a whole document that needs nothing else.
//!
//! A section is a list of [`Block`]s and not a string, because the page, the report in HTML and the report in Markdown
//! show the same things: what is said once cannot differ between them. Everything is drawn here, as SVG within HTML: no
//! script draws, so that a file opened from disk, a page and a screen reader have the same, and 100,000 trials cost the
//! browser no more than a thousand. Figures have a fixed size and scroll sideways where the window is narrower, so that
//! nothing moves while a page loads.

mod address;
mod block;
mod compare;
mod document;
mod filters;
pub(crate) mod kept;
mod kernel;
mod markdown;
mod markup;
mod plot;
mod png;
mod report;
mod session;
mod studies;
mod study;
mod table;
mod why;

pub use crate::picture::Canvas;
pub use block::{Block, Section};
pub use compare::{compare_runs_sections, compare_sections};
pub use document::{STYLE, document};
pub use kernel::kernel_sections;
pub use markdown::{Article, article};
pub use markup::escaped;
pub use plot::{Plot, lacking, plots};
pub use png::{is_figure, png};
pub use report::report_sections;
pub use session::{session_sections, sessions_sections};
pub use studies::studies_sections;
pub(crate) use study::searches::searches;
pub use study::study_sections;
pub use table::{Cell, Column, Row, Table};
pub use why::why_sections;

use jiff::tz::TimeZone;

/// Who looks, and from where.
#[derive(Debug, Clone)]
pub struct View {
    /// How kiln is called so that it finds the same store.
    pub kiln: String,
    /// Where the reader is.
    pub zone: TimeZone,
    /// Whether there is a server behind it: links lead to other views, and filters can be changed. A file has all it shows
    /// in itself.
    pub is_page: bool,
}

impl View {
    /// A page of `kiln serve`.
    pub fn page(kiln: &str) -> View {
        View { kiln: kiln.into(), zone: TimeZone::system(), is_page: true }
    }

    /// A file.
    pub fn file(kiln: &str) -> View {
        View { is_page: false, ..View::page(kiln) }
    }
}

pub use address::Address;
