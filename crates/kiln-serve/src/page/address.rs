//! Where the page is. In: an address and a port as they were asked for. Out: a socket that listens, and the links to it. Refuses a port that is in use and an
//! address that this machine does not have.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use kiln_app::{Failure, Fault, Report};

use super::token::Token;

/// The port unless another is asked for.
pub const PORT: u16 = 8321;

/// Where to serve the page.
#[derive(Debug, Clone, Default)]
pub struct ServeRequest {
    /// The address to listen on; this machine alone without one.
    pub address: Option<IpAddr>,
    /// The port; 0 picks a free one.
    pub port: u16,
    /// Other names of this machine that browsers may ask for.
    pub names: Vec<String>,
    /// Whether a token is needed on this machine too.
    pub guarded: bool,
    /// How kiln is called so that it finds the same store.
    pub kiln: String,
}

/// Where the page is served.
#[derive(Debug, Clone)]
pub struct Served {
    /// The address and the port.
    pub at: SocketAddr,
    /// Needed for every change; the page has it.
    pub(super) token: Token,
    /// Whether it is needed to read, too.
    pub(super) guarded: bool,
}

impl Served {
    /// The page.
    pub fn address(&self) -> String {
        format!("http://{}/", self.host())
    }

    /// The token that reading needs, where it does.
    pub fn token(&self) -> Option<&str> {
        self.guarded.then(|| self.token.words())
    }

    /// The link that opens the page, with the token where it is needed.
    pub fn link(&self) -> String {
        match self.token() {
            Some(token) => format!("{}?token={token}", self.address()),
            None => self.address(),
        }
    }

    /// The address as a browser on this machine would ask for it.
    fn host(&self) -> SocketAddr {
        match self.at.ip().is_unspecified() {
            true => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), self.at.port()),
            false => self.at,
        }
    }
}

/// Listens where it was asked to.
pub(super) fn listen(request: &ServeRequest) -> Result<(TcpListener, Served), Failure> {
    let ip = request.address.unwrap_or(Ipv4Addr::LOCALHOST.into());
    let wanted = SocketAddr::new(ip, request.port);
    let listener = TcpListener::bind(wanted).map_err(|error| refused(wanted, &error))?;
    let fault = |error: std::io::Error| Fault::new(format!("listening on {wanted}"), error);
    listener.set_nonblocking(true).map_err(fault)?;
    let at = listener.local_addr().map_err(fault)?;
    Ok((listener, Served { at, token: Token::new()?, guarded: request.guarded || !ip.is_loopback() }))
}

fn refused(wanted: SocketAddr, error: &std::io::Error) -> Failure {
    let port = wanted.port();
    match error.kind() {
        ErrorKind::AddrInUse => Report::error(format!("port {port} is in use"))
            .label(format!("expected a free port of {}", wanted.ip()))
            .hint("another `kiln serve` may run; choose a port with --port, or let --port 0 pick a free one")
            .into(),
        ErrorKind::AddrNotAvailable => Report::error(format!("this machine does not have the address {}", wanted.ip()))
            .label("expected an address of this machine, or 0.0.0.0 for all of them")
            .hint("omit --address to serve this machine alone")
            .into(),
        ErrorKind::PermissionDenied => Report::error(format!("port {port} may not be listened on"))
            .label("expected a port from 1024")
            .hint("--port 0 picks a free one")
            .into(),
        _ => Fault::new(format!("listening on {wanted}"), error).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_named_and_port_0_picks_one() {
        let (held, served) = listen(&ServeRequest::default()).unwrap();
        let port = held.local_addr().unwrap().port();
        assert_eq!((served.address(), served.token()), (format!("http://127.0.0.1:{port}/"), None));
        let failure = listen(&ServeRequest { port, ..ServeRequest::default() }).err().unwrap().to_string();
        assert!(failure.contains(&format!("port {port} is in use")) && failure.contains("--port 0"), "{failure}");
    }

    #[test]
    fn another_address_needs_a_token_and_this_machine_may() {
        let open = ServeRequest { address: Some("0.0.0.0".parse().unwrap()), ..ServeRequest::default() };
        let (_, served) = listen(&open).unwrap();
        assert_eq!(served.link(), format!("http://127.0.0.1:{}/?token={}", served.at.port(), served.token().unwrap()));
        let (_, shared) = listen(&ServeRequest { guarded: true, ..ServeRequest::default() }).unwrap();
        assert!(shared.link().contains("?token="));
        let foreign = ServeRequest { address: Some("192.0.2.1".parse().unwrap()), ..ServeRequest::default() };
        assert!(listen(&foreign).err().unwrap().to_string().contains("does not have the address 192.0.2.1"));
    }
}
