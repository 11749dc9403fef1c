//! `kiln serve`: the page, until Ctrl-C.

use std::process::{Command, Stdio};

use kiln_app::{Ending, Failure, Project};
use kiln_serve::page::{ServeRequest, Served, serve};
use serde_json::json;

use crate::args::ServeArgs;
use crate::{output, place};

pub(crate) fn run(project: &Project, args: &ServeArgs) -> Result<Ending, Failure> {
    let request = ServeRequest {
        address: args.address,
        port: args.port,
        names: args.name.clone(),
        guarded: args.token,
        kiln: place::kiln(project),
    };
    serve(project, &request, |served| begun(served, args))
}

fn begun(served: &Served, args: &ServeArgs) -> Result<(), Failure> {
    let (address, link) = (served.address(), served.link());
    output::data(&match args.json {
        true => format!("{}\n", json!({ "address": address, "link": link, "token": served.token() })),
        false => format!("{link}\n"),
    })?;
    if served.token().is_some() {
        output::note("the link lets its reader in; give it only to those who may read and remark");
    }
    output::note("Ctrl-C stops serving");
    if args.open && !opened(&link) {
        output::note("no browser could be opened; open the address above");
    }
    Ok(())
}

/// Opens a link in the browser of the desktop, which goes on without us.
fn opened(link: &str) -> bool {
    let silent = || Stdio::null();
    let begun = Command::new("xdg-open").arg(link).stdin(silent()).stdout(silent()).stderr(silent()).spawn();
    let Ok(mut child) = begun else { return false };
    // Reaped by a thread of its own: a browser may stay in the foreground.
    std::thread::spawn(move || child.wait());
    true
}
