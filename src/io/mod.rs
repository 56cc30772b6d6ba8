//! The network layer: the only place with sockets, the wall clock and signals.
//!
//! May import everything left of it. The engine decides what a request means, behind
//! [`edge::RequestHandler`]; this layer limits what a connection may
//! cost. Deliberately absent: routes, credentials of worlds, JSON.

pub(crate) mod background;
pub(crate) mod body;
pub(crate) mod connection;
pub(crate) mod cors;
pub(crate) mod courier;
pub(crate) mod delay;
pub(crate) mod edge;
pub(crate) mod embed;
pub(crate) mod embed_calls;
mod embed_report;
pub(crate) mod following;
pub(crate) mod guard;
pub(crate) mod handler;
pub(crate) mod input_file;
pub(crate) mod limits;
pub(crate) mod listen;
pub(crate) mod log;
pub(crate) mod metrics;
pub(crate) mod pace;
pub(crate) mod peers;
pub(crate) mod private;
pub(crate) mod quota;
pub(crate) mod receiver;
pub(crate) mod resident;
pub(crate) mod sent;
pub(crate) mod server;
pub(crate) mod signal;
pub(crate) mod socket;
#[cfg(feature = "postgres")]
pub(crate) mod store;
#[cfg(feature = "otel")]
pub(crate) mod telemetry;
#[cfg(test)]
mod tests;
pub(crate) mod wal;
pub(crate) mod webhooks;

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http::request::Parts;

use crate::api::host::Process;
use crate::engine::{Admitted, Engine, Turn, Waiting, WorldTag};
use crate::value::ErrorCode;

impl handler::RequestHandler for Engine {
    type Admitted = Admitted;

    fn enter(&self, head: &mut Parts) -> Option<String> {
        let outside = self.enter_base(head);
        self.enter(head);
        outside
    }

    fn admit(&self, head: &Parts) -> Result<Admitted, Response<Bytes>> {
        self.admit(head)
    }

    fn prepare(&self, admitted: &mut Admitted, head: &Parts, body: &Bytes) {
        Self::prepare(admitted, head, body);
    }

    fn answer(
        &self,
        admitted: Admitted,
        head: &Parts,
        body: Bytes,
        turn: Option<Turn>,
    ) -> Response<Bytes> {
        self.leave_base(self.answer(admitted, head, body, turn))
    }

    fn turn(&self, admitted: &Admitted) -> Option<Result<Turn, Waiting>> {
        admitted.turn()
    }

    fn refuse(&self, head: Option<&Parts>, code: ErrorCode, detail: &str) -> Response<Bytes> {
        self.refuse(head, code, detail)
    }

    fn refused(&self, head: &Parts, body: &Bytes, refusal: &mut Response<Bytes>) {
        self.refused(head, body, refusal);
    }

    fn unread(&self, admitted: &Admitted, head: &Parts, refusal: &Response<Bytes>) {
        self.unread(admitted, head, refusal);
    }

    fn world(&self, admitted: &Admitted) -> Option<WorldTag> {
        admitted.world()
    }

    fn place(&self, admitted: &Admitted) -> Option<usize> {
        admitted.place()
    }

    fn process(&self) -> Option<Process> {
        Some(self.process())
    }

    fn report_time(&self, elapsed: Duration) {
        self.report_time(elapsed);
    }
}
