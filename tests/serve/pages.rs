//! Pages and their sections without a browser: whole without the script, the same tag as long as nothing changes, and news for whoever listens.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use crate::http::{ask, get};
use crate::server::Server;
use crate::{copied, kiln, studied, study};

#[test]
fn a_page_is_whole_without_its_script() {
    let server = Server::of(studied());
    let id = study(studied());
    let list = get(&server.at, "/").body;
    assert!(list.starts_with("<!doctype html>") && list.contains(&format!("/study/{id}")), "{list}");
    let page = get(&server.at, &format!("/study/{id}")).body;
    for part in ["<svg", "data-trial=", "<table", "method=\"get\"", "id=\"trials\"", "class=\"skip\""] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // No script, style or handler within it: the policy would refuse them.
    for inline in ["<script>", "<style", " style=\"", " onclick", "javascript:"] {
        assert!(!page.contains(inline), "{inline}");
    }
    let script = get(&server.at, "/asset/page.js");
    assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
    assert!(page.contains("/asset/page.js?"));
}

#[test]
fn sections_have_a_tag_that_changes_when_they_do() {
    let folder = copied("tags");
    let (server, id) = (Server::of(&folder), study(&folder));
    let path = format!("/study/{id}/sections");
    let first = get(&server.at, &path);
    let tag = first.header("etag").unwrap().to_string();
    let ids = |answer: &crate::http::Answer| -> Vec<String> {
        let object = answer.json();
        object["sections"].as_array().unwrap().iter().map(|own| own["id"].as_str().unwrap().to_string()).collect()
    };
    assert!(ids(&first).contains(&"trials".to_string()));
    assert_eq!(ask(&server.at, "GET", &path, &[("if-none-match", &tag)], "").status, 304);
    assert!(kiln(&folder, &["studies", "rename", &id, "first-try"]).output().unwrap().status.success());
    let second = ask(&server.at, "GET", &path, &[("if-none-match", &tag)], "");
    assert_eq!(second.status, 200);
    assert_eq!(ids(&second), ids(&first));
    assert!(second.json()["title"].as_str().unwrap().contains("first-try"));
}

#[test]
fn a_change_by_another_process_is_news() {
    let folder = copied("news");
    let (server, id) = (Server::of(&folder), study(&folder));
    let mut stream = TcpStream::connect(&server.at).unwrap();
    write!(stream, "GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", server.at).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    lines.find(|line| line == "event: hello").unwrap();
    assert!(kiln(&folder, &["studies", "tag", &id, "paper"]).output().unwrap().status.success());
    let told = lines.find(|line| line.starts_with("data: {\"studies\"")).unwrap();
    assert!(told.contains(&id), "{told}");
}
