//! `kiln man`: man pages, of the same words as `--help`.

use clap::CommandFactory;
use kiln_app::{Ending, Failure, Fault};

use crate::args::{Cli, ManArgs};
use crate::output;

pub(crate) fn run(args: &ManArgs) -> Result<Ending, Failure> {
    let command = Cli::command().disable_help_subcommand(true);
    let fault = |e: std::io::Error| Fault::new("writing man pages", e);
    match &args.out {
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(command).render(&mut text).map_err(fault)?;
            output::data(&String::from_utf8_lossy(&text))?;
        }
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(fault)?;
            let pages = 1 + command.get_subcommands().filter(|verb| !verb.is_hide_set()).count();
            clap_mangen::generate_to(command, folder).map_err(fault)?;
            output::note(&format!("wrote {pages} pages to {folder}"));
        }
    }
    Ok(Ending::Done)
}
