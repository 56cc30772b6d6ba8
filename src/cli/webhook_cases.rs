//! The deliveries of `sandbox webhook-test`: real events of a world, some of them forged or damaged.

use serde_json::{Value, json};

use crate::api::control::trigger;
use crate::cli::failure::Failure;
use crate::scenario;
use crate::tester::outbox::body::MOST_BYTES;
use crate::tester::signature::Secret;
use crate::value::id::encode_to_string;
use crate::value::{Key, Timestamp};
use crate::world::{Base, ClockMode, Shape, World};

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// One delivery of the set.
pub(super) struct Case {
    pub(super) name: &'static str,
    /// A description of the delivery.
    pub(super) sent: &'static str,
    /// Whether a correct receiver accepts it.
    pub(super) taken: bool,
    pub(super) id: String,
    pub(super) timestamp: i64,
    pub(super) signatures: Option<String>,
    pub(super) body: Vec<u8>,
}

/// The inputs of the set.
struct Maker<'a> {
    key: Key,
    secret: &'a Secret,
    events: &'a Events,
    wrong: Secret,
    seconds: i64,
}

impl Maker<'_> {
    fn id(&self, event: u64) -> String {
        let drawn = self.key.with("event").at(event).hash();
        format!("evt_{}", encode_to_string(drawn))
    }

    /// The main event as another one: with its own id, position and time.
    fn event(&self, number: u64, seconds: i64) -> Value {
        let mut event = self.events.main.clone();
        self.stamp(&mut event, number, seconds);
        event
    }

    fn stamp(&self, event: &mut Value, number: u64, seconds: i64) {
        event["id"] = self.id(number).into();
        event["sequence"] = number.into();
        event["timestamp"] = json!(Timestamp::from_millis(seconds * 1_000));
    }

    /// A correct delivery.
    fn good(&self, name: &'static str, sent: &'static str, number: u64) -> Case {
        self.case(name, sent, number, bytes(&self.event(number, self.seconds)))
    }

    fn case(&self, name: &'static str, sent: &'static str, event: u64, body: Vec<u8>) -> Case {
        let case = Case {
            name,
            sent,
            taken: true,
            id: self.id(event),
            timestamp: self.seconds,
            signatures: None,
            body,
        };
        let signature = case.signed_with(self.secret);
        case.with_signatures(Some(signature))
    }

    /// Signs with a time that differs from now, which a correct receiver refuses.
    fn shifted(&self, mut case: Case, by_seconds: i64) -> Case {
        case.timestamp += by_seconds;
        let signature = case.signed_with(self.secret);
        case.with_signatures(Some(signature)).refused()
    }
}

impl Case {
    fn signed_with(&self, secret: &Secret) -> String {
        secret.sign(&self.id, self.timestamp, &self.body)
    }

    fn with_signatures(mut self, signatures: Option<String>) -> Self {
        self.signatures = signatures;
        self
    }

    /// Marks a delivery that a correct receiver refuses.
    fn refused(mut self) -> Self {
        self.taken = false;
        self
    }
}

/// The fixed set of deliveries, in order.
pub(super) fn cases(key: Key, secret: &Secret, events: &Events, now: Timestamp) -> Vec<Case> {
    let maker = Maker {
        key,
        secret,
        events,
        wrong: Secret::drawn(key.with("nobody's secret")),
        seconds: now.millis() / 1_000,
    };
    let mut cases = ordinary(&maker);
    cases.extend(forged(&maker));
    cases.extend(unusual(&maker));
    cases
}

fn ordinary(maker: &Maker<'_>) -> Vec<Case> {
    let mut earlier = maker.events.earlier.clone();
    maker.stamp(&mut earlier, 1, maker.seconds);
    vec![
        maker.good("valid", "a correct delivery", 2),
        maker.good("duplicate", "the same delivery again", 2),
        maker.case("out_of_order", "an event older than the last one", 1, bytes(&earlier)),
    ]
}

fn forged(maker: &Maker<'_>) -> Vec<Case> {
    let bad = maker.good("bad_signature", "signed with a wrong secret", 3);
    let forged = bad.signed_with(&maker.wrong);
    let missing = maker.good("missing_signature", "without webhook-signature", 4);
    let stale = maker.good("stale_timestamp", "signed ten minutes ago", 5);
    let future = maker.good("future_timestamp", "signed ten minutes ahead", 6);
    vec![
        bad.with_signatures(Some(forged)).refused(),
        missing.with_signatures(None).refused(),
        maker.shifted(stale, -600),
        maker.shifted(future, 600),
    ]
}

fn unusual(maker: &Maker<'_>) -> Vec<Case> {
    let mut unknown = maker.event(7, maker.seconds);
    unknown["type"] = "hovercraft.landed".into();
    let rotated = maker.good("rotated_secret", "two signatures, the second is right", 8);
    let (old, new) = (rotated.signed_with(&maker.wrong), rotated.signed_with(maker.secret));
    let mut big = maker.events.big.clone();
    maker.stamp(&mut big, 9, maker.seconds);
    let mut cut = maker.good("truncated_body", "half of the signed body", 10);
    cut.body.truncate(cut.body.len() / 2);
    let days_ago = maker.seconds - 3 * DAY_SECONDS;
    let late = bytes(&maker.event(2, days_ago));
    vec![
        maker.case("unknown_type", "an unknown type of event", 7, bytes(&unknown)),
        rotated.with_signatures(Some(format!("{old} {new}"))),
        maker.case("big_body", "just below 20 kB", 9, bytes(&big)),
        cut.refused(),
        maker.case(
            "redelivery_after_days",
            "the first event again, three days old, signed now",
            2,
            late,
        ),
    ]
}

fn bytes(event: &Value) -> Vec<u8> {
    event.to_string().into_bytes()
}

/// Real events of a world, as its webhooks send them.
pub(super) struct Events {
    /// The event of the wanted type.
    main: Value,
    /// An earlier one, about the same resource if there is one.
    earlier: Value,
    /// One whose body is almost as large as allowed.
    big: Value,
}

impl Events {
    /// Makes an event of that type happen in a new world of the seed.
    pub(super) fn of(seed: u64, name: &str) -> Result<Self, Failure> {
        let mut shown = triggered(seed, name)?;
        let main = shown.pop().expect("an event of this type happened");
        let id = &main["data"]["object"]["id"];
        let about_it = shown.iter().rposition(|event| event["data"]["object"]["id"] == *id);
        let earlier = match about_it {
            Some(place) => shown.swap_remove(place),
            None => shown.pop().unwrap_or_else(|| main.clone()),
        };
        let big = if main["data"]["object"]["metadata"].is_object() {
            main.clone()
        } else {
            triggered(seed, LARGE)?.pop().expect("an event of this type happened")
        };
        Ok(Self { main, earlier, big: enlarged(big) })
    }
}

/// A type whose resource has metadata.
const LARGE: &str = "payroll_run.paid";

/// The events up to the first one of that type, in a new world.
fn triggered(seed: u64, name: &str) -> Result<Vec<Value>, Failure> {
    let mut world = World::new(Base::new(seed, Shape::default()).into(), ClockMode::Manual);
    let events = trigger::until(&mut world, &scenario::showing(name), name);
    let events = events.map_err(|refused| Failure::Usage(format!("--type: {}", refused.detail)))?;
    let events = events.iter().map(serde_json::to_value).collect::<Result<_, _>>();
    events.map_err(Failure::impossible)
}

/// Fills the metadata of the event's resource, up to the largest body that is sent.
fn enlarged(mut event: Value) -> Value {
    const LONGEST: usize = 500;
    // Position and time are set later; both can become longer.
    const SPARE: usize = 40;
    for number in 1..=50 {
        let name = format!("note_{number:02}");
        let taken = event.to_string().len() + name.len() + r#","":"""#.len() + SPARE;
        let Some(room) = MOST_BYTES.checked_sub(taken).filter(|room| *room > 0) else { break };
        event["data"]["object"]["metadata"][name] = "x".repeat(room.min(LONGEST)).into();
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tester::signature::{SignatureCheck, Signed, verify};

    #[test]
    fn a_correct_receiver_accepts_exactly_the_valid_cases() {
        let key = Key::new(42);
        let secret = Secret::drawn(key);
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().expect("an instant");
        for name in ["payroll_run.paid", "wallet.debited"] {
            let events = Events::of(42, name).expect("a type");
            for case in cases(key, &secret, &events, now) {
                let timestamp = case.timestamp.to_string();
                let signed = Signed {
                    id: Some(&case.id),
                    timestamp: Some(&timestamp),
                    signatures: case.signatures.as_deref(),
                };
                let verdict = verify(&secret, signed, &case.body, now.millis() / 1_000);
                assert_eq!(verdict == SignatureCheck::Valid, case.taken, "{}", case.name);
                let large = MOST_BYTES - 60..MOST_BYTES;
                assert_eq!(
                    large.contains(&case.body.len()),
                    case.name == "big_body",
                    "{}",
                    case.name
                );
            }
        }
    }

    #[test]
    fn an_unknown_type_is_refused_with_the_nearest_one() {
        let refused = Events::of(42, "payroll_run.payed").err().expect("refused").to_string();
        assert!(refused.contains("payroll_run.paid"), "{refused}");
    }
}
