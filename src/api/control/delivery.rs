//! One delivery with its headers and body.

use crate::api::control::deliveries::{WebhookDelivery, shown};
use crate::api::prelude::*;
use crate::tester::outbox::body;
use crate::tester::outbox::delivery::{Delivery, Signed};
use crate::tester::outbox::lane::Lane;
use crate::tester::outbox::message::AGENT;
use crate::world::envelope::event_id;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetDelivery {
    /// The delivery.
    delivery_id: Text<64>,
}

/// A delivery with the messages that were sent.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeliveryDetail {
    /// The delivery, as in the list.
    delivery: WebhookDelivery,
    /// The URL of the endpoint.
    url: String,
    /// The body of every message, to the byte.
    body: String,
    /// The messages, in the order of the attempts. An attempt that could not begin has none.
    sent: Vec<SentMessage>,
}

/// A message that was sent.
#[derive(Serialize, JsonSchema)]
struct SentMessage {
    /// Number of the attempt, from 1.
    attempt: u64,
    /// The headers, with the signature.
    headers: BTreeMap<&'static str, String>,
    /// The size of its body in bytes: less than the whole body if a scenario cut it.
    body_bytes: u64,
}

impl SentMessage {
    fn of(delivery: &Delivery, place: usize, signed: &Signed) -> Self {
        let attempt = place as u64 + 1;
        let mut headers = BTreeMap::from([
            ("content-type", "application/json".to_owned()),
            ("user-agent", AGENT.to_owned()),
            ("webhook-id", event_id(&delivery.event)),
            ("webhook-timestamp", signed.timestamp.to_string()),
            ("webhook-signature", signed.signatures.clone()),
            ("sandbox-delivery-id", delivery.id.clone()),
            ("sandbox-attempt", attempt.to_string()),
        ]);
        headers.extend(delivery.event.trace().map(|trace| ("traceparent", trace.to_string())));
        Self { attempt, headers, body_bytes: signed.bytes as u64 }
    }
}

pub(super) fn get_delivery(
    session: &mut Session<'_>,
    input: GetDelivery,
) -> Result<Plain<DeliveryDetail>> {
    let id = input.delivery_id.as_str();
    let mut lanes = session.tester.outbox.lanes().iter();
    let found = lanes.find_map(|lane| {
        let mut deliveries = lane.deliveries().into_iter();
        Some((lane, deliveries.find(|delivery| delivery.id == id)?))
    });
    let (lane, delivery): (&Lane, &Delivery) =
        found.ok_or_else(|| ApiError::not_found("delivery").about(id))?;
    let attempts = delivery.attempts.iter().enumerate();
    let sent = attempts.filter_map(|(place, attempt)| {
        attempt.signed.as_ref().map(|signed| SentMessage::of(delivery, place, signed))
    });
    Ok(Plain(DeliveryDetail {
        delivery: shown(lane, delivery, session.tester.outbox.now_in(session.world)),
        url: lane.endpoint.target.to_string(),
        body: body::text(&delivery.event),
        sent: sent.collect(),
    }))
}
