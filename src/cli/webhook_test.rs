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
use serde_json::json;

use crate::api::system;
use crate::cli::failure::{Failure, failed, print};
use crate::cli::offered::{Offered, unknown_event};
use crate::cli::webhook_cases::{Case, Events, cases};
use crate::cli::world_args::seed;
use crate::io::courier::connection::{Connection, post_to};
use crate::io::courier::wall;
use crate::tester::address::{Policy, Target};
use crate::tester::signature::Secret;
use crate::value::Key;

/// The time limit of one delivery.
const DEADLINE: Duration = Duration::from_secs(15);

/// The arguments of `sandbox webhook-test`.
#[derive(Args, Debug)]
pub(super) struct WebhookTestArgs {
    /// The receiver, an http URL
    #[arg(long, value_name = "URL")]
    target: String,
    /// The secret with which the receiver checks signatures [default: derived from the seed, and printed]
    #[arg(long, env = "SANDBOX_WEBHOOK_SECRET", hide_env_values = true, value_name = "SECRET")]
    secret: Option<String>,
    /// The seed of the world that the events come from
    #[arg(
        long,
        default_value_t = 42,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = seed
    )]
    seed: u64,
    /// The type of the events: `sandbox trigger --list` prints all types
    #[arg(long = "type", default_value = "payroll_run.paid", value_name = "TYPE", value_parser = Offered::EVENTS, hide_possible_values = true)]
    event: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
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
    if !system::event_types().contains(&args.event.as_str()) {
        return Err(Failure::Usage(format!("--type: {}", unknown_event(&args.event))));
    }
    let events = Events::of(args.seed, &args.event)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::impossible)?;
    let findings = runtime.block_on(async {
        let mut findings = Vec::new();
        for case in cases(key, &secret, &events, wall()) {
            let answered = answer_to(&case, &target).await;
            if let (true, Err(why)) = (findings.is_empty(), &answered) {
                let detail = format!("no receiver answers at {target}: {why}; nothing was tested");
                return Err(Failure::Impossible(detail));
            }
            findings.push(Finding::of(&case, answered));
        }
        Ok(findings)
    })?;
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

/// The status of the receiver, or why there is none.
async fn answer_to(case: &Case, target: &Target) -> Result<u16, String> {
    let mut line = Connection::default();
    let policy = Policy::default();
    let sent = async {
        let answered = line.send(target, &policy, |target| request(case, target)).await?;
        Ok::<u16, String>(answered.status)
    };
    let answered = tokio::time::timeout(DEADLINE, sent).await;
    answered.unwrap_or_else(|_| Err("no answer within 15 s".to_owned()))
}

impl Finding {
    fn of(case: &Case, answered: Result<u16, String>) -> Self {
        let passed =
            answered.as_ref().is_ok_and(|status| (200..300).contains(status) == case.taken);
        Self {
            case: case.name,
            sent: case.sent,
            expected: if case.taken { "2xx" } else { "not 2xx" },
            came: answered.map_or_else(|error| error, |status| status.to_string()),
            passed,
        }
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
