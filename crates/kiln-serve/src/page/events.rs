//! News for pages that are open. In: listeners. Out: server-sent events, one for each change in the store, whichever process made it: `hello` when from now
//! on nothing is missed, `changed` with the ids of studies. One thread looks for all listeners, and only while there are some.
//! Refuses more listeners than a team has tabs.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use kiln_app::{Changed, Project, Watch};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};

use super::Site;

/// How often the store is looked at.
const EVERY: Duration = Duration::from_millis(500);
/// The most pages that listen at once.
const MOST: usize = 200;
/// A comment now and then shows a browser, and whatever lies between, that the server is there.
const ALIVE: Duration = Duration::from_secs(15);

/// What listeners hear.
#[derive(Clone)]
enum News {
    /// From now on nothing is missed.
    Watching,
    Changed(Arc<Changed>),
}

/// Who listens, and whether somebody looks.
#[derive(Default)]
struct Count {
    listeners: usize,
    /// Whether there is a thread.
    begun: bool,
    /// Whether it has looked: what changes now is news.
    watching: bool,
}

/// Everyone who listens.
#[derive(Clone)]
pub(super) struct Watchers {
    project: Project,
    news: Sender<News>,
    count: Arc<Mutex<Count>>,
}

/// One of them; gone when its page is.
struct Listener {
    news: Receiver<News>,
    all: Watchers,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.all.count().listeners -= 1;
    }
}

impl Watchers {
    pub(super) fn new(project: &Project) -> Watchers {
        Watchers { project: project.clone(), news: channel(64).0, count: Arc::default() }
    }

    fn count(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new listener, and whether it misses nothing from now on. None where there are too many.
    fn join(&self) -> Option<(Listener, bool)> {
        let mut count = self.count();
        if count.listeners >= MOST {
            return None;
        }
        count.listeners += 1;
        if !std::mem::replace(&mut count.begun, true) {
            let all = self.clone();
            std::thread::spawn(move || all.watch());
        }
        Some((Listener { news: self.news.subscribe(), all: self.clone() }, count.watching))
    }

    /// Looks until nobody listens.
    fn watch(&self) {
        let mut watch = Watch::new(&self.project);
        loop {
            let looked = watch.look();
            {
                let mut count = self.count();
                if count.listeners == 0 {
                    *count = Count::default();
                    return;
                }
                // Nobody may be there to hear it.
                match looked {
                    Ok(changed) if !changed.is_empty() => drop(self.news.send(News::Changed(Arc::new(changed)))),
                    Ok(_) if !std::mem::replace(&mut count.watching, true) => drop(self.news.send(News::Watching)),
                    Ok(_) => {}
                    Err(_) => {
                        // A store that is busy, or being replaced: opened anew, and everybody reads again.
                        watch = Watch::new(&self.project);
                        count.watching = false;
                    }
                }
            }
            std::thread::sleep(EVERY);
        }
    }
}

impl Listener {
    async fn next(&mut self) -> Option<Event> {
        match self.news.recv().await {
            Ok(News::Changed(changed)) => {
                Some(Event::default().event("changed").json_data(&*changed).unwrap_or_default())
            }
            Ok(News::Watching) | Err(RecvError::Lagged(_)) => Some(hello()),
            Err(RecvError::Closed) => None,
        }
    }
}

fn hello() -> Event {
    Event::default().event("hello").data("{}")
}

/// Answers with news until the page goes away.
pub(super) async fn events(State(site): State<Site>) -> Response {
    let Some((listener, watching)) = site.watchers.join() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open; close some\n").into_response();
    };
    let stream = unfold((listener, watching), |(mut listener, greet)| async move {
        let event = if greet { hello() } else { listener.next().await? };
        Some((Ok::<Event, Infallible>(event), (listener, false)))
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(ALIVE)).into_response()
}
