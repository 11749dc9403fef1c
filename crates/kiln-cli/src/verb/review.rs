//! `kiln review`: a folder for a person to read, and their remarks.

use kiln_app::{Ending, Failure, Project, Utf8Path, Utf8PathBuf, add_remarks, review, write_review};
use kiln_show::ReviewView;
use serde_json::json;

use crate::args::{ReviewArgs, ReviewVerb};
use crate::output;
use crate::place;

pub(crate) fn run(project: &Project, args: &ReviewArgs) -> Result<Ending, Failure> {
    let (object, text) = match &args.verb {
        ReviewVerb::Export { study, output } => exported(project, study, output.as_deref())?,
        ReviewVerb::Add { file } => {
            let added = add_remarks(project, file)?;
            let known = if added.known > 0 { format!(", {} were here already", added.known) } else { String::new() };
            let noun = if added.added == 1 { "remark" } else { "remarks" };
            (json!(added), format!("attached {} {noun}{known}\n", added.added))
        }
    };
    output::data(&if args.json { format!("{object}\n") } else { text })?;
    Ok(Ending::Done)
}

fn exported(project: &Project, study: &str, folder: Option<&Utf8Path>) -> Result<(serde_json::Value, String), Failure> {
    let found = review(project, study)?;
    let of = &found.story.now.study;
    let folder = folder.map_or_else(|| Utf8PathBuf::from(format!("review-{}", of.kernel)), Utf8Path::to_path_buf);
    let files = ReviewView { review: &found, kiln: &place::kiln(project) }.files();
    let written = write_review(&folder, &files)?;
    let names = |files: &[Utf8PathBuf]| -> Vec<String> { files.iter().map(ToString::to_string).collect() };
    let (files, kept, template) = (names(&written.files), names(&written.kept), &written.template);
    let text = format!(
        "wrote {} files to {folder}: begin with {folder}/report.md\nnext: fill in {template}, then kiln review add {template}\n",
        files.len()
    );
    if !kept.is_empty() {
        output::note(&format!(
            "kept {}, which somebody has written in; the new template is {template}",
            kept.join(", ")
        ));
    }
    let object =
        json!({ "study": of.id, "kernel": of.kernel, "folder": folder.as_str(), "files": files, "kept": kept });
    Ok((object, text))
}
