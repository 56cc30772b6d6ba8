//! The delay of a reply, which ends when its client leaves. The request log then has the times of both.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::DelayedEntry;
use crate::io::connection::Activity;

/// A delayed reply. If it is dropped before its end, the client has disconnected.
struct Waiting {
    entry: Option<DelayedEntry>,
    activity: Arc<Activity>,
    started: Instant,
}

impl Waiting {
    fn end(&mut self, client_left: bool) {
        self.activity.delay(false);
        if let Some(entry) = self.entry.take() {
            let ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            entry.end(ms, client_left);
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.end(true);
    }
}

/// Waits, and notes the end in the request log. `started` is the start of the server.
pub(crate) async fn delay(
    time: Duration,
    entry: Option<DelayedEntry>,
    activity: &Arc<Activity>,
    started: Instant,
) {
    let mut waiting = Waiting { entry, activity: Arc::clone(activity), started };
    activity.delay(true);
    tokio::time::sleep(time).await;
    waiting.end(false);
}
