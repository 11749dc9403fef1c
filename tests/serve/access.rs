//! Who may read and who may change something: not another site through its visitor's browser, not a name that only leads here, nobody without the token.

use crate::http::{ask, get, raw};
use crate::server::Server;
use crate::{copied, kiln, studied, study};

const NOTE: &str = "{\"study\":\"last\",\"text\":\"warm room\"}";
const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn every_answer_carries_what_keeps_browsers_from_harm() {
    let server = Server::of(studied());
    let paths = ["/", "/asset/page.js", "/none", "/study/none", "/sections", "/study/last/sections"];
    for path in paths {
        let answer = get(&server.at, path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{path}");
        assert!(answer.header("access-control-allow-origin").is_none(), "{path}");
    }
    assert_eq!(get(&server.at, "/").header("cache-control"), Some("no-store"));
}

#[test]
fn a_name_that_only_leads_here_is_refused() {
    let server = Server::of(studied());
    for (host, status) in [("evil.example", 421), ("evil.example:80", 421), ("10.0.0.1", 421), ("a b", 400), ("", 400)]
    {
        assert_eq!(ask(&server.at, "GET", "/", &[("host", host)], "").status, status, "{host}");
    }
    let port = server.at.rsplit(':').next().unwrap();
    assert_eq!(ask(&server.at, "GET", "/", &[("host", &format!("localhost:{port}"))], "").status, 200);
    // No host at all, and two of them.
    assert_eq!(raw(&server.at, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").status, 400);
    let two = format!("GET / HTTP/1.1\r\nConnection: close\r\nHost: {}\r\nHost: evil.example\r\n\r\n", server.at);
    assert_eq!(raw(&server.at, two.as_bytes()).status, 400);
    let named = Server::with(studied(), &["--name", "gpu7.lab"]);
    assert_eq!(ask(&named.at, "GET", "/", &[("host", "gpu7.lab")], "").status, 200);
    assert_eq!(ask(&named.at, "GET", "/", &[("host", "gpu8.lab")], "").status, 421);
}

#[test]
fn other_sites_are_refused_whatever_they_ask_for() {
    let server = Server::of(studied());
    let across = ("sec-fetch-site", "cross-site");
    let cases: [&[(&str, &str)]; 5] = [
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[across, ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "script")],
        &[across, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")],
        &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")],
    ];
    for headers in cases {
        for path in ["/", "/sections", "/events", "/asset/page.js"] {
            assert_eq!(ask(&server.at, "GET", path, headers, "").status, 403, "{path} {headers:?}");
        }
    }
    // A link from a document elsewhere is how people come here.
    let link = [across, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
    assert_eq!(ask(&server.at, "GET", "/", &link, "").status, 200);
    // What a browser asks before it sends such a request across sites is not granted.
    let before = [("origin", "http://evil.example"), ("access-control-request-method", "POST")];
    assert_eq!(ask(&server.at, "OPTIONS", "/note", &before, "").status, 403);
}

#[test]
fn a_change_needs_the_token_of_this_server() {
    let folder = copied("token");
    let server = Server::of(&folder);
    let token = server.token();
    let post = |headers: &[(&str, &str)], body: &str| {
        ask(&server.at, "POST", "/note", &[&[JSON][..], headers].concat(), body).status
    };
    assert_eq!(post(&[], NOTE), 403);
    assert_eq!(post(&[("x-kiln-token", "0")], NOTE), 403);
    assert_eq!(post(&[("cookie", &format!("kiln={token}"))], NOTE), 403);
    assert_eq!(post(&[("x-kiln-token", &token), ("origin", "http://evil.example")], NOTE), 403);
    let other = Server::of(&folder).token();
    assert_eq!(post(&[("x-kiln-token", &other)], NOTE), 403);
    let shown = || String::from_utf8(kiln(&folder, &["show", "last", "--json"]).output().unwrap().stdout).unwrap();
    assert!(!shown().contains("warm room"));
    let own = format!("http://{}", server.at);
    assert_eq!(post(&[("x-kiln-token", &token), ("origin", &own)], NOTE), 201);
    assert!(shown().contains("warm room"));
    // A form of another site can send these kinds without asking first.
    let form = [("content-type", "text/plain"), ("x-kiln-token", token.as_str())];
    assert_eq!(ask(&server.at, "POST", "/note", &form, NOTE).status, 400);
}

#[test]
fn another_address_needs_the_token_that_its_link_gives_once() {
    let server = Server::with(studied(), &["--address", "0.0.0.0"]);
    let token = server.said["token"].as_str().unwrap().to_string();
    assert!(server.said["link"].as_str().unwrap().ends_with(&format!("/?token={token}")));
    for path in ["/", "/sections", "/events", "/study/last", "/?token=wrong", "/?token="] {
        let answer = get(&server.at, path);
        assert_eq!(answer.status, 401, "{path}");
        assert!(!answer.body.contains(&token), "{path}");
    }
    assert_eq!(get(&server.at, "/asset/page.css").status, 200);
    let link = format!("/study/{}?state=passed&token={token}", study(studied()));
    let entered = get(&server.at, &link);
    // A page that leads on, not a redirect: along one from another site no cookie of ours is sent.
    assert_eq!((entered.status, entered.header("location")), (200, None));
    assert!(
        entered.body.contains("http-equiv=\"refresh\"") && entered.body.contains("?state=passed\""),
        "{}",
        entered.body
    );
    assert!(!entered.body.contains(&token), "{}", entered.body);
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(ask(&server.at, "GET", "/", &[("cookie", pair)], "").status, 200);
    assert_eq!(ask(&server.at, "GET", "/", &[("authorization", &format!("Bearer {token}"))], "").status, 200);
    assert_eq!(ask(&server.at, "POST", "/note", &[JSON, ("cookie", pair)], NOTE).status, 403);
    // Nobody is sent elsewhere by a link with the right token.
    let away = get(&server.at, &format!("//evil.example/?token={token}"));
    assert!(away.body.contains("url=/evil.example/") && !away.body.contains("url=//"), "{away:?}");
}
