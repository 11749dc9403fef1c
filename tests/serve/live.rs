//! A study that another process runs: it appears in the list, its points move, what is being typed stays, and its end is seen; and one that is killed.

use std::process::Stdio;

use crate::browser::Browser;
use crate::server::Server;
use crate::{folder, root, tuning};

#[test]
fn a_study_in_another_process_shows_up_and_moves() {
    let folder = folder("live");
    let Some(browser) = Browser::new("live") else { return };
    let server = Server::of(&folder);
    // The page is open before there is a store.
    browser.open(&server.at, "/");
    browser.until("document.getElementById('live')?.dataset.state === 'on'");
    browser.run("window.mine = true");
    let mut study = tuning(&folder, "30").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    browser.until("document.querySelector('#studies tbody a')");
    browser.until("/running/.test(document.querySelector('#studies tbody').textContent)");
    let path = browser.text("new URL(document.querySelector('#studies tbody a').href).pathname");
    assert_eq!(browser.text("window.mine"), "true", "the list was not loaded anew");

    browser.open(&server.at, &path);
    browser.run("window.mine = true");
    let points = "document.querySelectorAll('svg [data-trial]').length";
    browser.until(&format!("{points} >= 2"));
    let seen = browser.number(points);
    // Somebody is typing meanwhile, and has something open.
    browser.run("const text = document.querySelector('form[data-send=\"/note\"] textarea'); text.focus(); text.value = 'half a sen'; text.setSelectionRange(4, 4);");
    browser.until(&format!("{points} >= {}", seen + 4.0));
    let typed = browser.run("const own = document.activeElement; return [own.name, own.value, own.selectionStart]");
    assert_eq!(typed, serde_json::json!(["text", "half a sen", 4]));
    if std::env::var_os("KILN_PICTURES").is_some() {
        browser.picture(&root().join("docs/images/study-live.png"), 0.0, 1200, 900);
    }
    study.wait().unwrap();
    browser.until("/finished|reached|target/.test(document.getElementById('sections').textContent) && !/\\brunning\\b/.test(document.getElementById('sections').textContent)");
    assert_eq!(browser.text("window.mine"), "true", "the study was not loaded anew");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_study_whose_process_is_killed_is_seen_to_be_interrupted() {
    let folder = folder("killed");
    let Some(browser) = Browser::new("killed") else { return };
    let server = Server::of(&folder);
    let mut study = tuning(&folder, "500").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    browser.open(&server.at, "/");
    browser.until("/running/.test(document.querySelector('#studies tbody')?.textContent)");
    study.kill().unwrap();
    study.wait().unwrap();
    browser.until("/interrupted/.test(document.querySelector('#studies tbody').textContent)");
}
