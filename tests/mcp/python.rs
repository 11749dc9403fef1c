//! The official Python SDK. Skipped, and said so, where Python has none; with KILN_NEED_MCP=1 that fails.

use std::process::Command;

use crate::folder::{KILN, project};

fn judged(mode: &str) {
    let python = std::env::var("KILN_PYTHON").unwrap_or_else(|_| "python3".into());
    let has = "import jsonschema, mcp; mcp.Client";
    if !Command::new(&python).args(["-c", has]).output().is_ok_and(|o| o.status.success()) {
        assert!(!std::env::var("KILN_NEED_MCP").is_ok_and(|v| v == "1"), "{python} has no mcp 2 with jsonschema");
        println!("skipped: {python} has no mcp 2 with jsonschema");
        return;
    }
    let folder = project(&format!("python-{mode}"));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/mcp/client.py");
    let ran = Command::new(&python).args([script, KILN]).arg(&*folder).arg(mode).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
    assert_eq!(out.trim(), format!("{mode}: 19 tools"));
}

#[test]
fn the_python_sdk_calls_every_tool_with_a_handshake() {
    judged("legacy");
}

#[test]
fn the_python_sdk_calls_every_tool_without_one() {
    judged("2026-07-28");
}
