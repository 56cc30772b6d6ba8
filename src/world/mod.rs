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
pub(crate) mod checkpoint;
mod chunks;
mod clock_mode;
mod commit;
mod company_mix;
pub(crate) mod days;
mod decide;
pub(crate) mod decided;
pub(crate) mod diff;
pub(crate) mod digest;
pub(crate) mod earlier;
mod emit;
pub(crate) mod envelope;
pub(crate) mod event;
pub(crate) mod external;
pub(crate) mod facts;
pub(crate) mod filing_history;
pub(crate) mod grow;
pub(crate) mod history;
mod holdings;
mod indexes;
pub(crate) mod journal;
pub(crate) mod layout;
pub(crate) mod log;
pub(crate) mod log_hashes;
mod lookup;
pub(crate) mod metered;
mod metering;
mod movements;
pub(crate) mod obligations;
pub(crate) mod opening;
pub(crate) mod overlay;
mod past;
pub(crate) mod pay_calendar;
mod pay_growth;
pub(crate) mod payroll_history;
pub(crate) mod purchases;
pub(crate) mod reconciled;
pub(crate) mod sales;
pub(crate) mod sales_history;
mod scheduling;
pub(crate) mod script;
pub(crate) mod script_state;
mod selector;
pub(crate) mod situation;
pub(crate) mod statement;
pub(crate) mod sums;
pub(crate) mod suppliers;
mod table;
pub(crate) mod timers;
mod transaction;
mod wallets;
mod workplace;

pub(crate) use self::base::{Base, Grow};
pub use self::clock_mode::ClockMode;
pub(crate) use self::decided::{Decided, DecisionAnswer, Why};
pub(crate) use self::envelope::{API_VERSION, EventShape};
use self::event::Change;
pub(crate) use self::event::{Changed, Event, RequestRef};
pub(crate) use self::layout::{
    HISTORY_MONTHS, INVOICES_A_MONTH, Plan, Shape, VENDORS_A_MONTH, WORLD_VERSION,
};
pub(crate) use self::log::{Log, MAX_EVENTS};
pub(crate) use self::overlay::Origin;
pub(crate) use self::script_state::Script;

use std::sync::Arc;

use imbl::{OrdMap, Vector};
use serde::{Deserialize, Serialize};

use crate::model::business::Company;
use crate::model::identity::aml_rules::Movement;
use crate::model::posting::Posting;
use crate::model::{Account, AnyId, Entity, JournalEntry, Kind, Record};
use crate::value::{ApiError, Currency, Date, Id, Timestamp, long_work};
use crate::world::books::{Book, Books};
use crate::world::metered::Metered;
use crate::world::overlay::Overlay;
use crate::world::reconciled::Reconciled;
use crate::world::sums::Totals;
use crate::world::timers::Timers;
use crate::world::transaction::{Transaction, Undo};

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
    timers: Timers,
    /// Rows that decide for the outside world.
    script: Script,
    /// The decisions, in order.
    decided: Vector<Arc<Decided>>,
    /// The transactions in rows of reconciliations.
    #[serde(default, skip_serializing_if = "Reconciled::is_empty")]
    reconciled: Reconciled,
    /// The volumes from which platform fees are calculated.
    #[serde(default, skip_serializing_if = "Metered::is_empty")]
    metered: Metered,
    /// The latest movements of money of each company, by the kind that moved it; the oldest first.
    #[serde(default, skip_serializing_if = "OrdMap::is_empty", with = "overlay::pairs")]
    movements: OrdMap<(Kind, u64), Arc<Vec<Movement>>>,
    /// The initial version, if the world has the default start of its process.
    #[serde(skip)]
    fresh: Option<u64>,
    #[serde(skip)]
    transaction: Transaction,
    /// Copies after its latest steps, while it is replayed.
    #[serde(skip)]
    steps: Option<Box<past::Steps>>,
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
            timers: Timers::default(),
            script: Script::default(),
            decided: Vector::new(),
            reconciled: Reconciled::default(),
            metered: Metered::default(),
            movements: OrdMap::new(),
            fresh: None,
            transaction: Transaction::default(),
            steps: None,
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

    /// Whether it has the default start of its process and no changes. All such worlds return the same answers.
    pub(crate) fn is_fresh(&self) -> bool {
        self.fresh == Some(self.version)
    }

    /// Marks that it has the default start of its process.
    pub(crate) const fn is_like_every_fresh_one(&mut self) {
        self.fresh = Some(self.version);
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

    /// Becomes another world.
    pub(crate) fn replace(&mut self, world: Self) {
        std::mem::replace(self, world).free();
    }

    /// Frees its memory, which takes long in a large world.
    pub(crate) fn free(self) {
        long_work::over(self.record_count() + self.log_length(), || drop(self));
    }

    // --- reading ---------------------------------------------------------------------------------------------------

    /// The resource, or a 404 that names it.
    pub(crate) fn get<T: Grow>(&self, id: Id<T>) -> Result<Arc<T>, ApiError> {
        self.find(id).ok_or_else(|| not_found(id))
    }

    /// The resource, if it exists.
    pub(crate) fn find<T: Grow>(&self, id: Id<T>) -> Option<Arc<T>> {
        if let Some(record) = self.overlay.get(T::KIND, id.bits()) {
            return T::of_record(record).cloned();
        }
        let grown = self.base.record::<T>(self.base.index_of(id)?)?;
        Some(grown.aged(self.today()).map_or(grown, Arc::new))
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
        self.overlay.children(T::KIND, parent).map(Id::from_bits)
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
            self.base.opening(company).map(|it| it.sums.get(currency, account)).unwrap_or_default();
        let since = self.book(company).map(|b| b.sums.get(currency, account)).unwrap_or_default();
        grown.plus(since)
    }

    // --- staging ---------------------------------------------------------------------------------------------------

    /// The id of the next `T` below this parent. It depends on the parent and its children alone, so that no
    /// other change shifts it.
    pub(crate) fn next_id<T: Grow>(&self, parent: u64) -> Id<T> {
        let ordinal = self.overlay.count_children(T::KIND, parent) as u64;
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
        self.put_record(
            kind,
            id,
            origin,
            Arc::clone(resource).into_record(),
            Self::grown_record::<T>,
        );
    }

    fn put_record(
        &mut self,
        kind: Kind,
        id: u64,
        origin: Origin,
        after: Record,
        grown: fn(&Self, Origin) -> Option<Record>,
    ) {
        let before = self.overlay.put(kind, id, after.clone(), origin);
        self.transaction.undo.push(Undo::Put { kind, id, before: before.clone(), origin });
        let before = before.or_else(|| grown(self, origin));
        self.transaction.staged.push(Change { before, after });
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
}

/// The 404 for an unknown id. An id of a wrong form is not repeated.
fn not_found<T: Entity>(id: Id<T>) -> ApiError {
    let error = ApiError::not_found(T::NAME);
    if id == Id::UNKNOWN { error } else { error.about(id) }
}
