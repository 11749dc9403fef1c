//! Why nothing was profiled, each with its remedy. In: what the profiler's words and its report come to, and how the run ended. Out: a fault, or
//! the words for a diagnosis that goes on without counters.

use std::time::Duration;

use kiln_core::Fault;
use kiln_diagnose::profile::Trouble;

/// How the worker came out of it.
pub(super) enum Ended {
    /// By itself.
    InTime,
    /// It had to be ended after so long.
    Late(Duration),
    /// The profiler or the worker did not start.
    NotStarted(String),
}

/// There is no profiler.
pub(super) fn no_profiler() -> String {
    "ncu was not found on the PATH, nor in bin of $CUDA_HOME, $CUDA_PATH or /usr/local/cuda, so this diagnosis is coarse: install \
     Nsight Compute (it comes with the CUDA toolkit) for counters; `kiln doctor` shows what is found"
        .into()
}

/// Counters are not for this user.
pub(super) fn forbidden() -> String {
    "reading the GPU's counters is not allowed for this user (ERR_NVGPUCTRPERM), so this diagnosis is coarse: put `options nvidia \
     NVreg_RestrictProfilingToAdminUsers=0` into /etc/modprobe.d and restart, or run kiln as root; in a container add the \
     capability SYS_ADMIN"
        .into()
}

/// What else went wrong.
pub(super) fn unprofiled(trouble: Trouble, ended: Ended) -> Fault {
    let fault = |why: String| Fault::new("profiling with ncu", why);
    match (ended, trouble) {
        (Ended::Late(limit), _) => {
            let why = format!("it did not end within {} s", limit.as_secs_f64());
            fault(why).hint("a smaller --workload, --level quick, or a larger --limit")
        }
        (_, Trouble::NoKernel { available }) => {
            let others = match available.as_slice() {
                [] => String::new(),
                names => format!("; outside of the call it launches {}", names.join(", ")),
            };
            fault(format!("the call launched no kernel that ncu sees{others}"))
                .hint("a call must launch its work itself, in its own process: `kiln check` shows whether its results are right")
        }
        (_, Trouble::ProgramFailed(what)) => fault(format!("the worker failed under ncu: {what}"))
            .hint("`kiln check` shows whether it works without; `kiln doctor` whether driver and toolkit fit"),
        (_, Trouble::Ncu(what)) => {
            let busy = ["in use", "unavailable", "already"].iter().any(|word| what.to_ascii_lowercase().contains(word));
            let hint = match busy {
                true => "another profiler or monitor has the counters: stop it, for DCGM with `dcgmi profile --pause`",
                false => "`kiln doctor` shows whether ncu, driver and toolkit fit",
            };
            fault(format!("ncu reported an error: {what}")).hint(hint)
        }
        (_, Trouble::Odd(odd)) => {
            fault(format!("{} is {}, which cannot be: expected {}", odd.metric, odd.value, odd.expected))
                .hint("profile again; if it stays so, use another version of Nsight Compute")
        }
        (Ended::NotStarted(why), _) => {
            fault(format!("it did not start: {why}")).hint("`kiln doctor` shows whether ncu, driver and toolkit fit")
        }
        (_, Trouble::Permission) => fault(forbidden()),
        (Ended::InTime, Trouble::Cut | Trouble::NoPage) => fault("it left no report".into())
            .hint("`kiln doctor` shows whether there is room on the disk, and whether ncu and driver fit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_diagnose::profile::Pages;

    /// What a recorded output of ncu comes to.
    fn of(name: &str, ended: Ended) -> String {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu/h200/");
        let text = std::fs::read(format!("{folder}{name}")).unwrap();
        unprofiled(Pages::read(text.as_slice()).unwrap().trouble().unwrap(), ended).to_string()
    }

    #[test]
    fn each_trouble_has_its_own_words_and_remedy() {
        let none = of("no_match.txt", Ended::InTime);
        assert!(none.contains("the call launched no kernel") && none.contains("init_f32, recur32"), "{none}");
        let failed = of("app_error.txt", Ended::InTime);
        assert!(
            failed.contains("the worker failed under ncu") && failed.contains("returned an error code (1)"),
            "{failed}"
        );
        let late = of("no_match.txt", Ended::Late(Duration::from_secs(60)));
        assert!(late.contains("did not end within 60 s") && late.contains("--limit"), "{late}");
        let told =
            |said: &str, ended| unprofiled(Pages::read(said.as_bytes()).unwrap().trouble().unwrap(), ended).to_string();
        let busy = told("==ERROR== Profiling failed because a driver resource was unavailable.\n", Ended::InTime);
        assert!(busy.contains("dcgmi profile --pause"), "{busy}");
        let start = told("", Ended::NotStarted("exited with code 1".into()));
        assert!(start.contains("it did not start: exited with code 1") && start.contains("kiln doctor"), "{start}");
        assert!(told("", Ended::InTime).contains("left no report"));
        assert!(forbidden().contains("NVreg_RestrictProfilingToAdminUsers=0") && no_profiler().contains("install"));
    }
}
