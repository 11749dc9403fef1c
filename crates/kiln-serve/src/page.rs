//! The local page: everything that is recorded, and studies while they run, in a browser. In: a project, an address to listen on, somebody to tell where
//! it is. Out: pages over HTTP until somebody asks to stop. Only this machine can reach it unless an address is given, and then
//! a token is needed. Refuses an address that cannot be listened on. docs/serve.md describes what is checked of each request.

mod access;
mod address;
mod answer;
mod asset;
mod change;
mod choosing;
mod desk;
mod events;
mod frame;
mod guard;
mod routes;
mod saying;
mod token;
mod views;

use std::sync::Arc;
use std::time::Duration;

use kiln_app::{Ending, Failure, Fault, Project};
use tokio::runtime;

pub use address::{PORT, ServeRequest, Served};

use crate::connections::{self, Patience};
use access::Access;
use desk::Desk;
use events::Watchers;

/// How often it is looked whether somebody asked to stop.
const LOOK: Duration = Duration::from_millis(100);

/// What every request may use.
#[derive(Clone)]
struct Site {
    access: Arc<Access>,
    desk: Desk,
    watchers: Watchers,
}

/// Serves the page until somebody asks to stop. `begun` hears where it is once it can be reached.
pub fn serve(
    project: &Project,
    request: &ServeRequest,
    begun: impl FnOnce(&Served) -> Result<(), Failure>,
) -> Result<Ending, Failure> {
    let fault = |error: std::io::Error| Fault::new("starting the server", error);
    let (listener, served) = address::listen(request)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(fault)?;
    let site = Site {
        access: Arc::new(Access::new(&served, request)),
        desk: Desk::new(project, &request.kiln),
        watchers: Watchers::new(project),
    };
    let ended = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(fault)?;
        // Whoever is told may come at once: they wait in the listener's queue.
        begun(&served)?;
        // The study that is most likely asked for is read and drawn before anybody asks. Where there is none, nothing is lost.
        let desk = site.desk.clone();
        let newest = views::Place::Study("last".into());
        tokio::spawn(
            async move { desk.read(move |desk| views::page(desk, &newest, &Vec::new()).map(drop)).await.ok() },
        );
        let stopped = project.stopped();
        let asked = async {
            while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            () = connections::serve(listener, routes::router(site), Patience::default()) => Ok(Ending::Done),
            () = asked => Ok(Ending::Interrupted),
        }
    });
    // Whoever is being answered is not waited for: nothing that they read is lost.
    runtime.shutdown_background();
    ended
}
