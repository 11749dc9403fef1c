//! What every request goes through and every answer carries. In: a request. Out: the answer with headers that keep browsers from running, framing, guessing
//! or keeping what they should not. Refuses what `access` refuses, and lets in whoever brings the token in a link.

use axum::extract::{Request, State};
use axum::http::header::{HeaderName, SET_COOKIE};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};

use super::{Site, answer, asset, frame};

/// Scripts and styles of this server alone: what somebody wrote into a note or a kernel's name is never run.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(&str, &str); 7] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
];

/// Answers a request, or says why not.
pub(super) async fn guard(State(site): State<Site>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let checked = site.access.check(request.method(), request.headers(), asset::is_one(path));
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(refused) if refused.status == StatusCode::UNAUTHORIZED => match admitted(&site, &request) {
            Some(response) => response,
            None => answer::refused(&request, &refused),
        },
        Err(refused) => answer::refused(&request, &refused),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    let usual = HeaderValue::from_static("no-store");
    response.headers_mut().entry("cache-control").or_insert(usual);
    response
}

/// Whoever comes with the token in the link gets it as a cookie, and the page without it: it does not stay in the address.
fn admitted(site: &Site, request: &Request) -> Option<Response> {
    if request.method() != Method::GET {
        return None;
    }
    let query = request.uri().query()?;
    let offered = query.split('&').find_map(|pair| pair.strip_prefix("token="))?;
    let cookie = HeaderValue::from_str(&site.access.cookie_for(offered)?).ok()?;
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("token=")).collect();
    let rest = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    // Two slashes at its beginning would name another server.
    let path = format!("/{}{rest}", request.uri().path().trim_start_matches(['/', '\\']));
    // Not by a redirect: a browser that follows a link of another site sends no cookie of ours along one.
    Some(([(SET_COOKIE, cookie)], Html(frame::entered(&path))).into_response())
}
