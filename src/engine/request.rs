//! A request while a world processes it, and the ids of replies.

use std::borrow::Cow;
use std::cell::Cell;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use serde_json::Value;

use crate::api::bind::bind;
use crate::api::json;
use crate::api::operation::{Contract, Operation};
use crate::engine::idempotency::IdempotencyKey;
use crate::engine::represent::Form;
use crate::engine::router::Route;
use crate::engine::turn::Turn;
use crate::tester::request_log::KeyOutcome;
use crate::value::error::ApiError;
use crate::value::id::{encode, encode_to_string};
use crate::value::stream::Key;
use crate::value::time::Timestamp;
use crate::world::script::OutcomeRule;
use crate::world::{Base, World};

/// One request while a world processes it.
pub(super) struct Request<'a> {
    pub(super) route: &'static Route,
    pub(super) params: &'a [(&'static str, String)],
    pub(super) head: &'a Parts,
    /// Its headers, as [`own`](crate::engine::headers::own) returns them.
    pub(super) own: &'a HeaderMap,
    pub(super) body: &'a Bytes,
    /// The form of its reply.
    pub(super) form: Form,
    /// The outcomes that the request chooses.
    pub(super) outcomes: &'a [OutcomeRule],
    /// Data for the request log, collected during the processing.
    pub(super) trace: Trace,
    /// Its parts that need no world, if they were read before its turn.
    pub(super) prepared: Cell<Option<Result<Prepared, ApiError>>>,
    /// Its turn in the world, until its work in the world is done.
    pub(super) turn: Cell<Option<Turn>>,
}

/// The parts of a request that need no world. Each part is refused only at its place in the order.
pub(super) struct Prepared {
    pub(super) key: Result<Option<IdempotencyKey>, ApiError>,
    pub(super) input: Result<Value, ApiError>,
}

/// Data of a request, collected during its processing.
#[derive(Default)]
pub(super) struct Trace {
    /// Virtual time when it was processed.
    pub(super) now: Cell<Option<Timestamp>>,
    pub(super) key: Cell<Option<KeyOutcome>>,
    /// The positions of its first and last own event in the event log.
    pub(super) events: Cell<Option<(u64, u64)>>,
    /// The single resource that it wrote.
    pub(super) resource: Cell<Option<String>>,
    /// When it arrived, in milliseconds of the wall clock since the server started.
    pub(super) arrived_ms: u64,
}

impl Trace {
    /// The trace of a request that arrived at this time.
    pub(super) fn at(arrived_ms: u64) -> Self {
        Self { arrived_ms, ..Self::default() }
    }

    /// Stores the events after this length of the event log.
    pub(super) fn caused(&self, logged: u64, world: &World) {
        let last = world.log().len();
        if last > logged {
            self.events.set(Some((logged + 1, last)));
        }
    }
}

impl<'a> Request<'a> {
    /// A request with this head and body that was not processed yet.
    pub(super) fn of(
        route: &'static Route,
        params: &'a [(&'static str, String)],
        form: Form,
        (head, own, body): (&'a Parts, &'a HeaderMap, &'a Bytes),
        outcomes: &'a [OutcomeRule],
    ) -> Self {
        Self {
            route,
            params,
            head,
            own,
            body,
            form,
            outcomes,
            trace: Trace::default(),
            prepared: Cell::default(),
            turn: Cell::default(),
        }
    }

    /// Path and query as sent.
    pub(super) fn target(&self) -> &str {
        self.head.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str)
    }

    /// The path of the operation, also if the request was sent to an alias.
    pub(super) fn path(&self) -> Cow<'a, str> {
        self.route.path(self.head.uri.path(), self.params)
    }

    /// Path and query as they are recorded. They do not depend on the contract, so that any contract can replay them.
    pub(super) fn recorded_target(&self) -> String {
        match self.head.uri.query() {
            Some(query) => format!("{}?{query}", self.path()),
            None => self.path().into_owned(),
        }
    }

    /// The body as JSON; none for a method without one. An empty body counts as an empty object if the
    /// operation allows it.
    pub(super) fn parse(&self) -> Result<Option<Value>, ApiError> {
        if !self.route.operation.method.has_body() {
            return Ok(None);
        }
        let in_path: Vec<&str> = self.params.iter().map(|(name, _)| *name).collect();
        if self.body.is_empty() && self.route.checker().requires_only(&in_path) {
            return Ok(Some(Value::Object(serde_json::Map::new())));
        }
        json::parse(self.body).map(Some)
    }

    pub(super) fn bind(&self, body: Option<Value>) -> Result<Value, ApiError> {
        let params: Vec<(&str, &str)> =
            self.params.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut input = bind(self.route.checker(), &params, self.head.uri.query(), body)?;
        self.route.settle_paging(&mut input);
        Ok(input)
    }

    /// Its parts that need no world. An error is the 400 of a body that is not JSON.
    pub(super) fn prepare(&self) -> Result<Prepared, ApiError> {
        let body = self.parse()?;
        // The control plane is not part of the product: to advance twice is to advance twice.
        let key = match self.route.operation.contract {
            Contract::Control => Ok(None),
            _ => IdempotencyKey::of(self.head, &self.path(), self.route.key_required),
        };
        Ok(Prepared { key, input: self.bind(body) })
    }

    /// The id of a reply that changed nothing. It depends on the request and the state of the world, so it
    /// shifts no other id.
    pub(super) fn refused_id(&self, world: &World) -> HeaderValue {
        self.id_by_state("refused", world)
    }

    /// An id that depends on the request and the state of the world.
    pub(super) fn id_by_state(&self, kind: &str, world: &World) -> HeaderValue {
        let key = world.base().key().with(kind).at(world.version()).with(self.head.method.as_str());
        request_id(key.with(self.target()).at(Key::new(0).with_bytes(self.body).hash()))
    }
}

/// An id of a reply, from its key.
pub(super) fn request_id(key: Key) -> HeaderValue {
    let mut id = *b"req_0000000000000";
    id[4..].copy_from_slice(&encode(key.hash()));
    HeaderValue::from_bytes(&id).expect("an id is ASCII")
}

/// Whether the operation advances the clock.
pub(super) fn is_advance(operation: &Operation) -> bool {
    operation.name == "advance_clock" && operation.contract == Contract::Control
}

/// The id of the reply to an advance. Two advances without an event between them begin at different times, unless the first did not move the clock.
pub(super) fn advance_id(base: &Base, events: u64, before: Timestamp) -> HeaderValue {
    request_id(advance_key(base, events, before))
}

/// The key of that id.
pub(super) fn advance_key(base: &Base, events: u64, before: Timestamp) -> Key {
    base.key().with("advance").at(events).with(&before.to_string())
}

/// The tag of a representation; equal bytes have equal tags.
pub(super) fn etag(body: &[u8]) -> HeaderValue {
    let hash = Key::new(0).with_bytes(body).hash();
    HeaderValue::try_from(format!("\"{}\"", encode_to_string(hash))).expect("a tag is ASCII")
}
