//! SARIF 2.1.0: a result for each regression, at the kernel file's first line, as GitHub's code scanning reads it.

use serde_json::{Value, json};

use super::{ReportOutcome, ReportRow};

const RULE: &str = "performance-regression";

/// Rows as SARIF.
pub fn sarif(rows: &[ReportRow], version: &str) -> String {
    let result = |row: &ReportRow| {
        let uri = row.file.clone().unwrap_or_else(|| "kernel.toml".into());
        json!({
            "ruleId": RULE,
            "level": "error",
            "baselineState": "new",
            "message": { "text": format!("{}: {}", row.name(), row.words) },
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": { "uri": uri },
                    "region": { "startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2 },
                }
            }],
            // The same regression is the same alert, whatever its figures.
            "partialFingerprints": { "primaryLocationLineHash": format!("{}:1", hash(&row.name())) },
        })
    };
    let failed = rows.iter().filter(|row| row.outcome == ReportOutcome::Failed);
    let results: Vec<Value> = failed.map(result).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "kiln",
                "version": version,
                "rules": [{
                    "id": RULE,
                    "shortDescription": { "text": "The kernel became slower" },
                    "fullDescription": { "text": "A run takes more time than the run it was compared with, by more than the threshold, and the samples prove it." },
                    "help": { "text": "Compare the runs again with `kiln compare BASE CANDIDATE`; it prints the intervals and what else differs." },
                }],
            }},
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

/// FNV-1a: stable, and all that a fingerprint needs.
fn hash(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}
