//! Who may ask. In: a request's head. Out: whether it is answered, and why not. A page of another site must not read this one through its visitor's browser,
//! neither by asking for it across sites, nor under a name of its own that leads here (DNS rebinding), nor change anything by a form or a link.

use std::net::IpAddr;

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode};

use super::address::{ServeRequest, Served};
use super::token::Token;

/// The header that carries the token of a change.
pub(super) const TOKEN: &str = "x-kiln-token";

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) why: String,
    pub(super) hint: Option<String>,
}

impl Refused {
    fn new(status: StatusCode, why: impl Into<String>) -> Refused {
        Refused { status, why: why.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Refused {
        Refused { hint: Some(hint.into()), ..self }
    }
}

/// What is asked of requests.
pub(super) struct Access {
    token: Token,
    guarded: bool,
    /// Whether addresses other than loopback ones are names of this machine.
    open: bool,
    names: Vec<String>,
    cookie: String,
}

impl Access {
    pub(super) fn new(served: &Served, request: &ServeRequest) -> Access {
        Access {
            token: served.token.clone(),
            guarded: served.guarded,
            open: !served.at.ip().is_loopback(),
            names: request.names.iter().map(|name| name.to_ascii_lowercase()).collect(),
            // Two servers on one machine share their cookies.
            cookie: format!("kiln-{}", served.at.port()),
        }
    }

    /// The token, for a page that may make changes.
    pub(super) fn token(&self) -> &str {
        self.token.words()
    }

    /// The cookie for a browser that came with the right token in its link; none for any other.
    pub(super) fn cookie_for(&self, offered: &str) -> Option<String> {
        let cookie = || format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, self.token.words());
        self.token.is(offered).then(cookie)
    }

    /// Whether a request is to be answered. `asset` is what every page of this server needs and holds no data.
    pub(super) fn check(&self, method: &Method, headers: &HeaderMap, asset: bool) -> Result<(), Refused> {
        let host = self.host(headers)?;
        self.origin(headers, &host)?;
        let changes = !matches!(*method, Method::GET | Method::HEAD);
        across_sites(headers, changes)?;
        if changes && !self.says(headers.get(TOKEN)) {
            let refused = Refused::new(StatusCode::FORBIDDEN, format!("a change needs the header {TOKEN}"));
            return Err(refused.hint("reload the page: the server has been restarted since"));
        }
        if self.guarded && !asset && !changes && !self.knows(headers) {
            let refused = Refused::new(StatusCode::UNAUTHORIZED, "this page needs a token");
            return Err(refused.hint("open the link that `kiln serve` printed"));
        }
        Ok(())
    }

    /// The name that the browser believes to talk to. A name that is none of this machine's leads here by deceit.
    fn host(&self, headers: &HeaderMap) -> Result<Authority, Refused> {
        let mut all = headers.get_all(HOST).iter();
        let asked = all.next().filter(|_| all.next().is_none()).and_then(|value| value.to_str().ok());
        let authority =
            asked.and_then(|words| words.parse::<Authority>().ok()).filter(|own| !own.as_str().contains('@'));
        let Some(authority) = authority else {
            return Err(Refused::new(StatusCode::BAD_REQUEST, "the request has no valid Host"));
        };
        let name = authority.host().trim_matches(['[', ']']).to_ascii_lowercase();
        let known = match name.parse::<IpAddr>() {
            // No name server can give a meaning to an address. Ports differ where connections are forwarded.
            Ok(address) => address.is_loopback() || self.open,
            Err(_) => name == "localhost",
        };
        if known || self.names.contains(&name) {
            return Ok(authority);
        }
        let refused = Refused::new(StatusCode::MISDIRECTED_REQUEST, format!("`{name}` is not a name of this server"));
        Err(refused.hint(format!("if it is one of this machine: kiln serve --name {name}")))
    }

    /// Where the request comes from, if the browser says so: only from a page of this server.
    fn origin(&self, headers: &HeaderMap, host: &Authority) -> Result<(), Refused> {
        let own = |origin: &str| {
            let (scheme, rest) = origin.split_once("://").unwrap_or_default();
            matches!(scheme, "http" | "https") && rest.eq_ignore_ascii_case(host.as_str())
        };
        if headers.get_all(ORIGIN).iter().all(|origin| origin.to_str().is_ok_and(own)) {
            return Ok(());
        }
        Err(Refused::new(StatusCode::FORBIDDEN, "the request comes from another site"))
    }

    fn says(&self, offered: Option<&axum::http::HeaderValue>) -> bool {
        offered.and_then(|value| value.to_str().ok()).is_some_and(|offered| self.token.is(offered))
    }

    /// Whether the token came with it: as a cookie, or as a header.
    fn knows(&self, headers: &HeaderMap) -> bool {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|all| all.split(';')).filter_map(|one| one.trim().split_once('='));
        self.says(headers.get(TOKEN))
            || bearer.is_some_and(|offered| self.token.is(offered))
            || cookies.any(|(name, value)| name == self.cookie && self.token.is(value))
    }
}

/// What the browser says of who made it ask. A link may lead here from anywhere; nothing else may.
fn across_sites(headers: &HeaderMap, changes: bool) -> Result<(), Refused> {
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let followed = said("sec-fetch-mode") == Some("navigate") && said("sec-fetch-dest") == Some("document") && !changes;
    match said("sec-fetch-site") {
        None | Some("same-origin" | "none") => Ok(()),
        _ if followed => Ok(()),
        _ => Err(Refused::new(StatusCode::FORBIDDEN, "the request comes from another site")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderName;

    fn access(guarded: bool, open: bool) -> Access {
        let token = Token::new().unwrap();
        Access { token, guarded, open, names: vec!["gpu7.lab".into()], cookie: "kiln-1".into() }
    }

    fn asked(access: &Access, method: &Method, said: &[(&str, &str)]) -> Option<u16> {
        let pair = |(name, value): &(&str, &str)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        let mut headers = HeaderMap::new();
        for (name, value) in said.iter().map(pair) {
            headers.append(name, value);
        }
        access.check(method, &headers, false).err().map(|refused| refused.status.as_u16())
    }

    #[test]
    fn only_names_of_this_machine_lead_here() {
        let (closed, open) = (access(false, false), access(false, true));
        for host in ["localhost:1", "127.0.0.1:1", "[::1]:1", "localhost", "LOCALHOST:99", "gpu7.lab:1", "127.9.9.9"] {
            assert_eq!(asked(&closed, &Method::GET, &[("host", host)]), None, "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:1", "192.0.2.7:1", "127.0.0.1.evil.example", "0.0.0.0:1"] {
            assert_eq!(asked(&closed, &Method::GET, &[("host", host)]), Some(421), "{host}");
        }
        assert_eq!(asked(&open, &Method::GET, &[("host", "192.0.2.7:1")]), None);
        assert_eq!(asked(&open, &Method::GET, &[("host", "evil.example:1")]), Some(421));
        for bad in
            [vec![], vec![("host", "a b")], vec![("host", "x@localhost")], vec![("host", "localhost"), ("host", "x")]]
        {
            assert_eq!(asked(&closed, &Method::GET, &bad), Some(400), "{bad:?}");
        }
    }

    #[test]
    fn other_sites_may_link_here_and_nothing_else() {
        let own = access(false, false);
        let from = |site: &'static str, mode: &'static str, dest: &'static str| {
            let said =
                [("host", "localhost:1"), ("sec-fetch-site", site), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)];
            asked(&own, &Method::GET, &said)
        };
        assert_eq!(from("same-origin", "cors", "empty"), None);
        assert_eq!(from("none", "navigate", "document"), None);
        assert_eq!(from("cross-site", "navigate", "document"), None);
        assert_eq!(from("cross-site", "navigate", "iframe"), Some(403));
        assert_eq!(from("cross-site", "no-cors", "image"), Some(403));
        assert_eq!(from("same-site", "cors", "empty"), Some(403));
        for origin in ["http://evil.example", "null", "http://localhost:2", "ftp://localhost:1", ""] {
            let said = [("host", "localhost:1"), ("origin", origin)];
            assert_eq!(asked(&own, &Method::GET, &said), Some(403), "{origin}");
        }
        assert_eq!(asked(&own, &Method::GET, &[("host", "localhost:1"), ("origin", "http://localhost:1")]), None);
    }

    #[test]
    fn changes_need_the_token_in_its_header_and_reading_does_where_it_is_guarded() {
        let (own, guarded) = (access(false, false), access(true, false));
        let host = ("host", "localhost:1");
        assert_eq!(asked(&own, &Method::GET, &[host]), None);
        assert_eq!(asked(&own, &Method::POST, &[host]), Some(403));
        assert_eq!(asked(&own, &Method::POST, &[host, (TOKEN, "wrong")]), Some(403));
        assert_eq!(asked(&own, &Method::POST, &[host, (TOKEN, own.token())]), None);
        let navigated =
            [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        let posted = [&[host, (TOKEN, own.token())][..], &navigated].concat();
        assert_eq!(asked(&own, &Method::POST, &posted), Some(403));
        let cookie = guarded.cookie_for(guarded.token()).unwrap();
        let pair = cookie.split(';').next().unwrap().to_string();
        assert_eq!(asked(&guarded, &Method::GET, &[host]), Some(401));
        assert_eq!(asked(&guarded, &Method::GET, &[host, ("cookie", &format!("a=b; {pair}"))]), None);
        assert_eq!(asked(&guarded, &Method::GET, &[host, ("cookie", "kiln-1=")]), Some(401));
        assert_eq!(
            asked(&guarded, &Method::GET, &[host, ("authorization", &format!("Bearer {}", guarded.token()))]),
            None
        );
        // What a browser sends by itself changes nothing.
        assert_eq!(asked(&guarded, &Method::POST, &[host, ("cookie", &pair)]), Some(403));
        assert!(
            guarded.cookie_for("wrong").is_none() && cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict")
        );
    }
}
