//! A world: `grow(seed, shape)` and what happened since. All state is here, in one serialisable value.
//!
//! May import `value` and `model`. A handler reads with `get`, `all` and `children`, stages with `put` and `post`, and seals
//! what it staged with `emit`; on an error the engine calls `roll_back`, and nothing of it remains.
//! Deliberately absent: routes, requests as bytes, sockets, the wall clock.

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

/// How time passes in a world.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ClockMode {
    /// What follows from a request has happened before the next one; dates wait for the clock to be advanced.
    #[default]
    Instant,
    /// Nothing moves until the clock is advanced.
    Manual,
    /// The wall clock drives it.
    Real,
}

impl ClockMode {
    /// The word for it on the command line and on the wire.
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
    /// Counts commits; a read is a pure function of it, the path and the query.
    version: u64,
    overlay: Overlay,
    books: Books,
    log: Log,
    /// Events of each subject so far: numbers its next one.
    event_counts: OrdMap<u64, u64>,
    timers: Timers,
    /// Rows that decide for the outside world.
    script: Script,
    /// What was decided, in order.
    decided: Vector<Arc<Decided>>,
    /// Which transactions are in which rows of reconciliations.
    #[serde(default, skip_serializing_if = "Reconciled::is_empty")]
    reconciled: Reconciled,
    /// Opened as every world of its process is, and not started again in its own way.
    #[serde(skip)]
    fresh: bool,
    #[serde(skip)]
    transaction: Transaction,
}

impl World {
    /// A fresh world: grown, and nothing happened yet.
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

    /// What it was grown from.
    pub(crate) fn base(&self) -> &Arc<Base> {
        &self.base
    }

    /// How time passes here.
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

    /// Whether it was opened as every world of its process is: until its first change all of these answer alike.
    pub(crate) const fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// It is opened as every world of its process is.
    pub(crate) const fn is_like_every_fresh_one(&mut self) {
        self.fresh = true;
    }

    /// How often it has changed.
    pub(crate) const fn version(&self) -> u64 {
        self.version
    }

    /// How much has happened so far.
    pub(crate) fn log_length(&self) -> u64 {
        self.log.len()
    }

    /// Everything that happened, in order.
    pub(crate) const fn log(&self) -> &Log {
        &self.log
    }

    /// How many resources were created or changed since growth.
    pub(crate) fn record_count(&self) -> u64 {
        self.overlay.len() as u64
    }

    /// Keeps so many events from now on; all of them if none.
    pub(crate) fn keep_events(&mut self, most: Option<u64>) {
        self.log.set_limit(most);
    }

    // --- reading ---------------------------------------------------------------------------------------------------

    /// The resource, or the 404 that says which.
    pub(crate) fn get<T: Grow>(&self, id: Id<T>) -> Result<Arc<T>, ApiError> {
        self.find(id).ok_or_else(|| not_found(id))
    }

    /// The resource, if the world has it.
    pub(crate) fn find<T: Grow>(&self, id: Id<T>) -> Option<Arc<T>> {
        match self.overlay.get(T::KIND, id.bits()) {
            Some(record) => T::of_record(record).cloned(),
            None => self.base.record(self.base.index_of(id)?),
        }
    }

    /// The resource, if it was created or changed since growth: one that was not is asked for nothing that only a call can bring.
    pub(crate) fn touched<T: Entity>(&self, id: Id<T>) -> Option<Arc<T>> {
        T::of_record(self.overlay.get(T::KIND, id.bits())?).cloned()
    }

    /// The resource grown with that index, as it stands now.
    pub(crate) fn at<T: Grow>(&self, index: u64) -> Option<Arc<T>> {
        self.find(self.base.id_at(index))
    }

    /// Ids of those created below that parent since growth, in order.
    pub(crate) fn children<T: Entity>(
        &self,
        parent: u64,
    ) -> impl DoubleEndedIterator<Item = Id<T>> {
        self.overlay.children(T::KIND, parent).iter().map(|&bits| Id::from_bits(bits))
    }

    /// Ids of all created since growth, in order.
    pub(crate) fn created<T: Entity>(
        &self,
    ) -> impl DoubleEndedIterator<Item = Id<T>> + ExactSizeIterator {
        self.overlay.created(T::KIND).iter().map(|&bits| Id::from_bits(bits))
    }

    /// Indexes of the grown ones that have changed since, ascending.
    pub(crate) fn changed<T: Entity>(&self) -> impl Iterator<Item = u64> {
        self.overlay.changed(T::KIND)
    }

    /// Every record in the overlay.
    pub(crate) fn records(&self) -> impl Iterator<Item = (Kind, u64, &Record)> {
        self.overlay.records()
    }

    /// Whether a resource of any kind exists: what a journal entry may name as its source.
    pub(crate) fn exists(&self, id: AnyId) -> bool {
        match id.kind {
            Kind::JournalEntry => self.entry(Id::from_bits(id.bits)).is_some(),
            _ => self.overlay.get(id.kind, id.bits).is_some() || self.base.has(id),
        }
    }

    /// The company's books since growth, if anything was posted.
    pub(crate) fn book(&self, company: Id<Company>) -> Option<&Book> {
        self.books.get(company.bits())
    }

    /// Totals of one account: history and since.
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

    /// What the company's wallet of that currency holds: a fold of the ledger.
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

    /// The wallet as it is shown: with its balances filled in, and when they last moved.
    pub(crate) fn with_balances(&self, wallet: &Wallet) -> Wallet {
        let statement = self.statement(wallet);
        let moved = statement.last().map(|line| line.created_at);
        Wallet {
            balances: self.balances(wallet.company_id, wallet.currency),
            updated_at: moved.map_or(wallet.updated_at, |moved| moved.max(wallet.updated_at)),
            ..wallet.clone()
        }
    }

    /// The company's wallet of that currency, opened where it has none.
    pub(crate) fn wallet_for(&mut self, company: Id<Company>, currency: Currency) -> Arc<Wallet> {
        if let Some(wallet) = self.wallet_of(company, currency) {
            return wallet;
        }
        let id = self.next_id(company.bits());
        let wallet = Wallet::open(id, company, currency, self.now);
        self.record("wallet.created", wallet)
    }

    /// The company's wallet of that currency, if it has one.
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

    /// The id of the next `T` below that parent. Depends on the parent and its own children alone, so that nothing else
    /// that happens shifts it.
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

    /// Stages a resource and seals it into the event that tells of it.
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

    /// Posts a journal entry for today, and the wallet's view of it. None where it has no lines: nothing moved.
    ///
    /// # Panics
    /// If debits and credits differ: a cause of `posting` is wrong, and the request that met it is undone.
    pub(crate) fn post(
        &mut self,
        company: Id<Company>,
        posting: Posting,
    ) -> Option<Arc<JournalEntry>> {
        self.post_on(company, posting, self.today())
    }

    /// Seals what was staged into one event about `subject`, which is named as it stands.
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

    /// The request that set the timer behind an event, where the clock is the direct cause.
    fn cause_of_event(&self) -> Option<Arc<RequestRef>> {
        let clock = self.transaction.request.is_none();
        let cause = self.transaction.cause.as_ref().filter(|_| clock)?;
        Some(Arc::clone(&cause.request))
    }

    /// Emits an event about a wallet, which is shown with its balances.
    pub(crate) fn emit_wallet(&mut self, name: &'static str, wallet: &Wallet) {
        let shown = Arc::new(self.with_balances(wallet));
        self.emit(name, &shown);
    }

    // --- time ------------------------------------------------------------------------------------------------------

    /// Sets a timer for what the outside world does next. In an instant world that is at once, whatever the delay.
    pub(crate) fn settle_at(&mut self, due: Timestamp, task: Task) {
        if self.mode == ClockMode::Instant {
            self.remind_at(self.now, task);
        } else {
            self.remind_at(due, task);
        }
    }

    /// Sets a timer for a date of the calendar, which waits for its date in every mode.
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

    /// Sets a timer after the normal delay, or on its date if the outside world named one.
    pub(crate) fn settle_when(&mut self, normal: Span, named: Option<Span>, task: Task) {
        match named {
            Some(span) => self.remind_at(self.after(span, task.subject()), task),
            None => self.settle_after(normal, task),
        }
    }

    /// Takes away every timer of such a task.
    pub(crate) fn drop_timers(&mut self, of: impl Fn(Task) -> bool) {
        while let Some(timer) = self.timers.take_first(|timer| of(timer.task)) {
            self.transaction.undo.push(Undo::TakeTimer { timer });
        }
    }

    /// The same, after a delay.
    pub(crate) fn settle_after(&mut self, delay: Span, task: Task) {
        self.settle_at(self.after(delay, task.subject()), task);
    }

    /// What was set since `begin`.
    pub(crate) fn timers_set(&self) -> impl Iterator<Item = Task> {
        self.transaction.undo.iter().filter_map(|undo| match undo {
            Undo::SetTimer { timer } => Some(timer.task),
            _ => None,
        })
    }

    /// Timers in the order in which they fall due.
    pub(crate) fn timers(&self) -> impl ExactSizeIterator<Item = &Timer> {
        self.timers.iter()
    }

    /// Takes the first timer due by `instant` and moves the clock to it.
    pub(crate) fn take_due(&mut self, instant: Timestamp) -> Option<Timer> {
        let timer = self.timers.take_due(instant)?;
        self.taken(&timer);
        self.move_clock(timer.due.max(self.now));
        Some(timer)
    }

    /// Takes the first timer that a request set, directly or by what followed from it, and does not wait for it; of deadlines
    /// only if they are wanted.
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

    /// What runs now follows from what set the timer.
    fn taken(&mut self, timer: &Timer) {
        let timer = timer.clone();
        self.transaction.cause.clone_from(&timer.cause);
        self.transaction.decided.clone_from(&timer.decided);
        self.transaction.latest.clone_from(&timer.decided);
        self.transaction.undo.push(Undo::TakeTimer { timer });
    }

    /// Moves the clock forward; never back.
    pub(crate) fn move_clock(&mut self, to: Timestamp) {
        self.transaction.undo.push(Undo::Clock { now: self.now });
        self.now = self.now.max(to);
    }

    /// Lets the clock run on outside any transaction: the wall clock's way.
    pub(crate) fn follow_clock(&mut self, to: Timestamp) {
        self.now = self.now.max(to);
    }
}

/// The 404 for an id that nothing has; one that is no id of its kind is not repeated.
fn not_found<T: Entity>(id: Id<T>) -> ApiError {
    let error = ApiError::not_found(T::NAME);
    if id == Id::UNKNOWN { error } else { error.about(id) }
}
