//! The body of a delivery: the event as compact JSON, below 20 kB.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde_json::Value;

use crate::value::json_sink;
use crate::world::{Event, EventShape};

/// The maximum size of a body, which the largest known receivers accept.
pub(crate) const MOST_BYTES: usize = 20_000;

/// The body that an event's deliveries share. The first caller writes it.
pub(crate) fn shared(event: &Arc<Event>, written: &OnceLock<Bytes>) -> Bytes {
    written.get_or_init(|| Bytes::from(body(event))).clone()
}

/// The body of an event's delivery, as text.
pub(crate) fn text(event: &Arc<Event>) -> String {
    String::from_utf8(body(event)).expect("JSON is UTF-8")
}

/// The body of an event's delivery.
///
/// If an object is too large, its largest members are left out and named in `data.omitted`. A receiver that needs them reads the resource
/// by its id. `id` and `object` always stay.
fn body(event: &Arc<Event>) -> Vec<u8> {
    let whole = json_sink::to_vec(&EventShape::of(event));
    if whole.len() < MOST_BYTES {
        return whole;
    }
    let mut envelope: Value = serde_json::from_slice(&whole).expect("it was just written");
    let mut omitted = Vec::new();
    while let Some(name) = largest_member(&mut envelope) {
        omitted.push(Value::String(name));
        envelope["data"]["omitted"] = Value::Array(omitted.clone());
        let cut = json_sink::to_vec(&envelope);
        if cut.len() < MOST_BYTES {
            return cut;
        }
    }
    json_sink::to_vec(&envelope)
}

/// Removes the largest member of the event's object and of its previous values. Returns the member's name.
fn largest_member(envelope: &mut Value) -> Option<String> {
    let size = |value: &Value| value.to_string().len();
    let mut largest: Option<(usize, &str, String)> = None;
    for part in ["object", "previous"] {
        let members = envelope["data"][part].as_object()?;
        for (name, value) in members {
            let fixed = part == "object" && matches!(name.as_str(), "id" | "object");
            if !fixed && largest.as_ref().is_none_or(|(most, ..)| size(value) > *most) {
                largest = Some((size(value), part, name.clone()));
            }
        }
    }
    let (_, part, name) = largest?;
    envelope["data"][part].as_object_mut()?.shift_remove(&name);
    Some(format!("{part}.{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_largest_member_is_omitted_first_and_the_id_never() {
        let mut envelope = json!({"data": {
            "object": {"id": "x".repeat(99), "object": "run", "small": 1, "rows": [1, 2, 3]},
            "previous": {"rows": [1, 2, 3, 4, 5]},
        }});
        let mut taken = Vec::new();
        while let Some(name) = largest_member(&mut envelope) {
            taken.push(name);
        }
        assert_eq!(taken, ["previous.rows", "object.rows", "object.small"]);
        assert_eq!(envelope["data"]["object"]["object"], "run");
    }
}
