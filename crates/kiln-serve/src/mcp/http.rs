//! The server over HTTP: one address, `/mcp`. In: an address to listen on, a token, names it may be called by. Out: the same answers as over pipes.
//! Refuses a request without the token, one whose Host is not a name of this server, and one that a web page of another origin sends.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use kiln_app::{Failure, Fault};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::server::Server;
use super::sessions::Sessions;
use crate::connections::{self, Patience};

/// Where the protocol is spoken.
pub(super) const PATH: &str = "/mcp";
/// A request's body at most.
const LARGEST: usize = 4 << 20;

/// How the server is reached.
#[derive(Debug, Clone)]
pub struct Http {
    /// Where it listens.
    pub address: SocketAddr,
    /// What a request must present; a new one when none.
    pub token: Option<String>,
    /// More names that requests may call it by.
    pub hosts: Vec<String>,
}

/// Serves until the process ends. `listening` is told the address and the token once requests are taken.
pub(super) async fn serve(server: Server, http: Http, listening: impl FnOnce(&str, &str)) -> Result<(), Failure> {
    let fault = |e: std::io::Error| {
        Failure::from(
            Fault::new(format!("listening on {}", http.address), e).hint("choose another address: --http 127.0.0.1:0"),
        )
    };
    let listener = tokio::net::TcpListener::bind(http.address).await.map_err(fault)?;
    let address = listener.local_addr().map_err(fault)?;
    let token: Arc<str> = match http.token {
        Some(token) => token.into(),
        None => new_token().map_err(fault)?.into(),
    };
    let mut hosts = vec![address.to_string(), address.ip().to_string()];
    if address.ip().is_loopback() {
        hosts.extend(["localhost", "127.0.0.1", "::1"].map(|name| format_host(name, address.port())));
    }
    hosts.extend(http.hosts.iter().cloned());
    let origins: Vec<String> = hosts.iter().map(|host| format!("http://{host}")).collect();
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(LARGEST);
    let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::new(Sessions::default()), config);
    let routes =
        Router::new().route_service(PATH, service).layer(middleware::from_fn_with_state(token.clone(), presented));
    listening(&format!("http://{address}{PATH}"), &token);
    connections::serve(listener, routes, Patience::default()).await;
    Ok(())
}

fn format_host(name: &str, port: u16) -> String {
    if name.contains(':') { format!("[{name}]:{port}") } else { format!("{name}:{port}") }
}

/// A token that nobody can guess.
fn new_token() -> std::io::Result<String> {
    use std::io::Read;
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Lets a request through that presents the token.
async fn presented(State(token): State<Arc<str>>, request: Request<Body>, next: Next) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    if same(shown.trim().as_bytes(), token.as_bytes()) {
        return next.run(request).await;
    }
    let words = "a token is needed: Authorization: Bearer TOKEN; kiln mcp printed it when it started\n";
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], words).into_response()
}

/// Whether two words are the same, in a time that does not tell where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_new_and_compared_whole() {
        let (one, other) = (new_token().unwrap(), new_token().unwrap());
        assert!(one.len() == 64 && one != other);
        assert!(same(one.as_bytes(), one.as_bytes()));
        assert!(
            !same(one.as_bytes(), other.as_bytes()) && !same(&one.as_bytes()[..63], one.as_bytes()) && !same(b"", b"x")
        );
    }
}
