//! `kiln mcp`: kiln's abilities as tools for assistants, and its entry in their settings.

use kiln_app::{Ending, Failure, Fault, Project};
use kiln_serve::mcp::{Http, May, Mcp, install, serve};

use crate::args::{ClientArg, McpArgs};
use crate::output;
use crate::place;

/// What requests over HTTP must present.
const TOKEN: &str = "KILN_MCP_TOKEN";

pub(crate) fn run(project: &Project, args: &McpArgs) -> Result<Ending, Failure> {
    if let Some(folder) = &args.project {
        std::env::set_current_dir(folder).map_err(|e| Fault::new(format!("entering {folder}"), e))?;
    }
    if let Some(ClientArg(client)) = args.install {
        let chosen = project.store_place() != Project::USUAL_STORE;
        let store = chosen.then(|| ["--store".to_string(), project.store_place().to_string()]);
        let read_only = args.read_only.then(|| "--read-only".to_string());
        let more: Vec<String> = store.into_iter().flatten().chain(read_only).collect();
        for file in install(client, &more, May { only_show: args.print, force: args.force })? {
            match (args.print, &file.note) {
                (true, _) => output::data(&format!("# {}\n{}\n", file.file, file.text))?,
                (false, _) if file.written => output::data(&format!("wrote {}\n", file.file))?,
                (false, None) => output::note(&format!("{} is up to date", file.file)),
                (false, Some(_)) => {}
            }
            file.note.iter().for_each(|note| output::note(note));
        }
        return Ok(Ending::Done);
    }
    let token = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
    let own = token.is_some();
    let http = args.http.map(|address| Http { address, token, hosts: args.allow_host.clone() });
    let how = Mcp { kiln: place::kiln(project), read_only: args.read_only, http };
    serve(project.clone(), how, |address, token| {
        output::complain(&format!("serving {address}"));
        if !own {
            output::complain(&format!("token: {token}"));
        }
    })?;
    Ok(Ending::Done)
}
