//! Flags of `kiln lessons`.

use clap::{Args, Subcommand};
use kiln_app::Utf8PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "A lesson says what a failure looks like, why it happens and what worked. When a gate refuses a configuration, a tool names a cause or the doctor warns, kiln shows the lesson that fits best in one line.\n\nkiln ships lessons; your project's own lie in .kiln/lessons, a team's in the folder that KILN_LESSONS names. One with the id of another replaces it.\n\nExamples:\n  kiln lessons\n  kiln lessons search misaligned\n  kiln lessons show async_copy_row_alignment\n  kiln check kernels/attention --json | kiln lessons add --from-refusal - --cause '...' --remedy '...'\n  kiln lessons add --from-last attention --cause '...'\n  kiln lessons --calibration\n  kiln lessons retire quiet_machine --because 'our CI is never quiet'\n  kiln lessons export team.json && kiln lessons import team.json"
)]
pub(crate) struct LessonsArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<LessonsVerb>,
    /// Show what promises of diagnoses were worth: promised against measured by cause, and how well the decision model's
    /// intervals hold
    #[arg(long)]
    pub(crate) calibration: bool,
    /// With --calibration, list every outcome beside what a model without its kernel expects
    #[arg(long, requires = "calibration")]
    pub(crate) leave_out: bool,
    /// Print one JSON object instead
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with lessons.
#[derive(Debug, Subcommand)]
pub(crate) enum LessonsVerb {
    /// List every lesson, your own first (the default)
    List,
    /// Show one lesson: cause, remedy, command, evidence and what it matches
    Show {
        /// The lesson's id, as kiln prints it beside a failure
        id: String,
        /// Print its file, to start one of your own from
        #[arg(long, conflicts_with = "json")]
        toml: bool,
    },
    /// Find lessons that have all these words, such as part of an error message
    Search {
        /// Words
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
    },
    /// Write a lesson of your own to .kiln/lessons, filled in from flags or from a refusal
    Add(Box<AddLessonArgs>),
    /// Write your lessons to one file, for another project or a colleague
    Export {
        /// File to write
        file: Utf8PathBuf,
        /// Lessons to write [default: those in .kiln/lessons]
        #[arg(value_name = "ID")]
        ids: Vec<String>,
        /// Replace the file even if it is not one of lessons
        #[arg(long)]
        force: bool,
    },
    /// Add the lessons of a file that `export` wrote, or of one lesson's .toml
    Import {
        /// File to read
        file: Utf8PathBuf,
        /// Replace lessons that are here already and differ
        #[arg(long)]
        replace: bool,
    },
    /// Hide a lesson in this project
    Retire {
        /// The lesson's id
        id: String,
        /// Why, for whoever misses it
        #[arg(long, value_name = "REASON", required_unless_present = "undo")]
        because: Option<String>,
        /// Show it again
        #[arg(long, conflicts_with = "because")]
        undo: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddLessonArgs {
    /// What a command with --json printed, `-` for standard input: its first refusal becomes the symptom
    #[arg(long, value_name = "FILE")]
    pub(crate) from_refusal: Option<Utf8PathBuf>,
    /// Fill it in from the last failure: its symptom, and where a success of the same kernel followed, what was changed and
    /// the lines of the sources that differ [default: of any kernel]
    #[arg(long, value_name = "KERNEL", num_args = 0..=1, default_missing_value = "", conflicts_with = "from_refusal")]
    pub(crate) from_last: Option<String>,
    /// Name of the lesson and of its file [default: from the title]
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// The lesson in a line [default: the refusal's first line]
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Why it happens
    #[arg(long, value_name = "WORDS")]
    pub(crate) cause: Option<String>,
    /// What to do
    #[arg(long, value_name = "WORDS")]
    pub(crate) remedy: Option<String>,
    /// A command that helps; {path} and {config} stand for those at hand
    #[arg(long, value_name = "COMMAND")]
    pub(crate) action: Option<String>,
    /// Where it was seen and what it cost
    #[arg(long, value_name = "WORDS")]
    pub(crate) evidence: Option<String>,
    /// Symptom: a gate; may be repeated
    #[arg(long = "gate", value_name = "GATE")]
    pub(crate) gates: Vec<String>,
    /// Symptom: a regular expression in what was said, without case; may be repeated
    #[arg(long = "text", value_name = "REGEX")]
    pub(crate) texts: Vec<String>,
    /// Symptom: a cause that a diagnosis names; may be repeated
    #[arg(long = "diagnosed", value_name = "CAUSE")]
    pub(crate) causes: Vec<String>,
    /// Symptom: a finding of `kiln doctor`; may be repeated
    #[arg(long = "finding", value_name = "ID")]
    pub(crate) findings: Vec<String>,
    /// Replace a lesson of the same id
    #[arg(long)]
    pub(crate) replace: bool,
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use kiln_app::{LessonOrigin, Project, Stop, lessons};

    use crate::args::Cli;

    /// A command that a lesson names is one that kiln takes.
    #[test]
    fn every_action_of_a_shipped_lesson_can_be_typed() {
        let all = lessons(&Project::here(None, Stop::never()), &[]).found;
        let shipped = all.iter().filter(|kept| kept.origin == LessonOrigin::Shipped);
        let mut tried = 0;
        for lesson in shipped.map(|kept| &kept.lesson) {
            let action = lesson.action(Some("k"), Some("A=1"), Some("w")).unwrap_or_default();
            let Some(at) = action.find("kiln ") else { panic!("{}: {action}", lesson.id) };
            let parsed = Cli::try_parse_from(action[at..].split_whitespace());
            assert!(parsed.is_ok(), "{}: {action}: {}", lesson.id, parsed.unwrap_err());
            tried += 1;
        }
        assert!(tried >= 32);
    }
}
