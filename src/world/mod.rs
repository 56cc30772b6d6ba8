//! A world: `grow(seed, shape)` and all later changes. All state is here, in one serialisable value.
//!
//! May import `value` and `model`. A handler reads with `get`, `all` and `children`, stages with `put` and
//! `post`, and seals the staged changes with `emit`. After an
//! error the engine calls `roll_back`, which removes them. Deliberately absent: routes, requests as bytes,
//! sockets, the wall clock.

pub(crate) mod audit;
pub(crate) mod audit_trail;
pub(crate) mod base;
pub(crate) mod books;
mod business_days;
pub(crate) mod days;
pub(crate) mod decide;
pub(crate) mod diff;
pub(crate) mod digest;
pub(crate) mod envelope;
pub(crate) mod event;
pub(crate) mod facts;
pub(crate) mod filing_history;
pub(crate) mod grow;
pub(crate) mod history;
pub(crate) mod journal;
pub(crate) mod log;
mod lookup;
pub(crate) mod overlay;
pub(crate) mod payroll_history;
pub(crate) mod reconciled;
pub(crate) mod sales_history;
pub(crate) mod script;
pub(crate) mod statement;
pub(crate) mod timers;
mod transaction;

pub(crate) use self::base::{Base, HISTORY_MONTHS, INVOICES_A_MONTH, Plan, Shape, VENDORS_A_MONTH};
pub(crate) use self::decide::{Cause, Decided, DecisionAnswer, Script, Why};
pub(crate) use self::envelope::{API_VERSION, EventShape};
pub(crate) use self::event::{Change, Event, RequestRef};
pub(crate) use self::grow::Grow;
pub(crate) use self::overlay::Origin;

use std::borrow::Cow;
use std::sync::Arc;

use imbl::{OrdMap, Vector};
use serde::{Deserialize, Serialize};

use crate::model::business::Company;
use crate::model::payments::{Balances, Wallet};
use crate::model::posting::Posting;
use crate::model::{Account, AnyId, Entity, JournalEntry, Kind, Record, Task};
use crate::value::{ApiError, Currency, Date, Id, Span, Timestamp};
use crate::world::books::{Book, Books, Totals};
use crate::world::log::Log;
use crate::world::overlay::Overlay;
use crate::world::reconciled::Reconciled;
use crate::world::timers::{Timer, Timers};
use crate::world::transaction::{Transaction, Undo};

/// The clock of a world.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ClockMode {
    /// All effects of a request have happened before the next one; dates wait until the clock is advanced.
    #[default]
    Instant,
    /// Time moves only when the clock is advanced.
    Manual,
    /// Time follows the wall clock.
    Real,
}

impl ClockMode {
    /// The name on the command line and on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instant => "instant",
            Self::Manual => "manual",
            Self::Real => "real",
        }
    }
}

/// One key's world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct World {
    base: Arc<Base>,
    mode: ClockMode,
    now: Timestamp,
    /// Counts commits. A read is a pure function of it, the path and the query.
    version: u64,
    overlay: Overlay,
    books: Books,
    log: Log,
    /// The number of events of each subject; it numbers the next one.
    event_counts: OrdMap<u64, u64>,
    timers: Timers,
    /// Rows that decide for the outside world.
    script: Script,
    /// The decisions, in order.
    decided: Vector<Arc<Decided>>,
    /// The transactions in rows of reconciliations.
    #[serde(default, skip_serializing_if = "Reconciled::is_empty")]
    reconciled: Reconciled,
    /// Whether it has the default start of its process.
    #[serde(skip)]
    fresh: bool,
    #[serde(skip)]
    transaction: Transaction,
}

impl World {
    /// A fresh world without changes.
    pub(crate) fn new(base: Arc<Base>, mode: ClockMode) -> Self {
        Self {
            now: base.shape().start,
            base,
            mode,
            version: 0,
            overlay: Overlay::default(),
            books: Books::default(),
            log: Log::default(),
            event_counts: OrdMap::new(),
            timers: Timers::default(),
            script: Script::default(),
            decided: Vector::new(),
            reconciled: Reconciled::default(),
            fresh: false,
            transaction: Transaction::default(),
        }
    }

    /// The base of the world.
    pub(crate) fn base(&self) -> &Arc<Base> {
        &self.base
    }

    /// The clock of the world.
    pub(crate) const fn mode(&self) -> ClockMode {
        self.mode
    }

    /// Virtual time.
    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    /// Virtual date, UTC.
    pub(crate) fn today(&self) -> Date {
        self.now.date()
    }

    /// Whether it has the default start of its process: until their first change, all such worlds return the
    /// same answers.
    pub(crate) const fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Marks that it has the default start of its process.
    pub(crate) const fn is_like_every_fresh_one(&mut self) {
        self.fresh = true;
    }

    /// The number of changes.
    pub(crate) const fn version(&self) -> u64 {
        self.version
    }

    /// The number of events.
    pub(crate) fn log_length(&self) -> u64 {
        self.log.len()
    }

    /// The events, in order.
    pub(crate) const fn log(&self) -> &Log {
        &self.log
    }

    /// The number of resources created or changed since the start.
    pub(crate) fn record_count(&self) -> u64 {
        self.overlay.len() as u64
    }

    /// Sets the most stored events; all of them if none.
    pub(crate) fn keep_events(&mut self, most: Option<u64>) {
        self.log.set_limit(most);
    }

    // --- reading ---------------------------------------------------------------------------------------------------

    /// The resource, or a 404 that names it.
    pub(crate) fn get<T: Grow>(&self, id: Id<T>) -> Result<Arc<T>, ApiError> {
        self.find(id).ok_or_else(|| not_found(id))
    }

    /// The resource, if it exists.
    pub(crate) fn find<T: Grow>(&self, id: Id<T>) -> Option<Arc<T>> {
        match self.overlay.get(T::KIND, id.bits()) {
            Some(record) => T::of_record(record).cloned(),
            None => self.base.record(self.base.index_of(id)?),
        }
    }

    /// The resource, if it was created or changed since the start; a resource as grown is not returned.
    pub(crate) fn touched<T: Entity>(&self, id: Id<T>) -> Option<Arc<T>> {
        T::of_record(self.overlay.get(T::KIND, id.bits())?).cloned()
    }

    /// The current state of the resource grown with this index.
    pub(crate) fn at<T: Grow>(&self, index: u64) -> Option<Arc<T>> {
        self.find(self.base.id_at(index))
    }

    /// The ids of the resources created below this parent since the start, in order.
    pub(crate) fn children<T: Entity>(
        &self,
        parent: u64,
    ) -> impl DoubleEndedIterator<Item = Id<T>> {
        self.overlay.children(T::KIND, parent).iter().map(|&bits| Id::from_bits(bits))
    }

    /// The ids of all resources created since the start, in order.
    pub(crate) fn created<T: Entity>(
        &self,
    ) -> impl DoubleEndedIterator<Item = Id<T>> + ExactSizeIterator {
        self.overlay.created(T::KIND).iter().map(|&bits| Id::from_bits(bits))
    }

    /// The indexes of changed grown resources, ascending.
    pub(crate) fn changed<T: Entity>(&self) -> impl Iterator<Item = u64> {
        self.overlay.changed(T::KIND)
    }

    /// Every record in the overlay.
    pub(crate) fn records(&self) -> impl Iterator<Item = (Kind, u64, &Record)> {
        self.overlay.records()
    }

    /// Whether a resource of any kind exists, so that a journal entry may name it as its source.
    pub(crate) fn exists(&self, id: AnyId) -> bool {
        match id.kind {
            Kind::JournalEntry => self.entry(Id::from_bits(id.bits)).is_some(),
            _ => self.overlay.get(id.kind, id.bits).is_some() || self.base.has(id),
        }
    }

    /// The company's books since the start, if it has entries.
    pub(crate) fn book(&self, company: Id<Company>) -> Option<&Book> {
        self.books.get(company.bits())
    }

    /// The totals of one account, history included.
    pub(crate) fn totals(
        &self,
        company: Id<Company>,
        currency: Currency,
        account: Account,
    ) -> Totals {
        let grown =
            self.base.history(company).map(|h| h.sums.get(currency, account)).unwrap_or_default();
        let since = self.book(company).map(|b| b.sums.get(currency, account)).unwrap_or_default();
        grown.plus(since)
    }

    /// The balance of the company's wallet in this currency: a sum of the ledger.
    pub(crate) fn balances(&self, company: Id<Company>, currency: Currency) -> Balances {
        let balance = |account| {
            let net = self.totals(company, currency, account).net();
            i64::try_from(net)
                .expect("a wallet's balance stays within 64 bits: every sum put in is bounded")
        };
        Balances {
            available: balance(Account::CashAvailable),
            pending: balance(Account::CollectionsInTransit),
            reserved: balance(Account::CashReserved),
            escrow: balance(Account::EscrowHeld),
        }
    }

    /// The shown form of the wallet, with its balances and the time of their last change.
    pub(crate) fn with_balances(&self, wallet: &Wallet) -> Wallet {
        let statement = self.statement(wallet);
        let moved = statement.last().map(|line| line.created_at);
        Wallet {
            balances: self.balances(wallet.company_id, wallet.currency),
            updated_at: moved.map_or(wallet.updated_at, |moved| moved.max(wallet.updated_at)),
            ..wallet.clone()
        }
    }

    /// The company's wallet of this currency, opened if there is none.
    pub(crate) fn wallet_for(&mut self, company: Id<Company>, currency: Currency) -> Arc<Wallet> {
        if let Some(wallet) = self.wallet_of(company, currency) {
            return wallet;
        }
        let id = self.next_id(company.bits());
        let wallet = Wallet::open(id, company, currency, self.now);
        self.record("wallet.created", wallet)
    }

    /// The company's wallet of this currency, if there is one.
    pub(crate) fn wallet_of(
        &self,
        company: Id<Company>,
        currency: Currency,
    ) -> Option<Arc<Wallet>> {
        let grown = self.base.index_of(company).and_then(|index| self.at::<Wallet>(index));
        let created = self.children::<Wallet>(company.bits()).filter_map(|id| self.find(id));
        grown.into_iter().chain(created).find(|wallet| wallet.currency == currency)
    }

    // --- staging ---------------------------------------------------------------------------------------------------

    /// The id of the next `T` below this parent. It depends on the parent and its children alone, so that no
    /// other change shifts it.
    pub(crate) fn next_id<T: Grow>(&self, parent: u64) -> Id<T> {
        let ordinal = self.overlay.children(T::KIND, parent).len() as u64;
        let key = self.base.key().with("created").with(T::PREFIX).at(parent).at(ordinal);
        let free = |id: &Id<T>| {
            *id != Id::UNKNOWN
                && self.overlay.get(T::KIND, id.bits()).is_none()
                && self.base.index_of(*id).is_none()
        };
        let mut candidates = (0..).map(|attempt| Id::from_bits(key.at(attempt).hash()));
        candidates.find(free).expect("of 2^64 ids some are free")
    }

    /// Stages a resource, new or changed.
    pub(crate) fn put<T: Grow>(&mut self, resource: &Arc<T>) {
        let (kind, id) = (T::KIND, resource.id().bits());
        let origin = match self.base.index_of(resource.id()) {
            Some(index) => Origin::Grown { index },
            None => Origin::Created { parent: resource.parent() },
        };
        let after = Arc::clone(resource).into_record();
        let before = self.overlay.put(kind, id, after.clone(), origin);
        self.transaction.undo.push(Undo::Put { kind, id, before: before.clone(), origin });
        let before = before.or_else(|| self.grown_record::<T>(origin));
        self.transaction.staged.push(Change { kind, before, after });
    }

    /// Stages a resource, new or changed, and shares it.
    pub(crate) fn stage<T: Grow>(&mut self, resource: T) -> Arc<T> {
        let resource = Arc::new(resource);
        self.put(&resource);
        resource
    }

    /// Stages a resource and seals it with its event.
    pub(crate) fn record<T: Grow>(&mut self, event: &'static str, resource: T) -> Arc<T> {
        let resource = self.stage(resource);
        self.emit(event, &resource);
        resource
    }

    fn grown_record<T: Grow>(&self, origin: Origin) -> Option<Record> {
        match origin {
            Origin::Grown { index } => self.base.record::<T>(index).map(Entity::into_record),
            Origin::Created { .. } => None,
        }
    }

    /// Posts a journal entry for today, and the wallet's line. None if it has no lines, because nothing
    /// moved.
    ///
    /// # Panics
    /// If debits and credits differ: a function of `posting` is wrong, and the request is undone.
    pub(crate) fn post(
        &mut self,
        company: Id<Company>,
        posting: Posting,
    ) -> Option<Arc<JournalEntry>> {
        self.post_on(company, posting, self.today())
    }

    /// Seals the staged changes into one event about `subject`, in its current state.
    pub(crate) fn emit<T: Entity>(&mut self, name: &'static str, subject: &Arc<T>) {
        let id = subject.id().bits();
        let count = self.event_counts.entry(id).or_default();
        let event_key = self.base.key().with("event").at(id).at(*count);
        *count += 1;
        let event = Event {
            sequence: self.log.len() + 1,
            at: self.now,
            name: Cow::Borrowed(name),
            id: event_key.hash(),
            subject: AnyId { kind: T::KIND, bits: id },
            company: subject.company().bits(),
            object: Arc::clone(subject).into_record(),
            request: self.transaction.request.clone(),
            cause: self.cause_of_event(),
            decision: self.transaction.decided.take(),
            changes: std::mem::take(&mut self.transaction.staged),
        };
        self.log.push(Arc::new(event));
        self.transaction.undo.push(Undo::Emit { subject: id });
        self.arm_after(name);
    }

    /// The request that set the timer of an event, if the clock is the direct cause.
    fn cause_of_event(&self) -> Option<Arc<RequestRef>> {
        let clock = self.transaction.request.is_none();
        let cause = self.transaction.cause.as_ref().filter(|_| clock)?;
        Some(Arc::clone(&cause.request))
    }

    /// Emits an event about a wallet, with its balances.
    pub(crate) fn emit_wallet(&mut self, name: &'static str, wallet: &Wallet) {
        let shown = Arc::new(self.with_balances(wallet));
        self.emit(name, &shown);
    }

    // --- time ------------------------------------------------------------------------------------------------------

    /// Sets a timer for the next action of the outside world. In an instant world it is due at once.
    pub(crate) fn settle_at(&mut self, due: Timestamp, task: Task) {
        if self.mode == ClockMode::Instant {
            self.remind_at(self.now, task);
        } else {
            self.remind_at(due, task);
        }
    }

    /// Sets a timer for a date, which waits for its date with every clock.
    pub(crate) fn remind_at(&mut self, due: Timestamp, task: Task) {
        let timer = Timer {
            due: due.max(self.now),
            sequence: self.timers.next,
            task,
            cause: self.transaction.cause.clone(),
            decided: self.transaction.behind(task.subject()),
        };
        self.timers.next += 1;
        self.timers.insert(timer.clone());
        self.transaction.undo.push(Undo::SetTimer { timer });
    }

    /// Sets a timer after the normal delay, or on its date if the outside world set one.
    pub(crate) fn settle_when(&mut self, normal: Span, named: Option<Span>, task: Task) {
        match named {
            Some(span) => self.remind_at(self.after(span, task.subject()), task),
            None => self.settle_after(normal, task),
        }
    }

    /// Removes every timer of this task.
    pub(crate) fn drop_timers(&mut self, of: impl Fn(Task) -> bool) {
        while let Some(timer) = self.timers.take_first(|timer| of(timer.task)) {
            self.transaction.undo.push(Undo::TakeTimer { timer });
        }
    }

    /// Sets a timer after a delay.
    pub(crate) fn settle_after(&mut self, delay: Span, task: Task) {
        self.settle_at(self.after(delay, task.subject()), task);
    }

    /// The timers set since `begin`.
    pub(crate) fn timers_set(&self) -> impl Iterator<Item = Task> {
        self.transaction.undo.iter().filter_map(|undo| match undo {
            Undo::SetTimer { timer } => Some(timer.task),
            _ => None,
        })
    }

    /// The timers in the order of their due times.
    pub(crate) fn timers(&self) -> impl ExactSizeIterator<Item = &Timer> {
        self.timers.iter()
    }

    /// Takes the first timer that is due by `instant`, and moves the clock to it.
    pub(crate) fn take_due(&mut self, instant: Timestamp) -> Option<Timer> {
        let timer = self.timers.take_due(instant)?;
        self.taken(&timer);
        self.move_clock(timer.due.max(self.now));
        Some(timer)
    }

    /// Takes the first timer that a request set, directly or indirectly, without waiting for it; deadlines
    /// only on request.
    pub(crate) fn take_caused(&mut self, request: &str, deadlines: bool) -> Option<Timer> {
        let caused = |timer: &Timer| {
            let cause = timer.cause.as_ref();
            (deadlines || !timer.task.is_deadline())
                && cause.is_some_and(|cause| cause.request.id == request)
        };
        let timer = self.timers.take_first(caused)?;
        self.taken(&timer);
        Some(timer)
    }

    /// The effects that run now have the cause of the timer.
    fn taken(&mut self, timer: &Timer) {
        let timer = timer.clone();
        self.transaction.cause.clone_from(&timer.cause);
        self.transaction.decided.clone_from(&timer.decided);
        self.transaction.latest.clone_from(&timer.decided);
        self.transaction.undo.push(Undo::TakeTimer { timer });
    }

    /// Moves the clock forward, never back.
    pub(crate) fn move_clock(&mut self, to: Timestamp) {
        self.transaction.undo.push(Undo::Clock { now: self.now });
        self.now = self.now.max(to);
    }

    /// Moves the clock outside a transaction, for the wall clock.
    pub(crate) fn follow_clock(&mut self, to: Timestamp) {
        self.now = self.now.max(to);
    }
}

/// The 404 for an unknown id. An id of a wrong form is not repeated.
fn not_found<T: Entity>(id: Id<T>) -> ApiError {
    let error = ApiError::not_found(T::NAME);
    if id == Id::UNKNOWN { error } else { error.about(id) }
}
