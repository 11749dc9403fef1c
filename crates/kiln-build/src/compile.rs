//! One run of the compiler. In: a request and a folder to build in. Out: the library there, or a refusal with the
//! compiler's words. The compiler runs in its own process group, which is killed whole when it takes too long.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Fault, Gate, Outcome, Refusal};
use process_wrap::std::{CommandWrap, ProcessGroup};

use crate::compiler::Compiler;
use crate::message::complaint;
use crate::request::Request;

/// How patient a build is.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// A build that takes longer is killed and refused.
    pub timeout: Duration,
    /// After this long without an end, `on_silence` is told.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { timeout: Duration::from_secs(300), silence: Duration::from_secs(60) }
    }
}

/// How often a running compiler is looked at.
const GLANCE: Duration = Duration::from_millis(2);

pub(crate) fn compile(
    compiler: &Compiler,
    request: &Request,
    folder: &Utf8Path,
    limits: Limits,
    on_silence: &dyn Fn(Duration),
    stopped: &AtomicBool,
) -> Result<Outcome<Utf8PathBuf>, Fault> {
    let library = folder.join("library.so");
    let log = folder.join("stderr");
    let failed = |e: std::io::Error| Fault::new("running the C compiler", e);
    let mut command = compiler.start();
    command.args(request.arguments()).arg("-o").arg(&library).args(&request.sources);
    if !request.shim.is_empty() {
        let shim = folder.join("shim.c");
        std::fs::write(&shim, &request.shim).map_err(failed)?;
        command.arg(shim);
    }
    command.arg("-lm");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    // Into a file, not a pipe: a compiler that says much never waits for a reader.
    command.stderr(File::create(&log).map_err(failed)?);
    let started = Instant::now();
    let mut child = CommandWrap::from(command).wrap(ProcessGroup::leader()).spawn().map_err(failed)?;
    let mut alarm = limits.silence;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        let elapsed = started.elapsed();
        // The group is killed and waited for, so that nothing is left behind.
        if stopped.load(Ordering::Relaxed) {
            child.kill().map_err(failed)?;
            return Err(Fault::new("building", "interrupted"));
        }
        if elapsed > limits.timeout {
            child.kill().map_err(failed)?;
            return Ok(Outcome::Refused(too_long(limits.timeout)));
        }
        if elapsed > alarm {
            on_silence(elapsed);
            alarm += limits.silence;
        }
        std::thread::sleep(GLANCE);
    };
    if status.success() {
        return Ok(Outcome::Passed(library));
    }
    let mut stderr = String::new();
    File::open(&log).and_then(|f| f.take(1 << 20).read_to_string(&mut stderr)).map_err(failed)?;
    let complaint = complaint(&stderr);
    Ok(Outcome::Refused(Refusal {
        gate: Gate::BuildFailed,
        rule: String::new(),
        measured: complaint.headline,
        limit: "a compilation without errors".into(),
        evidence: complaint.excerpt,
        hint: None,
    }))
}

fn too_long(timeout: Duration) -> Refusal {
    Refusal {
        gate: Gate::BuildTimeout,
        rule: String::new(),
        measured: format!("still compiling after {} s", timeout.as_secs()),
        limit: format!("{} s", timeout.as_secs()),
        evidence: String::new(),
        hint: Some("unrolled loops over large tiles compile slowly: lower the unroll factor".into()),
    }
}
