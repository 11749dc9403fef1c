//! Other programs: where they are, and what they answer within a time. In: a name, a command. Out: a path, or what was
//! printed. Refuses a program that fails or does not end.

use std::io::{Read, Seek};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use kiln_build::Toolkit;

/// Where a program of the CUDA toolkit lies: on the path, or in a toolkit's own folder.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let toolkits = Toolkit::all().into_iter().map(|toolkit| toolkit.root.join("bin").into_std_path_buf());
    std::env::split_paths(&path).chain(toolkits).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// What a command printed, if it ends well and in time.
pub(crate) fn ask(mut command: Command, patience: Duration) -> Result<String, String> {
    // A pipe would stay open as long as anything the program has started.
    let mut printed = tempfile::tempfile().map_err(|e| e.to_string())?;
    let mut complaints = tempfile::tempfile().map_err(|e| e.to_string())?;
    let out = printed.try_clone().map_err(|e| e.to_string())?;
    let err = complaints.try_clone().map_err(|e| e.to_string())?;
    let mut child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().map_err(|e| e.to_string())?;
    let started = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => break status,
            None if started.elapsed() > patience => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it did not end within {} s", patience.as_secs_f64()));
            }
            None => sleep(Duration::from_millis(10)),
        }
    };
    let text = |file: &mut std::fs::File| {
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(|e| e.to_string())?;
        Ok::<String, String>(String::from_utf8_lossy(&bytes).into_owned())
    };
    if status.success() {
        return text(&mut printed);
    }
    let said = text(&mut complaints)?;
    Err(said.trim().lines().last().map_or_else(|| status.to_string(), str::to_string))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, patience: Duration) -> Result<String, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        ask(command, patience)
    }

    #[test]
    fn answers_failures_and_silence_are_told_apart() {
        let long = Duration::from_secs(60);
        assert_eq!(sh("echo yes; echo no >&2", long).unwrap(), "yes\n");
        assert_eq!(sh("echo first >&2; echo last >&2; exit 3", long).unwrap_err(), "last");
        assert_eq!(sh("exit 3", long).unwrap_err(), "exit status: 3");
        assert!(sh("exec sleep 60", Duration::ZERO).unwrap_err().starts_with("it did not end"));
        assert!(ask(Command::new("/nowhere/at_all"), long).is_err());
    }
}
