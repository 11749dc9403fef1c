//! axe-core, run in a page: the faults that keep people from using it. In: a browser on a page. Out: those that are serious or critical.

use std::path::PathBuf;

use serde_json::Value;

use crate::browser::Browser;
use crate::root;

/// The script: where `$KILN_AXE` says, or in the environment that scripts/test.sh makes.
fn script() -> Option<String> {
    let named = std::env::var_os("KILN_AXE").map(PathBuf::from);
    let libraries = root().join("target/venv/lib");
    let folders = std::fs::read_dir(libraries).into_iter().flatten().flatten();
    let held = folders.map(|folder| folder.path().join("site-packages/axe_playwright_python/axe.min.js"));
    let file = named.into_iter().chain(held).find(|file| file.is_file());
    assert!(
        file.is_some() || std::env::var_os("KILN_NEED_BROWSER").is_none(),
        "no axe-core: scripts/test.sh --install"
    );
    std::fs::read_to_string(file?).ok()
}

/// Serious and critical faults of the page as it is seen now, with where they are.
pub(crate) fn faults(browser: &Browser) -> Vec<String> {
    let Some(script) = script() else { return Vec::new() };
    browser.run(&script);
    let found = browser.called(
        "const done = arguments[arguments.length - 1];
         axe.run(document, { resultTypes: ['violations'] }).then((found) => done(found.violations), (why) => done([{ id: String(why), impact: 'critical', nodes: [] }]));",
    );
    let grave = |fault: &&Value| matches!(fault["impact"].as_str(), Some("serious" | "critical"));
    let said = |fault: &Value| {
        let nodes: Vec<String> = fault["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .take(4)
            .map(|node| format!("{} {}", node["html"], node["failureSummary"]))
            .collect();
        format!("{}: {}", fault["id"], nodes.join("\n  "))
    };
    found.as_array().unwrap().iter().filter(grave).map(said).collect()
}
