//! The reply to a successful write.

use http::header::{CONTENT_TYPE, ETAG, LOCATION, VARY};
use http::{HeaderValue, Response, StatusCode};

use crate::api::reply::Reply;
use crate::engine::export;
use crate::engine::headers::{JSON, REQUEST_ID, SANDBOX_TIME};
use crate::engine::lazy_body::LazyBody;
use crate::engine::request::{Request, etag};

/// Its status.
pub(super) fn success(request: &Request<'_>) -> StatusCode {
    StatusCode::from_u16(request.route.operation.success).expect("rows hold HTTP statuses")
}

/// The reply to a successful write. Only a body with a tag is written at once.
pub(super) fn reply(
    request: &Request<'_>,
    reply: Reply,
    id: &HeaderValue,
    time: HeaderValue,
) -> Response<LazyBody> {
    let mut response = head(request, &reply, id, time);
    let mut body = LazyBody::from(reply.body);
    if reply.single && request.route.operation.success != 201 {
        response.headers_mut().insert(ETAG, etag(body.write()));
    }
    response.map(|()| body)
}

/// The head of the reply, without the body and its tag.
fn head(request: &Request<'_>, reply: &Reply, id: &HeaderValue, time: HeaderValue) -> Response<()> {
    let operation = request.route.operation;
    let mut response = Response::new(());
    *response.status_mut() = success(request);
    let headers = response.headers_mut();
    if request.form.is_export() {
        export::mark(headers, request);
    } else {
        headers.insert(CONTENT_TYPE, JSON);
    }
    headers.insert(REQUEST_ID, id.clone());
    headers.insert(SANDBOX_TIME, time);
    if let (201, Some(path), Some(id)) = (operation.success, request.route.reads_at(), &reply.id) {
        let location = HeaderValue::try_from([path, id].concat()).expect("paths and ids are ASCII");
        headers.insert(LOCATION, location);
    }
    request.trace.resource.set(reply.id.clone());
    if reply.list {
        headers.insert(VARY, HeaderValue::from_static("Accept"));
    }
    response
}
