//! kiln's entry in the settings of an assistant, and the skill file beside it. In: a client, the project's folder, how kiln is started. Out: the
//! files with their new text, written or only shown. What is in a file already stays, to the byte; only kiln's own entry changes, and of that
//! only what kiln writes. Refuses a file that it cannot read as what it should be, and an entry of the same name that starts something else.

mod json;
mod skill;
mod toml;

use kiln_app::{Failure, Fault, Report, Utf8Path, Utf8PathBuf, program_name, write_whole};
use serde_json::{Map, Value, json};

/// The entry's name; a second project in the same settings has its folder's name behind it.
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
    /// Whether it was written; false where it is so already, was only to be shown, or is left as the user has it.
    pub written: bool,
    /// What the user should know about it.
    pub note: Option<String>,
}

/// What `install` may do.
#[derive(Debug, Clone, Copy, Default)]
pub struct May {
    /// Give what the files would be, and write nothing.
    pub only_show: bool,
    /// Replace what kiln did not write.
    pub force: bool,
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

/// The flag of `kiln mcp` that names a project.
const PROJECT: &str = "--project";
/// Stands for the project's folder as it is now.
const ROOT: &str = ".";

/// Writes a client's settings, and its skill. `more`: flags of `kiln mcp` that the client is to use.
pub fn install(client: Client, more: &[String], may: May) -> Result<Vec<Installed>, Failure> {
    let root = Utf8Path::new(".").canonicalize_utf8()?;
    let home = std::env::var("HOME").ok().filter(|home| !home.is_empty()).map(Utf8PathBuf::from);
    into(client, &root, home.as_deref(), program_name()?, more, may)
}

fn into(
    client: Client,
    root: &Utf8Path,
    home: Option<&Utf8Path>,
    command: String,
    more: &[String],
    may: May,
) -> Result<Vec<Installed>, Failure> {
    let place = client.place();
    let folder = place.folder.map(|folder| if folder == ROOT { root.to_string() } else { folder.into() });
    let arguments =
        ["mcp".to_string()].into_iter().chain(folder.into_iter().flat_map(|folder| [PROJECT.into(), folder]));
    let start = Start { command, arguments: arguments.chain(more.iter().cloned()).collect() };
    let of_user = place.file.strip_prefix("~/");
    let file = match of_user {
        None => root.join(place.file),
        Some(inner) => home
            .map(|home| home.join(inner))
            .ok_or_else(|| Fault::new("finding your settings", "HOME is not set").hint("set HOME, or use --print"))?,
    };
    let old = read(&file)?.unwrap_or_default();
    let cannot = |why: String| {
        Report::error(format!("{file} cannot be changed: {why}")).hint(format!(
            "put it right, or add the entry yourself: kiln mcp --install {} --print in an empty folder shows it",
            client.name()
        ))
    };
    let is_toml = file.extension() == Some("toml");
    let there = if is_toml { toml::entries(&old, place.section) } else { json::entries(&old, place.section) };
    let there = there.map_err(cannot)?;
    let (name, note) = if of_user.is_some() { named(&there, root) } else { (NAME.to_string(), None) };
    let strange = there.get(&name).is_some_and(|own| !starts_kiln(own));
    if strange && !may.force {
        let report = Report::error(format!("{file} has an entry `{name}` that does not start `kiln mcp`"));
        return Err(report.hint("rename it, or replace it with --force").into());
    }
    let entry = client.entry(&start);
    let edited = if is_toml {
        toml::with_entry(&old, place.section, &name, &entry, strange)
    } else {
        json::with_entry(&old, place.section, &name, &entry, strange)
    };
    let text = edited.map_err(cannot)?;
    let mut files = vec![Installed { written: text != old, file, text, note }];
    if let Some(folder) = place.skill {
        let file = root.join(folder).join("kiln/SKILL.md");
        let now = read(&file)?;
        let own = now.as_deref().is_none_or(skill::is_kilns) || may.force;
        let note = (!own).then(|| format!("{file} is left as it is: kiln did not write it; --force replaces it"));
        let text = if own { skill::text() } else { now.clone().unwrap_or_default() };
        files.push(Installed { written: now.as_ref() != Some(&text), file, text, note });
    }
    for file in &mut files {
        file.written &= !may.only_show;
        if file.written {
            if let Some(folder) = file.file.parent() {
                std::fs::create_dir_all(folder).map_err(|e| Fault::new(format!("making {folder}"), e))?;
            }
            write_whole(&file.file, file.text.as_bytes())?;
        }
    }
    Ok(files)
}

/// What is in a file; none where there is no file.
fn read(file: &Utf8Path) -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Fault::new(format!("reading {file}"), e).into()),
    }
}

/// The words an entry starts, but for the program.
fn arguments(entry: &Value) -> Vec<&str> {
    let words = |key: &str| entry[key].as_array().into_iter().flatten().filter_map(Value::as_str);
    words("command").skip(1).chain(words("args")).collect()
}

fn starts_kiln(entry: &Value) -> bool {
    arguments(entry).contains(&"mcp")
}

/// The name of this project's entry in settings that several projects share, and a word about it where it is not the usual one.
fn named(there: &Map<String, Value>, root: &Utf8Path) -> (String, Option<String>) {
    let project = |entry: &Value| -> Option<String> {
        let words = arguments(entry);
        words.iter().position(|word| *word == PROJECT).and_then(|at| words.get(at + 1)).map(|folder| (*folder).into())
    };
    let of_another = |name: &str| {
        let entry = there.get(name).filter(|entry| starts_kiln(entry));
        entry.and_then(project).filter(|folder| folder != root)
    };
    let Some(other) = of_another(NAME) else { return (NAME.into(), None) };
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let folder: String = root.file_name().unwrap_or("root").chars().map(plain).collect();
    let numbered = (2..).map(|number| format!("{NAME}-{folder}-{number}"));
    let mut names = std::iter::once(format!("{NAME}-{folder}")).chain(numbered);
    let name = names.find(|name| of_another(name).is_none()).unwrap_or_default();
    let note = format!("this project's entry is `{name}`: `{NAME}` serves {other}");
    (name, Some(note))
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
            self.may(client, May { only_show, force: false })
        }

        fn may(&self, client: Client, may: May) -> Result<Vec<Installed>, Failure> {
            let home = self.path().join("home");
            into(client, &self.path(), Some(&home), "/opt/kiln".into(), &["--read-only".into()], may)
        }
    }

    fn read_json(file: &Installed) -> Value {
        serde_json::from_str(&file.text).unwrap()
    }

    fn parsed(file: &Installed) -> Value {
        match file.file.extension() {
            Some("toml") => {
                let table: ::toml_edit::DocumentMut = file.text.parse().unwrap();
                let own = &table["mcp_servers"]["kiln"];
                let arguments = own["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap());
                json!({ "mcp_servers": { "kiln": { "command": own["command"].as_str(), "args": arguments.collect::<Vec<_>>() } } })
            }
            _ => read_json(file),
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
            let entry = parsed(&files[0])[place.section]["kiln"].clone();
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
            (Client::ClaudeCode, ".mcp.json", "{ \"mcpServers\": {}, \"path\": /bin/foo }"),
            (Client::ClaudeCode, ".mcp.json", "{ \"mcpServers\": { \"x\": { \"command\": \"y\" \"args\": [] } } }"),
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

    /// Settings with what the user wrote into kiln's entry.
    fn with(folder: &Folder, client: Client, entry: &Value) -> Utf8PathBuf {
        let place = client.place();
        let file = folder.path().join("home").join(place.file.trim_start_matches("~/"));
        let file = if place.file.starts_with('~') { file } else { folder.path().join(place.file) };
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, json!({ place.section: { "kiln": entry } }).to_string()).unwrap();
        file
    }

    #[test]
    fn what_the_user_set_for_the_entry_stays() {
        for client in [Client::ClaudeCode, Client::Zed, Client::Windsurf] {
            let folder = Folder::new();
            let entry =
                json!({ "command": "/old/kiln", "args": ["mcp"], "env": { "KILN_STORE": "x" }, "disabled": true });
            with(&folder, client, &entry);
            let new = read_json(&folder.install(client, false).unwrap()[0])[client.place().section]["kiln"].clone();
            assert_eq!(
                (&new["env"], &new["disabled"], &new["command"]),
                (&entry["env"], &entry["disabled"], &json!("/opt/kiln")),
                "{new}"
            );
        }
    }

    #[test]
    fn an_entry_that_starts_something_else_is_replaced_by_force_alone() {
        let folder = Folder::new();
        let file =
            with(&folder, Client::Cursor, &json!({ "command": "pottery", "args": ["fire"], "env": { "A": "1" } }));
        let old = std::fs::read_to_string(&file).unwrap();
        let said = folder.install(Client::Cursor, false).unwrap_err().to_string();
        assert!(said.contains("does not start `kiln mcp`") && said.contains("--force"), "{said}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), old);
        let forced = folder.may(Client::Cursor, May { force: true, only_show: false }).unwrap();
        assert_eq!(read_json(&forced[0])["mcpServers"]["kiln"]["env"], Value::Null);
    }

    #[test]
    fn a_second_project_in_the_same_settings_has_an_entry_of_its_own() {
        let folder = Folder::new();
        let first = folder.install(Client::ClaudeDesktop, false).unwrap();
        assert_eq!(first[0].note, None);
        let home = folder.path().join("home");
        let install = |root: &Utf8Path| {
            into(Client::ClaudeDesktop, root, Some(&home), "/opt/kiln".into(), &[], May::default()).unwrap().remove(0)
        };
        for (root, name) in [("a/my kernels", "kiln-my-kernels"), ("b/my kernels", "kiln-my-kernels-2")] {
            let root = folder.path().join(root);
            let one = install(&root);
            assert!(
                one.written && one.note.as_ref().is_some_and(|note| note.contains(&format!("`{name}`"))),
                "{one:?}"
            );
            let entries = read_json(&one)["mcpServers"].clone();
            assert!(entries[name]["args"].to_string().contains(root.as_str()), "{entries}");
            assert!(entries["kiln"]["args"].to_string().contains(&format!("\"{}\"", folder.path())), "{entries}");
            assert!(!install(&root).written);
        }
        assert!(!folder.install(Client::ClaudeDesktop, false).unwrap()[0].written);
    }

    #[test]
    fn a_skill_that_the_user_wrote_is_left_alone_without_force() {
        let folder = Folder::new();
        let file = folder.path().join(".claude/skills/kiln/SKILL.md");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "mine").unwrap();
        let files = folder.install(Client::ClaudeCode, false).unwrap();
        assert!(
            files[0].written && !files[1].written && files[1].note.as_ref().unwrap().contains("--force"),
            "{files:?}"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        folder.may(Client::ClaudeCode, May { force: true, only_show: false }).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), skill::text());
    }

    #[test]
    fn settings_stay_as_private_as_they_are() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new();
        let file = with(&folder, Client::Gemini, &json!({ "command": "kiln", "args": ["mcp"] }));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(folder.install(Client::Gemini, false).unwrap()[0].written);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
