//! Answers that are no page: why something is not answered, for a browser as a page, for a script as JSON. In: what went wrong. Out: a status and the words,
//! with what to do.

use axum::extract::Request;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use kiln_app::{Failure, Report};
use serde_json::json;

use super::access::Refused;
use super::frame;

/// Whether a person reads the answer.
pub(super) fn for_people(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|kinds| kinds.contains("text/html"))
}

/// A request that is not answered.
pub(super) fn refused(request: &Request, refused: &Refused) -> Response {
    let report = Report::error(refused.why.clone()).maybe_hint(refused.hint.clone());
    said(refused.status, &[report], for_people(request.headers()))
}

/// Why there is no such page, or why a change was not made.
pub(super) fn failed(failure: &Failure, people: bool) -> Response {
    let status = match failure {
        Failure::Input(_) => StatusCode::BAD_REQUEST,
        Failure::Fault(fault) if fault.what.starts_with("looking for ") => StatusCode::NOT_FOUND,
        Failure::Fault(_) | Failure::Io(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    said(status, &failure.reports(), people)
}

/// There is nothing of that address.
pub(super) fn nothing(people: bool) -> Response {
    let report = Report::error("there is no such page").hint("the list of studies is at /");
    said(StatusCode::NOT_FOUND, &[report], people)
}

pub(super) fn said(status: StatusCode, reports: &[Report], people: bool) -> Response {
    if people {
        (status, Html(frame::sorry(status, reports))).into_response()
    } else {
        (status, axum::Json(json!({ "errors": reports }))).into_response()
    }
}
