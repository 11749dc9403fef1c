//! `kiln init`: a folder with a small kernel that works, or a kernel.toml from a kernel that is there.

use kiln_app::{Ending, Failure, FromRequest, Project, Utf8Path, Utf8PathBuf, init, init_from};
use kiln_show::{BegunView, quoted};

use crate::args::InitArgs;
use crate::output;

pub(crate) fn run(project: &Project, args: &InitArgs) -> Result<Ending, Failure> {
    let Some(file) = &args.from else { return sample(args) };
    let folder = args.name.as_ref().map(Utf8PathBuf::from);
    let begun = init_from(project, &FromRequest { file: file.clone(), folder, entry: args.entry.clone() })?;
    let view = BegunView { begun: &begun };
    output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(Ending::Done)
}

fn sample(args: &InitArgs) -> Result<Ending, Failure> {
    let folder = Utf8Path::new(args.name.as_deref().unwrap_or("my_kernel"));
    let written = init(folder)?;
    if args.json {
        output::data(&format!(
            "{}\n",
            serde_json::json!({ "written": written.iter().map(|p| p.as_str()).collect::<Vec<_>>() })
        ))?;
        return Ok(Ending::Done);
    }
    let mut words = String::from("wrote\n");
    written.iter().for_each(|path| words.extend(["  ", path.as_str(), "\n"]));
    let folder = quoted(folder.as_str());
    words.push_str(&format!(
        "next\n  kiln space {folder}\n  kiln gate {folder} --config LANES=8\n  kiln tune {folder}\n"
    ));
    output::data(&words)?;
    Ok(Ending::Done)
}
