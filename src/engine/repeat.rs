//! A recorded request: the part of its work that does not need the state of its world.
//!
//! A replay prepares the next requests on another thread while the world executes this one. Deliberately absent: the world.

use std::sync::LazyLock;

use bytes::Bytes;
use http::request::{Builder, Parts};
use http::{Method, Request as HttpRequest};
use serde_json::json;

use crate::engine::contract::Rows;
use crate::engine::headers::own;
use crate::engine::outcomes::{self, Chosen};
use crate::engine::player::{Outcome, Player};
use crate::engine::recording::{Input, Tape};
use crate::engine::represent::Form;
use crate::engine::request::{Prepared, Request};
use crate::engine::router::{Found, Route, Router};
use crate::engine::state::Engine;
use crate::engine::write;
use crate::value::ApiError;
use crate::world::script::OutcomeRule;

/// A recorded request that was parsed and checked.
pub(crate) struct Repeat {
    head: Parts,
    body: Bytes,
    /// The operation and its input, or the refusal.
    found: Result<(Call, Result<Prepared, ApiError>), ApiError>,
}

/// The operation.
struct Call {
    route: &'static Route,
    params: Vec<(&'static str, String)>,
    chosen: Vec<Chosen>,
}

impl Call {
    fn request<'a>(
        &'a self,
        head: &'a Parts,
        body: &'a Bytes,
        outcomes: &'a [OutcomeRule],
    ) -> Request<'a> {
        let own = own(&head.headers);
        Request::of(self.route, &self.params, Form::Json, (head, own, body), outcomes)
    }
}

impl Engine {
    /// The row of a recorded request. The contract may have changed since, so it is found in the table without a contract.
    /// Recordings of earlier versions can have an alias of the contract.
    fn find_recorded(&self, method: &Method, path: &str) -> Result<Found, ApiError> {
        static TABLE: LazyLock<Router> = LazyLock::new(|| Router::new(&Rows::default()));
        match TABLE.find(method, path) {
            Ok(Found::Route(route, params)) => Ok(Found::Route(route, params)),
            Ok(Found::Nothing(_)) | Err(_) => self.router.find(method, path),
        }
    }
}

impl Repeat {
    /// Prepares an input.
    ///
    /// # Errors
    /// If it is not a valid request, because the recording was edited.
    pub(crate) fn of(engine: &Engine, input: &Input) -> Result<Self, String> {
        let body = input.body.as_ref().map_or("", |body| body.get());
        let mut request = HttpRequest::builder().method(input.method.as_str()).uri(&input.path);
        for (name, value) in &input.headers {
            request = request.header(name, value);
        }
        Self::sent(engine, request, body)
    }

    /// Prepares a request with that body. Its headers have their internal names.
    pub(super) fn sent(engine: &Engine, request: Builder, body: &str) -> Result<Self, String> {
        let (head, ()) = request.body(()).map_err(|error| error.to_string())?.into_parts();
        let body = Bytes::copy_from_slice(body.as_bytes());
        let found = match engine.find_recorded(&head.method, head.uri.path()) {
            Ok(Found::Route(route, params)) => {
                outcomes::wanted(&head.headers).map(|chosen| Call { route, params, chosen })
            }
            Ok(Found::Nothing(error)) | Err(error) => Err(error),
        };
        let found = found.map(|call| {
            let prepared = call.request(&head, &body, &[]).prepare();
            (call, prepared)
        });
        Ok(Self { head, body, found })
    }

    /// Sends it to the world of a player.
    pub(super) fn perform(self, player: &Player<'_>) -> Outcome {
        let Self { head, body, found } = self;
        let refusal = match found {
            Ok((call, prepared)) => {
                // Now the world has the scenarios that it had then.
                match outcomes::resolved(&call.chosen, Some(&player.slot), player) {
                    Ok(outcomes) => {
                        let request = call.request(&head, &body, &outcomes);
                        write::replay(&request, prepared, &player.slot, player)
                    }
                    Err(error) => Some(error),
                }
            }
            Err(error) => Some(error),
        };
        let refusal =
            refusal.map(|error| json!({"status": error.code.status(), "detail": error.detail}));
        Outcome { step: player.slot.tape.as_ref().and_then(Tape::take), refusal }
    }
}
