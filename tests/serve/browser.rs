//! A real browser: Chromium without a window, driven through WebDriver. In: an address, scripts, keys. Out: what the page shows. None where there is no Chromium;
//! then the test is skipped, unless KILN_NEED_BROWSER is set.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::ask;

/// So long something may take to appear, on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(120);
/// What WebDriver calls an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

pub(crate) const TAB: &str = "\u{e004}";
pub(crate) const ENTER: &str = "\u{e007}";
pub(crate) const ESCAPE: &str = "\u{e00c}";
pub(crate) const RIGHT: &str = "\u{e014}";
pub(crate) const DOWN: &str = "\u{e015}";
pub(crate) const END: &str = "\u{e010}";

pub(crate) struct Browser {
    driver: Child,
    at: String,
    session: String,
    profile: PathBuf,
}

fn found(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let all: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().flat_map(|name| all.iter().map(move |folder| folder.join(name))).find(|file| file.is_file())
}

impl Browser {
    /// A new browser, which knows nothing. `name` is the test's.
    pub(crate) fn new(name: &str) -> Option<Browser> {
        let tools = found(&["chromium", "chromium-browser", "google-chrome"]).zip(found(&["chromedriver"]));
        let Some((chromium, driver)) = tools else {
            assert!(std::env::var_os("KILN_NEED_BROWSER").is_none(), "no chromium and chromedriver on the PATH");
            eprintln!("skipped: no chromium and chromedriver on the PATH");
            return None;
        };
        let profile = crate::folder(&format!("browser-{name}"));
        let mut driver =
            Command::new(driver).arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.unwrap();
            line.split_once("successfully on port ").map(|(_, rest)| rest.trim_end_matches('.').to_string())
        });
        // What it says later is of no interest, and must not block it.
        std::thread::spawn(move || lines.for_each(drop));
        let at = format!("127.0.0.1:{}", port.expect("chromedriver says its port"));
        let mut arguments: Vec<String> = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--force-device-scale-factor=1",
            "--window-size=1200,900",
        ]
        .map(String::from)
        .into();
        arguments.push(format!("--user-data-dir={}", profile.display()));
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "binary": chromium, "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let mut browser = Browser { driver, at, session: String::new(), profile };
        let begun = browser.post("/session", &wanted);
        browser.session = begun["sessionId"].as_str().unwrap().to_string();
        Some(browser)
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let path = if path == "/session" { path.to_string() } else { format!("/session/{}{path}", self.session) };
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let answer = ask(&self.at, method, &path, &[("content-type", "application/json")], &body);
        let value = answer.json()["value"].clone();
        if answer.status == 200 { Ok(value) } else { Err(format!("{path}: {}", value["message"])) }
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.request("POST", path, body).unwrap_or_else(|why| panic!("{why}"))
    }

    /// Opens a page of a server.
    pub(crate) fn open(&self, at: &str, path: &str) {
        self.post("/url", &json!({ "url": format!("http://{at}{path}") }));
    }

    /// What a script returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// What a script returns by calling back.
    pub(crate) fn called(&self, script: &str) -> Value {
        self.post("/execute/async", &json!({ "script": script, "args": [] }))
    }

    pub(crate) fn number(&self, expression: &str) -> f64 {
        self.run(&format!("return Number({expression})")).as_f64().unwrap_or(f64::NAN)
    }

    pub(crate) fn text(&self, expression: &str) -> String {
        self.run(&format!("return String({expression})")).as_str().unwrap().to_string()
    }

    /// Waits until an expression is true.
    pub(crate) fn until(&self, expression: &str) {
        let begun = Instant::now();
        while self.run(&format!("return Boolean({expression})")) != Value::Bool(true) {
            assert!(begun.elapsed() < PATIENCE, "never so: {expression}\n{}", self.text("document.body.innerText"));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Types keys, wherever the focus is.
    pub(crate) fn keys(&self, keys: &[&str]) {
        let strokes =
            |key: &&str| [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })];
        let actions: Vec<Value> = keys.iter().flat_map(strokes).collect();
        self.post("/actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// Clicks what a selector names.
    pub(crate) fn click(&self, selector: &str) {
        let element = self.post("/element", &json!({ "using": "css selector", "value": selector }));
        self.post(&format!("/element/{}/click", element[ELEMENT].as_str().unwrap()), &json!({}));
    }

    pub(crate) fn back(&self) {
        self.post("/back", &json!({}));
    }

    fn command(&self, name: &str, given: Value) -> Value {
        self.post("/goog/cdp/execute", &json!({ "cmd": name, "params": given }))
    }

    /// A window of a width in CSS pixels, and light or dark.
    pub(crate) fn as_seen(&self, width: u32, scheme: &str) {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.command("Emulation.setDeviceMetricsOverride", size);
        let features = json!({ "media": "", "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.command("Emulation.setEmulatedMedia", features);
    }

    /// What the console said since it was asked last, as far as it is a warning or an error.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({ "type": "browser" }));
        let of = |entry: &Value| format!("{} {}", entry["level"], entry["message"]);
        let grave = |entry: &&Value| entry["level"] == "SEVERE" || entry["level"] == "WARNING";
        log.as_array().unwrap().iter().filter(grave).map(of).collect()
    }

    /// A picture of the page from a height on, so many pixels of it.
    pub(crate) fn picture(&self, file: &Path, top: f64, width: u32, height: u32) {
        let clip = json!({ "x": 0, "y": top, "width": width, "height": height, "scale": 1 });
        let shot = self
            .command("Page.captureScreenshot", json!({ "format": "png", "clip": clip, "captureBeyondViewport": true }));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, decoded(shot["data"].as_str().unwrap())).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.request("DELETE", "", &Value::Null);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// Base 64.
fn decoded(text: &str) -> Vec<u8> {
    let (mut bytes, mut held, mut bits) = (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0);
    for c in text.bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    bytes
}
