//! `sandbox webhook-test`: tests the user's own receiver with hostile deliveries.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::{HeaderValue, Request};
use http_body_util::Full;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::failure::{Failure, failed, print};
use crate::io::courier::connection::{Connection, post_to};
use crate::io::courier::wall;
use crate::tester::address::{Policy, Target};
use crate::tester::outbox::body::MOST_BYTES;
use crate::tester::signature::Secret;
use crate::value::id::encode_to_string;
use crate::value::{Key, Timestamp};
use crate::world::API_VERSION;

/// The time limit of one delivery.
const DEADLINE: Duration = Duration::from_secs(15);
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// The arguments of `sandbox webhook-test`.
#[derive(Args, Debug)]
pub(super) struct WebhookTestArgs {
    /// The receiver, an http URL
    #[arg(long, value_name = "URL")]
    target: String,
    /// The secret with which the receiver checks signatures [default: derived from the seed, and printed]
    #[arg(long, env = "SANDBOX_WEBHOOK_SECRET", hide_env_values = true, value_name = "SECRET")]
    secret: Option<String>,
    /// The seed of ids and amounts
    #[arg(long, default_value_t = 42, value_name = "N")]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One delivery of the set.
struct Case {
    name: &'static str,
    /// A description of the delivery.
    sent: &'static str,
    /// Whether a correct receiver accepts it.
    taken: bool,
    id: String,
    timestamp: i64,
    signatures: Option<String>,
    body: Vec<u8>,
}

/// The result.
#[derive(Serialize)]
struct Finding {
    case: &'static str,
    sent: &'static str,
    expected: &'static str,
    /// The status of the receiver, or why there is none.
    came: String,
    passed: bool,
}

/// Sends all deliveries, and succeeds if the receiver handled each one correctly.
pub(super) fn run(args: &WebhookTestArgs) -> ExitCode {
    match play_all(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => failed(&failure),
    }
}

fn play_all(args: &WebhookTestArgs) -> Result<bool, Failure> {
    let target = Target::parse(&args.target, &Policy::default())
        .map_err(|why| Failure::Usage(format!("--target: {why}")))?;
    let key = Key::new(args.seed).with("webhook-test");
    let secret = if let Some(text) = args.secret.as_deref() {
        Secret::parse(text).map_err(|expected| Failure::Usage(format!("--secret: {expected}")))?
    } else {
        let drawn = Secret::drawn(key.with("secret"));
        // If stderr is closed, the secret is not shown.
        let _ = writeln!(io::stderr(), "signing with {}", drawn.reveal());
        drawn
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::impossible)?;
    let findings = runtime.block_on(async {
        let mut findings = Vec::new();
        for case in cases(key, &secret, wall()) {
            findings.push(play(&case, &target).await);
        }
        findings
    });
    let passed = findings.iter().all(|finding| finding.passed);
    let report = if args.json {
        json!({"target": target.to_string(), "passed": passed, "cases": findings}).to_string()
            + "\n"
    } else {
        table(&findings)
    };
    print(&report)?;
    Ok(passed)
}

/// The inputs of the set.
struct Maker<'a> {
    key: Key,
    secret: &'a Secret,
    wrong: Secret,
    seconds: i64,
}

impl Maker<'_> {
    fn id(&self, event: u64) -> String {
        let drawn = self.key.with("event").at(event).hash();
        format!("evt_{}", encode_to_string(drawn))
    }

    fn event(&self, event: u64, name: &str, seconds: i64) -> Vec<u8> {
        let at = Timestamp::from_millis(seconds * 1_000);
        let envelope = envelope(self.key, &self.id(event), event, name, at);
        envelope.to_string().into_bytes()
    }

    /// A correct delivery of a paid run.
    fn paid_run(&self, name: &'static str, sent: &'static str, event: u64) -> Case {
        let body = self.event(event, "payroll_run.paid", self.seconds);
        self.case(name, sent, event, body)
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
fn cases(key: Key, secret: &Secret, now: Timestamp) -> Vec<Case> {
    let maker = Maker {
        key,
        secret,
        wrong: Secret::drawn(key.with("nobody's secret")),
        seconds: now.millis() / 1_000,
    };
    let mut cases = ordinary(&maker);
    cases.extend(forged(&maker));
    cases.extend(unusual(&maker, now));
    cases
}

fn ordinary(maker: &Maker<'_>) -> Vec<Case> {
    vec![
        maker.paid_run("valid", "a correct delivery", 2),
        maker.paid_run("duplicate", "the same delivery again", 2),
        maker.paid_run("out_of_order", "an event older than the last one", 1),
    ]
}

fn forged(maker: &Maker<'_>) -> Vec<Case> {
    let bad = maker.paid_run("bad_signature", "signed with a wrong secret", 3);
    let forged = bad.signed_with(&maker.wrong);
    let missing = maker.paid_run("missing_signature", "without webhook-signature", 4);
    let stale = maker.paid_run("stale_timestamp", "signed ten minutes ago", 5);
    let future = maker.paid_run("future_timestamp", "signed ten minutes ahead", 6);
    vec![
        bad.with_signatures(Some(forged)).refused(),
        missing.with_signatures(None).refused(),
        maker.shifted(stale, -600),
        maker.shifted(future, 600),
    ]
}

fn unusual(maker: &Maker<'_>, now: Timestamp) -> Vec<Case> {
    let unknown = maker.event(7, "hovercraft.landed", maker.seconds);
    let rotated = maker.paid_run("rotated_secret", "two signatures, the second is right", 8);
    let (old, new) = (rotated.signed_with(&maker.wrong), rotated.signed_with(maker.secret));
    let big = big(maker.key, &maker.id(9), now);
    let mut cut = maker.paid_run("truncated_body", "half of the signed body", 10);
    cut.body.truncate(cut.body.len() / 2);
    let days_ago = maker.seconds - 3 * DAY_SECONDS;
    let late = maker.event(2, "payroll_run.paid", days_ago);
    vec![
        maker.case("unknown_type", "an unknown type of event", 7, unknown),
        rotated.with_signatures(Some(format!("{old} {new}"))),
        maker.case("big_body", "just below 20 kB", 9, big),
        cut.refused(),
        maker.case(
            "redelivery_after_days",
            "the first event again, three days old, signed now",
            2,
            late,
        ),
    ]
}

fn envelope(key: Key, id: &str, sequence: u64, name: &str, at: Timestamp) -> Value {
    let drawn = |prefix: &str| format!("{prefix}_{}", encode_to_string(key.with(prefix).hash()));
    let (kind, _) = name.split_once('.').unwrap_or((name, ""));
    json!({
        "id": id,
        "type": name,
        "timestamp": at,
        "sequence": sequence,
        "api_version": API_VERSION,
        "company_id": drawn("com"),
        "livemode": false,
        "request": null,
        "data": {
            "object": {
                "id": drawn("prn"),
                "object": kind,
                "status": "paid",
                "net_minor": key.with("net").at(sequence).below(10_000_000),
            },
            "previous": { "status": "processing" },
        },
    })
}

/// A body of the largest allowed size.
fn big(key: Key, id: &str, now: Timestamp) -> Vec<u8> {
    let mut event = envelope(key, id, 9, "payroll_run.paid", now);
    event["data"]["object"]["note"] = "".into();
    let room = MOST_BYTES - 1 - event.to_string().len();
    event["data"]["object"]["note"] = "x".repeat(room).into();
    event.to_string().into_bytes()
}

async fn play(case: &Case, target: &Target) -> Finding {
    let mut line = Connection::default();
    let policy = Policy::default();
    let sent = async {
        let answered = line.send(target, &policy, |target| request(case, target)).await?;
        Ok::<u16, String>(answered.status)
    };
    let answered = tokio::time::timeout(DEADLINE, sent).await;
    let answered = answered.unwrap_or_else(|_| Err("no answer within 15 s".to_owned()));
    let passed = answered.as_ref().is_ok_and(|status| (200..300).contains(status) == case.taken);
    Finding {
        case: case.name,
        sent: case.sent,
        expected: if case.taken { "2xx" } else { "not 2xx" },
        came: answered.map_or_else(|error| error, |status| status.to_string()),
        passed,
    }
}

fn request(case: &Case, target: &Target) -> Request<Full<Bytes>> {
    let mut request = post_to(target, Bytes::from(case.body.clone()));
    let headers = request.headers_mut();
    let value = |text: &str| HeaderValue::try_from(text).expect("ids and signatures are ASCII");
    headers.insert("webhook-id", value(&case.id));
    headers.insert("webhook-timestamp", value(&case.timestamp.to_string()));
    if let Some(signatures) = &case.signatures {
        headers.insert("webhook-signature", value(signatures));
    }
    request
}

fn table(findings: &[Finding]) -> String {
    let mut text =
        format!("{:<22} {:<50} {:<9} {:<9} {}\n", "case", "sent", "expected", "came", "verdict");
    for finding in findings {
        let verdict = match (finding.passed, finding.expected) {
            (true, _) => "ok",
            (false, "2xx") => "WRONG: must be accepted",
            (false, _) => "WRONG: must be refused",
        };
        let _ = writeln!(
            text,
            "{:<22} {:<50} {:<9} {:<9} {verdict}",
            finding.case, finding.sent, finding.expected, finding.came
        );
    }
    let right = findings.iter().filter(|finding| finding.passed).count();
    let _ = writeln!(text, "{right} of {} right", findings.len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tester::signature::{SignatureCheck, Signed, verify};

    #[test]
    fn a_good_receiver_takes_exactly_what_it_should() {
        let key = Key::new(42);
        let secret = Secret::drawn(key);
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        for case in cases(key, &secret, now) {
            let timestamp = case.timestamp.to_string();
            let signed = Signed {
                id: Some(&case.id),
                timestamp: Some(&timestamp),
                signatures: case.signatures.as_deref(),
            };
            let verdict = verify(&secret, signed, &case.body, now.millis() / 1_000);
            assert_eq!(verdict == SignatureCheck::Valid, case.taken, "{}", case.name);
        }
    }

    #[test]
    fn the_big_body_is_as_large_as_one_may_be() {
        let key = Key::new(42);
        assert_eq!(big(key, "evt_1", Timestamp::EPOCH).len(), MOST_BYTES - 1);
    }
}
