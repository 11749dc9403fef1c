//! The keyboard reaches everything, what has the focus is seen, and keys do what the list of keys says.

use crate::browser::{Browser, DOWN, END, ENTER, ESCAPE, RIGHT, TAB};
use crate::server::Server;
use crate::{studied, study};

/// What can be used: links, buttons, fields, folds, regions that scroll, and one point of each plot.
const USABLE: &str = "[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex=\"0\"]')].filter((own) => own.checkVisibility() && !own.closest('dialog:not([open])'))";

fn opened(browser: &Browser, server: &Server, path: &str) {
    browser.open(&server.at, path);
    browser.until("document.getElementById('live')?.dataset.state === 'on' && !document.body.dataset.reading");
}

#[test]
fn tab_reaches_everything_and_shows_where_it_is() {
    let Some(browser) = Browser::new("tab") else { return };
    let server = Server::of(studied());
    for path in ["/".to_string(), format!("/study/{}", study(studied()))] {
        opened(&browser, &server, &path);
        let all = browser.number(&format!("{USABLE}.length"));
        browser.run("window.reached = new Set(); window.unseen = []; document.addEventListener('focusin', (event) => { window.reached.add(event.target); const style = getComputedStyle(event.target); if (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 1) window.unseen.push(event.target.outerHTML.slice(0, 120)); });");
        let mut left = all as i64 + 5;
        while left > 0 {
            browser.keys(&[TAB; 20]);
            left -= 20;
        }
        let missed = browser.text(&format!(
            "{USABLE}.filter((own) => !window.reached.has(own)).map((own) => own.outerHTML.slice(0, 160)).join('\\n')"
        ));
        assert_eq!(missed, "", "{path}: of {all}");
        assert_eq!(browser.text("window.unseen.join('\\n')"), "", "{path}");
    }
}

#[test]
fn the_first_stop_skips_to_the_content() {
    let Some(browser) = Browser::new("skip") else { return };
    let server = Server::of(studied());
    opened(&browser, &server, "/");
    browser.keys(&[TAB]);
    assert_eq!(browser.text("document.activeElement.className"), "skip");
    browser.keys(&[ENTER]);
    browser.until("location.hash === '#main' && document.activeElement.id === 'main'");
}

#[test]
fn arrows_move_among_points_and_rows_and_enter_opens() {
    let Some(browser) = Browser::new("arrows") else { return };
    let server = Server::of(studied());
    opened(&browser, &server, &format!("/study/{}", study(studied())));
    browser.run("document.querySelector('svg [data-trial][tabindex=\"0\"]').focus()");
    let first = browser.text("document.activeElement.dataset.trial");
    browser.keys(&[END]);
    let last = browser.text("document.activeElement.dataset.trial");
    assert_ne!(first, last);
    browser.keys(&[RIGHT]);
    assert_eq!(browser.text("document.activeElement.dataset.trial"), last, "the last has no next");
    assert_eq!(
        browser.number("document.activeElement.closest('svg').querySelectorAll('[data-trial][tabindex=\"0\"]').length"),
        1.0
    );
    browser.until("!document.getElementById('tip').hidden");
    browser.keys(&[ENTER]);
    browser.until(&format!("new URLSearchParams(location.search).get('trial') === '{last}'"));
    browser.until("!document.body.dataset.reading");
    browser.run("document.querySelector('#trials tbody tr a').focus()");
    let row = browser.number("document.activeElement.closest('tr').rowIndex");
    browser.keys(&[DOWN]);
    assert_eq!(browser.number("document.activeElement.closest('tr').rowIndex"), row + 1.0);
}

#[test]
fn the_keys_are_shown_and_do_what_they_say() {
    let Some(browser) = Browser::new("keys") else { return };
    let server = Server::of(studied());
    opened(&browser, &server, &format!("/study/{}", study(studied())));
    browser.keys(&["?"]);
    browser.until("document.getElementById('keys').open");
    browser.keys(&[ESCAPE]);
    browser.until("!document.getElementById('keys').open");
    browser.keys(&["j"]);
    let first = browser.text("document.activeElement.id");
    browser.keys(&["j"]);
    assert_ne!(browser.text("document.activeElement.id"), first);
    browser.keys(&["k"]);
    assert_eq!(browser.text("document.activeElement.id"), first);
    browser.keys(&["/"]);
    browser.until("document.activeElement.closest('form[method=get]')");
    // In a field a letter is a letter.
    browser.run("document.querySelector('#sections [name=top]').focus()");
    browser.keys(&["g"]);
    assert_eq!(browser.text("document.activeElement.value"), "g");
    browser.run("document.activeElement.blur()");
    browser.keys(&["g"]);
    browser.until("location.pathname === '/'");
}
