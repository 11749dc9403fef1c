//! Over HTTP: who has no token, calls the server by another name, or comes from another page, gets nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::folder::{KILN, Project, project};

struct Server {
    process: Child,
    address: String,
    token: String,
    _folder: Project,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `token`: the one that is given; without one the server makes its own.
fn serving(name: &str, token: Option<&str>, more: &[&str]) -> Server {
    let folder = project(name);
    let mut command = Command::new(KILN);
    command.args(["mcp", "--http", "127.0.0.1:0"]).args(more).current_dir(&*folder).stderr(Stdio::piped());
    match token {
        Some(token) => command.env("KILN_MCP_TOKEN", token),
        None => command.env_remove("KILN_MCP_TOKEN"),
    };
    let mut process = command.spawn().unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.next().unwrap();
    let address = line.strip_prefix("serving http://").and_then(|rest| rest.strip_suffix("/mcp")).unwrap().to_string();
    let token =
        token.map(String::from).unwrap_or_else(|| lines.next().unwrap().strip_prefix("token: ").unwrap().to_string());
    Server { process, address, token, _folder: folder }
}

impl Server {
    /// A request that is sent.
    fn asked(&self, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = headers.iter().any(|(name, _)| *name == "Host");
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !host {
            request += &format!("Host: {}\r\n", self.address);
        }
        headers.iter().for_each(|(name, value)| request += &format!("{name}: {value}\r\n"));
        stream.write_all(request.as_bytes()).unwrap();
        // A body that is refused may not be read to its end.
        let _ = stream.write_all(format!("\r\n{body}").as_bytes());
        stream
    }

    /// The status and the body of what comes back.
    fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let (status, body, _) = self.answered(path, headers, body);
        (status, body)
    }

    /// The same with the head.
    fn answered(&self, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String, String) {
        let mut stream = self.asked(path, headers, body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, rest) = answer.split_once("\r\n\r\n").unwrap_or((answer.as_str(), ""));
        let status = head.split_whitespace().nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        (status, rest.to_string(), head.to_string())
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

fn hello() -> String {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } },
    })
    .to_string()
}

#[test]
fn a_token_the_right_name_and_no_foreign_page_are_needed() {
    let server = serving("http", None, &[]);
    assert_eq!(server.token.len(), 64);
    let bearer = server.bearer();
    let own = ("Authorization", bearer.as_str());
    let wrong = format!("Bearer {}", "0".repeat(64));
    let status = |headers: &[(&str, &str)]| server.post("/mcp", headers, &hello()).0;
    assert_eq!(status(&[]), 401);
    assert_eq!(status(&[("Authorization", &wrong)]), 401);
    assert_eq!(status(&[("Authorization", &server.token)]), 401);
    assert_eq!(status(&[own, ("Host", "evil.example")]), 403);
    assert_eq!(status(&[own, ("Host", "evil.example:80")]), 403);
    assert_eq!(status(&[own, ("Origin", "http://evil.example")]), 403);
    assert_eq!(status(&[own, ("Origin", "null")]), 403);
    let (found, body) = server.post("/mcp", &[own], &hello());
    assert!(found == 200 && body.contains("\"serverInfo\""), "{found} {body}");
    let origin = format!("http://{}", server.address);
    assert_eq!(status(&[own, ("Origin", &origin)]), 200);
    assert_eq!(server.post("/", &[own], &hello()).0, 404);
    assert_eq!(server.post("/mcp/../../etc/passwd", &[own], &hello()).0, 404);
    assert_eq!(server.post("/mcp", &[own], &"x".repeat(5 << 20)).0, 413);
}

/// In the revision with sessions a client may take up an answer again; one that does not come back is given up.
#[test]
fn a_client_with_a_session_that_hangs_up_stops_its_work() {
    let server = serving("http-gone", Some("secret"), &[]);
    let own = ("Authorization", "Bearer secret");
    let (status, body, head) = server.answered("/mcp", &[own], &hello());
    assert_eq!(status, 200, "{body}");
    let session =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("mcp-session-id: ").map(String::from));
    let session = session.unwrap();
    let headers = [own, ("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    assert_eq!(server.post("/mcp", &headers, &ready).0, 202);
    let call = |id: u32, name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": id } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    let long = json!({ "path": "sample", "target": "cpu", "cases": 100_000, "configs": 1000, "minutes": 120 });
    let mut stream = server.asked("/mcp", &headers, &call(2, "fuzz", long));
    let mut heard = Vec::new();
    // What has told something has the lock.
    while !String::from_utf8_lossy(&heard).contains("notifications/progress") {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&heard));
        heard.extend_from_slice(&part[..read]);
    }
    let busy = |id: u32| {
        let rules = json!({ "path": "sample", "target": "cpu" });
        server.post("/mcp", &headers, &call(id, "gate", rules)).1.contains("busy: fuzz of sample")
    };
    assert!(busy(3));
    drop(stream);
    let mut id = 4;
    while busy(id) {
        id += 1;
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

#[test]
fn the_revision_without_a_handshake_is_spoken_and_a_name_can_be_allowed() {
    let server = serving("http-modern", Some("secret"), &["--allow-host", "gpu1.lab", "--read-only"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } }).to_string();
    let headers = [
        ("Authorization", "Bearer secret"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
        ("Host", "gpu1.lab"),
    ];
    let (status, body) = server.post("/mcp", &headers, &ask);
    assert_eq!(status, 200, "{body}");
    let begin = body.find("{\"jsonrpc\"").unwrap();
    let end = body[begin..].find(['\r', '\n']).map_or(body.len(), |end| begin + end);
    let message: Value = serde_json::from_str(&body[begin..end]).unwrap();
    let tools: Vec<&str> =
        message["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(
        tools.contains(&"describe") && !tools.contains(&"check") && message["result"]["ttlMs"].is_u64(),
        "{tools:?}"
    );
}
