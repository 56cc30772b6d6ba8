//! The base of a world: its layout, and caches of what was grown by it.
//!
//! The caches hold what was looked at lately, never a table of everything.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::model::business::{Calculation, Company};
use crate::model::fx::Rates;
use crate::model::fx_quoting::Rate;
use crate::model::growth::tenure::Tenure;
use crate::model::growth::workforce::Slots;
use crate::model::{Entity, Kind, Record};
use crate::value::id::Id;
use crate::value::money::Currency;
use crate::value::time::Date;
use crate::world::history::History;
use crate::world::layout::{Layout, Shape};

/// A resource that a fresh world may contain.
pub(crate) trait Grow: Entity {
    /// The resource with this index, if the fresh world has it.
    fn grow(base: &Base, index: u64) -> Option<Self>;

    /// The same on a later day, if the calendar alone has changed it. Timers change what calls have created or changed.
    fn aged(&self, _today: Date) -> Option<Self> {
        None
    }
}

/// The most cached histories: a few megabytes.
const KEPT_HISTORIES: usize = 64;

/// The most filters with cached counts.
const KEPT_COUNTS: usize = 16;

/// A filter that arithmetic answers: pairs of statuses, and department.
pub(crate) type CountKey = (Slots, Option<String>);

/// The seed and the shape of a world.
#[derive(Debug, Serialize, Deserialize)]
#[serde(from = "Seeded", into = "Seeded")]
pub(crate) struct Base {
    layout: Layout,
    /// The resources that were grown recently.
    grown: Mutex<Grown>,
    /// Running counts of the people that match a filter.
    counts: Mutex<BTreeMap<CountKey, Arc<Vec<u64>>>>,
    /// Reference rates, with the random paths of the months that were read.
    rates: Mutex<Rates>,
    /// Grown at the first read, and shared by every world of this base.
    histories: Mutex<BTreeMap<u64, Arc<History>>>,
}

/// A base is its layout, and remembers what was grown by it.
impl Deref for Base {
    type Target = Layout;

    fn deref(&self) -> &Layout {
        &self.layout
    }
}

/// The serialised form of a base.
#[derive(Serialize, Deserialize)]
struct Seeded {
    seed: u64,
    shape: Shape,
}

impl From<Seeded> for Base {
    fn from(Seeded { seed, shape }: Seeded) -> Self {
        Self::new(seed, shape)
    }
}

impl From<Base> for Seeded {
    fn from(base: Base) -> Self {
        Self { seed: base.seed(), shape: base.shape().clone() }
    }
}

impl Clone for Base {
    fn clone(&self) -> Self {
        Self::new(self.seed(), self.shape().clone())
    }
}

/// Records that were grown recently, so that worlds of one base do not grow the same people again. A full
/// cache is emptied.
#[derive(Debug, Default)]
struct Grown(BTreeMap<(Kind, u64), Record>);

impl Grown {
    /// About two megabytes of employees.
    const MOST: usize = 1_024;

    fn get(&self, place: (Kind, u64)) -> Option<Record> {
        self.0.get(&place).cloned()
    }

    fn put(&mut self, place: (Kind, u64), record: Record) {
        if self.0.len() >= Self::MOST {
            self.0.clear();
        }
        self.0.insert(place, record);
    }
}

/// A panic under a lock cannot leave an incomplete value, because values are inserted as a whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Base {
    /// The base of a seed and a shape that passed [`Shape::check`].
    pub(crate) fn new(seed: u64, shape: Shape) -> Self {
        let layout = Layout::new(seed, shape);
        Self {
            rates: Mutex::new(Rates::new(layout.key())),
            layout,
            grown: Mutex::default(),
            counts: Mutex::default(),
            histories: Mutex::default(),
        }
    }

    /// The units of one currency for one of another on a day, if both have a reference rate.
    pub(crate) fn mid_rate(&self, from: Currency, to: Currency, day: Date) -> Option<Rate> {
        lock(&self.rates).mid(from, to, day)
    }

    /// The record grown with this index, from the cache if it was grown recently.
    pub(crate) fn record<T: Grow>(&self, index: u64) -> Option<Arc<T>> {
        let place = (T::KIND, index);
        if let Some(record) = self.remembered(place) {
            return T::of_record(&record).cloned();
        }
        let grown = Arc::new(T::grow(self, index)?);
        self.remember(place, Arc::clone(&grown).into_record());
        Some(grown)
    }

    fn remembered(&self, place: (Kind, u64)) -> Option<Record> {
        lock(&self.grown).get(place)
    }

    fn remember(&self, place: (Kind, u64), record: Record) {
        lock(&self.grown).put(place, record);
    }

    /// Running counts of people by company, from the cache if the filter was used before.
    pub(crate) fn counts(&self, key: CountKey, count: impl FnOnce() -> Vec<u64>) -> Arc<Vec<u64>> {
        if let Some(counts) = lock(&self.counts).get(&key) {
            return Arc::clone(counts);
        }
        let counted = Arc::new(count());
        let mut counts = lock(&self.counts);
        if counts.len() >= KEPT_COUNTS {
            counts.clear();
        }
        counts.insert(key, Arc::clone(&counted));
        counted
    }

    /// The history of a grown company; none for a created one.
    pub(crate) fn history(&self, company: Id<Company>) -> Option<Arc<History>> {
        self.index_of(company).map(|index| self.history_at(index))
    }

    /// The history of the company with this index.
    pub(crate) fn history_at(&self, index: u64) -> Arc<History> {
        // Grown outside the lock: two threads may both grow the same history, with the same result.
        if let Some(history) = lock(&self.histories).get(&index) {
            return Arc::clone(history);
        }
        let grown = Arc::new(History::grow(&self.layout, &self.plan(index)));
        let mut kept = lock(&self.histories);
        if kept.len() >= KEPT_HISTORIES {
            kept.clear();
        }
        kept.insert(index, Arc::clone(&grown));
        grown
    }

    /// The last valid pay in the history of the employee with this index.
    pub(crate) fn last_paid(
        &self,
        employee: u64,
        counts: impl Fn(&Calculation) -> bool,
    ) -> Option<Arc<Calculation>> {
        let size = self.shape().employees_per_company;
        let plan = self.plan(employee / size);
        let place = plan.workforce.place(employee % size);
        if !Tenure::is_ever_paid(place) {
            return None;
        }
        let history = self.history_at(employee / size);
        let pays = plan.pays.pays().rev();
        let mut paid = pays.filter_map(|pay| history.payroll.calculation(&plan, place, pay));
        paid.find(|pay| counts(pay)).cloned()
    }
}
