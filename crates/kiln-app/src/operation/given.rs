//! A file that was named on the command line. In: its path, and what it is to hold. Out: its text. Refuses what is not there, what is no
//! plain file, and what is not UTF-8: that is a mistake in the input.

use camino::Utf8Path;
use kiln_core::{Fault, Report};

use crate::failure::Failure;

/// The text of a file that holds what is expected.
pub(crate) fn text(file: &Utf8Path, expected: &str, hint: &str) -> Result<String, Failure> {
    let wrong = |what: String| Failure::from(Report::error(what).label(format!("expected {expected}")).hint(hint));
    let about = match std::fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(wrong(format!("there is no file {file}")));
        }
        found => found.map_err(|error| Fault::new(format!("reading {file}"), error))?,
    };
    if about.is_dir() {
        return Err(wrong(format!("{file} is a folder")));
    }
    let bytes = std::fs::read(file).map_err(|error| Fault::new(format!("reading {file}"), error))?;
    String::from_utf8(bytes).map_err(|error| {
        let (at, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        wrong(format!("{file}, line {line}: byte {at} is not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_a_mistake_in_the_input() {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(keep.path()).unwrap();
        let file = folder.join("remarks.toml");
        let said = |file: &Utf8Path| match text(file, "remarks", "write some").unwrap_err() {
            Failure::Input(reports) => reports[0].to_string(),
            other => panic!("{other}"),
        };
        for (found, what) in [(said(&file), "there is no file"), (said(folder), "is a folder")] {
            assert!(found.contains(what) && found.contains("expected remarks"), "{found}");
            assert!(found.contains("hint: write some"), "{found}");
        }
        std::fs::write(&file, b"one\ntwo \xff").unwrap();
        let found = said(&file);
        assert!(found.contains("line 2: byte 8 is not UTF-8"), "{found}");
        std::fs::write(&file, "one").unwrap();
        assert_eq!(text(&file, "remarks", "write some").unwrap(), "one");
    }
}
