//! `kiln mcp --install`: every client by its name, in a folder and a home of the test's own.

use std::path::Path;
use std::process::{Command, Output};

use crate::folder::{KILN, project};

fn installed(folder: &Path, words: &[&str]) -> Output {
    Command::new(KILN)
        .args(["mcp", "--install"])
        .args(words)
        .current_dir(folder)
        .env("HOME", folder.join("home"))
        .output()
        .unwrap()
}

fn out(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

#[test]
fn every_client_can_be_named_printed_and_written() {
    for client in
        ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini", "windsurf", "zed", "opencode"]
    {
        let folder = project(&format!("install-{client}"));
        let shown = installed(&folder, &[client, "--print"]);
        assert!(
            shown.status.success() && out(&shown).contains("kiln"),
            "{client}: {}",
            String::from_utf8_lossy(&shown.stderr)
        );
        assert!(!folder.join("home").exists(), "{client}");
        let wrote = installed(&folder, &[client]);
        let files: Vec<String> =
            out(&wrote).lines().map(|line| line.strip_prefix("wrote ").unwrap().to_string()).collect();
        assert!(wrote.status.success() && !files.is_empty(), "{client}");
        let text = std::fs::read_to_string(&files[0]).unwrap();
        assert!(out(&shown).contains(text.trim_end()), "{client}");
        assert!(out(&installed(&folder, &[client])).is_empty(), "{client}: written twice");
    }
    let folder = project("install-none");
    let ran = installed(&folder, &["emacs"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("claude-code"));
}
