//! What people write is shown as what they wrote: names, tags, notes and remarks are text, wherever they appear.

use crate::browser::Browser;
use crate::http::{ask, get};
use crate::server::Server;
use crate::{copied, kiln, study};

const EVIL: &str = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'&";

#[test]
fn notes_and_remarks_are_recorded_and_are_text() {
    let folder = copied("words");
    let id = study(&folder);
    let server = Server::of(&folder);
    let token = server.token();
    let headers = [("x-kiln-token", token.as_str()), ("content-type", "application/json")];
    let send = |path: &str, body: serde_json::Value| ask(&server.at, "POST", path, &headers, &body.to_string());
    let note = send("/note", serde_json::json!({ "study": id, "text": EVIL }));
    assert_eq!(note.status, 201, "{}", note.body);
    let about = serde_json::json!({ "kind": "decision", "study": id });
    let remark =
        serde_json::json!({ "about": about, "reviewer": format!("Ada {EVIL}"), "text": format!("why? {EVIL}") });
    assert_eq!(send("/remark", remark.clone()).json()["added"], 1);
    assert_eq!(send("/remark", remark).json()["known"], 1);
    let answer = serde_json::json!({ "about": about, "reviewer": "Grace", "text": "because it is measured" });
    assert_eq!(send("/remark", answer).status, 201);
    let wrong = serde_json::json!({ "kind": "trial", "study": id, "phase": "search", "number": 99999 });
    let refused = send("/remark", serde_json::json!({ "about": wrong, "reviewer": "Ada", "text": "?" }));
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.contains("has no trial 99999"), "{}", refused.body);
    let page = get(&server.at, &format!("/study/{id}")).body;
    assert!(page.contains("&lt;script&gt;alert(2)") && page.contains("because it is measured"), "{page}");
    assert!(!page.contains("<img src=x") && !page.contains("<script>alert"), "{page}");
    // The command line has the same.
    let shown = String::from_utf8(kiln(&folder, &["show", &id, "--json"]).output().unwrap().stdout).unwrap();
    assert!(shown.contains("because it is measured") && shown.contains("alert(2)"), "{shown}");
}

#[test]
fn names_of_kernels_and_studies_are_text() {
    let folder = crate::folder("names");
    let kernel = folder.join("k");
    crate::copy_softmax(&kernel);
    let file = kernel.join("kernel.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let named = text.replacen("name = \"softmax\"", "name = \"<b>soft</b>\"", 1);
    std::fs::write(&file, &named).unwrap();
    let output =
        kiln(&folder, &["tune", "k", "--trials", "2", "--samples", "5", "--json", "--no-ablation"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) {
        // A name like this is refused where a kernel file is read: then no page can have it.
        assert!(said.contains("name"), "{said}");
        return;
    }
    let server = Server::of(&folder);
    let page = get(&server.at, "/").body;
    assert!(page.contains("&lt;b&gt;soft&lt;/b&gt;") && !page.contains("<b>soft"), "{page}");
}

#[test]
fn a_remark_goes_to_the_subject_that_was_chosen_whatever_comes_meanwhile() {
    let folder = copied("meanwhile");
    let Some(browser) = Browser::new("meanwhile") else { return };
    let (id, server) = (study(&folder), Server::of(&folder));
    let shown = kiln(&folder, &["show", &id, "--json"]).output().unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let full = shown["study"]["id"].as_str().unwrap();
    let trial = |at: usize| {
        let own = &shown["trials"][at];
        serde_json::json!({ "kind": "trial", "study": full, "phase": own["phase"], "number": own["number"] })
    };
    let token = server.token();
    let headers = [("x-kiln-token", token.as_str()), ("content-type", "application/json")];
    let say = |at: usize, text: &str| {
        let body = serde_json::json!({ "about": trial(at), "reviewer": "Ada", "text": text });
        assert_eq!(ask(&server.at, "POST", "/remark", &headers, &body.to_string()).status, 201);
    };
    say(0, "why this?");
    browser.open(&server.at, &format!("/study/{id}"));
    browser.until("document.getElementById('live')?.dataset.state === 'on'");
    let form = "document.querySelector('form[data-send=\"/remark\"]')";
    browser.run(&format!("const form = {form}; form.elements.about.value = [...form.elements.about.options].find((own) => own.textContent.includes('why this?')).value; form.elements.text.value = 'half'"));
    let chosen = browser.text(&format!("{form}.elements.about.value"));
    say(1, "and that?");
    say(0, "still unclear");
    browser.until(&format!("{form}.textContent.includes('and that?') && {form}.textContent.includes('still unclear')"));
    assert_eq!(browser.text(&format!("{form}.elements.about.value")), chosen);
    // What the server says of a mistake is there until something else is sent.
    browser.run(&format!("const form = {form}; form.noValidate = true; form.elements.reviewer.value = 'Eve'; form.elements.text.value = ' '; form.requestSubmit();"));
    browser.until(&format!("{form}.querySelector('output').textContent !== ''"));
    let said = browser.text(&format!("{form}.querySelector('output').textContent"));
    say(1, "news");
    browser.until("document.getElementById('notes').textContent.includes('news')");
    assert_eq!(browser.text(&format!("{form}.querySelector('output').textContent")), said);
}
