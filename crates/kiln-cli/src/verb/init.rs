//! `kiln init`: a folder with a small kernel that works.

use kiln_app::{Ending, Failure, Utf8Path, init};

use kiln_show::quoted;

use crate::args::InitArgs;
use crate::output;

pub(crate) fn run(args: &InitArgs) -> Result<Ending, Failure> {
    let folder = Utf8Path::new(&args.name);
    let mut words = String::from("wrote\n");
    init(folder)?.iter().for_each(|path| words.extend(["  ", path.as_str(), "\n"]));
    let folder = quoted(folder.as_str());
    words.push_str(&format!(
        "next\n  kiln space {folder}\n  kiln gate {folder} --config LANES=8\n  kiln tune {folder}\n"
    ));
    output::data(&words)?;
    Ok(Ending::Done)
}
