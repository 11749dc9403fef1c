//! What no client would send: no message ends the server, and none makes it panic.

use std::collections::BTreeMap;
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

/// A client that waits for an answer gets one, whatever it sent.
#[test]
fn what_is_no_message_is_answered() {
    let folder = project("raw-answered");
    let mut server = Command::new(KILN)
        .arg("mcp")
        .current_dir(&*folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    let mut ask = |line: &[u8]| {
        stdin.write_all(line).unwrap();
        stdin.write_all(b"\n").unwrap();
        let mut line = String::new();
        assert!(out.read_line(&mut line).unwrap() > 0, "the server went away");
        serde_json::from_str::<Value>(&line).unwrap()
    };
    // Before the handshake too.
    assert_eq!(ask(b"not json")["error"]["code"], -32700);
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } },
    });
    assert!(ask(hello.to_string().as_bytes())["result"].is_object());
    let call = |id: u32, arguments: &str| {
        let params = format!(r#"{{"name":"describe","arguments":{arguments}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#).into_bytes()
    };
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let mut odd = call(5, r#"{"path":"X"}"#);
    let at = odd.iter().position(|byte| *byte == b'X').unwrap();
    odd[at] = 0xff;
    for (line, id, code) in [
        (b"{".to_vec(), Value::Null, -32700),
        (call(1, r#"{"path":NaN}"#), json!(1), -32700),
        (call(2, r#"{"path":1e999}"#), json!(2), -32700),
        (call(3, &format!(r#"{{"path":{deep}}}"#)), json!(3), -32700),
        (call(4, &format!(r#"{{"path":"{}"}}"#, "x".repeat(20_000_000))), json!(4), -32600),
        (odd, json!(5), -32700),
        (br#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{}}"#.to_vec(), json!(6), -32602),
        (br#"{"jsonrpc":"2.0","id":"seven","method":"tools/call"}"#.to_vec(), json!("seven"), -32602),
        (call(8, r#"["path"]"#), json!(8), -32602),
        (br#"{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{}}"#.to_vec(), json!(9), -32602),
        (br#"{"jsonrpc":"2.0","id":10,"method":"no/such/method"}"#.to_vec(), json!(10), -32601),
    ] {
        let answer = ask(&line);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{answer}");
    }
    assert!(ask(&call(11, r#"{"path":"sample","target":"cpu"}"#))["result"]["structuredContent"]["result"].is_object());
    drop(stdin);
    assert!(server.wait().unwrap().success());
}

/// Every file and folder with when it was changed, but for the store, whose engine folds its own journal when somebody reads.
fn changed(folder: &std::path::Path) -> BTreeMap<std::path::PathBuf, std::time::SystemTime> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        // Files of the journal come and go in the folder of the store.
        if !folder.ends_with(".kiln") {
            found.insert(folder.clone(), folder.metadata().unwrap().modified().unwrap());
        }
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let about = entry.metadata().unwrap();
            match about.is_dir() {
                true => left.push(entry.path()),
                false if entry.file_name().to_string_lossy().starts_with("kiln.db") => {}
                false => drop(found.insert(entry.path(), about.modified().unwrap())),
            }
        }
    }
    found
}

#[test]
fn a_server_that_only_looks_touches_neither_git_nor_the_cache() {
    let folder = project("raw-looking");
    let run = |program: &str, words: &[&str]| {
        let ran = Command::new(program).args(words).current_dir(&*folder).output().unwrap();
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    run(KILN, &["gate", "sample", "--target", "cpu"]);
    run("git", &["init", "-q"]);
    run("git", &["add", "sample"]);
    run("git", &["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "commit", "-qm", "sample"]);
    // Same bytes, another time: git would note that they are the same.
    let file = folder.join("sample/kernel.toml");
    let text = std::fs::read(&file).unwrap();
    std::fs::write(&file, text).unwrap();
    let before = changed(&folder);
    let mut server = Command::new(KILN)
        .args(["mcp", "--read-only"])
        .current_dir(&*folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    let mut ask = |method: &str, params: Value| {
        writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).unwrap();
        let mut line = String::new();
        assert!(out.read_line(&mut line).unwrap() > 0, "the server went away");
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert!(answer["result"].is_object() && answer["result"]["isError"] != true, "{answer}");
    };
    let client = json!({ "name": "raw", "version": "1" });
    ask("initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }));
    ask("tools/call", json!({ "name": "doctor", "arguments": { "path": "sample" } }));
    ask("tools/call", json!({ "name": "next", "arguments": { "kernel": "sample" } }));
    ask("resources/read", json!({ "uri": "kiln://reports/sample" }));
    drop(stdin);
    assert!(server.wait().unwrap().success());
    assert_eq!(changed(&folder), before);
}
