//! The base of a world: its layout, and caches of recently generated data.
//!
//! The caches are bounded; there is never a table of all resources.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::model::business::Company;
use crate::model::fx::Rates;
use crate::model::fx_quoting::Rate;
use crate::model::growth::workforce::Slots;
use crate::model::{Entity, Kind, Record};
use crate::value::id::Id;
use crate::value::money::Currency;
use crate::value::stream::Key;
use crate::value::time::Date;
use crate::world::history::History;
use crate::world::layout::{Layout, Plan, Shape};
use crate::world::opening::Opening;
use crate::world::workplace::Workplace;

/// A resource that a fresh world may contain.
pub(crate) trait Grow: Entity {
    /// The resource with this index, if the fresh world has it.
    fn grow(base: &Base, index: u64) -> Option<Self>;

    /// The resource on a later day, if its state depends on the date. Only for unchanged grown resources; others are
    /// changed by timers.
    fn aged(&self, _today: Date) -> Option<Self> {
        None
    }
}

/// Maximum size of cached histories, enough for about four hundred companies. A list with a filter or a sort reads
/// rows of all companies in the order of time. With a smaller cache it would generate the histories again and again.
const HISTORY_BYTES: usize = 128 << 20;

/// Maximum size of cached openings, enough for thousands of companies.
const OPENING_BYTES: usize = 32 << 20;

/// Maximum size of cached workplaces, enough for thousands of companies.
const WORKPLACE_BYTES: usize = 1 << 20;

/// Maximum number of filters with cached counts.
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
    histories: Mutex<Kept<History>>,
    /// The parts of histories that live calls need.
    openings: Mutex<Kept<Opening>>,
    /// Data shared by the people of one company.
    workplaces: Mutex<Kept<Workplace>>,
}

/// A base can be used as its layout.
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

/// Recently generated records, so that worlds of one base do not generate the same people again. Each record has one
/// slot, which it shares with few others. Neighbours have different slots.
#[derive(Debug, Default)]
struct Grown(Vec<Option<(Kind, u64, Record)>>);

impl Grown {
    /// About two megabytes of employees.
    const SLOTS: u64 = 1_024;

    fn slot((kind, index): (Kind, u64)) -> usize {
        let slot = index.wrapping_add(Key::new(kind as u64).hash()) % Self::SLOTS;
        usize::try_from(slot).unwrap_or_default()
    }

    fn get(&self, place: (Kind, u64)) -> Option<Record> {
        let (kind, index, record) = self.0.get(Self::slot(place))?.as_ref()?;
        (place == (*kind, *index)).then(|| record.clone())
    }

    /// Stores a record. Returns the replaced record, so that it is dropped without the lock.
    fn put(&mut self, place: (Kind, u64), record: Record) -> Option<(Kind, u64, Record)> {
        if self.0.is_empty() {
            self.0.resize(usize::try_from(Self::SLOTS).unwrap_or_default(), None);
        }
        self.0.get_mut(Self::slot(place))?.replace((place.0, place.1, record))
    }
}

/// Values by company, within a number of bytes.
///
/// If there is no space, random values are evicted. With eviction of the oldest values, a loop over slightly more
/// companies than fit would never find one in the cache.
#[derive(Debug)]
struct Kept<T> {
    /// The place of each company.
    places: BTreeMap<u64, usize>,
    /// Each company, with its value and the bytes of it.
    values: Vec<(u64, Arc<T>, usize)>,
    bytes: usize,
    most: usize,
    draws: Key,
    drawn: u64,
}

impl<T> Kept<T> {
    fn within(most: usize) -> Self {
        let (places, values) = (BTreeMap::new(), Vec::new());
        Self { places, values, bytes: 0, most, draws: Key::new(0), drawn: 0 }
    }

    fn get(&self, company: u64) -> Option<Arc<T>> {
        let place = *self.places.get(&company)?;
        self.values.get(place).map(|(_, value, _)| Arc::clone(value))
    }

    fn put(&mut self, company: u64, value: Arc<T>, bytes: usize) {
        if self.places.contains_key(&company) {
            return;
        }
        while self.bytes + bytes > self.most && !self.values.is_empty() {
            self.drop_one();
        }
        self.places.insert(company, self.values.len());
        self.values.push((company, value, bytes));
        self.bytes += bytes;
    }

    fn drop_one(&mut self) {
        self.drawn += 1;
        let place = self.draws.at(self.drawn).below(self.values.len() as u64);
        let place = usize::try_from(place).unwrap_or_default();
        let (company, _, bytes) = self.values.swap_remove(place);
        self.places.remove(&company);
        self.bytes -= bytes;
        if let Some((moved, ..)) = self.values.get(place) {
            self.places.insert(*moved, place);
        }
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
            histories: Mutex::new(Kept::within(HISTORY_BYTES)),
            openings: Mutex::new(Kept::within(OPENING_BYTES)),
            workplaces: Mutex::new(Kept::within(WORKPLACE_BYTES)),
        }
    }

    /// The exchange rate of two currencies on a day, if both have a reference rate.
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
        let before = lock(&self.grown).put(place, record);
        drop(before);
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
        if let Some(history) = lock(&self.histories).get(index) {
            return history;
        }
        let grown = Arc::new(History::grow(&self.layout, &self.plan(index)));
        lock(&self.histories).put(index, Arc::clone(&grown), grown.bytes());
        grown
    }

    /// The data that all people of the company with this plan share.
    pub(super) fn workplace(&self, plan: &Plan) -> Arc<Workplace> {
        if let Some(workplace) = lock(&self.workplaces).get(plan.index) {
            return workplace;
        }
        let grown = Arc::new(Workplace::grow(self, plan));
        lock(&self.workplaces).put(plan.index, Arc::clone(&grown), grown.bytes());
        grown
    }

    /// The opening state of a grown company; `None` for a created one.
    pub(crate) fn opening(&self, company: Id<Company>) -> Option<Arc<Opening>> {
        self.index_of(company).map(|index| self.opening_at(index))
    }

    /// The opening state of the company with this index.
    pub(crate) fn opening_at(&self, index: u64) -> Arc<Opening> {
        if let Some(opening) = lock(&self.openings).get(index) {
            return opening;
        }
        let opening = Arc::new(Opening::grow(&self.layout, &self.plan(index)));
        lock(&self.openings).put(index, Arc::clone(&opening), opening.bytes());
        opening
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_over_more_companies_than_fit_still_finds_most_of_them() {
        let mut kept = Kept::within(640);
        let mut found = 0;
        for company in (0..70).cycle().take(700) {
            match kept.get(company) {
                Some(value) => {
                    assert_eq!(*value, company);
                    found += 1;
                }
                None => kept.put(company, Arc::new(company), 10),
            }
            assert!(kept.bytes <= 640 && kept.bytes == kept.values.len() * 10);
            assert_eq!(kept.places.len(), kept.values.len());
        }
        assert!(found > 500, "{found} of 700");
        kept.put(1_000, Arc::new(1_000), 1_000);
        assert_eq!(kept.get(1_000).as_deref(), Some(&1_000), "the only one, and too large");
    }
}
