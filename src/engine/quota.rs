//! `--quota`: how much one key's world may contain. Its rate of requests is counted at the edge (`io::quota`).

use crate::api::operation::Method;
use crate::engine::idempotency::IdempotencyKey;
use crate::engine::recording::{changes_endpoints, deletes_world, is_stored};
use crate::engine::request::Request;
use crate::engine::slot::Slot;
use crate::value::{ApiError, ErrorCode};

/// The limits of a world; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Most {
    /// Changes of the world since it began, and refusals that are stored under a key.
    pub(crate) changes: Option<u64>,
    /// Webhook endpoints.
    pub(crate) endpoints: Option<usize>,
}

impl Most {
    /// Refuses a request that would exceed a limit. A reset and the deletion of the world make room, so they pass.
    pub(super) fn check(self, request: &Request<'_>, slot: &Slot) -> Result<(), ApiError> {
        let row = request.route.operation;
        if self == Self::default() || !is_stored(row) || deletes_world(row) || row.path == RESET {
            return Ok(());
        }
        let refused = |detail| Err(ApiError::new(ErrorCode::QuotaExceeded, detail));
        if changes_endpoints(row) {
            let known = || slot.tester().outbox.lanes().len();
            return match self.endpoints {
                Some(most)
                    if row.method == Method::Post && row.path == ENDPOINTS && known() >= most =>
                {
                    refused(format!(
                        "this key has used its quota of webhook endpoints, {most}: delete one first"
                    ))
                }
                _ => Ok(()),
            };
        }
        match self.changes {
            Some(most) if changes(slot) >= most && !is_repeated(request, slot) => refused(format!(
                "this key has used its quota of changes, {most}: POST {RESET} or DELETE /_sandbox/world begins a new world"
            )),
            _ => Ok(()),
        }
    }
}

/// The changes of the world. A refusal that is stored under a key is one of them, because it needs as much memory.
fn changes(slot: &Slot) -> u64 {
    let (version, now) = {
        let world = slot.world();
        (world.version(), world.now())
    };
    version + slot.memory().seen.refusals(now)
}

/// Whether the reply is stored already: to repeat it is no change.
pub(super) fn is_repeated(request: &Request<'_>, slot: &Slot) -> bool {
    let now = slot.world().now();
    let key = IdempotencyKey::of(request.head, &request.path(), false).ok().flatten();
    key.is_some_and(|key| slot.memory().seen.has_answer(&key, now))
}

const RESET: &str = "/_sandbox/reset";
const ENDPOINTS: &str = "/_sandbox/webhook-endpoints";
