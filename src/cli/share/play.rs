//! Makes the world of a line: an engine in this process gets its calls.

use bytes::Bytes;
use http::Request;
use http::header::{AUTHORIZATION, CONTENT_TYPE};

use crate::cli::failure::Failure;
use crate::cli::share::line::{Input, Shared};
use crate::engine::contract::Overlay;
use crate::engine::{Config, Engine};
use crate::render::pages;
use crate::scenario;
use crate::value::ApiError;
use crate::world::{MAX_EVENTS, World};

/// The key of a world that only this process sees.
pub(super) const KEY: &str = "shared";

/// A world that was made.
pub(super) struct Made {
    pub(super) engine: Engine,
    /// The status of each call.
    pub(super) statuses: Vec<u16>,
    pub(super) digest: String,
}

/// Makes the calls under a key.
pub(super) fn play(shared: &Shared, key: &str) -> Result<Made, Failure> {
    let started = shared.scenarios.iter().map(|name| {
        scenario::find(name).map_err(|_| {
            let why = "the world starts with the scenario";
            Failure::Impossible(format!(
                "{why} {name:?}, which is no shipped one: use sandbox bundle"
            ))
        })
    });
    let mut started: Vec<_> = started.collect::<Result<_, _>>()?;
    started.splice(0..0, shared.imports.iter().cloned());
    let engine = Engine::new(Config {
        seed: shared.seed,
        shape: shared.shape.clone(),
        mode: shared.clock,
        contract: Overlay::default(),
        api_keys: Vec::new(),
        max_worlds: usize::MAX,
        max_events: Some(MAX_EVENTS),
        pages: pages::page,
        scenarios: Vec::new(),
        library: scenario::LIBRARY,
        recorder: None,
    });
    let engine = engine.with_started(started);
    let refused = |error: ApiError| Failure::Impossible(error.detail);
    let mut statuses = Vec::with_capacity(shared.inputs.len());
    for (number, input) in (1..).zip(&shared.inputs) {
        let request = request(input, key).map_err(|error| {
            Failure::Usage(format!("this is not a line of `sandbox share`: call {number}: {error}"))
        })?;
        let reply = engine.repeat(key, &input.spent, request).map_err(refused)?;
        statuses.push(reply.status().as_u16());
    }
    engine.put_spent(key, &shared.spent).map_err(refused)?;
    let digest = engine.with_world(key, World::digest).map_err(refused)?;
    Ok(Made { engine, statuses, digest })
}

fn request(input: &Input, key: &str) -> http::Result<Request<Bytes>> {
    let mut request = Request::builder()
        .method(input.method.as_str())
        .uri(&input.path)
        .header(AUTHORIZATION, format!("Bearer {key}"));
    for (name, value) in &input.headers {
        request = request.header(name, value);
    }
    if input.body.is_null() {
        return request.body(Bytes::new());
    }
    request.header(CONTENT_TYPE, "application/json").body(Bytes::from(input.body.to_string()))
}
