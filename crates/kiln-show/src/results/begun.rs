//! A kernel.toml that was begun from a source: the files, whether they compile, the questions, what to do next.

use std::fmt;

use kiln_app::{Begun, Compiled};
use serde_json::{Value, json};

use crate::words::command::quoted;
use crate::words::visible::visible;

/// Everything `kiln init --from` says.
pub struct BegunView<'a> {
    /// What was written.
    pub begun: &'a Begun,
}

impl BegunView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let begun = self.begun;
        let written: Vec<&str> = begun.files.iter().map(|path| path.as_str()).collect();
        let questions = begun.questions.iter();
        let questions: Vec<Value> =
            questions.map(|q| json!({ "file": q.file.as_str(), "line": q.line, "question": q.text })).collect();
        let (compiles, compiler, why) = match &begun.compiled {
            Compiled::Yes(compiler) => (Some(true), Some(compiler), None),
            Compiled::No(why) => (Some(false), None, Some(why)),
            Compiled::Unknown(why) => (None, None, Some(why)),
        };
        json!({
            "kernel": begun.kernel,
            "written": written,
            "tunables": begun.tunables,
            "compiles": compiles,
            "compiler": compiler,
            "why": why,
            "questions": questions,
        })
    }
}

impl fmt::Display for BegunView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begun = self.begun;
        writeln!(f, "wrote")?;
        begun.files.iter().try_for_each(|path| writeln!(f, "  {}", visible(path.as_str())))?;
        writeln!(f, "found\n  kernel {}, tunables {}", visible(&begun.kernel), visible(&begun.tunables.join(", ")))?;
        match &begun.compiled {
            Compiled::Yes(compiler) => writeln!(f, "  the default configuration compiles ({})", visible(compiler))?,
            Compiled::No(why) => writeln!(f, "  the default configuration does not compile: {}", visible(why))?,
            Compiled::Unknown(why) => writeln!(f, "  not compiled: {}", visible(why))?,
        }
        let count = begun.questions.len();
        let files: Vec<&str> = begun
            .files
            .iter()
            .filter(|p| begun.questions.iter().any(|q| q.file == **p))
            .filter_map(|p| p.file_name())
            .collect();
        let (questions, are) = if count == 1 { ("question", "is") } else { ("questions", "are") };
        writeln!(f, "{count} {questions} {are} marked with # ? in {}", visible(&files.join(" and ")))?;
        for question in &begun.questions {
            let file = question.file.file_name().unwrap_or_default();
            writeln!(f, "  {}:{}: {}", visible(file), question.line, visible(&question.text))?;
        }
        let folder = quoted(begun.folder.as_str());
        writeln!(f, "next\n  kiln space {folder}\n  kiln gate {folder}")
    }
}
