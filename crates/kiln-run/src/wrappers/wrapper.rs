//! Something around a worker's command. In: the command of an ordinary worker. Out: a command that starts the same worker
//! under a tool, or with the tool's library loaded first.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// What the address sanitizer is told: to go on after a report, to look for no leaks (this program's own would be among
/// them), and to leave out colours.
const ADDRESS: &str = "detect_leaks=0:halt_on_error=0:allocator_may_return_null=1:color=never";
/// The same for undefined behaviour, with the calls that led to it.
const UNDEFINED: &str = "print_stacktrace=1:halt_on_error=0:color=never";

/// A tool around a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wrapper {
    /// A program and its arguments; the worker's own words come behind them.
    words: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
    /// Whether memory lies at the same addresses every time: the shadow memory of older sanitizers collides with some others.
    fixed: bool,
}

impl Wrapper {
    /// A program with its arguments.
    pub(super) fn program(words: Vec<OsString>) -> Wrapper {
        Wrapper { words, ..Wrapper::default() }
    }

    /// The compiler's address sanitizer for a library that was built with it: its runtime has to be there before anything else.
    /// What it finds, and what the sanitizer of undefined behaviour finds, is written to files in a folder, so that nothing a
    /// candidate prints is taken for it. `llvm-symbolizer` on the path gives lines to reports of clang's.
    pub fn address_sanitizer(runtime: &Path, reports: &Path) -> Wrapper {
        let preload = match std::env::var_os("LD_PRELOAD").filter(|own| !own.is_empty()) {
            Some(own) => [runtime.as_os_str(), OsStr::new(":"), &own].into_iter().collect(),
            None => runtime.into(),
        };
        let mut variables = vec![("LD_PRELOAD", preload)];
        // What the user says comes later and wins, but not over where reports go. Two runtimes share no file.
        for (name, ours, file) in [("ASAN_OPTIONS", ADDRESS, "address"), ("UBSAN_OPTIONS", UNDEFINED, "undefined")] {
            let mut options = OsString::from(ours);
            if let Some(own) = std::env::var_os(name).filter(|own| !own.is_empty()) {
                options.push(":");
                options.push(own);
            }
            options.push(":log_path=\"");
            options.push(reports.join(file));
            options.push("\"");
            variables.push((name, options));
        }
        Wrapper { variables, fixed: true, ..Wrapper::default() }
    }

    /// With one more variable.
    pub fn variable(mut self, name: &'static str, value: &str) -> Wrapper {
        self.variables.push((name, value.into()));
        self
    }

    /// The same worker under the tool.
    pub fn around(&self, command: Command) -> Command {
        let mut wrapped = match self.words.split_first() {
            Some((program, arguments)) => {
                let mut wrapped = Command::new(program);
                wrapped.args(arguments).arg(command.get_program()).args(command.get_args());
                for (name, value) in command.get_envs() {
                    match value {
                        Some(value) => wrapped.env(name, value),
                        None => wrapped.env_remove(name),
                    };
                }
                wrapped
            }
            None => command,
        };
        wrapped.envs(self.variables.iter().map(|(name, value)| (*name, value)));
        if self.fixed {
            // SAFETY: one call between fork and exec that sets a number of the new process and takes no memory. Where it is
            // not allowed, addresses are as they are everywhere.
            unsafe {
                wrapped.pre_exec(|| {
                    #[cfg(target_os = "linux")]
                    libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
                    Ok(())
                })
            };
        }
        wrapped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_stands_in_front_and_variables_stay() {
        let wrapper = Wrapper::program(vec!["tool".into(), "--log".into()]).variable("MORE", "1");
        let mut command = Command::new("kiln");
        command.args(["worker", "cuda"]).env("OWN", "2").env_remove("GONE");
        let wrapped = wrapper.around(command);
        let words: Vec<&OsStr> = wrapped.get_args().collect();
        assert_eq!(
            (wrapped.get_program(), words),
            (OsStr::new("tool"), ["--log", "kiln", "worker", "cuda"].map(OsStr::new).to_vec())
        );
        let variables: Vec<_> = wrapped.get_envs().collect();
        let of = |name: &str, value: Option<&str>| {
            (variables.iter()).any(|(n, v)| *n == name && *v == value.map(OsStr::new))
        };
        assert!(of("OWN", Some("2")) && of("GONE", None) && of("MORE", Some("1")), "{variables:?}");
    }

    #[test]
    fn a_sanitizers_library_is_loaded_first() {
        let wrapped = Wrapper::address_sanitizer(Path::new("/lib/libasan.so"), Path::new("/tmp/a b"))
            .around(Command::new("kiln"));
        assert_eq!((wrapped.get_program(), wrapped.get_args().len()), (OsStr::new("kiln"), 0));
        let of = |name: &str| {
            wrapped.get_envs().find(|(n, _)| *n == name).and_then(|(_, value)| value?.to_str().map(String::from))
        };
        assert!(of("LD_PRELOAD").unwrap().starts_with("/lib/libasan.so"));
        assert!(
            of("ASAN_OPTIONS").unwrap().starts_with(ADDRESS) && of("UBSAN_OPTIONS").unwrap().starts_with(UNDEFINED)
        );
        // Whatever else the environment says, reports are where they are looked for.
        assert!(of("ASAN_OPTIONS").unwrap().ends_with(":log_path=\"/tmp/a b/address\""));
        assert!(of("UBSAN_OPTIONS").unwrap().ends_with(":log_path=\"/tmp/a b/undefined\""));
    }
}
