//! What can be read without a tool: kiln's documents, the schema of kernel.toml, studies, reports. In: an address. Out: text. Refuses an address
//! that names nothing.

use kiln_app::{HistoryRequest, reported, schema};
use kiln_show::html::{View, article, report_sections};
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use super::documents::DOCUMENTS;
use super::server::{Shared, refused};
use super::tools::records::{history_object, recorded};

const SCHEMA: &str = "kiln://schema/kernel.toml";
const STUDIES: &str = "kiln://studies";
const STUDY: &str = "kiln://studies/";
const REPORT: &str = "kiln://reports/";
const DOCUMENT: &str = "kiln://docs/";
/// Studies in a list.
const NEWEST: u32 = 50;
/// Characters of a study's name.
const LONGEST: usize = 200;

/// Everything that is there now.
pub(super) fn list(shared: &Shared) -> Vec<Resource> {
    let mut all = vec![
        Resource::new(SCHEMA, "kernel.toml.schema")
            .with_title("Schema of kernel.toml")
            .with_mime_type("application/schema+json"),
        Resource::new(STUDIES, "studies")
            .with_title("Studies and benchmarks")
            .with_description("what `kiln history --json` prints")
            .with_mime_type("application/json"),
    ];
    all.extend(DOCUMENTS.iter().map(|(name, text)| {
        let title = text.lines().next().unwrap_or(name).trim_start_matches(['#', ' ']);
        Resource::new(format!("{DOCUMENT}{name}"), *name)
            .with_title(title)
            .with_mime_type("text/markdown")
            .with_size(text.len() as u64)
    }));
    // A store that cannot be read has nothing to list; reading it says why.
    let request = HistoryRequest { limit: NEWEST, ..HistoryRequest::default() };
    let found = history_object(&shared.project, &shared.kiln, &request).unwrap_or_default();
    for study in found["studies"].as_array().into_iter().flatten() {
        let text = |key: &str| study[key].as_str().unwrap_or_default();
        let title = format!("{} {} ({})", text("kernel"), text("started"), text("state"));
        let id = text("id");
        all.push(
            Resource::new(format!("{STUDY}{id}"), format!("study-{id}"))
                .with_title(title.clone())
                .with_mime_type("application/json"),
        );
        all.push(
            Resource::new(format!("{REPORT}{id}"), format!("report-{id}"))
                .with_title(format!("Report: {title}"))
                .with_mime_type("text/markdown"),
        );
    }
    all
}

/// Addresses with a part to fill in.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{STUDY}{{study}}"), "study")
            .with_description(
                "a study or a benchmark, as `kiln show --json` prints it: an id, a name, `last`, or a kernel's name",
            )
            .with_mime_type("application/json"),
        ResourceTemplate::new(format!("{REPORT}{{study}}"), "report")
            .with_description(
                "the report of a study, a kernel or a session (`session`, or its id) for a reader: what was asked, tried, \
                 refused, measured and confirmed",
            )
            .with_mime_type("text/markdown"),
        ResourceTemplate::new(format!("{REPORT}{{study}}/{{figure}}.svg"), "figure")
            .with_description("a figure of a report, by the address it has there")
            .with_mime_type("image/svg+xml"),
        ResourceTemplate::new(format!("{DOCUMENT}{{page}}"), "docs")
            .with_description("a page of kiln's documents")
            .with_mime_type("text/markdown"),
    ]
}

/// What an address stands for.
pub(super) fn read(shared: &Shared, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let short: String = uri.chars().take(LONGEST).collect();
    let unknown = |hint: &str| ErrorData::resource_not_found(format!("there is no resource {short}; {hint}"), None);
    let name = |words: &str| match words.chars().count() {
        1..=LONGEST => Ok(words.to_string()),
        _ => Err(unknown("expected the id or the name of a study")),
    };
    let (text, kind) = if uri == SCHEMA {
        (format!("{:#}\n", schema()), "application/schema+json")
    } else if uri == STUDIES {
        let request = HistoryRequest { limit: NEWEST, ..HistoryRequest::default() };
        let found = history_object(&shared.project, &shared.kiln, &request).map_err(|failure| refused(&failure))?;
        (format!("{found:#}\n"), "application/json")
    } else if let Some(study) = uri.strip_prefix(STUDY) {
        let (found, _) = recorded(&shared.project, &shared.kiln, &name(study)?).map_err(|failure| refused(&failure))?;
        (format!("{found:#}\n"), "application/json")
    } else if let Some(words) = uri.strip_prefix(REPORT) {
        let (of, figure) = match words.rsplit_once('/') {
            Some((of, file)) if file.ends_with(".svg") => (of, Some(file)),
            _ => (words, None),
        };
        let mut study = name(of)?;
        if shared.place.is_path(&study) {
            study = shared.place.inside(&study).map_err(|report| refused(&report.into()))?.into_string();
        }
        let found = reported(&shared.project, &study).map_err(|failure| refused(&failure))?;
        let (title, sections) = report_sections(&found, &View::file(&shared.kiln));
        let whole = article(&title, &sections, &format!("{REPORT}{of}"));
        match figure {
            None => (whole.text, "text/markdown"),
            Some(file) => {
                let drawn = whole.figures.into_iter().find(|(own, _)| own == file);
                (drawn.ok_or_else(|| unknown("the report names its figures"))?.1, "image/svg+xml")
            }
        }
    } else if let Some(page) = uri.strip_prefix(DOCUMENT) {
        let found = DOCUMENTS.iter().find(|(own, _)| own == &page || own.strip_suffix(".md") == Some(page));
        let (_, text) = found.ok_or_else(|| unknown("resources/list names the pages"))?;
        ((*text).to_string(), "text/markdown")
    } else {
        return Err(unknown("resources/list names what there is"));
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)]))
}
