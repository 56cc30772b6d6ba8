//! The differences between two worlds with the same base: records, books and the balances that follow from
//! them.
//!
//! Deliberately absent: the display of a difference. Parts that both worlds share are the same allocation,
//! and are not compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::Vector;

use crate::model::business::Company;
use crate::model::kind::{for_each_kind, typed};
use crate::model::payments::Wallet;
use crate::model::{AnyId, Entity, Kind, Record};
use crate::value::Id;
use crate::world::books::Book;
use crate::world::{Base, Grow, World, log_hashes};

/// One resource that differs between the two worlds, or exists in only one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Difference {
    pub(crate) before: Option<Record>,
    pub(crate) after: Option<Record>,
}

/// The differences by resource.
pub(crate) type Differences = BTreeMap<AnyId, Difference>;

/// All differences of `after` from `before`. Both have the same seed and shape.
pub(crate) fn differences(before: &World, after: &World) -> Differences {
    let mut found = Differences::new();
    for (kind, bits, record) in after.records() {
        let id = AnyId { kind, bits };
        let previous = before.overlay.get(kind, bits);
        if !previous.is_some_and(|previous| previous.is(record)) {
            // If only one overlay has a grown record, the other world has it unchanged.
            let previous = previous.cloned().or_else(|| untouched(before, id));
            let after = Some(record.clone());
            found.insert(id, Difference { before: previous, after });
        }
    }
    for (kind, bits, record) in before.records() {
        let id = AnyId { kind, bits };
        if after.overlay.get(kind, bits).is_none() {
            let (before, after) = (Some(record.clone()), untouched(after, id));
            found.insert(id, Difference { before, after });
        }
    }
    let mut companies = before.books.differing(&after.books);
    companies.extend(found.values().filter_map(Difference::wallet_of));
    for bits in companies {
        let company = Id::from_bits(bits);
        books(&mut found, before.book(company), after.book(company));
        for (world, side) in [(before, Side::Before), (after, Side::After)] {
            wallets(&mut found, world, company, side);
        }
    }
    found.retain(|_, difference| difference.is_one());
    found
}

/// The number of common events, before their histories part.
pub(crate) fn common_events(before: &World, after: &World) -> u64 {
    let (one, other) = (before.log(), after.log());
    let both = one.len().min(other.len());
    let same = |sequence: u64| match (one.get(sequence), other.get(sequence)) {
        (Some(one), Some(other)) => {
            Arc::ptr_eq(one, other) || log_hashes::of(one) == log_hashes::of(other)
        }
        // Dropped from one of the logs. The remaining events are compared instead.
        _ => true,
    };
    // After the first difference all events differ, because times and ids of an event depend on the
    // earlier events.
    let (mut low, mut high) = (0, both);
    while low < high {
        let middle = low + (high - low) / 2;
        if same(middle + 1) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

impl Difference {
    /// The company whose wallet this is.
    fn wallet_of(&self) -> Option<u64> {
        let record = self.after.as_ref().or(self.before.as_ref())?;
        Wallet::of_record(record).map(|wallet| wallet.company_id.bits())
    }

    /// Whether the two sides really differ. A record that was written again without a change does not.
    fn is_one(&self) -> bool {
        match (&self.before, &self.after) {
            (Some(one), Some(other)) => !log_hashes::are_equal(one, other),
            (None, None) => false,
            _ => true,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

fn note(found: &mut Differences, id: AnyId, side: Side, record: Record) {
    let difference = found.entry(id).or_default();
    match side {
        Side::Before => difference.before = Some(record),
        Side::After => difference.after = Some(record),
    }
}

/// The entries and statement lines that only one of two books has, or that differ.
fn books(found: &mut Differences, before: Option<&Book>, after: Option<&Book>) {
    let none = Book::default();
    let (before, after) = (before.unwrap_or(&none), after.unwrap_or(&none));
    tails(found, &before.entries, &after.entries);
    tails(found, &before.statement, &after.statement);
}

/// The parts of two append-only lists after their common beginning.
fn tails<T: Entity>(found: &mut Differences, before: &Vector<Arc<T>>, after: &Vector<Arc<T>>) {
    let pairs = before.iter().zip(after.iter());
    let common = pairs.take_while(|(one, other)| Arc::ptr_eq(one, other));
    let common = common.count();
    for (list, side) in [(before, Side::Before), (after, Side::After)] {
        for row in list.iter().skip(common) {
            // Its current state if the records have it; otherwise as it was posted.
            let difference = found.entry(AnyId::of(row.id())).or_default();
            let place = match side {
                Side::Before => &mut difference.before,
                Side::After => &mut difference.after,
            };
            place.get_or_insert_with(|| Arc::clone(row).into_record());
        }
    }
}

/// The company's wallets with their balances.
fn wallets(found: &mut Differences, world: &World, company: Id<Company>, side: Side) {
    let grown = world.base().index_of(company);
    let grown = grown.and_then(|index| world.at::<Wallet>(index));
    let created = world.children::<Wallet>(company.bits());
    let created = created.filter_map(|id| world.find(id));
    for wallet in grown.into_iter().chain(created) {
        let shown = Arc::new(world.with_balances(&wallet));
        note(found, AnyId::of(wallet.id), side, shown.into_record());
    }
}

/// The resource without a changed record: an entry as posted, all others as grown.
fn untouched(world: &World, id: AnyId) -> Option<Record> {
    match id.kind {
        Kind::JournalEntry => world.entry(Id::from_bits(id.bits)).map(Entity::into_record),
        _ => grown(world.base(), id),
    }
}

/// Generates [`grown`] for every kind, so that none can be missing.
macro_rules! grown_kinds {
    (
        kept { $($kind:ident $prefix:literal $name:literal $module:tt $states:tt $growth:ident $wire:ident;)* }
        named { $($bare:ident $bare_prefix:literal $bare_name:literal;)* }
    ) => {
        /// The grown resource, if there is one.
        fn grown(base: &Base, id: AnyId) -> Option<Record> {
            match id.kind {
                $(Kind::$kind => grown_of::<typed!($module $kind)>(base, id),)*
                // These kinds have no stored records.
                $(Kind::$bare)|* => None,
            }
        }
    };
}

for_each_kind!(grown_kinds);

fn grown_of<T: Grow>(base: &Base, id: AnyId) -> Option<Record> {
    let index = base.index_of(Id::<T>::from_bits(id.bits))?;
    base.record::<T>(index).map(Entity::into_record)
}
