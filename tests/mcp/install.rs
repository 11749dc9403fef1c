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

#[test]
fn what_the_user_has_is_kept_and_what_is_not_valid_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = project("install-kept");
    let (settings, skill) = (folder.join(".mcp.json"), folder.join(".claude/skills/kiln/SKILL.md"));
    for broken in [r#"{ "mcpServers": {}, "path": /bin/foo }"#, r#"{"mcpServers":{"x":{"command":"y" "args":[]}}}"#] {
        std::fs::write(&settings, broken).unwrap();
        let ran = installed(&folder, &["claude-code"]);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.code() == Some(2) && said.contains("cannot be changed: line 1"), "{said}");
        assert!(!skill.exists());
    }
    std::fs::write(&settings, r#"{"mcpServers":{"kiln":{"command":"kiln","args":["mcp"],"env":{"A":"1"}}}}"#).unwrap();
    std::fs::set_permissions(&settings, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::create_dir_all(skill.parent().unwrap()).unwrap();
    std::fs::write(&skill, "mine").unwrap();
    let ran = installed(&folder, &["claude-code", "--read-only"]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success() && said.contains("--force replaces it"), "{said}");
    assert_eq!(out(&ran).lines().count(), 1);
    assert_eq!(std::fs::read_to_string(&skill).unwrap(), "mine");
    let text = std::fs::read_to_string(&settings).unwrap();
    assert!(text.contains(r#""env":{"A":"1"}"#) && text.contains("--read-only"), "{text}");
    assert_eq!(std::fs::metadata(&settings).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(out(&installed(&folder, &["claude-code", "--read-only", "--force"])).contains("SKILL.md"));
    assert!(std::fs::read_to_string(&skill).unwrap().contains("name: kiln"));
}
