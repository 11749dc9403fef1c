//! The system's C compiler.

use std::process::Command;

use kiln_core::Fault;

/// A compiler that was found and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    /// The command and its leading arguments (`$CC` may hold several words).
    command: Vec<String>,
    /// What it says of itself, part of every key.
    version: String,
}

impl Compiler {
    /// `$CC`, else `cc`.
    pub fn find() -> Result<Compiler, Fault> {
        let words = std::env::var("CC").unwrap_or_default();
        let named: Vec<String> = words.split_whitespace().map(String::from).collect();
        Compiler::named(if named.is_empty() { vec!["cc".into()] } else { named })
    }

    /// A compiler by its command.
    pub fn named(command: Vec<String>) -> Result<Compiler, Fault> {
        let what = format!("looking for the C compiler `{}`", command.join(" "));
        let hint = "install gcc or clang, or set CC";
        let mut ask = Command::new(command.first().map_or("cc", String::as_str));
        let output = ask.args(command.iter().skip(1)).arg("--version").output();
        let output = output.map_err(|e| Fault::new(&what, e).hint(hint))?;
        if !output.status.success() {
            return Err(Fault::new(&what, format!("it ended with {}", output.status)).hint(hint));
        }
        let version = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_string();
        Ok(Compiler { command, version })
    }

    /// What it says of itself.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// A command to add arguments to.
    pub(crate) fn start(&self) -> Command {
        let mut command = Command::new(self.command.first().map_or("cc", String::as_str));
        command.args(self.command.iter().skip(1));
        command
    }

    pub(crate) fn words(&self) -> &[String] {
        &self.command
    }
}
