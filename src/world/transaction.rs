//! The staged changes of a step, and the data to undo them.

use std::sync::Arc;

use crate::model::identity::aml_rules::Movement;
use crate::model::{AnyId, Kind, Record};
use crate::value::time::Timestamp;
use crate::value::{Currency, Period, TraceParent};
use crate::world::decided::Decided;
use crate::world::event::{Change, RequestRef};
use crate::world::log_hashes::Known;
use crate::world::overlay::Origin;
use crate::world::script_state::{Cause, Script};
use crate::world::timers::Timer;

/// The staged changes, and how to undo those that are not committed.
#[derive(Clone, Debug, Default)]
pub(super) struct Transaction {
    /// The trace of the call that is being executed.
    pub(super) trace: Option<TraceParent>,
    pub(super) request: Option<Arc<RequestRef>>,
    /// The cause: the request itself, or the one that set the timer.
    pub(super) cause: Option<Arc<Cause>>,
    /// The decisions since the last event.
    pub(super) decided: Option<Arc<Decided>>,
    /// The last decision.
    pub(super) latest: Option<Arc<Decided>>,
    /// The changes since the last event.
    pub(super) staged: Vec<Change>,
    pub(super) undo: Vec<Undo>,
    /// The number of events before it.
    pub(super) logged: u64,
    /// The hashes before it, if events of it may have been hashed.
    pub(super) hashes: Option<Box<Known>>,
}

impl Transaction {
    /// The request with the trace of the call.
    pub(super) fn traced(&self, request: Arc<RequestRef>) -> Arc<RequestRef> {
        match self.trace {
            Some(trace) => {
                Arc::new(RequestRef { trace: Some(Box::new(trace)), ..(*request).clone() })
            }
            None => request,
        }
    }

    /// The decision of a timer about this subject.
    pub(super) fn behind(&self, subject: Option<AnyId>) -> Option<Arc<Decided>> {
        let latest = self.latest.as_ref();
        latest.filter(|latest| Some(latest.subject) == subject).cloned()
    }
}

#[derive(Clone, Debug)]
pub(super) enum Undo {
    Put {
        kind: Kind,
        id: u64,
        before: Option<Record>,
        origin: Origin,
    },
    Post {
        company: u64,
    },
    Emit {
        subject: AnyId,
    },
    SetTimer {
        timer: Arc<Timer>,
    },
    TakeTimer {
        timer: Arc<Timer>,
    },
    Clock {
        now: Timestamp,
    },
    /// One more decision. If the list was full, it contains the dropped oldest one.
    Decided {
        dropped: Option<Arc<Decided>>,
    },
    /// A row counted a match.
    Asked {
        place: usize,
        asked: u64,
        hits: u64,
    },
    Armed {
        place: usize,
    },
    Script {
        before: Box<Script>,
    },
    Reconciled {
        transaction: u64,
        before: Option<u64>,
    },
    Volume {
        row: (u64, Period, Currency),
        before: Option<i64>,
    },
    FixedFee {
        row: (u64, Period),
        before: Option<AnyId>,
    },
    /// One more movement. If the list was full, it contains the dropped oldest one.
    Movement {
        row: (Kind, u64),
        dropped: Option<Movement>,
    },
}
