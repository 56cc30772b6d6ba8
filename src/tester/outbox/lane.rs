//! An endpoint's queue: what waits, what is in flight, what has ended.
//!
//! Strict deliveries go one after another by their place, so that one that fails blocks those behind it. Loose ones go when they are
//! due: copies, what a scenario holds back, what is sent again by hand, and everything where no order is asked for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::tester::outbox::delivery::{Delivery, Status};
use crate::tester::outbox::endpoint::Endpoint;
use crate::value::{Key, Timestamp};
use crate::world::Event;
use crate::world::script::Shaping;

/// Deliveries that may wait for one endpoint. One more is dropped, and says so.
pub(crate) const MOST_PENDING: usize = 10_000;
/// Deliveries that are remembered after their end.
pub(crate) const MOST_ENDED: usize = 1_000;
/// Bytes of receivers' answers that are remembered, the newest.
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
    /// Those in flight that are not tried again, and why.
    doomed: BTreeMap<u64, String>,
    /// Those that a scenario holds back until a later one has gone.
    held: BTreeSet<u64>,
    ended: VecDeque<Delivery>,
    /// Ended deliveries that are no longer remembered.
    pub(crate) evicted: u64,
    /// Deliveries by how they ended, ever.
    pub(crate) delivered: u64,
    pub(crate) dropped: u64,
    pub(crate) exhausted: u64,
    /// Nothing is sent before this: the receiver is too busy.
    pub(crate) not_before: Option<Timestamp>,
    /// How often in a row it said so.
    pub(crate) busy_in_a_row: usize,
    /// An attempt ran into its deadline while somebody waits for the clock: nothing more is due until nobody does, so that one
    /// deadline is all that a wait can cost.
    pub(crate) hung: bool,
    /// What receivers answered, by delivery and attempt, the oldest first.
    texts: VecDeque<((u64, usize), String)>,
    text_bytes: usize,
}

/// How a delivery enters its lane.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) due: Timestamp,
    pub(crate) loose: bool,
    pub(crate) shaped: Option<Shaping>,
    pub(crate) copies: Option<(u64, i64)>,
    /// Where it is not to be sent at all: why.
    pub(crate) dropped: Option<String>,
    /// Made by the first to send it, and shared by the event's deliveries to all endpoints.
    pub(crate) body: Arc<OnceLock<Bytes>>,
}

impl Entry {
    /// The usual one.
    pub(crate) fn at(due: Timestamp) -> Self {
        Self { due, loose: false, shaped: None, copies: None, dropped: None, body: Arc::default() }
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
            texts: VecDeque::new(),
            text_bytes: 0,
        }
    }

    /// Every delivery that is remembered, in order.
    pub(crate) fn deliveries(&self) -> Vec<&Delivery> {
        let mut all: Vec<&Delivery> = self.ended.iter().chain(self.pending.values()).collect();
        all.sort_unstable_by_key(|delivery| delivery.order);
        all
    }

    /// The delivery at that place, if it is remembered.
    pub(crate) fn find(&self, order: u64) -> Option<&Delivery> {
        let ended = || self.ended.iter().find(|delivery| delivery.order == order);
        self.pending.get(&order).or_else(ended)
    }

    /// Those that wait or are in flight, in order.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &Delivery> {
        self.pending.values()
    }

    /// How many wait or are in flight.
    pub(crate) fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// The receiver's answer to an attempt, from 0, if it is still remembered.
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
            let Some((_, text)) = self.texts.pop_front() else {
                break;
            };
            self.text_bytes -= text.len();
        }
    }

    // --- entering and leaving --------------------------------------------------------------------------------------

    /// A delivery enters; gives its place.
    pub(crate) fn push(&mut self, event: &Arc<Event>, entry: Entry) -> u64 {
        let order = self.next_order;
        self.next_order += 1;
        let full = self.pending.len() >= MOST_PENDING;
        let full =
            full.then(|| format!("{MOST_PENDING} deliveries wait for this endpoint already"));
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
        order
    }

    /// Puts a delivery back among those that wait.
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

    /// Takes a delivery out, in flight or not.
    pub(crate) fn remove(&mut self, order: u64) -> Option<Delivery> {
        let delivery = self.pending.remove(&order)?;
        self.in_flight.remove(&order);
        self.strict.remove(&order);
        self.held.remove(&order);
        self.loose.remove(&(delivery.due, order));
        Some(delivery)
    }

    /// A delivery that was taken out has ended.
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

    /// Nothing that waits is sent any more. What is in flight cannot be called back: it ends when it is answered.
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

    /// Why a delivery that was in flight is not tried again, if it was cancelled meanwhile.
    pub(crate) fn doom(&mut self, order: u64) -> Option<String> {
        self.doomed.remove(&order)
    }

    /// Everything that waits follows the endpoint's order, or stops to. What is loose for a reason of its own stays so.
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

    /// The clock that deliveries are due by is another: what waits is due on it now.
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

    /// What a scenario held back until a later one has gone may go.
    pub(crate) fn let_go(&mut self, gone: u64, now: Timestamp) {
        let held: Vec<u64> = self.held.range(..gone).copied().collect();
        for order in held {
            if let Some(mut delivery) = self.remove(order) {
                delivery.due = delivery.due.min(now);
                self.put(delivery);
                self.held.remove(&order);
            }
        }
    }

    // --- what is due -----------------------------------------------------------------------------------------------

    /// The next to go and when: a loose one that is due before the strict one whose turn it is. None while as many are in flight as
    /// may be.
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

    /// When the next attempt is due; none if nothing can be due before something happens.
    pub(crate) fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let (due, _) = self.next(now)?;
        Some(self.not_before.map_or(due, |until| due.max(until)))
    }

    /// Whether an attempt is due by then.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.next_due(now).is_some_and(|due| due <= now)
    }

    pub(crate) fn is_flying(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Whether that delivery is in flight.
    pub(crate) fn flies(&self, order: u64) -> bool {
        self.in_flight.contains(&order)
    }

    /// Sends the next one off.
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
