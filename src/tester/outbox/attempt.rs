//! Delivery attempts: which are due, which are in flight, their results, and callers that wait for them.

use std::sync::Arc;

use crate::tester::outbox::delivery::{
    Answered, Attempt, AttemptOutcome, Attempted, Delivery, Status,
};
use crate::tester::outbox::endpoint::Endpoint;
use crate::tester::outbox::lane::{Entry, Lane};
use crate::tester::outbox::schedule::{Clocks, MOST_ATTEMPTS, Pace};
use crate::tester::outbox::{Job, Outbox};
use crate::value::Timestamp;
use crate::world::envelope::event_id;
use crate::world::script::Shaping;

/// Maximum number of attempts recorded for callers that wait for the clock.
const MOST_ATTEMPTED: usize = 100_000;
/// Statuses by which a receiver signals overload.
const BUSY: [u16; 3] = [429, 502, 504];

impl Outbox {
    /// Sets the machine's time.
    pub(crate) fn tick(&mut self, wall: Timestamp) {
        self.clocks.wall = self.clocks.wall.max(wall);
    }

    /// Whether nothing is in flight and nothing is due.
    pub(crate) fn is_quiet(&self) -> bool {
        let now = self.now();
        !self.lanes.iter().any(|lane| lane.is_flying() || lane.is_due(now))
    }

    /// Sends nothing until the step that is being executed is stored.
    pub(crate) const fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Endpoints with a due delivery.
    pub(crate) fn due(&self) -> impl Iterator<Item = &Endpoint> {
        let now = self.now();
        let due = self.lanes.iter().filter(move |lane| lane.is_due(now));
        due.map(|lane| &lane.endpoint)
    }

    /// When the next attempt of any endpoint is due in virtual time; none if the virtual clock does not decide.
    pub(crate) fn next_virtual(&self) -> Option<Timestamp> {
        let now = (self.pace == Pace::Virtual).then_some(self.clocks.now)?;
        self.lanes.iter().filter_map(|lane| lane.next_due(now)).min()
    }

    /// When the next attempt for that endpoint is due in wall-clock time; none if the wall clock does not decide.
    pub(crate) fn next_wall(&self, endpoint: &str) -> Option<Timestamp> {
        let wall = (self.pace != Pace::Virtual).then_some(self.clocks.wall)?;
        self.lane(endpoint)?.next_due(wall)
    }

    /// Returns the next delivery that is due for that endpoint, and marks it as in flight.
    pub(crate) fn take(&mut self, endpoint: &str, wall: Timestamp) -> Option<Job> {
        self.tick(wall);
        if self.held {
            return None;
        }
        let (now, virtual_now) = (self.now(), self.clocks.now);
        let lane = self.lane_mut(endpoint)?;
        let (target, secrets) =
            (Arc::clone(&lane.endpoint.target), lane.endpoint.secrets(virtual_now));
        let trusted = lane.endpoint.trusted;
        let delivery = lane.take(now)?;
        let attempt = delivery.attempts.len() + 1;
        let spoils = matches!(
            delivery.shaped,
            Some(Shaping::BadSignature | Shaping::StaleTimestamp | Shaping::Truncate)
        );
        Some(Job {
            target,
            trusted,
            delivery_id: delivery.id.clone(),
            order: delivery.order,
            event: Arc::clone(&delivery.event),
            attempt,
            spoilt: delivery.shaped.filter(|_| spoils && attempt == 1),
            secrets,
            body: Arc::clone(&delivery.body),
        })
    }

    /// Records the result of a delivery that was in flight.
    pub(crate) fn report(
        &mut self,
        endpoint: &str,
        order: u64,
        outcome: AttemptOutcome,
        wall: Timestamp,
    ) {
        self.tick(wall);
        let (clocks, now, pace, watched) = (self.clocks, self.now(), self.pace, self.watchers > 0);
        let is_noted = watched || self.recent.is_read();
        let Some(lane) = self.lane_mut(endpoint).filter(|lane| lane.flies(order)) else {
            return; // the endpoint was deleted in the meantime
        };
        let Some(mut delivery) = lane.remove(order) else { return };
        let number = delivery.attempts.len() + 1;
        lane.hung |= watched && outcome.has_timed_out();
        let (http_status, asked_ms) = match &outcome.result {
            Ok(answered) => (Some(answered.status), answered.retry_after_ms),
            Err(_) => (None, None),
        };
        let (attempt, text) = attempt(outcome, clocks);
        delivery.attempts.push(attempt);
        lane.keep_text(order, number - 1, text);
        if number == 1
            && let Some((copies, later_ms)) = delivery.copies.take()
        {
            for copy_number in 1..=copies {
                let copy = Entry {
                    loose: true,
                    shaped: delivery.shaped,
                    body: Arc::clone(&delivery.body),
                    ..Entry::at(now.plus_millis(later_ms))
                };
                lane.push_copy(order, copy_number, &delivery.event, copy);
            }
        }
        let noted = is_noted.then(|| (delivery.id.clone(), Arc::clone(&delivery.event)));
        let status = settle(lane, delivery, http_status, asked_ms, now, pace);
        if let Some((id, event)) = noted {
            let attempted = Attempted {
                id,
                event_id: event_id(&event),
                name: event.name.to_string(),
                endpoint_id: endpoint.to_owned(),
                attempt: number as u64,
                at: clocks.now,
                status,
                http_status,
                sequence: event.sequence,
            };
            self.note(attempted, watched);
        }
    }

    // --- callers that wait for the clock ---------------------------------------------------------------------------

    /// Registers a caller that waits for the clock: from now on attempts are recorded. Returns the number of the next
    /// attempt.
    pub(crate) fn watch(&mut self) -> u64 {
        self.watchers += 1;
        self.attempts
    }

    /// The caller no longer waits. Returns the attempts from that number on.
    pub(crate) fn unwatch(&mut self, from: u64) -> Vec<Attempted> {
        let first = self.attempts - self.attempted.len() as u64;
        let skip = usize::try_from(from.saturating_sub(first)).unwrap_or(usize::MAX);
        let seen = self.attempted.iter().skip(skip).cloned().collect();
        self.watchers = self.watchers.saturating_sub(1);
        if self.watchers == 0 {
            self.attempted.clear();
            for lane in &mut self.lanes {
                lane.hung = false;
            }
        }
        seen
    }

    fn note(&mut self, attempted: Attempted, watched: bool) {
        if self.recent.is_read() {
            self.recent.note(attempted.clone());
        }
        if !watched {
            return;
        }
        self.attempts += 1;
        self.attempted.push_back(attempted);
        if self.attempted.len() > MOST_ATTEMPTED {
            self.attempted.pop_front();
        }
    }
}

/// An attempt in its stored form, and the receiver's answer.
fn attempt(outcome: AttemptOutcome, clocks: Clocks) -> (Attempt, String) {
    let AttemptOutcome { result, signed, duration_ms } = outcome;
    let (http_status, error, text) = match result {
        Ok(Answered { status, text, .. }) => {
            let redirected = (300..=399).contains(&status);
            let error = redirected.then(|| "redirects are not followed".to_owned());
            (Some(status), error, text)
        }
        Err(unanswered) => (None, Some(unanswered.error), String::new()),
    };
    let (at, wall_at) = (clocks.now, clocks.wall);
    (Attempt { at, wall_at, http_status, duration_ms, error, signed }, text)
}

/// The status of a delivery after an attempt.
fn settle(
    lane: &mut Lane,
    mut delivery: Delivery,
    http_status: Option<u16>,
    asked_ms: Option<i64>,
    now: Timestamp,
    pace: Pace,
) -> Status {
    let (order, attempts) = (delivery.order, delivery.attempts.len());
    let status = http_status.unwrap_or_default();
    if BUSY.contains(&status) {
        lane.busy_in_a_row += 1;
        lane.not_before = Some(now.plus_millis(pace.pause_ms(lane.busy_in_a_row, asked_ms)));
    } else {
        lane.busy_in_a_row = 0;
        lane.not_before = None;
    }
    let doom = lane.doom(order);
    let ended = match status {
        200..=299 => Some((Status::Delivered, None)),
        410 => {
            let reason = "the receiver answered 410 Gone";
            lane.endpoint.disabled = Some(reason.to_owned());
            lane.cancel(reason);
            Some((Status::Cancelled, Some(reason.to_owned())))
        }
        _ if doom.is_some() => Some((Status::Cancelled, doom)),
        _ if lane.endpoint.disabled.is_some() => {
            let reason = "the endpoint was disabled".to_owned();
            Some((Status::Cancelled, Some(reason)))
        }
        _ if attempts >= MOST_ATTEMPTS => {
            let reason = format!("{MOST_ATTEMPTS} attempts failed");
            Some((Status::Exhausted, Some(reason)))
        }
        _ => None,
    };
    let Some((status, reason)) = ended else {
        let wait_ms = pace.wait_ms(attempts, asked_ms).unwrap_or_default();
        delivery.status = Status::Failed;
        delivery.due = now.plus_millis(wait_ms);
        lane.put(delivery);
        return Status::Failed;
    };
    let subject = delivery.event.subject();
    lane.end(delivery, status, reason);
    lane.let_go(order, subject, now);
    status
}

impl AttemptOutcome {
    fn has_timed_out(&self) -> bool {
        matches!(&self.result, Err(unanswered) if unanswered.timed_out)
    }
}
