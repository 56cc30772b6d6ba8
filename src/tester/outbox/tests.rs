//! The outbox with a world but without a socket: order, schedule, changes, limits.

mod shaping;

use std::sync::Arc;

use super::delivery::{Answered, AttemptOutcome, Status, Unanswered};
use super::*;
use crate::model::business::Company;
use crate::tester::outbox::lane::{MOST_ENDED, MOST_PENDING};
use crate::value::Span;
use crate::world::script::When;
use crate::world::{Base, Shape as Grown};

/// A world with one endpoint; the wall clock follows the virtual one.
struct Bench {
    world: World,
    outbox: Outbox,
    endpoint: String,
}

fn target(path: &str) -> Target {
    let url = format!("http://127.0.0.1:9/{path}");
    Target::parse(&url, &Policy::default()).unwrap()
}

fn new(ordered: bool) -> NewEndpoint {
    NewEndpoint {
        target: target("hook"),
        trusted: false,
        events: Vec::new(),
        description: None,
        ordered,
        secret: None,
    }
}

impl Bench {
    fn of(mode: ClockMode, ordered: bool) -> Self {
        let base = Arc::new(Base::new(42, Grown::default()));
        let world = World::new(base, mode);
        let mut outbox = Outbox::default();
        let endpoint = outbox.create(&world, new(ordered)).endpoint.id.clone();
        Self { world, outbox, endpoint }
    }

    /// A manual clock, and an endpoint with ordering.
    fn ordered() -> Self {
        Self::of(ClockMode::Manual, true)
    }

    fn wall(&self) -> Timestamp {
        self.world.now()
    }

    /// Emits an event about the company with that number.
    fn happens(&mut self, name: &'static str, company: u64) {
        let company = self.world.at::<Company>(company).unwrap();
        self.world.begin(None);
        self.world.put(&company);
        self.world.emit(name, &company);
        self.world.commit();
        self.collect();
    }

    fn collect(&mut self) {
        let wall = self.wall();
        self.outbox.collect(&self.world, wall);
    }

    fn passes_ms(&mut self, ms: i64) {
        let to = self.world.now().plus_millis(ms);
        self.world.follow_clock(to);
        self.collect();
    }

    fn take(&mut self) -> Option<Job> {
        let wall = self.wall();
        self.outbox.take(&self.endpoint, wall)
    }

    fn report(&mut self, job: &Job, outcome: AttemptOutcome) {
        let wall = self.wall();
        self.outbox.report(&self.endpoint, job.order, outcome, wall);
    }

    /// Takes a due delivery and answers it with that status. Returns its event's position.
    fn answered(&mut self, status: u16) -> Option<u64> {
        let job = self.take()?;
        self.report(&job, status_of(status, None));
        Some(job.event.sequence)
    }

    /// Positions of all due events, each answered with 200.
    fn flush(&mut self) -> Vec<u64> {
        core::iter::from_fn(|| self.answered(200)).collect()
    }

    fn lane(&self) -> &Lane {
        self.outbox.lane(&self.endpoint).unwrap()
    }

    fn statuses(&self) -> Vec<Status> {
        let deliveries = self.lane().deliveries();
        deliveries.iter().map(|delivery| delivery.status).collect()
    }

    fn shape(&mut self, shape: Shaping, when: When, delay: Option<Span>) {
        self.outbox.set_shaping(vec![WebhookRow {
            on: "company.*".to_owned(),
            when,
            shape,
            delay,
            source: "test.toml:1".to_owned(),
        }]);
    }
}

fn status_of(status: u16, retry_after_ms: Option<i64>) -> AttemptOutcome {
    AttemptOutcome {
        result: Ok(Answered { status, retry_after_ms, text: "what I say".to_owned() }),
        signed: None,
        duration_ms: 3,
    }
}

fn timed_out() -> AttemptOutcome {
    AttemptOutcome {
        result: Err(Unanswered { error: "no answer".to_owned(), timed_out: true }),
        signed: None,
        duration_ms: 15_000,
    }
}

const SECOND: i64 = 1_000;

#[test]
fn ten_attempts_are_made_at_the_seconds_of_the_schedule_and_then_it_is_exhausted() {
    let mut bench = Bench::ordered();
    bench.happens("company.updated", 0);
    let start = bench.world.now();
    let mut at = Vec::new();
    while let Some(due) = bench.outbox.next_virtual() {
        bench.passes_ms(due.millis() - bench.world.now().millis());
        assert_eq!(bench.answered(500), Some(1));
        at.push((bench.world.now().millis() - start.millis()) / SECOND);
        assert_eq!(bench.answered(500), None, "nothing before its time");
    }
    let waits = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
    let mut expected = vec![0];
    expected.extend(waits.iter().scan(0, |sum, wait| {
        *sum += wait;
        Some(*sum)
    }));
    assert_eq!(at, expected);
    assert_eq!(bench.statuses(), [Status::Exhausted]);
    assert_eq!(bench.lane().exhausted, 1);
    let attempts = &bench.lane().deliveries()[0].attempts;
    assert_eq!((attempts.len(), attempts[3].http_status), (10, Some(500)));
    assert_eq!(bench.lane().text(0, 9), Some("what I say"));
}

#[test]
fn a_failed_delivery_blocks_later_ones_of_an_ordered_endpoint() {
    let mut bench = Bench::ordered();
    for company in [0, 1, 2] {
        bench.happens("company.updated", company);
    }
    assert_eq!(bench.answered(503), Some(1));
    assert_eq!(bench.take().map(|job| job.order), None);
    assert!(bench.outbox.is_quiet());
    bench.passes_ms(5 * SECOND - 1);
    assert_eq!(bench.flush(), [0_u64; 0]);
    bench.passes_ms(1);
    assert_eq!(bench.flush(), [1, 2, 3]);
}

#[test]
fn without_order_four_are_in_flight_and_one_that_fails_holds_up_no_other() {
    let mut bench = Bench::of(ClockMode::Manual, false);
    for company in [0, 1, 2, 0, 1] {
        bench.happens("company.updated", company);
    }
    let jobs: Vec<Job> = core::iter::from_fn(|| bench.take()).collect();
    assert_eq!(jobs.len(), 4);
    bench.report(&jobs[0], status_of(500, None));
    assert_eq!(bench.flush(), [5]);
    for job in &jobs[1..] {
        bench.report(job, status_of(204, None));
    }
    bench.passes_ms(5 * SECOND);
    assert_eq!(bench.flush(), [1]);
    assert_eq!(bench.statuses(), [Status::Delivered; 5]);
}

#[test]
fn a_410_disables_the_endpoint_and_cancels_pending_deliveries() {
    let mut bench = Bench::ordered();
    bench.happens("company.updated", 0);
    bench.happens("company.updated", 1);
    bench.answered(410);
    assert_eq!(bench.statuses(), [Status::Cancelled; 2]);
    let disabled = bench.lane().endpoint.disabled.clone();
    assert!(disabled.unwrap().contains("410"));
    bench.happens("company.updated", 2);
    assert_eq!(bench.lane().waiting(), 0);
}

#[test]
fn a_redirect_is_a_failure_and_is_not_followed() {
    let mut bench = Bench::ordered();
    bench.happens("company.updated", 0);
    bench.answered(302);
    assert_eq!(bench.statuses(), [Status::Failed]);
    let error = bench.lane().deliveries()[0].attempts[0].error.clone();
    assert!(error.unwrap().contains("redirects"));
}

#[test]
fn retry_after_is_the_least_that_is_waited_and_a_day_the_most() {
    for (asked, waited) in [(60, 60), (1, 5), (i64::MAX / 1_000, 86_400)] {
        let mut bench = Bench::ordered();
        bench.happens("company.updated", 0);
        let job = bench.take().unwrap();
        bench.report(&job, status_of(503, Some(asked.saturating_mul(1_000))));
        let due = bench.outbox.next_virtual().unwrap();
        assert_eq!(due.millis() - bench.world.now().millis(), waited * SECOND);
    }
}

#[test]
fn a_receiver_that_is_too_busy_gets_nothing_else_for_a_while() {
    for status in [429, 502, 504] {
        let mut bench = Bench::of(ClockMode::Manual, false);
        bench.happens("company.updated", 0);
        bench.answered(status);
        bench.happens("company.updated", 1);
        assert_eq!(bench.flush(), [0_u64; 0], "{status}");
        bench.passes_ms(5 * SECOND);
        assert_eq!(bench.flush().len(), 2, "{status}");
    }
}

#[test]
fn a_rotated_secret_signs_beside_the_new_one_for_a_day() {
    let mut bench = Bench::ordered();
    let old = bench.lane().endpoint.secret.reveal().to_owned();
    let id = bench.endpoint.clone();
    bench.outbox.rotate(&bench.world, &id, None);
    let new = bench.lane().endpoint.secret.reveal().to_owned();
    assert_ne!(old, new);
    let secrets = |bench: &mut Bench| {
        bench.happens("company.updated", 0);
        let job = bench.take().unwrap();
        bench.report(&job, status_of(200, None));
        let signatures = job.message(bench.wall()).signatures;
        assert_eq!(signatures.split(' ').count(), job.secrets.len());
        let texts = job.secrets.iter().map(|secret| secret.reveal().to_owned());
        texts.collect::<Vec<_>>()
    };
    assert_eq!(secrets(&mut bench), [new.clone(), old]);
    bench.passes_ms(24 * 3_600 * SECOND);
    assert_eq!(secrets(&mut bench), [new]);
}

#[test]
fn an_endpoint_gets_what_it_listens_to_and_only_what_happens_after_it_was_made() {
    let mut bench = Bench::ordered();
    bench.happens("company.updated", 0);
    let mut late = new(true);
    late.events = vec!["company.suspended".to_owned()];
    let late = bench.outbox.create(&bench.world, late).endpoint.id.clone();
    bench.happens("company.updated", 0);
    bench.happens("company.suspended", 0);
    assert_eq!(bench.lane().waiting(), 3);
    let waiting = bench.outbox.lane(&late).unwrap().deliveries();
    let places: Vec<u64> = waiting.iter().map(|row| row.event.sequence).collect();
    assert_eq!(places, [3]);
}

#[test]
fn a_full_queue_drops_visibly_and_what_has_ended_is_forgotten_in_order() {
    let mut bench = Bench::ordered();
    for _ in 0..=MOST_PENDING {
        bench.happens("company.updated", 0);
    }
    assert_eq!((bench.lane().waiting(), bench.lane().dropped), (MOST_PENDING, 1));
    let last = bench.lane().deliveries().last().unwrap().reason.clone();
    assert!(last.unwrap().contains("waiting deliveries"));
    assert_eq!(bench.flush().len(), MOST_PENDING);
    assert_eq!(bench.lane().deliveries().len(), MOST_ENDED);
    let forgotten = MOST_PENDING + 1 - MOST_ENDED;
    assert_eq!(bench.lane().evicted, forgotten as u64);
}

#[test]
fn a_restored_world_sends_no_undone_events() {
    let mut bench = Bench::ordered();
    bench.happens("company.updated", 0);
    let earlier = bench.world.clone();
    bench.happens("company.updated", 1);
    bench.world = earlier;
    bench.collect();
    assert_eq!(bench.flush(), [0_u64; 0]);
    assert_eq!(bench.statuses(), [Status::Cancelled; 2]);
    bench.happens("company.updated", 2);
    assert_eq!(bench.flush(), [2]);
}

#[test]
fn a_log_that_drops_events_before_they_are_sent_cancels_no_delivery() {
    let mut bench = Bench::ordered();
    bench.world.limit_events(Some(2));
    bench.happens("company.updated", 0);
    let company = bench.world.at::<Company>(1).unwrap();
    bench.world.begin(None);
    for _ in 0..5 {
        bench.world.put(&company);
        bench.world.emit("company.updated", &company);
    }
    bench.world.commit();
    bench.collect();
    assert_eq!(bench.statuses(), [Status::Pending; 3]);
    assert_eq!(bench.flush(), [1, 5, 6]);
}

#[test]
fn an_event_is_sent_again_to_whom_it_is_asked_for() {
    let mut bench = Bench::ordered();
    bench.happens("company.updated", 0);
    bench.flush();
    let event = bench.world.log().get(1).expect("an event").clone();
    assert_eq!(bench.outbox.resend(&event, Some("whe_0")).len(), 0);
    assert_eq!(bench.outbox.resend(&event, None).len(), 1);
    assert_eq!(bench.flush(), [1]);
    let ids: Vec<String> = bench.lane().deliveries().iter().map(|row| row.id.clone()).collect();
    assert!(ids.len() == 2 && ids[0] != ids[1]);
}

#[test]
fn a_caller_that_waits_for_the_clock_waits_for_at_most_one_timeout_of_an_endpoint() {
    let mut bench = Bench::ordered();
    bench.happens("company.updated", 0);
    let from = bench.outbox.watch();
    let job = bench.take().unwrap();
    bench.report(&job, timed_out());
    assert!(bench.outbox.is_quiet());
    assert_eq!(bench.outbox.next_virtual(), None, "nothing more is waited for");
    bench.passes_ms(24 * 60 * 60 * 1_000);
    assert!(bench.take().is_none(), "nothing more is sent");
    let attempted = bench.outbox.unwatch(from);
    assert_eq!(attempted.len(), 1);
    let waits = [Status::Failed];
    assert_eq!(bench.statuses(), waits, "it waits, and is not given up");
    assert_eq!(bench.flush(), [1], "once nobody waits it is tried again");
}

#[test]
fn by_the_wall_clock_retries_follow_the_compressed_schedule() {
    let mut bench = Bench::of(ClockMode::Instant, true);
    bench.happens("company.updated", 0);
    assert_eq!(bench.answered(500), Some(1));
    let due = bench.outbox.next_wall(&bench.endpoint).unwrap();
    assert_eq!(due.millis() - bench.wall().millis(), 100);
    assert_eq!(bench.outbox.next_virtual(), None);
}

#[test]
fn the_same_seed_draws_the_same_ids_and_secrets() {
    let (one, other) = (Bench::ordered(), Bench::ordered());
    assert_eq!(one.endpoint, other.endpoint);
    let secret = |bench: &Bench| bench.lane().endpoint.secret.reveal().to_owned();
    assert_eq!(secret(&one), secret(&other));
    assert!(one.endpoint.starts_with("whe_") && secret(&one).starts_with("whsec_"));
}
