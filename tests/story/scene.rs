//! A folder with a kernel in a repository, and what kiln says of it. In: words as they are typed. Out: what was printed, held against what is
//! expected.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const KERNEL: &str = r#"
[kernel]
name = "tile"
entry = "tile"
[tunables]
WIDTH = [1, 2]
[default]
WIDTH = 1
[target.cpu]
source = "tile.cpp"
compile = { std = "c++17" }
[target.cuda]
source = "tile.cu"
archs = ["sm_90a"]
[target.cuda.tunables]
STAGES = [1, 2, 4]
[target.cuda.default]
STAGES = 1
[[target.cuda.launches]]
grid = ["ceildiv(N, 256)"]
block = ["256"]
shared = "65536 * STAGES"
[[arguments]]
name = "x"
type = "f32[N]"
role = "in"
[[arguments]]
name = "y"
type = "f32[N]"
role = "out"
[[arguments]]
name = "n"
type = "i64"
role = "scalar"
value = "N"
[[workloads]]
name = "only"
dims = { N = 2048 }
[reference]
builtin = "elementwise"
expressions = { y = "2 * x" }
[baselines]
plain = "plain.c:plain"
"#;

/// The same work so many times.
fn body(rounds: u32) -> String {
    format!(
        "    for (int round = 0; round < {rounds}; round++)\n        for (int64_t i = 0; i < n; i++) {{\n            volatile float twice = 2 * x[i];\n\
         \x20           y[i] = twice;\n        }}\n"
    )
}

pub(crate) struct Scene {
    folder: PathBuf,
}

impl Scene {
    /// The kernel, committed, and a baseline that takes so many rounds.
    pub(crate) fn new(name: &str, baseline: u32) -> Scene {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("tile")).unwrap();
        let scene = Scene { folder };
        scene.write("tile/kernel.toml", KERNEL);
        scene.write("tile/tile.cu", "extern \"C\" __global__ void tile(const float *x, float *y, long long n) {}\n");
        let plain = format!("void plain(const float *x, float *y, int64_t n) {{\n{}}}\n", body(baseline));
        scene.write("tile/plain.c", &format!("#include <stdint.h>\n{plain}"));
        scene.rounds(1);
        let own = [
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "init.defaultBranch=main",
        ];
        for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "tile"]] {
            let done = Command::new("git").args(own).args(words).current_dir(&scene.folder).output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        }
        scene
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        std::fs::write(self.folder.join(file), text).unwrap();
    }

    /// The kernel's source with this behind its header.
    pub(crate) fn source(&self, text: &str) {
        self.write("tile/tile.cpp", &format!("#include <cstdint>\n{text}"));
    }

    /// The kernel with so many rounds.
    pub(crate) fn rounds(&self, rounds: u32) {
        self.source(&format!("extern \"C\" void tile(const float *x, float *y, int64_t n) {{\n{}}}\n", body(rounds)));
    }

    /// A file of the repository.
    pub(crate) fn fixture(&self, file: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        root.join(file).to_str().unwrap().to_string()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
        command.args(words).current_dir(&self.folder).env("USER", "me").env_remove("KILN_LESSONS");
        command
    }

    /// Runs kiln with these words.
    pub(crate) fn kiln(&self, words: &[&str]) -> Told {
        Told::new(words, self.command(words).output().unwrap())
    }

    /// The same with words split at blanks.
    pub(crate) fn run(&self, line: &str) -> Told {
        self.kiln(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// The same where no compiler works.
    pub(crate) fn without_compiler(&self, line: &str) -> Told {
        let words: Vec<&str> = line.split_whitespace().collect();
        Told::new(&words, self.command(&words).env("CC", "/bin/false").env("CXX", "/bin/false").output().unwrap())
    }

    pub(crate) fn json(&self, line: &str) -> Value {
        self.run(line).exits(0).json()
    }

    /// What is next is this, and why.
    pub(crate) fn at(&self, node: &str, why: &str) -> Value {
        let next = self.json("next tile --json");
        assert_eq!(next["node"], node, "{why}: {next:#}");
        next
    }

    pub(crate) fn next_without_compiler(&self) -> Value {
        self.without_compiler("next tile --json").json()
    }

    pub(crate) fn status(&self) -> Value {
        self.json("session status --json")
    }

    /// The best speedup of the open session.
    pub(crate) fn best_speedup(&self) -> f64 {
        self.status()["row"]["speedup"].as_f64().unwrap()
    }

    /// The speedup of the newest result.
    pub(crate) fn last_speedup(&self) -> f64 {
        self.json("next tile --json")["facts"]["speedup"].as_f64().unwrap()
    }
}

/// What a command printed and how it ended.
pub(crate) struct Told {
    line: String,
    out: String,
    err: String,
    code: Option<i32>,
}

impl Told {
    fn new(words: &[&str], output: Output) -> Told {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Told { line: words.join(" "), out: text(output.stdout), err: text(output.stderr), code: output.status.code() }
    }

    #[track_caller]
    fn expect(&self, holds: bool, what: &str) -> &Told {
        assert!(holds, "kiln {}: expected {what}; exit code {:?}\n{}\n{}", self.line, self.code, self.out, self.err);
        self
    }

    /// It ends with this exit code.
    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &Told {
        self.expect(self.code == Some(code), &format!("exit code {code}"))
    }

    /// It prints these words.
    #[track_caller]
    pub(crate) fn says(&self, words: &str) -> &Told {
        self.expect(self.out.contains(words), words)
    }

    /// It warns in these words.
    #[track_caller]
    pub(crate) fn warns(&self, words: &str) -> &Told {
        self.expect(self.err.contains(words), words)
    }

    /// It shows this lesson beside the result.
    #[track_caller]
    pub(crate) fn teaches(&self, lesson: &str) -> &Told {
        self.says(&format!("(kiln lessons show {lesson})"))
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("kiln {}: {e}\n{}{}", self.line, self.out, self.err))
    }
}
