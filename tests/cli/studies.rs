//! Names, tags and removal of studies: `kiln tune --name --tag`, `kiln studies`, `kiln history --tag`.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::history::{json, tiny, tune};
use crate::run::kiln_in;

/// What kiln prints on a terminal where somebody types this at its question, and its exit code.
fn on_terminal(folder: &Path, words: &[&str], typed: &str) -> String {
    const SCRIPT: &str = "import os, pty, sys
typed, *command = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execv(command[0], command)
seen, asked = b'', False
while True:
    try:
        found = os.read(terminal, 4096)
    except OSError:
        break
    if not found:
        break
    seen += found
    if not asked and b'[y/N]' in seen:
        asked = os.write(terminal, typed.encode()) > 0
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(seen.decode(), f'exit {code}')
";
    let mut command = Command::new("python3");
    command.args(["-c", SCRIPT, typed, env!("CARGO_BIN_EXE_kiln")]).args(words).current_dir(folder);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn a_study_is_named_tagged_found_and_deleted() {
    let folder = tiny("studies_named");
    let ran = tune(&folder, &["--name", "before-fix", "--tag", "h200", "--tag", "paper"]);
    assert!(matches!(ran.code, 0 | 4), "{}{}", ran.out, ran.err);
    // The name stands for the study wherever an id does.
    let shown = json(&folder, &["show", "before-fix", "--json"]);
    assert_eq!((&shown["study"]["name"], &shown["study"]["tags"]), (&json!("before-fix"), &json!(["h200", "paper"])));
    assert_eq!(kiln_in(&folder, &["check", "tiny", "--study", "before-fix"]).code, 0);
    let replay = kiln_in(&folder, &["tune", "tiny", "--replay", "before-fix", "--json"]);
    assert_eq!(replay.code, ran.code, "{}", replay.err);
    assert!(kiln_in(&folder, &["show", "before-fix"]).out.contains("tags    h200, paper"));
    let csv = kiln_in(&folder, &["show", "before-fix", "--csv"]).out;
    assert!(csv.starts_with("phase,number,state,gate,cost_ms,LANES,KEEP,POLY,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + shown["trials"].as_array().unwrap().len());

    // Names are taken once, and before any work is done.
    let again = tune(&folder, &["--name", "before-fix"]);
    assert_eq!(again.code, 2, "{}", again.err);
    assert!(again.err.contains("the name `before-fix` is taken"), "{}", again.err);
    for (name, why) in [("last", "always means the newest study"), ("", "it is empty"), ("abc", "mistaken for an id")] {
        let ran = tune(&folder, &["--name", name]);
        assert!(ran.code == 2 && ran.err.contains(why), "{name}: {}", ran.err);
    }
    assert_eq!(json(&folder, &["history", "--json"])["studies"].as_array().unwrap().len(), 1);

    let tagged = |tag: &str| json(&folder, &["history", "--tag", tag, "--json"])["studies"].as_array().unwrap().len();
    assert_eq!((tagged("h200"), tagged("none")), (1, 0));
    let ran = kiln_in(&folder, &["studies", "tag", "before-fix", "h200", "--remove"]);
    assert_eq!((ran.code, tagged("h200"), tagged("paper")), (0, 0, 1), "{}", ran.err);
    assert!(kiln_in(&folder, &["studies", "rename", "before-fix", "after-fix"]).out.contains("after-fix; paper"));
    assert_eq!(kiln_in(&folder, &["show", "before-fix"]).code, 1);
    assert!(kiln_in(&folder, &["history"]).out.contains("after-fix"));

    // Nobody can be asked here.
    let refused = kiln_in(&folder, &["studies", "delete", "after-fix"]);
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert!(refused.err.contains("deleting needs --yes"), "{}", refused.err);
    // On a terminal it asks, and anything but yes keeps the study.
    let said = on_terminal(&folder, &["studies", "delete", "after-fix"], "n\n");
    assert!(said.contains("[y/N]") && said.contains("nothing was deleted") && said.ends_with("exit 0\n"), "{said}");
    assert_eq!(json(&folder, &["history", "--json"])["studies"].as_array().unwrap().len(), 1);
    let deleted = kiln_in(&folder, &["studies", "delete", "after-fix", "last", "--yes"]);
    assert_eq!((deleted.code, deleted.out.lines().count()), (0, 1), "{}{}", deleted.out, deleted.err);
    assert!(deleted.out.starts_with("deleted study ") && deleted.out.contains(" of tiny, "), "{}", deleted.out);
    assert_eq!(json(&folder, &["history", "--json"])["studies"], json!([]));
    // Benchmarks, too.
    let ran = kiln_in(
        &folder,
        &["bench", "tiny", "--target", "cpu", "--samples", "25", "--max-samples", "25", "--width", "50"],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let run = json(&folder, &["history", "--json"])["runs"][0]["short_id"].as_str().unwrap().to_string();
    let deleted = kiln_in(&folder, &["studies", "delete", &run, "--yes"]);
    assert_eq!(deleted.out, format!("deleted run {run} of tiny\n"), "{}", deleted.err);
    assert_eq!(json(&folder, &["history", "--json"])["runs"], json!([]));
}
