//! The base path and the dialect of the contract: a request is translated when it enters the engine, and a reply when it leaves it.

use bytes::Bytes;
use http::header::LOCATION;
use http::request::Parts;
use http::{HeaderValue, Response};

use crate::engine::state::Engine;

impl Engine {
    /// Removes the base path from a request of the network. If the request is outside of it, returns why there is no such route.
    pub(crate) fn enter_base(&self, head: &mut Parts) -> Option<String> {
        let base = &self.config.contract.base_path;
        if base.strip(&mut head.uri) {
            return None;
        }
        let shown: String = head.uri.path().chars().take(100).collect();
        Some(format!("there is no route {shown}: every path of this server begins with {base}"))
    }

    /// Adds the base path to the `Location` of a reply to the network.
    pub(crate) fn leave_base(&self, mut response: Response<Bytes>) -> Response<Bytes> {
        let base = self.base_path();
        if !base.is_empty()
            && let Some(path) = response.headers().get(LOCATION).and_then(|path| path.to_str().ok())
            && let Ok(whole) = HeaderValue::try_from(format!("{base}{path}"))
        {
            response.headers_mut().insert(LOCATION, whole);
        }
        response
    }

    /// The path before every route; empty by default.
    pub(crate) fn base_path(&self) -> &str {
        self.config.contract.base_path.as_str()
    }

    /// Gives the headers of a request their internal names, before all other code.
    pub(crate) fn enter(&self, head: &mut Parts) {
        let dialect = &self.config.contract.dialect;
        dialect.enter(head.uri.path(), &mut head.headers);
    }

    /// Reply headers that a page of another origin may read, by their names in the contract.
    pub(crate) fn exposed_headers(&self) -> Vec<String> {
        self.config.contract.dialect.reply_headers()
    }

    /// Translates a reply into the dialect of the contract. This is the last change of a reply.
    pub(super) fn leave(&self, head: &Parts, response: Response<Bytes>) -> Response<Bytes> {
        let dialect = &self.config.contract.dialect;
        dialect.leave(head.uri.path(), response)
    }
}
