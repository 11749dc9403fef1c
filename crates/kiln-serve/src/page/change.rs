//! What may be changed from the page: notes on a study, review remarks and their answers. In: JSON with the token in a header, which `access` has checked. Out:
//! what was recorded. Refuses what `kiln review add` would refuse, bodies that are too large, and fields it does not know.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use kiln_app::{NewRemark, RemarkAbout, Report, add_note, add_remark};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{Site, answer};

/// The most bytes of a body.
pub(super) const LARGEST: usize = 64 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    study: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Remark {
    about: About,
    reviewer: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum About {
    Trial { study: String, phase: String, number: u64 },
    Decision { study: String },
    Lesson { lesson: String },
    Cause { kernel: String, cause: String },
}

impl From<About> for RemarkAbout {
    fn from(about: About) -> RemarkAbout {
        match about {
            About::Trial { study, phase, number } => RemarkAbout::Trial { study, phase, number },
            About::Decision { study } => RemarkAbout::Decision { study },
            About::Lesson { lesson } => RemarkAbout::Lesson { lesson },
            About::Cause { kernel, cause } => RemarkAbout::Cause { kernel, cause },
        }
    }
}

/// Notes something about a study.
pub(super) async fn note(State(site): State<Site>, headers: HeaderMap, body: Bytes) -> Response {
    let Note { study, text } = match read(&headers, &body) {
        Ok(note) => note,
        Err(report) => return answer::said(StatusCode::BAD_REQUEST, &[report], false),
    };
    match site.desk.read(move |desk| add_note(desk.project(), &study, &text)).await {
        Ok(()) => (StatusCode::CREATED, Json(json!({ "added": 1 }))).into_response(),
        Err(failure) => answer::failed(&failure, false),
    }
}

/// Attaches a remark, or answers one.
pub(super) async fn remark(State(site): State<Site>, headers: HeaderMap, body: Bytes) -> Response {
    let Remark { about, reviewer, text } = match read(&headers, &body) {
        Ok(remark) => remark,
        Err(report) => return answer::said(StatusCode::BAD_REQUEST, &[report], false),
    };
    let new = NewRemark { about: about.into(), reviewer, text };
    match site.desk.read(move |desk| add_remark(desk.project(), &new)).await {
        Ok(added) => (StatusCode::CREATED, Json(json!(added))).into_response(),
        Err(failure) => answer::failed(&failure, false),
    }
}

/// A body as it is meant. A form of another site cannot send this kind.
fn read<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8]) -> Result<T, Report> {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().unwrap_or_default().trim() != "application/json" {
        return Err(Report::error("the body is not JSON").label("expected Content-Type: application/json"));
    }
    serde_json::from_slice(body).map_err(|error| Report::error(format!("the body cannot be read: {error}")))
}
