//! The interface between the edge and the engine, and the handling of a reply that must not be sent.

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http::request::Parts;

use crate::api::host::Process;
use crate::engine::{Turn, Waiting, WorldTag};
use crate::value::ErrorCode;

/// The engine as this module uses it. Every method returns at once and may be called from any thread.
pub(crate) trait RequestHandler: Send + Sync + 'static {
    /// A request whose head was accepted.
    type Admitted: Send + 'static;

    /// Changes a head before all checks. If its path is outside of the base path, returns why there is no such route.
    fn enter(&self, _: &mut Parts) -> Option<String> {
        None
    }

    /// All checks before a body is read. An error is the finished refusal.
    fn admit(&self, head: &Parts) -> Result<Self::Admitted, Response<Bytes>>;

    /// The part of an answer that needs no turn.
    fn prepare(&self, _admitted: &mut Self::Admitted, _head: &Parts, _body: &Bytes) {}

    /// Answers the request with its complete body, which is empty if there was none. The turn ends when the work in
    /// the world is done.
    fn answer(
        &self,
        admitted: Self::Admitted,
        head: &Parts,
        body: Bytes,
        turn: Option<Turn>,
    ) -> Response<Bytes>;

    /// A refusal that the network layer decided.
    fn refuse(&self, head: Option<&Parts>, code: ErrorCode, detail: &str) -> Response<Bytes>;

    /// Takes the turn of a request in its world; none if it needs none.
    fn turn(&self, _: &Self::Admitted) -> Option<Result<Turn, Waiting>> {
        None
    }

    /// Reports a refusal by `admit`, with its body.
    fn refused(&self, _head: &Parts, _body: &Bytes, _refusal: &mut Response<Bytes>) {}

    /// Reports an admitted request whose body could not be read.
    fn unread(&self, _admitted: &Self::Admitted, _head: &Parts, _refusal: &Response<Bytes>) {}

    /// The place of a request's operation among all operations, for the metrics; none for a page.
    fn place(&self, _admitted: &Self::Admitted) -> Option<usize> {
        None
    }

    /// The world of a request, for the access log.
    fn world(&self, _admitted: &Self::Admitted) -> Option<WorldTag> {
        None
    }

    /// The state of the process, for the metrics; none without one.
    fn process(&self) -> Option<Process> {
        None
    }

    /// Reports how long the server has been running.
    fn report_time(&self, _elapsed: Duration) {}
}

/// A fault requires to close the connection without a reply.
#[derive(Debug)]
pub(crate) struct Lost;

impl std::fmt::Display for Lost {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a fault dropped the reply")
    }
}

impl std::error::Error for Lost {}
