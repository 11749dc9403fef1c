//! HTTP by hand: what is sent is what the test says, byte for byte.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

/// Sends bytes and reads what comes until the other side has said all.
pub(crate) fn raw(at: &str, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    // A server that refuses what is too long may close before all of it is sent.
    let _ = stream.write_all(bytes);
    let mut all = Vec::new();
    let mut piece = [0; 16384];
    loop {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(read) => all.extend_from_slice(&piece[..read]),
        }
        if whole(&all) {
            break;
        }
    }
    parsed(&all)
}

/// A request with some headers, `Host` being the server's own where the headers have none.
pub(crate) fn ask(at: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text += &format!("Host: {at}\r\n");
    }
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    if !body.is_empty() {
        text += &format!("Content-Length: {}\r\n", body.len());
    }
    raw(at, format!("{text}\r\n{body}").as_bytes())
}

pub(crate) fn get(at: &str, path: &str) -> Answer {
    ask(at, "GET", path, &[], "")
}

fn split(all: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = all.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some((&all[..at], &all[at + 4..]))
}

/// Whether as much has come as was announced.
fn whole(all: &[u8]) -> bool {
    let Some((head, body)) = split(all) else { return false };
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    length.is_some_and(|length| body.len() >= length)
}

fn parsed(all: &[u8]) -> Answer {
    let (head, body) = split(all).unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(all)));
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let pair =
        |line: &str| line.split_once(':').map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_string()));
    let headers: Vec<(String, String)> = lines.filter_map(pair).collect();
    let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if chunked { joined(body) } else { body.to_vec() };
    Answer { status, headers, body: String::from_utf8_lossy(&body).into_owned() }
}

fn joined(mut rest: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(String::from_utf8_lossy(&rest[..end]).trim(), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        all.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 4 + size..];
    }
    all
}
