//! Counts of events over virtual time, as a slider shows them.

use crate::api::control::events::check_type;
use crate::api::prelude::*;
use crate::world::envelope::named;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/events/histogram",
    summary: "Count events over time",
    description: "Divides the time from the first event in the log to now into equal parts, and counts the events of each. \
        Parts without events are left out.",
    long: true,
    ..operation!(read get_event_histogram)
}]);

/// The number of parts if the caller names none.
const BUCKETS: u64 = 200;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetEventHistogram {
    /// The number of parts. Default: 200.
    #[schemars(range(min = 1, max = 1_000))]
    buckets: Option<u64>,
    /// Filter by event type; `payroll_run.*` for all types of a resource.
    #[serde(rename = "type")]
    name: Option<Text<64>>,
    /// Filter by company.
    company_id: Option<Id<Company>>,
}

/// The events of a log over time.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EventHistogram {
    /// Virtual time of the first event in the log; now if there is none.
    from: Timestamp,
    /// Virtual time now.
    to: Timestamp,
    /// Number of counted events.
    total: u64,
    /// The parts with events, in order.
    buckets: Vec<EventBucket>,
}

/// The events of a part of the time.
#[derive(Serialize, JsonSchema)]
struct EventBucket {
    /// Virtual time of the first event in this part.
    from: Timestamp,
    /// Virtual time of the last event in this part.
    to: Timestamp,
    /// Number of events in this part.
    count: u64,
    /// Position of the first event in the log.
    first_sequence: u64,
    /// Position of the last event in the log.
    last_sequence: u64,
}

fn get_event_histogram(world: &World, input: GetEventHistogram) -> Result<Plain<EventHistogram>> {
    check_type(input.name.as_ref())?;
    let to = world.now();
    let from = world.log().iter().next().map_or(to, |event| event.at);
    let parts = i64::try_from(input.buckets.unwrap_or(BUCKETS)).unwrap_or(1);
    let span = (to.millis() - from.millis()).max(1);
    let part = |at: Timestamp| {
        let offset = i128::from(at.millis() - from.millis()) * i128::from(parts);
        (offset / i128::from(span)).min(i128::from(parts) - 1)
    };
    let (mut buckets, mut last): (Vec<EventBucket>, _) = (Vec::new(), None);
    let mut total = 0;
    for event in world.log().iter() {
        let is_named = input.name.as_ref().is_none_or(|name| named(name.as_str(), &event.name));
        if !is_named || input.company_id.is_some_and(|id| event.company_id() != Some(id)) {
            continue;
        }
        total += 1;
        match buckets.last_mut().filter(|_| last == Some(part(event.at))) {
            Some(bucket) => {
                bucket.count += 1;
                (bucket.to, bucket.last_sequence) = (event.at, event.sequence);
            }
            None => buckets.push(EventBucket {
                from: event.at,
                to: event.at,
                count: 1,
                first_sequence: event.sequence,
                last_sequence: event.sequence,
            }),
        }
        last = Some(part(event.at));
    }
    Ok(Plain(EventHistogram { from, to, total, buckets }))
}
