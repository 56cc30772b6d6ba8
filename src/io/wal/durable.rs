//! Waiting for storage: replies and webhooks wait until an input is stored.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::engine::recording::Ticket;
use crate::io::wal::lease::Lease;
use crate::value::ErrorCode;

/// The interval at which a webhook checks whether its process may send it again.
const LOOK: Duration = Duration::from_millis(100);

/// Signals the progress of the log.
#[derive(Clone, Debug, Default)]
pub(in crate::io) struct Written {
    /// All inputs up to this place are stored or lost.
    pub(in crate::io) up_to: u64,
    pub(in crate::io) has_ended: bool,
}

/// Waits until an input is stored.
#[derive(Clone, Debug)]
pub(crate) struct Durable {
    written: watch::Receiver<Written>,
    /// The lease of a process that shares its worlds with others.
    lease: Option<Arc<Lease>>,
}

/// An input was not stored, or the result is unknown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unstored {
    pub(crate) code: ErrorCode,
    /// The text for the caller instead of the reply.
    pub(crate) why: &'static str,
}

const UNWRITTEN: Unstored = Unstored {
    code: ErrorCode::LogUnavailable,
    why: "the write-ahead log could not be written; this request changed nothing",
};

const UNSTORED: Unstored = Unstored {
    code: ErrorCode::LogUnavailable,
    why: "the database could not store this request, which changed nothing",
};

const MOVED: Unstored = Unstored {
    code: ErrorCode::WorldMoving,
    why: "the database did not confirm this request, or another process now serves its world: \
        repeat it with the same Idempotency-Key; the reply shows whether it took effect",
};

impl Durable {
    pub(in crate::io) fn of(written: &watch::Sender<Written>, lease: Option<Arc<Lease>>) -> Self {
        Self { written: written.subscribe(), lease }
    }

    /// Whether it is already stored.
    pub(crate) fn has(&self, ticket: &Ticket) -> bool {
        self.written.borrow().up_to >= ticket.place && !ticket.tenure.has_lost(ticket.place)
    }

    /// Returns when it is stored.
    ///
    /// # Errors
    /// If it was not.
    pub(crate) async fn wait(&self, ticket: &Ticket) -> Result<(), Unstored> {
        let mut written = self.written.clone();
        let is_lost = || ticket.tenure.has_lost(ticket.place);
        let end =
            |written: &Written| is_lost() || written.up_to >= ticket.place || written.has_ended;
        let now = written.wait_for(end).await.map(|now| now.up_to);
        match now {
            Ok(up_to) if up_to >= ticket.place && !is_lost() => Ok(()),
            _ if ticket.tenure.is_refused() => Err(UNSTORED),
            _ if self.lease.is_some() => Err(MOVED),
            _ => Err(UNWRITTEN),
        }
    }

    /// Waits until a webhook may be sent: its event is stored, and no other process sends it. False if it must not be
    /// sent.
    pub(crate) async fn allows(&self, ticket: &Ticket) -> bool {
        if self.wait(ticket).await.is_err() {
            return false;
        }
        let Some(lease) = &self.lease else { return true };
        while !ticket.tenure.is_lost() {
            if lease.is_alive() {
                return true;
            }
            tokio::time::sleep(LOOK).await;
        }
        false
    }
}
