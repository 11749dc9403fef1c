//! The compile worker: a process that keeps NVRTC loaded, so that a compiler that crashes or hangs costs that process. In: an
//! order a line on standard input. Out: an answer a line on standard output; the cubin and the compiler's words in the
//! files the order names. It ends, in the middle of a compilation too, when its input is closed.

mod library;
mod memory;
mod output;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use serde::{Deserialize, Serialize};

use crate::processes::lifeline::end_group;
use crate::serving::serve::{private_stdin, private_stdout};
use library::{Compiled, Nvrtc};

/// Which form orders and answers have; the greeting says it. kiln-build's builder expects the same.
const PROTOCOL: u32 = 1;

/// A line from the parent.
#[derive(Debug, Deserialize)]
struct Order {
    id: u64,
    order: Work,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Work {
    /// Only to load the library, and to say which version it is.
    Version {
        library: PathBuf,
    },
    Compile(Compilation),
}

#[derive(Debug, Deserialize)]
struct Compilation {
    /// libnvrtc, by path or by a name the system's loader knows.
    library: PathBuf,
    source: PathBuf,
    /// What the compiler calls the source in its messages.
    name: String,
    options: Vec<String>,
    /// Kernels by name or as instances of templates.
    entries: Vec<String>,
    /// Where the cubin goes.
    output: PathBuf,
    /// A file that is there, for everything that is printed while compiling.
    log: PathBuf,
    /// The folder for temporary files.
    temporary: PathBuf,
}

/// A line to the parent.
#[derive(Debug, Serialize)]
struct Reply {
    id: u64,
    answer: Answer,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// The greeting, with the protocol.
    Ready(u32),
    Version(String),
    /// The symbol of each entry.
    Passed(BTreeMap<String, String>),
    /// The compiler refused; whether in good order, as it refuses what is no program.
    Refused {
        orderly: bool,
    },
    /// What no source is to blame for.
    Failed(String),
}

/// Does what it is asked until its input is closed.
pub fn serve_nvrtc() -> io::Result<()> {
    memory::keep();
    let mut out = private_stdout()?;
    let orders = heard(private_stdin()?)?;
    say(&mut out, 0, Answer::Ready(PROTOCOL))?;
    let mut loaded: Option<(PathBuf, Nvrtc)> = None;
    while let Ok(line) = orders.recv() {
        let (id, answer) = match serde_json::from_str::<Order>(&line) {
            Ok(Order { id, order }) => {
                (id, done(order, &mut loaded).unwrap_or_else(|why| Answer::Failed(why.to_string())))
            }
            Err(why) => (0, Answer::Failed(format!("not an order: {why}"))),
        };
        say(&mut out, id, answer)?;
    }
    Ok(())
}

/// Lines of the input, read by a thread of its own: when the parent is gone, however suddenly, it ends this process whatever
/// the compiler is doing. NVRTC stays on the main thread, the only one whose stack grows.
fn heard(input: File) -> io::Result<Receiver<String>> {
    let (sender, lines) = channel();
    std::thread::Builder::new().name("hears orders".into()).spawn(move || {
        for line in BufReader::new(input).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
        end_group();
    })?;
    Ok(lines)
}

fn done(order: Work, loaded: &mut Option<(PathBuf, Nvrtc)>) -> io::Result<Answer> {
    match order {
        Work::Version { library } => {
            let (major, minor) = open(&library, loaded)?.version()?;
            Ok(Answer::Version(format!("{major}.{minor}")))
        }
        Work::Compile(order) => output::into(&order.log, &order.temporary, || {
            let nvrtc = open(&order.library, loaded)?;
            compile(nvrtc, &order)
        }),
    }
}

/// The library, loaded once.
fn open<'a>(path: &Path, loaded: &'a mut Option<(PathBuf, Nvrtc)>) -> io::Result<&'a Nvrtc> {
    if loaded.as_ref().is_some_and(|(known, _)| known != path) {
        return Err(io::Error::other(format!("this process has loaded another library than {}", path.display())));
    }
    if loaded.is_none() {
        *loaded = Some((path.to_owned(), Nvrtc::open(path)?));
    }
    loaded.as_ref().map(|(_, nvrtc)| nvrtc).ok_or_else(|| io::Error::other("no library"))
}

fn compile(nvrtc: &Nvrtc, order: &Compilation) -> io::Result<Answer> {
    let source = std::fs::read(&order.source)?;
    let program = nvrtc.program(&source, &order.name)?;
    for entry in &order.entries {
        program.name(entry)?;
    }
    let compiled = program.compile(&order.options);
    // The log comes out whatever happened: it says why.
    let log = program.log()?;
    let mut words = io::stderr().lock();
    words.write_all(&log)?;
    words.flush()?;
    match compiled? {
        Compiled::Whole => {}
        Compiled::Refused => return Ok(Answer::Refused { orderly: is_orderly(&log) }),
        Compiled::Broken => return Ok(Answer::Refused { orderly: false }),
    }
    std::fs::write(&order.output, program.cubin()?)?;
    let mut symbols = BTreeMap::new();
    for entry in &order.entries {
        symbols.insert(entry.clone(), program.lowered(entry)?);
    }
    Ok(Answer::Passed(symbols))
}

/// Whether a compiler that wrote this went on to its end: it gives up in the middle at a `catastrophic error`, be it a header
/// that is missing or memory that is short.
fn is_orderly(log: &[u8]) -> bool {
    let log = String::from_utf8_lossy(log);
    !["catastrophic error", "internal error", "out of memory"].iter().any(|mark| log.contains(mark))
}

fn say(out: &mut impl Write, id: u64, answer: Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Reply { id, answer })?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_compiler_that_went_to_its_end_refused_in_good_order() {
        assert!(is_orderly(b"k.cu(2): error: identifier \"missing\" is undefined\n1 error detected"));
        assert!(!is_orderly(b"k.cu(1): catastrophic error: cannot open source file \"no.h\""));
        assert!(!is_orderly(b"\xff internal error: assertion failed"));
    }

    #[test]
    fn orders_and_answers_have_this_form() {
        let order = r#"{"id":3,"order":{"version":{"library":"libnvrtc.so.13"}}}"#;
        let Order { id, order } = serde_json::from_str(order).unwrap();
        assert!(id == 3 && matches!(order, Work::Version { library } if library == Path::new("libnvrtc.so.13")));
        let line = |answer: Answer| serde_json::to_string(&Reply { id: 3, answer }).unwrap();
        assert_eq!(line(Answer::Ready(1)), r#"{"id":3,"answer":{"ready":1}}"#);
        assert_eq!(line(Answer::Refused { orderly: true }), r#"{"id":3,"answer":{"refused":{"orderly":true}}}"#);
        let symbols = BTreeMap::from([("f".to_string(), "_Z1fPf".to_string())]);
        assert_eq!(line(Answer::Passed(symbols)), r#"{"id":3,"answer":{"passed":{"f":"_Z1fPf"}}}"#);
    }
}
