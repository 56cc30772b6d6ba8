//! What replies and webhooks wait for: that an input is on disk.

use tokio::sync::watch;

use crate::engine::recording::Ticket;

/// Signals the progress of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    /// All inputs up to this place are stored or lost.
    pub(super) up_to: u64,
    pub(super) has_ended: bool,
}

/// Waits until an input is on disk.
#[derive(Clone, Debug)]
pub(crate) struct Durable(watch::Receiver<Written>);

impl Durable {
    pub(super) fn of(written: &watch::Sender<Written>) -> Self {
        Self(written.subscribe())
    }

    /// Whether it is already on disk.
    pub(crate) fn has(&self, ticket: &Ticket) -> bool {
        self.0.borrow().up_to >= ticket.place && !ticket.tenure.has_lost(ticket.place)
    }

    /// Returns when it is on disk.
    ///
    /// # Errors
    /// If the write failed; the text for the caller instead of the reply.
    pub(crate) async fn wait(&self, ticket: &Ticket) -> Result<(), String> {
        let mut written = self.0.clone();
        let is_lost = || ticket.tenure.has_lost(ticket.place);
        let end =
            |written: &Written| is_lost() || written.up_to >= ticket.place || written.has_ended;
        let now = written.wait_for(end).await.map(|now| now.up_to);
        match now {
            Ok(up_to) if up_to >= ticket.place && !is_lost() => Ok(()),
            _ => {
                Err("the write-ahead log could not be written; this request changed nothing"
                    .to_owned())
            }
        }
    }
}
