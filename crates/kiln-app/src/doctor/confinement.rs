//! Confinement: can what a candidate has no business with be taken from its worker?

use std::process::Command;
use std::time::Duration;

use crate::doctor::Finding;
use kiln_core::{Fault, Outcome};
use kiln_run::{Answer, Confined, Confinement, Worker, WorkerLimits};

const ID: &str = "confinement";
const WHY: &str = "a candidate that starts processes, changes files or reaches into kiln can look better than it is";
const LANDLOCK: &str =
    "run Linux 5.13 or later with Landlock among its security modules (`cat /sys/kernel/security/lsm`)";
const SECCOMP: &str = "allow seccomp filters here: on x86_64 or aarch64, and not forbidden by a container's profile";

/// Confines a worker, and asks it how far that went.
pub(crate) fn look() -> Finding {
    let confined = match confined() {
        Ok(confined) => confined,
        Err(fault) => return Finding::warn(ID, WHY, format!("cannot be tried: {}", fault.why), "see `worker` above"),
    };
    let Confined { landlock, seccomp } = confined;
    match (landlock, seccomp) {
        (0, false) => Finding::warn(
            ID,
            WHY,
            "workers are not confined: no Landlock, no seccomp",
            format!("{LANDLOCK}; {SECCOMP}; or judge kernels you do not trust in a container"),
        ),
        (0, true) => {
            Finding::warn(ID, WHY, "system calls are filtered (seccomp), files are not kept: no Landlock", LANDLOCK)
        }
        (abi, false) => Finding::warn(
            ID,
            WHY,
            format!("files are kept (landlock ABI {abi}), system calls are not filtered: no seccomp"),
            SECCOMP,
        ),
        (abi, true) => Finding::ok(ID, WHY, format!("workers are confined: landlock ABI {abi}, seccomp")),
    }
}

fn confined() -> Result<Confined, Fault> {
    let fault = |why: String| Fault::new("confining a worker", why);
    let program = std::env::current_exe().map_err(|e| fault(e.to_string()))?;
    let mut command = Command::new(program);
    command.args(["worker", "cpu"]);
    let time = Duration::from_secs(5);
    let mut worker = Worker::start(command, WorkerLimits { time, ..WorkerLimits::default() })?;
    match worker.confine(Confinement::Processor, time)? {
        Outcome::Passed(Answer::Confined(confined)) => Ok(confined),
        Outcome::Passed(other) => Err(fault(format!("it answered {other:?}"))),
        Outcome::Refused(refusal) => Err(fault(format!("{} {}", refusal.measured, refusal.evidence))),
    }
}
