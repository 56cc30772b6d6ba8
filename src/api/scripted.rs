//! Actions of a scenario's timeline: an operation called as the system, or an action of the outside world.

use serde_json::Value;

use crate::api::control::inbound;
use crate::api::operation::Call;
use crate::api::prelude::*;
use crate::api::{product, system};
use crate::value::interned::Interned;
use crate::world::RequestRef;
use crate::world::script::{TimelineAction, TimelineRow};

/// Runs the action of a row. A refusal changes nothing and is shown in the scenario's coverage.
pub(crate) fn perform(world: &mut World, place: u32, row: &TimelineRow) {
    if let Err(error) = attempt(world, place, &row.does) {
        world.script_refused(place, format!("{}: {}", error.code.code(), error.detail));
    }
}

/// Whether a row of a timeline can call the operation.
pub(crate) fn can_act(row: &Operation) -> bool {
    matches!(row.call, Call::Write(_)) && row.contract != Contract::Control
}

fn attempt(world: &mut World, place: u32, deed: &TimelineAction) -> Result<()> {
    let key = world.base().key().with("scripted");
    let key = key.at(world.log_length()).at(u64::from(place));
    let origin = |operation: Interned| {
        let id = Id::from_bits(key.hash());
        Arc::new(RequestRef { id, operation, idempotency_key: None, trace: None })
    };
    let resolved = |world: &World, with: &Value| {
        let mut input = with.clone();
        world
            .resolve(&mut input)
            .map_err(|detail| ApiError::new(ErrorCode::ResourceNotFound, detail))?;
        Ok::<Value, ApiError>(input)
    };
    match deed {
        TimelineAction::Call { operation, with } => {
            let row = product().find(|row| row.operation_id() == *operation);
            let row = row.filter(|row| can_act(row));
            let row: &Operation = row.ok_or_else(|| {
                let detail = format!("{operation} is not an operation that changes the world");
                ApiError::new(ErrorCode::ResourceNotFound, detail)
            })?;
            let input = resolved(world, with)?;
            row.check(&input)?;
            let origin = origin(row.name.into());
            system::perform(world, row, origin, Vec::new(), input).map(drop)
        }
        TimelineAction::Inbound { kind, with } => {
            let input = resolved(world, with)?;
            world.begin(Some(origin(Interned::of(&format!("inbound {kind}")))));
            let received = inbound::receive(world, kind, input);
            match &received {
                Ok(_) => world.commit(),
                Err(_) => world.roll_back(),
            }
            received.map(drop)
        }
    }
}
