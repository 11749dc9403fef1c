//! Who hears what happens: the terminal, and with `--events` a file of JSON lines. In: events. Out: text on stderr, lines in
//! the file, each written whole at once, so that a run that is killed leaves whole lines. Refuses a file that cannot be
//! made, and standard output for events where `--json` has it already.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Mutex;

use kiln_app::{Event, Failure, Fault, Report};
use kiln_show::{Progress, event_line, remark};

use crate::args::HearingArgs;
use crate::output;

/// What the terminal shows while an operation goes on.
enum Shown {
    /// Phases and how far they are.
    Progress(Progress),
    /// Warnings and notes alone.
    Remarks,
    /// Warnings alone.
    Warnings,
}

/// The listeners of one operation.
pub(crate) struct Hearing {
    shown: Shown,
    /// None without `--events`, and once nothing can be written there.
    lines: Mutex<Option<Box<dyn Write + Send>>>,
    /// Whether standard output belongs to events.
    takes_stdout: bool,
}

impl Hearing {
    /// For an operation of many steps.
    pub(crate) fn progress(args: &HearingArgs, json: bool) -> Result<Hearing, Failure> {
        let shown = if output::quiet() { Shown::Warnings } else { Shown::Progress(Progress::new()) };
        Hearing::new(shown, args, json)
    }

    /// For one that is over soon.
    pub(crate) fn remarks(args: &HearingArgs, json: bool) -> Result<Hearing, Failure> {
        Hearing::new(if output::quiet() { Shown::Warnings } else { Shown::Remarks }, args, json)
    }

    fn new(shown: Shown, args: &HearingArgs, json: bool) -> Result<Hearing, Failure> {
        let takes_stdout = args.events.as_ref().is_some_and(|file| file == "-");
        if takes_stdout && json {
            return Err(Report::error("--events - and --json both want standard output")
                .hint("write events to a file: --events FILE")
                .into());
        }
        let lines: Option<Box<dyn Write + Send>> = match &args.events {
            Some(_) if takes_stdout => Some(Box::new(io::stdout())),
            Some(file) => {
                let made = File::create(file).map_err(|e| Fault::new(format!("making {file} for events"), e))?;
                Some(Box::new(made))
            }
            None => None,
        };
        Ok(Hearing { shown, lines: Mutex::new(lines), takes_stdout })
    }

    /// Takes an event in.
    pub(crate) fn hear(&self, event: &Event) {
        match &self.shown {
            Shown::Progress(progress) => progress.hear(event),
            Shown::Warnings if !event.is_warning() => {}
            Shown::Remarks | Shown::Warnings => remark(event).iter().for_each(|words| output::complain(words)),
        }
        let Ok(mut lines) = self.lines.lock() else { return };
        let Some(out) = lines.as_mut() else { return };
        let line = format!("{}\n", event_line(event));
        if let Err(why) = out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
            // The operation is worth more than its echo.
            *lines = None;
            output::note(&format!("events are no longer written: {why}"));
        }
    }

    /// Prints a result: on stdout, unless that belongs to events.
    pub(crate) fn data(&self, text: &str) -> io::Result<()> {
        if self.takes_stdout {
            return output::beside(text);
        }
        output::data(text)
    }
}
