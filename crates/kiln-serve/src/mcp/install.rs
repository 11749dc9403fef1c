//! kiln's entry in the settings of an assistant, and the skill file beside it. In: a client, the project's folder, how kiln is started. Out: the
//! files with their new text, written or only shown. What is in a file already stays, to the byte; only kiln's own entry changes. Refuses a
//! file that it cannot read as what it should be.

mod json;
mod toml;

use kiln_app::{Failure, Fault, Report, Utf8Path, Utf8PathBuf, program_name, write_whole};
use serde_json::{Value, json};

/// How to work with kiln honestly, for assistants that read skills.
const SKILL: &str = include_str!("install/skill.md");
/// The entry's name.
const NAME: &str = "kiln";

/// A client whose settings kiln knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Code, for the project.
    ClaudeCode,
    /// Claude Desktop, for the user.
    ClaudeDesktop,
    /// Cursor, for the project.
    Cursor,
    /// VS Code with GitHub Copilot, for the project.
    VsCode,
    /// Codex, for the project, once it is trusted there.
    Codex,
    /// Gemini CLI, for the project.
    Gemini,
    /// Windsurf, for the user.
    Windsurf,
    /// Zed, for the project.
    Zed,
    /// opencode, for the project.
    OpenCode,
}

/// A file as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Where.
    pub file: Utf8PathBuf,
    /// The whole of it.
    pub text: String,
    /// Whether it was written; false where it is so already, or was only to be shown.
    pub written: bool,
}

/// How a client starts kiln.
struct Start {
    command: String,
    arguments: Vec<String>,
}

/// Everything that differs from client to client.
struct Place {
    /// From the project's folder, or the user's where it begins with `~`.
    file: &'static str,
    section: &'static str,
    /// What stands for the project's folder; none where the client starts servers there.
    folder: Option<&'static str>,
    /// From the project's folder; none where the client reads no skills.
    skill: Option<&'static str>,
}

impl Client {
    /// Every client.
    pub const ALL: [Client; 9] = [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Cursor,
        Client::VsCode,
        Client::Codex,
        Client::Gemini,
        Client::Windsurf,
        Client::Zed,
        Client::OpenCode,
    ];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Cursor => "cursor",
            Client::VsCode => "vscode",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Windsurf => "windsurf",
            Client::Zed => "zed",
            Client::OpenCode => "opencode",
        }
    }

    fn place(self) -> Place {
        let mac = cfg!(target_os = "macos");
        let (file, section, folder, skill) = match self {
            Client::ClaudeCode => (".mcp.json", "mcpServers", None, Some(".claude/skills")),
            Client::ClaudeDesktop if mac => {
                ("~/Library/Application Support/Claude/claude_desktop_config.json", "mcpServers", Some(ROOT), None)
            }
            Client::ClaudeDesktop => ("~/.config/Claude/claude_desktop_config.json", "mcpServers", Some(ROOT), None),
            Client::Cursor => (".cursor/mcp.json", "mcpServers", Some("${workspaceFolder}"), Some(".cursor/skills")),
            Client::VsCode => (".vscode/mcp.json", "servers", Some("${workspaceFolder}"), Some(".github/skills")),
            Client::Codex => (".codex/config.toml", "mcp_servers", None, Some(".agents/skills")),
            Client::Gemini => (".gemini/settings.json", "mcpServers", None, Some(".gemini/skills")),
            Client::Windsurf => ("~/.codeium/windsurf/mcp_config.json", "mcpServers", Some(ROOT), None),
            Client::Zed => (".zed/settings.json", "context_servers", Some(ROOT), None),
            Client::OpenCode => ("opencode.json", "mcp", None, Some(".opencode/skills")),
        };
        Place { file, section, folder, skill }
    }

    fn entry(self, start: &Start) -> Value {
        let Start { command, arguments } = start;
        match self {
            Client::ClaudeCode | Client::VsCode => json!({ "type": "stdio", "command": command, "args": arguments }),
            Client::OpenCode => {
                let whole: Vec<&String> = [command].into_iter().chain(arguments).collect();
                json!({ "type": "local", "command": whole, "enabled": true })
            }
            Client::Zed => json!({ "source": "custom", "command": command, "args": arguments, "env": {} }),
            _ => json!({ "command": command, "args": arguments }),
        }
    }
}

/// Stands for the project's folder as it is now.
const ROOT: &str = ".";

/// Writes a client's settings, or with `only_show` gives what they would be. `more`: flags of `kiln mcp` that the client is to use.
pub fn install(client: Client, more: &[String], only_show: bool) -> Result<Vec<Installed>, Failure> {
    let root = Utf8Path::new(".").canonicalize_utf8()?;
    let home = std::env::var("HOME").ok().filter(|home| !home.is_empty()).map(Utf8PathBuf::from);
    into(client, &root, home.as_deref(), program_name()?, more, only_show)
}

fn into(
    client: Client,
    root: &Utf8Path,
    home: Option<&Utf8Path>,
    command: String,
    more: &[String],
    only_show: bool,
) -> Result<Vec<Installed>, Failure> {
    let place = client.place();
    let folder = place.folder.map(|folder| if folder == ROOT { root.to_string() } else { folder.into() });
    let arguments =
        ["mcp".to_string()].into_iter().chain(folder.into_iter().flat_map(|folder| ["--project".into(), folder]));
    let start = Start { command, arguments: arguments.chain(more.iter().cloned()).collect() };
    let file = match place.file.strip_prefix("~/") {
        None => root.join(place.file),
        Some(inner) => home
            .map(|home| home.join(inner))
            .ok_or_else(|| Fault::new("finding your settings", "HOME is not set").hint("set HOME, or use --print"))?,
    };
    let old = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(Fault::new(format!("reading {file}"), e).into()),
    };
    let entry = client.entry(&start);
    let edited = if file.extension() == Some("toml") {
        toml::with_entry(&old, place.section, NAME, &entry)
    } else {
        json::with_entry(&old, place.section, NAME, &entry)
    };
    let text = edited.map_err(|why| {
        Report::error(format!("{file} cannot be changed: {why}")).hint(format!(
            "put it right, or add the entry yourself: kiln mcp --install {} --print in an empty folder shows it",
            client.name()
        ))
    })?;
    let mut files = vec![(file, text)];
    files.extend(place.skill.map(|folder| (root.join(folder).join("kiln/SKILL.md"), SKILL.to_string())));
    let put = |(file, text): (Utf8PathBuf, String)| -> Result<Installed, Failure> {
        let same = std::fs::read_to_string(&file).is_ok_and(|now| now == text);
        if !only_show && !same {
            if let Some(folder) = file.parent() {
                std::fs::create_dir_all(folder).map_err(|e| Fault::new(format!("making {folder}"), e))?;
            }
            write_whole(&file, text.as_bytes())?;
        }
        Ok(Installed { file, text, written: !only_show && !same })
    };
    files.into_iter().map(put).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Folder {
            Folder(tempfile::tempdir().unwrap())
        }

        fn path(&self) -> Utf8PathBuf {
            Utf8Path::from_path(self.0.path()).unwrap().canonicalize_utf8().unwrap()
        }

        fn install(&self, client: Client, only_show: bool) -> Result<Vec<Installed>, Failure> {
            let home = self.path().join("home");
            into(client, &self.path(), Some(&home), "/opt/kiln".into(), &["--read-only".into()], only_show)
        }
    }

    fn read(file: &Installed) -> Value {
        match file.file.extension() {
            Some("toml") => {
                let table: ::toml_edit::DocumentMut = file.text.parse().unwrap();
                let own = &table["mcp_servers"]["kiln"];
                let arguments = own["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap());
                json!({ "mcp_servers": { "kiln": { "command": own["command"].as_str(), "args": arguments.collect::<Vec<_>>() } } })
            }
            _ => serde_json::from_str(&file.text).unwrap(),
        }
    }

    /// Each client: a new file, the same again, and a file with other people's entries.
    #[test]
    fn every_client_starts_this_kiln_and_keeps_what_it_had() {
        for client in Client::ALL {
            let folder = Folder::new();
            let place = client.place();
            let shown = folder.install(client, true).unwrap();
            assert!(shown.iter().all(|file| !file.written && !file.file.exists()), "{}", client.name());
            let files = folder.install(client, false).unwrap();
            assert_eq!(
                files.iter().map(|file| &file.text).collect::<Vec<_>>(),
                shown.iter().map(|file| &file.text).collect::<Vec<_>>()
            );
            let entry = read(&files[0])[place.section]["kiln"].clone();
            let words = entry.to_string();
            assert!(
                words.contains("/opt/kiln") && words.contains("\"mcp\"") && words.contains("--read-only"),
                "{words}"
            );
            assert_eq!(words.contains("--project"), place.folder.is_some(), "{words}");
            assert_eq!(files.len(), 1 + usize::from(place.skill.is_some()));
            assert!(folder.install(client, false).unwrap().iter().all(|file| !file.written), "{}", client.name());

            let other = Folder::new();
            let file = match place.file.strip_prefix("~/") {
                Some(inner) => other.path().join("home").join(inner),
                None => other.path().join(place.file),
            };
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            let (section, old) = (
                place.section,
                match file.extension() {
                    Some("toml") => "# mine\nmodel = \"m\"\n\n[mcp_servers.mine]\ncommand = \"x\" # why\n".to_string(),
                    _ => format!(
                        "{{\n    \"big\": 12345678901234567890123, \"pi\": 1.0,\n    \"{}\": {{\n        \"mine\": {{ \"command\": \"x\" }}\n    }}\n}}\n",
                        place.section
                    ),
                },
            );
            std::fs::write(&file, &old).unwrap();
            let new = other.install(client, false).unwrap().remove(0).text;
            // Every line that was there is there, but for a comma behind it.
            for line in old.lines() {
                assert!(
                    new.lines().any(|own| own.trim_end_matches(',') == line.trim_end_matches(',')),
                    "{section}: {line} is lost in\n{new}"
                );
            }
            assert!(new.contains("/opt/kiln"), "{new}");
        }
    }

    #[test]
    fn a_file_that_is_not_what_it_should_be_is_left_alone() {
        let folder = Folder::new();
        for (client, file, text) in [
            (Client::ClaudeCode, ".mcp.json", "{ \"mcpServers\": "),
            (Client::ClaudeCode, ".mcp.json", "{ \"mcpServers\": [] }"),
            (Client::ClaudeCode, ".mcp.json", "[]"),
            (Client::Codex, ".codex/config.toml", "model = "),
            (Client::Codex, ".codex/config.toml", "mcp_servers = 3"),
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            let said = folder.install(client, false).unwrap_err().to_string();
            assert!(said.contains("cannot be changed") && said.contains("hint:"), "{said}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn the_skill_has_the_head_that_clients_read_and_names_tools_that_there_are() {
        assert!(SKILL.starts_with("---\nname: kiln\ndescription: "));
        let named =
            SKILL.split('`').skip(1).step_by(2).filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        let known = |word: &str| super::super::tool::ALL.iter().any(|tool| tool.name == word);
        let mut tools = 0;
        for word in named.filter(|word| !word.is_empty()) {
            assert!(known(word) || NOT_TOOLS.contains(&word), "{word}");
            tools += usize::from(known(word));
        }
        assert!(tools >= 12, "{tools}");
    }

    /// Other words of the skill that are quoted.
    const NOT_TOOLS: [&str; 10] = [
        "faster",
        "same",
        "slower",
        "too_noisy",
        "inconclusive",
        "not_run",
        "kiln",
        "evidence",
        "may_claim",
        "not_checked",
    ];
}
