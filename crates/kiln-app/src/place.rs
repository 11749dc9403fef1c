//! Whether a result can be written where it is wanted. Asked before anything is measured, so that nothing is lost for a
//! misspelt folder.

use camino::Utf8Path;
use kiln_core::Report;

use crate::failure::Failure;

/// Refuses a file that a result cannot be written to. `what`: the result, as a sentence begins with it.
pub fn writable(what: &str, file: &Utf8Path) -> Result<(), Failure> {
    let folder = file.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let fixed = |path: &Utf8Path| fs_err::metadata(path).is_ok_and(|found| found.permissions().readonly());
    let why = match (file.is_dir(), folder.is_dir()) {
        (true, _) => format!("{file} is a folder"),
        (_, false) => format!("there is no folder {folder}"),
        _ if fixed(folder) => format!("the folder {folder} is read-only"),
        _ => return Ok(()),
    };
    Err(Report::error(format!("{what} cannot be written to {file}")).label(why).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_in_a_folder_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        assert!(writable("the run", &folder.join("run.json")).is_ok());
        assert!(writable("the run", Utf8Path::new("run.json")).is_ok());
        for (file, why) in [(folder.to_owned(), "is a folder"), (folder.join("none/run.json"), "there is no folder")] {
            let Err(failure) = writable("the run", &file) else { panic!("{file} was taken") };
            let words = failure.to_string();
            assert!(words.contains(&format!("the run cannot be written to {file}")) && words.contains(why), "{words}");
        }
    }
}
