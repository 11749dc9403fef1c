//! A server of its own for a test: begun on a free port, gone with the test.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::kiln;

pub(crate) struct Server {
    child: Child,
    /// Host and port.
    pub(crate) at: String,
    /// What it printed.
    pub(crate) said: Value,
}

impl Server {
    /// Serves a folder's store.
    pub(crate) fn of(folder: &Path) -> Server {
        Server::with(folder, &[])
    }

    pub(crate) fn with(folder: &Path, more: &[&str]) -> Server {
        let words = [&["serve", "--port", "0", "--json"][..], more].concat();
        let mut child = kiln(folder, &words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let address = said["address"].as_str().unwrap();
        let at = address.trim_start_matches("http://").trim_end_matches('/').to_string();
        Server { child, at, said }
    }

    /// The token, as a page of its has it.
    pub(crate) fn token(&self) -> String {
        let page = crate::http::get(&self.at, "/").body;
        let mark = "name=\"kiln-token\" content=\"";
        let from = page.find(mark).expect("the page has a token") + mark.len();
        page[from..].split('"').next().unwrap().to_string()
    }

    /// Ends it as Ctrl-C does; its exit code and what it said on stderr.
    pub(crate) fn interrupted(mut self) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let code = self.child.wait().unwrap().code();
        let mut words = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
        (code, words)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
