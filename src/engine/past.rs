//! Earlier states of a world that callers requested, and the header that requests one.
//!
//! The state of an event is that after the step that caused it, because a step is all or nothing. The copies of
//! earlier steps are kept, too, because a user of the dashboard's slider goes back step by step. Deliberately absent:
//! the replay, which is in `rewind`.

use std::collections::VecDeque;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, Method};

use crate::api::operation::Call;
use crate::engine::router::Route;
use crate::model::Kind;
use crate::tester::snapshots::TesterPart;
use crate::value::id::parse;
use crate::value::{ApiError, ErrorCode};
use crate::world::{Event, World};

/// The header of a read that shows an earlier state.
pub(super) const AS_OF: HeaderName = HeaderName::from_static("sandbox-as-of");

/// The longest log whose events are all compared.
const HASHED: u64 = 20_000;

/// The most earlier states of a world that are kept.
const MOST: usize = 48;

/// The earlier states of one world that callers requested, and the states shortly before them.
#[derive(Default)]
pub(super) struct Past(VecDeque<Moment>);

/// A world after one step.
pub(super) struct Moment {
    /// The number of events before the step.
    pub(super) before: u64,
    pub(super) world: World,
    pub(super) part: Arc<TesterPart>,
    /// The last event of the step. The live world has this past only if its log has the same event.
    pub(super) stamp: Option<Arc<Event>>,
}

impl Past {
    /// The state after the step that caused an event, if it is kept.
    pub(super) fn find(&self, present: &World, sequence: u64) -> Option<(World, TesterPart)> {
        let holds = |moment: &&Moment| {
            let end = moment.world.log_length();
            // After a restored snapshot the same positions have other events.
            let now = present.log().get(end).zip(moment.stamp.as_ref());
            moment.before < sequence
                && sequence <= end
                && now.is_some_and(|(now, stamp)| Arc::ptr_eq(now, stamp))
        };
        let moment = self.0.iter().rev().find(holds)?;
        Some((moment.world.clone(), TesterPart::clone(&moment.part)))
    }

    /// Removes and frees all states.
    pub(super) fn free(&mut self) {
        for moment in std::mem::take(&mut self.0) {
            moment.world.free();
        }
    }

    /// Keeps those states of a replay that belong to the past of this world.
    pub(super) fn put(&mut self, present: &World, moments: Vec<Moment>) {
        let Some(last) = moments.last() else { return };
        if !is_same_past(&last.world, present) {
            return;
        }
        for mut moment in moments {
            let end = moment.world.log_length();
            let (own, now) = (moment.world.log().get(end), present.log().get(end));
            if own.zip(now).is_some_and(|(own, now)| is_same(own, now)) {
                moment.stamp = now.cloned();
                self.0.push_back(moment);
            }
        }
        while self.0.len() > MOST {
            self.0.pop_front();
        }
    }
}

fn is_same(one: &Event, other: &Event) -> bool {
    (one.id, one.at, &one.name) == (other.id, other.at, &other.name)
        && one.object.to_wire() == other.object.to_wire()
}

/// Whether all events of a world are the first ones of another. A very long log is compared by its last event.
fn is_same_past(world: &World, present: &World) -> bool {
    let end = world.log_length();
    let (Some(one), Some(other)) = (world.log().get(end), present.log().get(end)) else {
        return false;
    };
    let is_whole = !present.log().is_trimmed() && end <= HASHED;
    is_same(one, other) && (!is_whole || world.log().hashes(end) == present.log().hashes(end))
}

/// The event whose state a read requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AsOf {
    Sequence(u64),
    Event(u64),
}

impl AsOf {
    /// The past state that a request names. Only reads of the world, without the tester, can name one.
    pub(super) fn of(
        route: &Route,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, ApiError> {
        let mut values = headers.get_all(AS_OF).iter();
        let Some(value) = values.next() else { return Ok(None) };
        let refused = |detail: &str| Err(ApiError::new(ErrorCode::InvalidHeader, detail));
        let row = route.operation;
        if !matches!(row.call, Call::Read(_)) || row.streams || method != Method::GET {
            return refused("Sandbox-As-Of: this operation has no earlier states; omit the header");
        }
        let text = value.to_str().unwrap_or_default();
        let sequence = text.parse().ok().map(Self::Sequence);
        let named = sequence.or_else(|| parse(Kind::Event.prefix(), text).map(Self::Event));
        match named.filter(|_| values.next().is_none()) {
            Some(named) => Ok(Some(named)),
            None => refused("Sandbox-As-Of: send the id or the sequence of one event"),
        }
    }

    /// The sequence of the event in this world.
    pub(super) fn find(self, world: &World) -> Result<u64, ApiError> {
        let log = world.log();
        let found = match self {
            Self::Sequence(sequence) => log.get(sequence).map(|event| event.sequence),
            Self::Event(bits) => {
                log.iter().rev().find(|event| event.id == bits).map(|event| event.sequence)
            }
        };
        found.ok_or_else(|| {
            let detail = if log.is_trimmed() {
                "the log of this world does not contain this event, or no longer contains it"
            } else {
                "the log of this world does not contain this event"
            };
            ApiError::of_member("/Sandbox-As-Of", "not_found", detail)
        })
    }
}
