//! What no client would send: no message ends the server, and none makes it panic.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::folder::{KILN, project};

/// Sends lines, then a question; gives the answer to that, and what was said on standard error.
fn answered(folder: &std::path::Path, lines: &[String]) -> (Value, String) {
    let mut server = Command::new(KILN)
        .arg("mcp")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    let hello = json!({
        "jsonrpc": "2.0", "id": "hello", "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } },
    });
    let ask = json!({ "jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": { "name": "describe", "arguments": { "path": "sample", "target": "cpu" } } });
    writeln!(stdin, "{hello}").unwrap();
    writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).unwrap();
    for line in lines {
        writeln!(stdin, "{line}").unwrap();
    }
    writeln!(stdin, "{ask}").unwrap();
    let answer = loop {
        let mut line = String::new();
        assert!(out.read_line(&mut line).unwrap() > 0, "the server went away");
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["id"] == "last" {
            break message;
        }
    };
    drop(stdin);
    let ended = server.wait_with_output().unwrap();
    assert!(ended.status.success(), "{:?}", ended.status);
    (answer, String::from_utf8_lossy(&ended.stderr).into_owned())
}

#[test]
fn nothing_that_is_sent_ends_the_server() {
    let folder = project("raw");
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"bench","arguments":{arguments}}}}}"#
        )
    };
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let lines = [
        call(r#"{"path":"sample","width":NaN}"#),
        call(r#"{"path":"sample","width":Infinity}"#),
        call(r#"{"path":"sample","width":1e999}"#),
        call(&format!(r#"{{"path":{deep}}}"#)),
        call(&format!(r#"{{"path":"{}"}}"#, "x".repeat(10_000_000))),
        call(&format!(r#"{{"path":"{}"}}"#, "x".repeat(20_000_000))),
        call(r#"{"path":"sample","path":"../.."}"#),
        call(r#""a string""#),
        call("[]"),
        "not json".into(),
        "{}".into(),
        "[]".into(),
        "null".into(),
        r#"{"jsonrpc":"1.0","id":2,"method":"tools/call"}"#.into(),
        r#"{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}"#.into(),
        r#"{"jsonrpc":"2.0","id":3,"method":"no/such/method"}"#.into(),
        r#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}"#.into(),
        "\u{0}\u{1}\u{2}".into(),
        String::new(),
    ];
    let (answer, said) = answered(&folder, &lines);
    assert!(answer["result"]["structuredContent"]["result"]["valid"].is_u64(), "{answer}");
    assert!(!said.contains("panicked"), "{said}");
}

/// In the revision without a handshake every request says for itself what it needs.
#[test]
fn results_without_a_handshake_have_what_that_revision_asks_for() {
    let folder = project("raw-modern");
    let mut server = Command::new(KILN)
        .arg("mcp")
        .current_dir(&*folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut ask = |method: &str, mut params: Value| -> Value {
        params["_meta"] = meta.clone();
        writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params })).unwrap();
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["id"], method, "{message}");
        message["result"].clone()
    };
    let found = ask("server/discover", json!({}));
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&"2026-07-28".into()) && versions.contains(&"2025-11-25".into()), "{found}");
    assert_eq!(found["resultType"], "complete");
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        let found = ask(method, json!({}));
        assert_eq!(
            (found["resultType"].as_str(), found["cacheScope"].as_str()),
            (Some("complete"), Some("private")),
            "{method}"
        );
        assert!(found["ttlMs"].is_u64(), "{method}");
    }
    let called = ask("tools/call", json!({ "name": "history", "arguments": {} }));
    assert_eq!((called["resultType"].as_str(), called["isError"].as_bool()), (Some("complete"), Some(false)));
    drop(stdin);
    assert!(server.wait().unwrap().success());
}
