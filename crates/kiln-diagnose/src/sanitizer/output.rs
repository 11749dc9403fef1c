//! What a program says about itself, between a tool's lines or on its own. In: its output. Out: whether its own check
//! passed, the results it printed, errors and assertions it reported. Only plain signs count: `check=FAIL`, `FAILED`,
//! names and texts of CUDA errors, exceptions of Python, the line of a failed assertion.

mod said;

use super::Place;
use super::place::function_name;
use crate::Reason;

/// What is known about the program apart from the tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Program {
    /// Its own check, or the caller's. One failure counts, whatever else passed.
    pub check: Option<Check>,
    /// Its results differ between runs on the same input.
    pub varies: bool,
    /// It did not end in time.
    pub timed_out: bool,
    /// How it ended, where that was not by itself and well.
    pub ended: Option<Ended>,
    /// Results it printed, such as `max_err=1.0e+00`, each once.
    pub results: Vec<String>,
    /// CUDA errors it reported, such as `cudaErrorMisalignedAddress`, each once.
    pub errors: Vec<String>,
    /// Assertions that failed in kernels.
    pub assertions: Vec<Assertion>,
    /// Where it said that arguments lie.
    pub arguments: Vec<Argument>,
}

/// Memory that has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The argument's name.
    pub name: String,
    /// Its first byte.
    pub start: u64,
    /// Its length.
    pub bytes: u64,
}

/// What a line begins with that says where an argument lies: kiln's workers write such lines.
const ARGUMENT: &str = "kiln: argument ";

/// How a program ended badly, each with the words for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It aborted itself.
    Aborted(String),
    /// A signal ended it.
    Killed(String),
    /// With an error.
    Failed(String),
    /// It never began.
    NotLoaded(String),
}

/// The outcome of a check of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The results are as expected.
    Passed,
    /// They are not.
    Failed,
}

/// A failed assertion in a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Assertion {
    /// Where it is written.
    pub place: Place,
    /// What was asserted.
    pub condition: String,
    /// The block, as printed.
    pub block: String,
    /// The thread, as printed.
    pub thread: String,
}

/// Signs of a program that waited too long. That it may wait so long at most is none.
const TIMED_OUT: [&str; 5] = ["timed out", "timeout:", "timeout after", "timeout expired", "deadlock"];

impl Program {
    /// Reads the output of a run without a tool.
    pub fn read(output: &str) -> Program {
        let mut program = Program::default();
        output.lines().for_each(|line| program.line(line));
        program
    }

    /// Takes the end of a log into account, a line that may go on: whether the check failed or passed, and nothing else.
    pub(crate) fn cut_line(&mut self, line: &str) {
        let mut seen = Program::default();
        seen.line(line);
        self.join(Program { check: seen.check, ..Program::default() });
    }

    /// What speaks against the program, the plainest first, with words.
    pub(crate) fn trouble(&self) -> Option<(Reason, String)> {
        let all = |words: &[String]| words.join(", ");
        Some(match &self.ended {
            _ if self.timed_out && self.check != Some(Check::Passed) => (Reason::Hang, String::new()),
            Some(Ended::NotLoaded(words)) => (Reason::NotLoaded, words.clone()),
            Some(Ended::Aborted(words)) => (Reason::Aborted, words.clone()),
            Some(Ended::Killed(words)) => (Reason::Killed, words.clone()),
            _ if !self.errors.is_empty() => (Reason::ProgramError, all(&self.errors)),
            Some(Ended::Failed(words)) => (Reason::NonzeroExit, words.clone()),
            None if self.varies => (Reason::ResultVaries, all(&self.results)),
            None if self.check == Some(Check::Failed) => (Reason::ResultWrong, all(&self.results)),
            None => return None,
        })
    }

    /// Takes one line of output into account.
    pub(crate) fn line(&mut self, line: &str) {
        if let Some(assertion) = assertion(line) {
            self.assertions.push(assertion);
            return;
        }
        if let Some(argument) = line.strip_prefix(ARGUMENT).and_then(argument) {
            self.arguments.push(argument);
            return;
        }
        let lower = line.to_ascii_lowercase();
        let check = said::check(line, &lower);
        if self.check != Some(Check::Failed) {
            self.check = check.or(self.check);
        }
        self.ended = self.ended.take().or_else(|| ended(line));
        let known = self.errors.len();
        self.timed_out |= TIMED_OUT.iter().any(|sign| lower.contains(sign));
        for part in line.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')' | '"' | '\'')) {
            if (part.starts_with("cudaError") && part.len() > 9) || part.starts_with("CUDA_ERROR_") {
                remember(&mut self.errors, part);
            } else if let Some((name, value)) = part.split_once('=')
                && (name.contains("err") || name.contains("sum") || name.contains("diff") || name == "result")
                && value.parse::<f64>().is_ok()
            {
                self.result(part);
            }
        }
        let named = self.errors.len() > known || line.contains("cudaError") || line.contains("CUDA_ERROR_");
        let error = said::device_error(line, &lower).filter(|_| !named);
        error.iter().for_each(|error| remember(&mut self.errors, error));
        self.raised(line, named || error.is_some() || check == Some(Check::Failed));
    }

    /// An exception. Where another sign of the line says what is wrong, that says more than where it was raised.
    fn raised(&mut self, line: &str, explained: bool) {
        let Some(words) = said::raised(line) else { return };
        let begun = self.ended == Some(Ended::Failed(said::TRACEBACK.into()));
        match (&self.ended, explained) {
            (_, true) if begun => self.ended = None,
            (None, false) => self.ended = Some(Ended::Failed(words)),
            (Some(_), false) if begun => self.ended = Some(Ended::Failed(words)),
            _ => {}
        }
    }

    /// The argument whose memory begins here. The same address may serve one call after another: the last counts.
    pub(crate) fn argument_at(&self, start: u64) -> Option<&str> {
        self.arguments.iter().rev().find(|argument| argument.start == start).map(|argument| argument.name.as_str())
    }

    fn result(&mut self, result: &str) {
        let name = |result: &str| result.split('=').next().unwrap_or_default().to_owned();
        let known = self.results.iter().any(|known| name(known) == name(result));
        remember(&mut self.results, result);
        self.varies |= known && self.results.iter().filter(|known| name(known) == name(result)).count() > 1;
    }

    /// Takes what is known of another run into account.
    pub fn join(&mut self, other: Program) {
        self.check = match (self.check, other.check) {
            (Some(Check::Failed), _) | (_, Some(Check::Failed)) => Some(Check::Failed),
            (a, b) => a.or(b),
        };
        self.varies |= other.varies;
        self.timed_out |= other.timed_out;
        self.ended = self.ended.take().or(other.ended);
        other.results.iter().for_each(|result| self.result(result));
        other.errors.iter().for_each(|error| remember(&mut self.errors, error));
        self.assertions.extend(other.assertions);
        self.arguments.extend(other.arguments);
    }
}

/// More than this says no more.
const REMEMBERED: usize = 32;

fn remember(list: &mut Vec<String>, text: &str) {
    if list.len() < REMEMBERED && !list.iter().any(|known| known == text) {
        list.push(text.into());
    }
}

/// What a shell says about a program that a signal ended: `Aborted (core dumped)`, `run.sh: line 3: 4711 Killed  ./app`.
fn ended(line: &str) -> Option<Ended> {
    let line = line.trim();
    let asserted = line.contains(": Assertion `") && line.ends_with("failed.");
    if line.starts_with("terminate called") || asserted {
        return Some(Ended::Aborted(line.into()));
    }
    ["Aborted", "Killed", "Terminated", "Segmentation fault", "Bus error", "Floating point exception"].iter().find_map(
        |word| {
            let at = line.find(word)?;
            let (before, after) = (line[..at].trim_end(), line[at + word.len()..].trim());
            let alone = before.is_empty() && (after.is_empty() || after == "(core dumped)");
            let of_process = before.rsplit(' ').next().is_some_and(|id| id.parse::<u32>().is_ok());
            let words = (*word).into();
            (alone || of_process && before.contains("line ")).then_some(match *word {
                "Aborted" => Ended::Aborted(words),
                _ => Ended::Killed(words),
            })
        },
    )
}

/// `y 0x609000000040 28`.
fn argument(text: &str) -> Option<Argument> {
    let (rest, bytes) = text.trim_end().rsplit_once(' ')?;
    let (name, start) = rest.rsplit_once(" 0x")?;
    Some(Argument { name: name.into(), start: u64::from_str_radix(start, 16).ok()?, bytes: bytes.parse().ok()? })
}

/// ``gather.cu:5: void gather(int): block: [2,0,0], thread: [188,0,0] Assertion `i < n` failed.``
fn assertion(line: &str) -> Option<Assertion> {
    let (before, after) = line.split_once("Assertion ")?;
    let condition = after.trim_end().trim_end_matches('.').strip_suffix("failed")?.trim();
    let (before, thread) = before.rsplit_once("thread:")?;
    let (before, block) = before.rsplit_once("block:")?;
    let index = |text: &str| text.trim().trim_end_matches(',').trim_matches(|c| c == '[' || c == ']').to_owned();
    let before = before.trim().trim_end_matches(':');
    // The first number between two colons is the line; what a runner writes before each line has none, but ends with a space.
    let (file, line, function) = before.match_indices(": ").find_map(|(at, _)| {
        let (file, line) = before[..at].rsplit_once(':')?;
        Some((file.rsplit(' ').next()?, line.parse().ok()?, &before[at + 2..]))
    })?;
    let place = Place { function: function_name(function), file: Some(file.into()), line: Some(line), offset: None };
    let condition = condition.trim_matches(|c| matches!(c, '`' | '\'' | '"')).into();
    Some(Assertion { place, condition, block: index(block), thread: index(thread) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_counts_whatever_passes() {
        let program =
            Program::read("a.cu variant=planted max_err=1.000e+00 check=FAIL\na.cu max_err=0.000e+00 check=PASS\n");
        assert_eq!(program.check, Some(Check::Failed));
        assert!(program.varies);
        assert_eq!(program.results, ["max_err=1.000e+00", "max_err=0.000e+00"]);
        assert_eq!(Program::read("all 3 tests PASSED").check, Some(Check::Passed));
        assert_eq!(Program::read("PASSTHROUGH=1 no failures").check, None);
    }

    #[test]
    fn the_same_result_again_does_not_vary() {
        let mut program = Program::read("max_err=7.000e+00 check=FAIL");
        program.join(Program::read("max_err=7.000e+00 check=FAIL"));
        assert!(!program.varies);
        program.join(Program::read("max_err=8.000e+00 check=FAIL"));
        assert!(program.varies);
    }

    #[test]
    fn a_shell_says_how_a_program_ended() {
        let ended = |output: &str| Program::read(output).ended;
        assert_eq!(ended("Aborted (core dumped)"), Some(Ended::Aborted("Aborted".into())));
        assert_eq!(ended("run.sh: line 3:  4711 Killed    ./app"), Some(Ended::Killed("Killed".into())));
        assert!(matches!(ended("terminate called after throwing an instance of 'int'"), Some(Ended::Aborted(_))));
        assert_eq!(ended("Killed 3 zombies\n12 Aborted transactions\n"), None);
    }

    #[test]
    fn half_a_line_says_only_whether_the_check_passed() {
        let mut program = Program::default();
        program.cut_line("max_err=1.0 cudaErrorIll check=FAIL");
        assert_eq!((program.check, program.results.len(), program.errors.len()), (Some(Check::Failed), 0, 0));
    }

    #[test]
    fn arguments_have_names() {
        let program = Program::read("kiln: argument x 0x10 28\nkiln: argument y 0x40 28\nkiln: argument z 0x10 8\n");
        assert_eq!((program.argument_at(0x10), program.argument_at(0x40)), (Some("z"), Some("y")));
        assert_eq!((program.argument_at(0x11), program.arguments[1].bytes), (None, 28));
        assert!(Program::read("kiln: argument\nkiln: argument x 12 13\n").arguments.is_empty());
    }

    #[test]
    fn errors_and_assertions_are_found() {
        let line = "gather.cu:4: void gather(const int *, int): block: [2,0,0], thread: [188,0,0] Assertion `i >= 0 && i < n` failed.";
        let program = Program::read(line);
        let assertion = &program.assertions[0];
        assert_eq!(assertion.condition, "i >= 0 && i < n");
        assert_eq!((assertion.block.as_str(), assertion.thread.as_str()), ("2,0,0", "188,0,0"));
        assert_eq!(assertion.place.source().as_deref(), Some("gather.cu:4"));
        assert_eq!(assertion.place.function, "gather");
        let program = Program::read("a.cu CUDA error 716 cudaErrorMisalignedAddress: misaligned address at line 46");
        assert_eq!(program.errors, ["cudaErrorMisalignedAddress"]);
    }
}
