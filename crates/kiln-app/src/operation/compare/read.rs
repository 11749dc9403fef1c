//! A run by what the user calls it. In: the path of a file, a stored run's id, or `last`. Out: the run with its samples. Refuses
//! what is neither a file nor a run.

use camino::Utf8Path;
use kiln_core::Report;
use kiln_formats::{LARGEST_FILE, RunFile, read_run};
use kiln_store::Filter;

use crate::failure::Failure;
use crate::project::Project;
use crate::record::run_file;

/// The newest run.
const LAST: &str = "last";

/// The run of that name.
pub(crate) fn run(project: &Project, name: &str) -> Result<RunFile, Failure> {
    let path = Utf8Path::new(name);
    if path.is_file() {
        let about = fs_err::metadata(path)?;
        if about.len() > LARGEST_FILE {
            return Err(Report::error(format!("{name} is too large")).label("no run comes near its size").into());
        }
        let folder = path.parent().unwrap_or(Utf8Path::new(""));
        let beside = |file: &str| fs_err::read(folder.join(file)).ok();
        return Ok(read_run(name, &fs_err::read(path)?, &beside)?);
    }
    let found = match (project.recorded()?, name) {
        (None, _) => None,
        (Some(store), LAST) => store.runs(&Filter { limit: Some(1), ..Filter::default() })?.pop(),
        (Some(store), _) => store.find_run(name)?,
    };
    match found {
        Some(run) => run_file(&run),
        None if path.exists() => Err(Report::error(format!("{name} is no regular file"))
            .label("expected a run file, another benchmark's file, or the id of a run")
            .hint("write what comes from a pipe to a file first")
            .into()),
        None => Err(Report::error(format!("there is no file and no run `{name}`"))
            .hint("`kiln history` lists runs; `kiln bench PATH --save FILE` writes a run file")
            .into()),
    }
}
