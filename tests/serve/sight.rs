//! Every view of a study that has ended, as people see it: it opens without an error, its plots have points, its filters filter and are in the address, and
//! axe-core finds nothing serious; light and dark, wide and narrow. With KILN_PICTURES set, the pictures of the documents are made.

use crate::axe::faults;
use crate::browser::Browser;
use crate::server::Server;
use crate::{root, studied, study};

/// Views by a name for their pictures.
fn views(id: &str) -> Vec<(&'static str, String)> {
    let other = crate::earlier(studied());
    vec![
        ("studies", "/".into()),
        ("study", format!("/study/{id}")),
        ("why", format!("/study/{id}/why")),
        ("kernel", "/kernel/softmax".into()),
        ("compare", format!("/compare?a={other}&b={id}")),
        ("choose", "/compare".into()),
        ("sessions", "/sessions".into()),
        ("session", "/session/last".into()),
    ]
}

/// What docs/serve.md shows.
const PICTURED: [(&str, u32, &str); 5] = [
    ("studies", 1200, "light"),
    ("study", 1200, "light"),
    ("why", 1200, "light"),
    ("kernel", 1200, "light"),
    ("compare", 1200, "dark"),
];

#[test]
fn every_view_opens_light_and_dark_wide_and_narrow_without_a_fault() {
    let Some(browser) = Browser::new("views") else { return };
    let server = Server::of(studied());
    let pictures = std::env::var_os("KILN_PICTURES").is_some();
    for (name, path) in views(&study(studied())) {
        for (width, scheme) in [(1200, "light"), (1200, "dark"), (400, "light"), (400, "dark")] {
            browser.as_seen(width, scheme);
            browser.open(&server.at, &path);
            browser.until("document.getElementById('live')?.dataset.state === 'on'");
            let found = faults(&browser);
            assert!(found.is_empty(), "{name} {width} {scheme}:\n{}", found.join("\n"));
            // Nothing but what is meant to scroll is wider than the window.
            let wide = browser.number("document.documentElement.scrollWidth");
            assert!(wide <= f64::from(width), "{name} at {width}: {wide} wide");
            assert_eq!(browser.complaints(), Vec::<String>::new(), "{name} {width} {scheme}");
            if pictures && PICTURED.contains(&(name, width, scheme)) {
                let file = root().join(format!("docs/images/{name}-{width}-{scheme}.png"));
                // A study's begins where its plots do.
                let from = if name == "study" { "convergence" } else { "" };
                let top = browser.number(&format!("document.getElementById('{from}')?.offsetTop ?? 0"));
                let height = (browser.number("document.documentElement.scrollHeight") - top).min(1300.0);
                browser.picture(&file, top, width, height as u32);
            }
        }
    }
}

#[test]
fn a_long_name_in_a_title_does_not_widen_the_page() {
    let Some(browser) = Browser::new("title") else { return };
    let server = Server::of(studied());
    browser.as_seen(400, "light");
    browser.open(&server.at, &format!("/study/{}", study(studied())));
    browser.until("document.getElementById('live')?.dataset.state === 'on'");
    browser.run("document.querySelector('#study h2').textContent = 'warp_specialised_'.repeat(8)");
    let wide = browser.number("document.documentElement.scrollWidth");
    assert!(wide <= 400.0, "{wide} wide");
}

#[test]
fn plots_have_points_and_a_point_opens_its_trial() {
    let Some(browser) = Browser::new("points") else { return };
    let server = Server::of(studied());
    browser.open(&server.at, &format!("/study/{}", study(studied())));
    browser.until("document.getElementById('live')?.dataset.state === 'on'");
    assert!(browser.number("document.querySelectorAll('svg.plot').length") >= 1.0);
    assert!(browser.number("document.querySelectorAll('svg [data-trial]').length") >= 10.0);
    let trial = browser.text("document.querySelector('svg [data-trial]').dataset.trial");
    browser.click("svg [data-trial] circle");
    browser.until("new URLSearchParams(location.search).has('trial')");
    browser
        .until("[...document.querySelectorAll('#trials summary')].some((own) => own.textContent.startsWith('Trial '))");
    assert!(!trial.is_empty());
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn filters_filter_are_in_the_address_and_the_way_back_undoes_them() {
    let Some(browser) = Browser::new("filters") else { return };
    let server = Server::of(studied());
    let path = format!("/study/{}", study(studied()));
    browser.open(&server.at, &path);
    browser.until("document.getElementById('live')?.dataset.state === 'on'");
    let rows = "document.querySelectorAll('#trials tbody tr').length";
    let all = browser.number(rows);
    assert!(all > 5.0, "{all} rows");
    browser.run("const top = document.querySelector('#sections [name=top]'); top.value = '3'; top.dispatchEvent(new Event('change', { bubbles: true }));");
    browser.until("location.search === '?top=3'");
    browser.until(&format!("{rows} === 3"));
    browser.run("const state = document.querySelector('#sections [name=state]'); state.value = 'refused'; state.dispatchEvent(new Event('change', { bubbles: true }));");
    browser.until("location.search === '?state=refused&top=3'");
    browser.until(&format!("{rows} === 0"));
    browser.back();
    browser.until(&format!("location.search === '?top=3' && {rows} === 3"));
    browser.until("document.querySelector('#sections [name=state]').value === ''");
    browser.back();
    browser.until(&format!("location.search === '' && {rows} === {all}"));
    // Whoever opens the address sees the same, without the script too.
    browser.open(&server.at, &format!("{path}?top=3"));
    assert_eq!(browser.number(rows), 3.0);
    // A filter that is wrong is said, and what was shown stays.
    browser.run("history.pushState(null, '', '?top=x'); dispatchEvent(new PopStateEvent('popstate'));");
    browser.run(
        "const top = document.querySelector('#sections [name=top]'); top.value = 'many'; top.form.requestSubmit();",
    );
    browser.until("document.getElementById('alert')?.textContent.includes('top')");
    assert_eq!(browser.number(rows), 3.0);
    // Sorting is a link, and does not load the page anew.
    browser.run("window.mine = true");
    browser.run(
        "document.querySelector('#sections [name=top]').value = ''; document.querySelector('#trials thead a').click();",
    );
    browser.until("location.search.includes('sort=')");
    assert_eq!(browser.text("window.mine"), "true");
}

#[test]
fn what_is_said_on_the_page_is_recorded_and_shown() {
    let folder = crate::copied("said");
    let Some(browser) = Browser::new("said") else { return };
    let server = Server::of(&folder);
    browser.open(&server.at, &format!("/study/{}", study(&folder)));
    browser.until("document.getElementById('live')?.dataset.state === 'on'");
    browser.run("const form = document.querySelector('form[data-send=\"/note\"]'); form.elements.text.value = 'the room was <b>warm</b>'; form.requestSubmit();");
    browser.until("document.getElementById('notes')?.textContent.includes('the room was <b>warm</b>')");
    browser.run("const form = document.querySelector('form[data-send=\"/remark\"]'); form.elements.reviewer.value = 'Ada'; form.elements.text.value = 'why this one?'; form.requestSubmit();");
    browser.until("document.getElementById('notes').textContent.includes('why this one?')");
    // An answer goes to the same subject.
    browser.until("[...document.querySelectorAll('form[data-send=\"/remark\"] option')].some((own) => own.textContent.startsWith('answer Ada'))");
    browser.run("const form = document.querySelector('form[data-send=\"/remark\"]'); const own = [...form.elements.about.options].find((own) => own.textContent.startsWith('answer Ada')); own.selected = true; form.elements.reviewer.value = 'Grace'; form.elements.text.value = 'it is measured'; form.requestSubmit();");
    browser.until("document.getElementById('notes').textContent.includes('it is measured')");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_filter_stays_at_the_address_that_was_typed_and_the_way_back_shows_it() {
    let Some(browser) = Browser::new("typed") else { return };
    let server = Server::of(studied());
    browser.open(&server.at, "/study/last");
    browser.until("document.getElementById('live')?.dataset.state === 'on'");
    browser.run("window.mine = true; const sort = document.querySelector('#sections [name=sort]'); sort.value = 'fastest'; sort.dispatchEvent(new Event('change', { bubbles: true }));");
    browser.until("location.search === '?sort=fastest'");
    assert_eq!(browser.text("location.pathname"), "/study/last");
    assert_eq!(browser.text("window.mine"), "true", "the page was not loaded anew");
    browser.back();
    browser.until("location.search === ''");
    // To another page and back: the browser fills in what fields held.
    browser.run("document.querySelector('#sections [name=sort]').value = 'slowest'");
    browser.open(&server.at, "/sessions");
    browser.back();
    browser.until("location.pathname === '/study/last' && document.readyState === 'complete'");
    browser.until("document.querySelector('#sections [name=sort]').value === ''");
}

/// A page of another site that holds a link.
fn foreign(link: String) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let page = format!("<!doctype html><title>mail</title><a href=\"{link}\">the page</a>");
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
                page.len()
            );
        }
    });
    at
}

#[test]
fn the_link_with_the_token_works_from_another_site() {
    let Some(browser) = Browser::new("link") else { return };
    let server = Server::with(studied(), &["--token"]);
    let token = server.said["token"].as_str().unwrap();
    // Another site than the one that the link names: an address is none of a name.
    let port = server.at.rsplit(':').next().unwrap();
    let mail = foreign(format!("http://localhost:{port}/?token={token}"));
    browser.open(&mail, "/");
    browser.click("a");
    browser.until("location.hostname === 'localhost' && document.getElementById('studies')");
    assert_eq!(browser.text("location.search"), "");
}
