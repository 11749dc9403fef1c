//! The MCP server: kiln's abilities as tools for assistants, over pipes or HTTP, and its entry in clients' settings. In: a project, and
//! how it is served. Out: answers to a client, until it goes. Studies run in processes of their own and go on. Refuses an address that it
//! cannot listen on, and settings that it cannot read.

mod answer;
mod arguments;
mod documents;
mod evidence;
mod http;
mod install;
mod measuring;
mod pipe;
mod place;
mod progress;
mod prompts;
mod resources;
mod schema;
mod server;
mod sessions;
mod tasks;
mod tool;
mod tools;

use std::time::Duration;

use kiln_app::{Failure, Fault, Project};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio;

pub use http::Http;
pub use install::{Client, Installed, May, install};
use pipe::Pipes;
use server::Server;

/// So long an operation may take to come to an end of its own once the client is gone.
const GRACE: Duration = Duration::from_secs(10);

/// How a project is served.
#[derive(Debug, Clone)]
pub struct Mcp {
    /// How kiln is called so that it finds the same store.
    pub kiln: String,
    /// Leave out every tool that writes or runs something.
    pub read_only: bool,
    /// Over HTTP instead of pipes.
    pub http: Option<Http>,
}

/// Serves the project of the current folder until the client goes. `listening` is told address and token, over HTTP alone.
pub fn serve(project: Project, how: Mcp, listening: impl FnOnce(&str, &str)) -> Result<(), Failure> {
    let server = Server::new(project, how.kiln, how.read_only)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let ended = runtime.block_on(async {
        match how.http {
            Some(http) => http::serve(server, http, listening).await,
            None => piped(server).await,
        }
    });
    runtime.shutdown_timeout(GRACE);
    ended
}

async fn piped(server: Server) -> Result<(), Failure> {
    let (from, to) = stdio();
    let running = match server.serve(Pipes::new(from, to)).await {
        Ok(running) => running,
        // A client that went before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => {
            return Err(Fault::new("speaking with the client", error)
                .hint("the protocol begins with `initialize` or `server/discover`")
                .into());
        }
    };
    running.waiting().await.map(drop).map_err(|error| Fault::new("speaking with the client", error).into())
}
