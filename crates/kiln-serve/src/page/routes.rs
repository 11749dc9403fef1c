//! Every address. In: a request that was let in. Out: a page, its sections as JSON, an asset, news, or a change. There are no files behind any of them.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, RawQuery, Request, State};
use axum::http::header::{ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{any, get, post};
use kiln_app::{Failure, Fault, Report};
use serde_json::json;

use super::views::{Page, Place, page};
use super::{Site, answer, asset, change, events, frame, guard};

/// The router, with what every request goes through around it.
pub(super) fn router(site: Site) -> Router {
    let pages = Router::new()
        .merge(place("/", |_, _| Place::Studies))
        .merge(place("/study/{id}", |id, _| Place::Study(id)))
        .merge(place("/study/{id}/why", |id, _| Place::Why(id)))
        .merge(place("/kernel/{name}", |name, _| Place::Kernel(name)))
        .merge(place("/compare", |_, pairs| Place::compare(pairs)))
        .merge(place("/sessions", |_, _| Place::Sessions))
        .merge(place("/session/{id}", |id, _| Place::Session(id)));
    pages
        .route("/events", get(events::events))
        .route("/note", post(change::note))
        .route("/remark", post(change::remark))
        .fallback(any(other))
        .layer(DefaultBodyLimit::max(change::LARGEST))
        .layer(from_fn_with_state(site.clone(), guard::guard))
        .with_state(site)
}

/// The pairs of an address's query.
pub(super) type Pairs = Vec<(String, String)>;

/// A page, and beside it its sections.
fn place(path: &str, which: fn(String, &Pairs) -> Place) -> Router<Site> {
    type Name = Result<Option<Path<String>>, PathRejection>;
    let whole = move |State(site): State<Site>, name: Name, RawQuery(query): RawQuery, headers: HeaderMap| async move {
        match read(&site, which, name, query).await {
            Ok(page) => Html(frame::page(&page, site.access.token())).into_response(),
            Err(failure) => answer::failed(&failure, answer::for_people(&headers)),
        }
    };
    let sections = move |State(site): State<Site>, name: Name, RawQuery(query): RawQuery, headers: HeaderMap| async move {
        match read(&site, which, name, query).await {
            Ok(page) => sections(&page, &headers),
            Err(failure) => answer::failed(&failure, false),
        }
    };
    let beside = format!("{}/sections", path.trim_end_matches('/'));
    Router::new().route(path, get(whole)).route(&beside, get(sections))
}

async fn read(
    site: &Site,
    which: fn(String, &Pairs) -> Place,
    name: Result<Option<Path<String>>, PathRejection>,
    query: Option<String>,
) -> Result<Arc<Page>, Failure> {
    let pairs = pairs(query.as_deref())?;
    // A name that is no text names nothing.
    let name = name.map_err(|_| Fault::new("looking for a page", "its address is not valid UTF-8"))?;
    let place = which(name.map(|Path(name)| name).unwrap_or_default(), &pairs);
    site.desk.read(move |desk| page(desk, &place, &pairs)).await
}

/// The sections as JSON, unless the page has them already.
fn sections(page: &Page, headers: &HeaderMap) -> Response {
    let Page { title, parts, matters, said, tag, .. } = page;
    let known = format!("\"{tag}\"");
    if headers.get(IF_NONE_MATCH).is_some_and(|offered| offered.as_bytes() == known.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, [(ETAG, known)]).into_response();
    }
    let listed: Vec<_> =
        parts.iter().map(|own| json!({ "id": own.id, "title": own.title, "html": own.html })).collect();
    let object = json!({ "title": title, "tag": tag, "watch": matters.words(), "said": said, "sections": listed });
    ([(ETAG, known)], axum::Json(object)).into_response()
}

/// What is no page: an asset, or nothing.
async fn other(request: Request) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let found = asset::asset(request.uri().path()).filter(|_| reads);
    found.unwrap_or_else(|| answer::nothing(answer::for_people(request.headers())))
}

/// The pairs of a query, decoded. The token of a link is none of them.
fn pairs(query: Option<&str>) -> Result<Pairs, Report> {
    let wrong = |_| Report::error("the query of the address cannot be read").label("expected NAME=VALUE&...");
    let uri: Uri = format!("/?{}", query.unwrap_or_default()).parse().map_err(|_| wrong(()))?;
    let Query(mut pairs) = Query::<Pairs>::try_from_uri(&uri).map_err(|_| wrong(()))?;
    pairs.retain(|(key, _)| key != "token");
    Ok(pairs)
}
