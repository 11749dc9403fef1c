//! kiln's documents, part of the binary: a client reads them without a network.

/// Pages by name.
pub(super) const DOCUMENTS: &[(&str, &str)] = &[
    ("bisect.md", include_str!("../../../../docs/bisect.md")),
    ("causes.md", include_str!("../../../../docs/causes.md")),
    ("ci.md", include_str!("../../../../docs/ci.md")),
    ("claims.md", include_str!("../../../../docs/claims.md")),
    ("coarse.md", include_str!("../../../../docs/coarse.md")),
    ("coming-from.md", include_str!("../../../../docs/coming-from.md")),
    ("comparing.md", include_str!("../../../../docs/comparing.md")),
    ("cookbook.md", include_str!("../../../../docs/cookbook.md")),
    ("decision-model.md", include_str!("../../../../docs/decision-model.md")),
    ("diagnosis.md", include_str!("../../../../docs/diagnosis.md")),
    ("editors.md", include_str!("../../../../docs/editors.md")),
    ("exit-codes.md", include_str!("../../../../docs/exit-codes.md")),
    ("export.md", include_str!("../../../../docs/export.md")),
    ("from.md", include_str!("../../../../docs/from.md")),
    ("fuzzing.md", include_str!("../../../../docs/fuzzing.md")),
    ("guide.md", include_str!("../../../../docs/guide.md")),
    ("history.md", include_str!("../../../../docs/history.md")),
    ("implementations.md", include_str!("../../../../docs/implementations.md")),
    ("json.md", include_str!("../../../../docs/json.md")),
    ("judging.md", include_str!("../../../../docs/judging.md")),
    ("kernel-toml.md", include_str!("../../../../docs/kernel-toml.md")),
    ("lessons.md", include_str!("../../../../docs/lessons.md")),
    ("mcp.md", include_str!("../../../../docs/mcp.md")),
    ("memory.md", include_str!("../../../../docs/memory.md")),
    ("next.md", include_str!("../../../../docs/next.md")),
    ("python.md", include_str!("../../../../docs/python.md")),
    ("quick-reference.md", include_str!("../../../../docs/quick-reference.md")),
    ("report.md", include_str!("../../../../docs/report.md")),
    ("reproducing.md", include_str!("../../../../docs/reproducing.md")),
    ("review.md", include_str!("../../../../docs/review.md")),
    ("sanitizing.md", include_str!("../../../../docs/sanitizing.md")),
    ("search.md", include_str!("../../../../docs/search.md")),
    ("serve.md", include_str!("../../../../docs/serve.md")),
    ("sessions.md", include_str!("../../../../docs/sessions.md")),
    ("space-benchmark.md", include_str!("../../../../docs/space-benchmark.md")),
    ("sweep.md", include_str!("../../../../docs/sweep.md")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_there() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut pages: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
        pages.sort();
        assert_eq!(pages, DOCUMENTS.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>());
    }
}
