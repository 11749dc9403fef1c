//! What is too much, malformed or nowhere: refused with a status that says so, and the server goes on.

use crate::http::{ask, get, raw};
use crate::server::Server;
use crate::{folder, kiln, studied, study};

#[test]
fn no_path_leads_to_a_file() {
    let server = Server::of(studied());
    for path in [
        "/../../etc/passwd",
        "/asset/../../../etc/passwd",
        "/asset/..%2f..%2fpage.js",
        "/asset/%2e%2e/page.js",
        "/asset//etc/passwd",
        "/.kiln/kiln.db",
        "/study/..%2F..%2F.kiln%2Fkiln.db",
        "/study/%2e%2e%2f%2e%2e",
        "/kernel/..%2F..%2Fetc%2Fpasswd",
        "/kernel/%2Fetc%2Fpasswd",
        "/kernel/..",
        "/session/..%2F..%2Fetc%2Fpasswd",
        "/study/last%00",
        "/study/%ff%fe",
    ] {
        let answer = get(&server.at, path);
        assert!((400..500).contains(&answer.status), "{path}: {} {}", answer.status, answer.body);
        assert!(!answer.body.contains("root:") && !answer.body.contains("SQLite format"), "{path}");
    }
    assert_eq!(get(&server.at, "/").status, 200);
    let damaged = ask(&server.at, "GET", "/study/%ff%fe", &[("accept", "text/html")], "");
    assert_eq!(damaged.status, 404, "{}", damaged.body);
    assert!(damaged.body.contains("<main") && damaged.body.contains("not valid UTF-8"), "{}", damaged.body);
}

#[test]
fn hostile_ids_and_filters_are_refused_in_words() {
    let server = Server::of(studied());
    let id = study(studied());
    let long = "x".repeat(5000);
    let none = ["'%20OR%201=1--", "none", "%3Cscript%3Ealert(1)%3C%2Fscript%3E", &long, "%25%25%25%25", "0000"];
    for name in none {
        let answer = ask(&server.at, "GET", &format!("/study/{name}"), &[("accept", "text/html")], "");
        assert_eq!(answer.status, 404, "{name}: {}", answer.body);
        assert!(!answer.body.contains("<script>alert"), "{name}");
        assert!(answer.body.contains("no study has that id or name"), "{name}: {}", answer.body);
    }
    for query in [
        "state=splendid",
        "page=0",
        "page=-1",
        "top=99999999999999999999",
        "gate=%00",
        "colour=red",
        "sort=x",
        "phase=zzz",
        "workload=zzz",
        "trial=zzz",
        "t.NOPE=1",
        "t.=1",
    ] {
        let answer = get(&server.at, &format!("/study/{id}/sections?{query}"));
        assert_eq!(answer.status, 400, "{query}: {}", answer.body);
        assert!(answer.json()["errors"][0]["message"].is_string(), "{query}");
    }
    assert_eq!(get(&server.at, &format!("/study/{id}/sections?page=1000")).status, 200);
}

#[test]
fn what_is_too_large_is_refused_and_the_server_goes_on() {
    let server = Server::of(studied());
    let token = server.token();
    let headers = [("x-kiln-token", token.as_str()), ("content-type", "application/json")];
    let post = |body: &str| ask(&server.at, "POST", "/note", &headers, body).status;
    assert_eq!(post(&format!("{{\"study\":\"last\",\"text\":\"{}\"}}", "x".repeat(100_000))), 413);
    assert_eq!(post(&format!("{{\"study\":\"last\",\"text\":\"{}\"}}", "x".repeat(20_000))), 400);
    for body in [
        "{",
        "[]",
        "{\"study\":\"last\"}",
        "{\"study\":\"last\",\"text\":\"  \"}",
        "{\"study\":\"last\",\"text\":\"\\u001b[2J\"}",
    ] {
        assert_eq!(post(body), 400, "{body}");
    }
    assert_eq!(post("{\"study\":\"last\",\"text\":\"a\",\"more\":1}"), 400);
    assert_eq!(post("{\"study\":\"none\",\"text\":\"a\"}"), 404);
    let large = format!("GET / HTTP/1.1\r\nHost: {}\r\nx: {}\r\n\r\n", server.at, "x".repeat(2_000_000));
    assert_eq!(raw(&server.at, large.as_bytes()).status, 431);
    let many: String = (0..5000).map(|at| format!("x{at}: 1\r\n")).collect();
    assert_eq!(raw(&server.at, format!("GET / HTTP/1.1\r\nHost: {}\r\n{many}\r\n", server.at).as_bytes()).status, 431);
    let path = format!("GET /{} HTTP/1.1\r\nHost: {}\r\n\r\n", "x".repeat(200_000), server.at);
    assert_eq!(raw(&server.at, path.as_bytes()).status, 414);
    assert_eq!(raw(&server.at, b"\x16\x03\x01\x02\x00 TLS?\r\n\r\n").status, 400);
    assert_eq!(ask(&server.at, "PUT", "/note", &headers, "{}").status, 405);
    assert_eq!(get(&server.at, "/").status, 200);
}

#[test]
fn where_nothing_is_recorded_the_page_says_how_to_begin() {
    let folder = folder("empty");
    let server = Server::of(&folder);
    let page = get(&server.at, "/");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("kiln tune"), "{}", page.body);
    assert_eq!(get(&server.at, "/study/last").status, 404);
    assert!(!folder.join(".kiln").exists(), "looking makes no store");
}

#[test]
fn ctrl_c_ends_it_and_a_port_in_use_is_named() {
    let server = Server::of(studied());
    let port = server.at.rsplit(':').next().unwrap().to_string();
    let output = kiln(studied(), &["serve", "--port", &port]).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains(&format!("port {port} is in use")) && words.contains("--port 0"), "{words}");
    let (code, words) = server.interrupted();
    assert_eq!(code, Some(130), "{words}");
}

#[test]
fn sessions_of_the_project_that_the_store_lies_in_are_shown_from_anywhere() {
    let elsewhere = folder("elsewhere");
    let store = studied().join(".kiln/kiln.db");
    let server = Server::with(&elsewhere, &["--store", store.to_str().unwrap()]);
    let page = get(&server.at, "/sessions").body;
    assert!(page.contains("1.2x") && !page.contains("No session is over yet"), "{page}");
    assert_eq!(get(&server.at, "/session/last").status, 200);
}

#[test]
fn a_session_is_shown_while_it_is_open() {
    let folder = folder("open-session");
    crate::copy_softmax(&folder.join("softmax"));
    let start = ["session", "start", "softmax", "--goal", "1.2x", "--budget", "1h", "--json"];
    assert!(kiln(&folder, &start).output().unwrap().status.success());
    let status = kiln(&folder, &["session", "status", "--json"]).output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    let id = status["session"]["id"].as_str().unwrap();
    let server = Server::of(&folder);
    assert_eq!(get(&server.at, &format!("/session/{}", &id[id.len() - 8..])).status, 200);
}

#[test]
fn a_kernel_with_a_mistake_keeps_its_page_and_a_study_is_no_run() {
    let folder = crate::copied("kernel-mistake");
    crate::copy_softmax(&folder.join("softmax"));
    let server = Server::of(&folder);
    assert_eq!(get(&server.at, "/kernel/softmax").status, 200);
    let file = folder.join("softmax/kernel.toml");
    let sound = std::fs::read_to_string(&file).unwrap();
    for (from, to, said) in [
        ("[kernel]", "[kernel", "cannot be said until the kernel can be read"),
        ("name = \"softmax\"", "name = \"other\"", "Studies"),
    ] {
        std::fs::write(&file, sound.replacen(from, to, 1)).unwrap();
        let page = get(&server.at, "/kernel/softmax");
        assert!(page.status == 200 && page.body.contains(said), "{} {}", page.status, page.body);
        assert!(page.body.contains(&study(&folder)), "{}", page.body);
    }
    std::fs::write(&file, &sound).unwrap();
    let bench = kiln(&folder, &["bench", "softmax", "--max-samples", "25"]).output().unwrap();
    let listed = kiln(&folder, &["history", "--json"]).output().unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let run = listed["runs"][0]["id"].as_str().unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&bench.stderr)));
    let run = run.to_string();
    let study = study(&folder);
    for (a, b) in [(&run, &study), (&study, &run)] {
        let answer = get(&server.at, &format!("/compare/sections?a={a}&b={b}"));
        assert_eq!(answer.status, 400, "{}", answer.body);
        assert!(answer.body.contains(&format!("`{study}` is a study")), "{}", answer.body);
    }
    assert_eq!(get(&server.at, &format!("/compare/sections?a={study}&b=none")).status, 404);
}
