//! The edge: the only place with sockets, wall clock and signals.
//!
//! May import everything left of it. What a request means is decided by the engine, behind [`edge::Answer`]; what a
//! connection may cost is decided here. Deliberately absent: routes, credentials of worlds, JSON.

pub(crate) mod background;
pub(crate) mod body;
pub(crate) mod connection;
pub(crate) mod cors;
pub(crate) mod edge;
pub(crate) mod embed;
pub(crate) mod guard;
pub(crate) mod limits;
pub(crate) mod listen;
pub(crate) mod log;
pub(crate) mod pace;
pub(crate) mod server;
pub(crate) mod signal;
pub(crate) mod socket;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use http::Response;
use http::request::Parts;

use crate::engine::{Admitted, Engine};
use crate::value::error::ErrorCode;

impl edge::Answer for Engine {
    type Admitted = Admitted;

    fn admit(&self, head: &Parts) -> Result<Admitted, Response<Bytes>> {
        self.admit(head)
    }

    fn answer(&self, admitted: Admitted, head: &Parts, body: Bytes) -> Response<Bytes> {
        self.answer(admitted, head, body)
    }

    fn refuse(&self, head: Option<&Parts>, code: ErrorCode, detail: &str) -> Response<Bytes> {
        self.refuse(head, code, detail)
    }
}
