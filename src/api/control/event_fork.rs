//! A fork of the world as of a past event.

use crate::api::prelude::*;
use crate::tester::snapshots::Carried;
use crate::value::id::parse;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    method: Method::Post,
    path: "/_sandbox/events/{event_id}/fork",
    summary: "Fork the world as of an event",
    description: "Creates a world for another key: the state after the step that caused the event. \
        The two worlds are independent from then on. The new world has the rules, faults and \
        scenarios of that time, with their counters. The state is reproduced from the stored \
        inputs, so no snapshot is necessary. Only the latest inputs of a world are kept, at least \
        500. The response does not contain the key.",
    example: r#"{"key":"test_past"}"#,
    success: 201,
    errors: &[ErrorCode::DuplicateReference],
    long: true,
    ..operation!(tester fork_event)
}]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ForkEvent {
    /// The event after which the fork begins.
    event_id: Text<64>,
    /// The key to open: a test key in visible ASCII that has no world yet.
    key: Text<255>,
    /// Whether the fork has the current webhook endpoints of this key, with their secrets. It sends later events only. Default: false.
    endpoints: Option<bool>,
}

/// The new key's world. The key itself is not repeated.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EventFork {
    /// The event after which the fork begins.
    event_id: String,
    /// The position of the event in the world's log, from 1.
    sequence: u64,
    /// The virtual time of the new world.
    now: Timestamp,
    /// Number of changes so far.
    version: u64,
    /// Number of events so far: more than the position if the same step caused others.
    events: u64,
}

fn fork_event(session: &mut Session<'_>, input: ForkEvent) -> Result<Plain<EventFork>> {
    let bits = parse(Kind::Event.prefix(), input.event_id.as_str());
    let log = session.world.log();
    let found = bits.and_then(|bits| log.iter().rev().find(|event| event.id == bits));
    let sequence = found.ok_or_else(|| ApiError::not_found("event"))?.sequence;
    let found = session.host.past(session.world, &session.tester.inputs, sequence);
    let (world, mut part) = found.map_err(|error| of_path(session, sequence, error))?;
    let endpoints = input.endpoints.unwrap_or(false).then(|| session.tester.outbox.kept());
    part.carried = Carried { answers_of: None, endpoints };
    let fork = EventFork {
        event_id: input.event_id.into_string(),
        sequence,
        now: world.now(),
        version: world.version(),
        events: world.log_length(),
    };
    session.host.open(input.key.as_str(), world, part)?;
    Ok(Plain(fork))
}

/// The refusal with a pointer to the event in this call. For an event of the world's start, it states that reason.
fn of_path(session: &Session<'_>, sequence: u64, mut error: ApiError) -> ApiError {
    let inputs = &session.tester.inputs;
    // The inputs of a world that started with an import begin after the import, so they cannot reproduce an earlier
    // event.
    let next = session.world.log_length() + 1;
    let is_whole = inputs.leading_to(next).is_some_and(|leading| leading.start.is_none());
    if is_whole && inputs.leading_to(sequence).is_none() {
        let detail = "the event belongs to the import that worlds of this server begin with, so no input leads to it: use a new key";
        return ApiError::of_member("/event_id", "not_replayable", detail);
    }
    for violation in &mut error.errors {
        "/event_id".clone_into(&mut violation.pointer);
    }
    match error.code {
        ErrorCode::ValidationFailed => ApiError::invalid(error.errors),
        _ => error,
    }
}
