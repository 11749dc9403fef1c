//! Connections of the page and of the MCP server. In: a listener, what answers requests. Out: answers, as long as the process lives. A request whose head does not
//! come is given up, and no more connections are held than files can be open: others wait until one ends.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// How long accepting pauses where the system has no room for one more connection.
const PAUSE: Duration = Duration::from_millis(200);

/// What a server puts up with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// How long the head of a request may take. A connection without one ends as well.
    pub(crate) head: Duration,
    /// Connections at once.
    pub(crate) most: usize,
}

impl Default for Patience {
    fn default() -> Patience {
        // Many systems allow 1024 open files, of which the store needs some.
        Patience { head: Duration::from_secs(15), most: 512 }
    }
}

/// Answers whoever connects.
pub(crate) async fn serve(listener: TcpListener, routes: Router, patience: Patience) {
    let seats = Arc::new(Semaphore::new(patience.most));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(patience.head);
    // Nobody closes the semaphore.
    while let Ok(seat) = Arc::clone(&seats).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let answered = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes.clone()));
        tokio::spawn(async move {
            // Who breaks off a connection need not be told.
            let _ = answered.await;
            drop(seat);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;
    use axum::routing::get;

    #[test]
    fn half_requests_end_and_let_others_in() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let at = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let routes = Router::new().route("/", get(|| async { "here" }));
                let patience = Patience { head: Duration::from_millis(100), most: 2 };
                serve(TcpListener::from_std(listener).unwrap(), routes, patience).await;
            });
        });
        let half = |words: &str| {
            let mut stream = TcpStream::connect(at).unwrap();
            stream.write_all(words.as_bytes()).unwrap();
            stream
        };
        // Twice as many as there are seats, and they stay.
        let mut slow: Vec<TcpStream> =
            ["GET / HTTP/1.1\r\nHost: x\r\n", "", "GET", "GET / HTTP/1.1\r\n"].map(half).into();
        let mut whole = half("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let mut answer = String::new();
        whole.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("here"), "{answer}");
        for stream in &mut slow {
            // It ends: closed, or reset where something was not read.
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
            assert!(!rest.starts_with(b"HTTP/1.1 200"));
        }
    }
}
