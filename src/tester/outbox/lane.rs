//! An endpoint's queue: waiting, in-flight and ended deliveries.
//!
//! Ordered deliveries are sent one after another, so a failed one blocks the later ones. Unordered ones are sent when they are due: copies,
//! delayed deliveries, resent events, and all deliveries of an endpoint without ordering.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::model::AnyId;
use crate::tester::outbox::delivery::{Delivery, Status};
use crate::tester::outbox::endpoint::Endpoint;
use crate::value::{Key, Timestamp};
use crate::world::Event;
use crate::world::script::Shaping;

/// Maximum number of waiting deliveries per endpoint. A further one is dropped, with a reason.
pub(crate) const MOST_PENDING: usize = 10_000;
/// Maximum number of ended deliveries that are stored.
pub(crate) const MOST_ENDED: usize = 1_000;
/// Maximum size of stored answers of receivers; the newest are kept.
const MOST_TEXT_BYTES: usize = 1024 * 1024;

/// An endpoint with its deliveries.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) endpoint: Endpoint,
    key: Key,
    next_order: u64,
    pending: BTreeMap<u64, Delivery>,
    strict: BTreeSet<u64>,
    loose: BTreeSet<(Timestamp, u64)>,
    in_flight: BTreeSet<u64>,
    /// Deliveries in flight that are not retried, and why.
    doomed: BTreeMap<u64, String>,
    /// Deliveries that a scenario delays until a later one of their resource was sent.
    held: BTreeSet<u64>,
    ended: VecDeque<Delivery>,
    /// Number of ended deliveries that were dropped.
    pub(crate) evicted: u64,
    /// Total number of ended deliveries, by status.
    pub(crate) delivered: u64,
    pub(crate) dropped: u64,
    pub(crate) exhausted: u64,
    /// Nothing is sent before this time, because the receiver is overloaded.
    pub(crate) not_before: Option<Timestamp>,
    /// The number of consecutive overload signals of the receiver.
    pub(crate) busy_in_a_row: usize,
    /// Whether an attempt timed out while a caller waits for the clock. Then nothing is due until no caller waits, so
    /// a wait costs at most one timeout.
    pub(crate) hung: bool,
    /// The number of ended deliveries in the stored progress, and when it was stored.
    pub(crate) stored: (u64, Timestamp),
    /// Answers of receivers by delivery and attempt, oldest first.
    texts: VecDeque<((u64, usize), String)>,
    text_bytes: usize,
}

/// A delivery to add to a lane.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) due: Timestamp,
    pub(crate) loose: bool,
    pub(crate) shaped: Option<Shaping>,
    pub(crate) copies: Option<(u64, i64)>,
    /// Why it must not be sent, if so.
    pub(crate) dropped: Option<String>,
    /// Created by the first sender, and shared by the event's deliveries to all endpoints.
    pub(crate) body: Arc<OnceLock<Bytes>>,
}

impl Entry {
    /// A normal delivery.
    pub(crate) fn at(due: Timestamp) -> Self {
        Self { due, loose: false, shaped: None, copies: None, dropped: None, body: Arc::default() }
    }

    /// The number of its positions: one, and one for each copy.
    pub(crate) fn positions(&self) -> u64 {
        1 + self.copies.map_or(0, |(count, _)| count)
    }
}

impl Lane {
    pub(crate) fn new(endpoint: Endpoint, key: Key) -> Self {
        Self {
            key: key.with("delivery").with(&endpoint.id),
            endpoint,
            next_order: 0,
            pending: BTreeMap::new(),
            strict: BTreeSet::new(),
            loose: BTreeSet::new(),
            in_flight: BTreeSet::new(),
            doomed: BTreeMap::new(),
            held: BTreeSet::new(),
            ended: VecDeque::new(),
            evicted: 0,
            delivered: 0,
            dropped: 0,
            exhausted: 0,
            not_before: None,
            busy_in_a_row: 0,
            hung: false,
            stored: (0, Timestamp::EPOCH),
            texts: VecDeque::new(),
            text_bytes: 0,
        }
    }

    /// All stored deliveries, in order.
    pub(crate) fn deliveries(&self) -> Vec<&Delivery> {
        let mut all: Vec<&Delivery> = self.ended.iter().chain(self.pending.values()).collect();
        all.sort_unstable_by_key(|delivery| delivery.order);
        all
    }

    /// The delivery at that position, if it is still stored.
    pub(crate) fn find(&self, order: u64) -> Option<&Delivery> {
        let ended = || self.ended.iter().find(|delivery| delivery.order == order);
        self.pending.get(&order).or_else(ended)
    }

    /// Waiting and in-flight deliveries, in order.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &Delivery> {
        self.pending.values()
    }

    /// Number of waiting and in-flight deliveries.
    pub(crate) fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// The receiver's answer to an attempt, from 0, if it is still stored.
    pub(crate) fn text(&self, order: u64, attempt: usize) -> Option<&str> {
        let place = (order, attempt);
        let found = self.texts.iter().rev().find(|(at, _)| *at == place);
        found.map(|(_, text)| text.as_str())
    }

    pub(crate) fn keep_text(&mut self, order: u64, attempt: usize, text: String) {
        if text.is_empty() {
            return;
        }
        self.text_bytes += text.len();
        self.texts.push_back(((order, attempt), text));
        while self.text_bytes > MOST_TEXT_BYTES {
            let Some((_, text)) = self.texts.pop_front() else { break };
            self.text_bytes -= text.len();
        }
    }

    // --- adding and removing ---------------------------------------------------------------------------------------

    /// Adds a delivery. Returns its position. The positions after it are reserved for its copies. Copies are added after the first attempt, and
    /// the time of that attempt must not change the ids of later deliveries.
    pub(crate) fn push(&mut self, event: &Arc<Event>, entry: Entry) -> u64 {
        let order = self.next_order;
        self.next_order += entry.positions();
        self.push_at(order, event, entry);
        order
    }

    /// Adds a copy of the delivery at that position, counted from 1.
    pub(crate) fn push_copy(&mut self, of: u64, number: u64, event: &Arc<Event>, entry: Entry) {
        self.push_at(of + number, event, entry);
    }

    fn push_at(&mut self, order: u64, event: &Arc<Event>, entry: Entry) {
        let full = self.pending.len() >= MOST_PENDING;
        let full =
            full.then(|| format!("the endpoint already has {MOST_PENDING} waiting deliveries"));
        let reason = entry.dropped.or(full);
        let delivery = Delivery {
            order,
            id: format!("dlv_{}", crate::value::id::encode_to_string(self.key.at(order).hash())),
            event: Arc::clone(event),
            status: Status::Pending,
            reason: None,
            shaped: entry.shaped,
            due: entry.due,
            loose: entry.loose || !self.endpoint.ordered,
            copies: entry.copies,
            body: entry.body,
            attempts: Vec::new(),
        };
        match reason {
            Some(reason) => self.end(delivery, Status::Dropped, Some(reason)),
            None => self.put(delivery),
        }
    }

    /// Counts deliveries that an earlier process has ended, and their positions.
    pub(crate) const fn skip(&mut self, positions: u64, ended: u64) {
        self.next_order += positions;
        self.evicted += ended;
    }

    /// The number of positions so far.
    pub(crate) const fn positions(&self) -> u64 {
        self.next_order
    }

    /// Number of ended deliveries.
    pub(crate) fn ended_so_far(&self) -> u64 {
        self.ended.len() as u64 + self.evicted
    }

    /// Returns a delivery to the waiting ones.
    pub(crate) fn put(&mut self, delivery: Delivery) {
        if delivery.loose {
            self.loose.insert((delivery.due, delivery.order));
        } else {
            self.strict.insert(delivery.order);
        }
        if delivery.shaped == Some(Shaping::Reorder) && delivery.attempts.is_empty() {
            self.held.insert(delivery.order);
        }
        self.pending.insert(delivery.order, delivery);
    }

    /// Removes a delivery, in flight or not.
    pub(crate) fn remove(&mut self, order: u64) -> Option<Delivery> {
        let delivery = self.pending.remove(&order)?;
        self.in_flight.remove(&order);
        self.strict.remove(&order);
        self.held.remove(&order);
        self.loose.remove(&(delivery.due, order));
        Some(delivery)
    }

    /// Ends a delivery that was removed.
    pub(crate) fn end(&mut self, mut delivery: Delivery, status: Status, reason: Option<String>) {
        match status {
            Status::Delivered => self.delivered += 1,
            Status::Dropped => self.dropped += 1,
            Status::Exhausted => self.exhausted += 1,
            Status::Pending | Status::Failed | Status::Cancelled => {}
        }
        delivery.status = status;
        delivery.reason = reason;
        delivery.body = Arc::default();
        self.ended.push_back(delivery);
        if self.ended.len() > MOST_ENDED {
            self.ended.pop_front();
            self.evicted += 1;
        }
    }

    /// Cancels all waiting deliveries. Deliveries in flight cannot be stopped: they end with their answer.
    pub(crate) fn cancel(&mut self, reason: &str) {
        let flying = self.in_flight.iter();
        self.doomed = flying.map(|order| (*order, reason.to_owned())).collect();
        let waiting: Vec<u64> =
            self.pending.keys().copied().filter(|order| !self.in_flight.contains(order)).collect();
        for order in waiting {
            if let Some(delivery) = self.remove(order) {
                self.end(delivery, Status::Cancelled, Some(reason.to_owned()));
            }
        }
    }

    /// Why a delivery in flight is not retried, if it was cancelled in the meantime.
    pub(crate) fn doom(&mut self, order: u64) -> Option<String> {
        self.doomed.remove(&order)
    }

    /// Makes waiting deliveries ordered or unordered, except those that are unordered for another reason.
    pub(crate) fn reorder(&mut self, ordered: bool) {
        if self.endpoint.ordered == ordered {
            return;
        }
        self.endpoint.ordered = ordered;
        let waiting: Vec<u64> = self.pending.keys().copied().collect();
        for order in waiting {
            let flying = self.in_flight.contains(&order);
            if let Some(mut delivery) = self.remove(order) {
                delivery.loose = !ordered || delivery.shaped == Some(Shaping::Reorder);
                if flying {
                    self.in_flight.insert(order);
                    self.pending.insert(order, delivery);
                } else {
                    self.put(delivery);
                }
            }
        }
    }

    /// The clock for due times has changed: all waiting deliveries are due now on the new one.
    pub(crate) fn retime(&mut self, now: Timestamp) {
        self.not_before = None;
        let waiting: Vec<u64> = self.pending.keys().copied().collect();
        for order in waiting {
            if !self.in_flight.contains(&order)
                && let Some(mut delivery) = self.remove(order)
            {
                delivery.due = now;
                self.put(delivery);
            }
        }
    }

    /// Releases deliveries that a scenario delayed until a later one of their resource was sent.
    pub(crate) fn let_go(&mut self, gone: u64, subject: AnyId, now: Timestamp) {
        let is_same = |order: &u64| {
            self.pending.get(order).is_some_and(|delivery| delivery.event.subject() == subject)
        };
        let held: Vec<u64> = self.held.range(..gone).copied().filter(is_same).collect();
        for order in held {
            if let Some(mut delivery) = self.remove(order) {
                delivery.due = delivery.due.min(now);
                self.put(delivery);
                self.held.remove(&order);
            }
        }
    }

    // --- what is due -----------------------------------------------------------------------------------------------

    /// The next delivery and its time: an unordered one that is due before the next ordered one. None if the maximum is in flight.
    fn next(&self, now: Timestamp) -> Option<(Timestamp, u64)> {
        if self.hung || self.in_flight.len() >= self.endpoint.most_in_flight() {
            return None;
        }
        let loose = self.loose.first().copied();
        if let Some((due, _)) = loose
            && due <= now
        {
            return loose;
        }
        let strict = self.strict.first().map(|order| {
            let due = self.pending.get(order).map(|delivery| delivery.due);
            (due.expect("what is strict waits"), *order)
        });
        loose.into_iter().chain(strict).min()
    }

    /// When the next attempt is due; none if nothing can become due without another change.
    pub(crate) fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let (due, _) = self.next(now)?;
        Some(self.not_before.map_or(due, |until| due.max(until)))
    }

    /// The earliest time at which a waiting delivery can be attempted, from this time on: after the deliveries that
    /// it waits for.
    pub(crate) fn attempt_at(&self, delivery: &Delivery, now: Timestamp) -> Timestamp {
        let earlier = self.pending.range(..delivery.order).map(|(_, earlier)| earlier);
        let awaited = earlier.filter(|earlier| !delivery.loose && !earlier.loose);
        let dues = awaited.map(|earlier| earlier.due).chain(self.not_before);
        dues.fold(now.max(delivery.due), Timestamp::max)
    }

    /// Whether an attempt is due at that time.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.next_due(now).is_some_and(|due| due <= now)
    }

    /// The delivery that is probably sent after those in flight.
    pub(crate) fn upcoming(&self) -> Option<&Delivery> {
        let strict = self.strict.first();
        let order = strict.or_else(|| self.loose.first().map(|(_, order)| order))?;
        self.pending.get(order)
    }

    pub(crate) fn is_flying(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Whether that delivery is in flight.
    pub(crate) fn flies(&self, order: u64) -> bool {
        self.in_flight.contains(&order)
    }

    /// Marks the next delivery as in flight and returns it.
    pub(crate) fn take(&mut self, now: Timestamp) -> Option<&Delivery> {
        if !self.is_due(now) {
            return None;
        }
        let (_, order) = self.next(now)?;
        let delivery = self.pending.get(&order)?;
        self.strict.remove(&order);
        self.loose.remove(&(delivery.due, order));
        self.in_flight.insert(order);
        Some(delivery)
    }
}
