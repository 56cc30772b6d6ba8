//! A persistent map from 64-bit keys, such as the bits of ids, to values in the order of their insertion.
//!
//! A clone shares all data of a large table. The values are in a list, and a hash table finds their places: one or
//! two cache lines for each look-up. Keys are random numbers, so a search tree would read many distant parts of
//! memory. A small table is an array. Most worlds have few resources of a kind, and a persistent list takes memory
//! for 64 rows at once. Deliberately absent: an order by key, and the removal of any row but the last.

use std::ops::IndexMut;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::world::chunks::Chunks;

/// A table with at most this many rows is an array, which is searched as fast as a hash table.
const FEW: usize = 64;
/// The slots of a bucket, which is as large as a cache line.
const SLOTS: usize = 8;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    into = "Vec<(u64, V)>",
    from = "Vec<(u64, V)>",
    bound(serialize = "V: Clone + Serialize", deserialize = "V: Clone + Deserialize<'de>")
)]
pub(super) struct Table<V: Clone> {
    /// The rows of a small table.
    few: Vec<(u64, V)>,
    /// The rows of a large table.
    many: Option<Arc<Many<V>>>,
}

/// Rows with a hash table.
#[derive(Clone, Debug)]
struct Many<V> {
    rows: Chunks<(u64, V)>,
    /// Their number is a power of two. A row is in the first bucket from its home that had a free slot.
    buckets: Chunks<Bucket>,
}

type Bucket = [Slot; SLOTS];

/// The place of a row, with bits of its key, so that a search reads few other rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Slot {
    tag: u32,
    /// The place of the row plus one; 0 in a free slot.
    nth: u32,
}

impl Slot {
    const FREE: Self = Self { tag: 0, nth: 0 };

    fn new(key: u64, nth: usize) -> Self {
        // Keys may be small numbers; the upper bits of this product are always mixed.
        let tag = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32;
        Self { tag, nth: u32::try_from(nth).expect("a table has fewer than 2^32 rows") }
    }

    /// The bucket at which a search for it begins, with `buckets` buckets.
    const fn home(self, buckets: usize) -> usize {
        self.tag as usize & (buckets - 1)
    }

    const fn is_free(self) -> bool {
        self.nth == 0
    }
}

impl<V: Clone> Default for Table<V> {
    fn default() -> Self {
        Self { few: Vec::new(), many: None }
    }
}

impl<V: Clone> From<Vec<(u64, V)>> for Table<V> {
    fn from(rows: Vec<(u64, V)>) -> Self {
        let mut table = Self { few: rows, ..Self::default() };
        table.index_if_large();
        table
    }
}

impl<V: Clone> From<Table<V>> for Vec<(u64, V)> {
    fn from(table: Table<V>) -> Self {
        table.iter().map(|(key, value)| (key, value.clone())).collect()
    }
}

impl<V: Clone> Table<V> {
    pub(super) fn len(&self) -> usize {
        self.many.as_ref().map_or(self.few.len(), |many| many.rows.len())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys and their values, in the order of insertion.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &V)> {
        let many = self.many.iter().flat_map(|many| many.rows.iter());
        self.few.iter().chain(many).map(|(key, value)| (*key, value))
    }

    pub(super) fn get(&self, key: u64) -> Option<&V> {
        match &self.many {
            Some(many) => many.find(key).map(|place| &many.rows[place].1),
            None => self.few.iter().find(|(of, _)| *of == key).map(|(_, value)| value),
        }
    }

    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let row = match &mut self.many {
            Some(many) => {
                let place = many.find(key)?;
                Arc::make_mut(many).rows.get_mut(place)
            }
            None => self.few.iter_mut().find(|(of, _)| *of == key),
        };
        row.map(|(_, value)| value)
    }

    /// Adds a row. Its key must be new.
    pub(super) fn push(&mut self, key: u64, value: V) {
        if let Some(many) = &mut self.many {
            return Arc::make_mut(many).push(key, value);
        }
        self.few.push((key, value));
        self.index_if_large();
    }

    /// Removes the last row.
    pub(super) fn pop(&mut self) -> Option<(u64, V)> {
        match &mut self.many {
            Some(many) => Arc::make_mut(many).pop(),
            None => self.few.pop(),
        }
    }

    /// A small table with too many rows gets a hash table.
    fn index_if_large(&mut self) {
        if self.few.len() > FEW {
            let rows = std::mem::take(&mut self.few).into_iter().collect();
            self.many = Some(Arc::new(Many::of(rows)));
        }
    }
}

impl<V: Clone> Many<V> {
    /// These rows with a hash table that has at least twice as many slots.
    fn of(rows: Chunks<(u64, V)>) -> Self {
        let count = (rows.len() * 2).div_ceil(SLOTS).next_power_of_two();
        let mut buckets = vec![[Slot::FREE; SLOTS]; count];
        for (nth, (key, _)) in (1..).zip(rows.iter()) {
            add(&mut buckets, count, Slot::new(*key, nth));
        }
        Self { rows, buckets: buckets.into_iter().collect() }
    }

    fn push(&mut self, key: u64, value: V) {
        self.rows.push((key, value));
        let (nth, count) = (self.rows.len(), self.buckets.len());
        if nth > most(count) {
            *self = Self::of(std::mem::take(&mut self.rows));
        } else {
            add(&mut self.buckets, count, Slot::new(key, nth));
        }
    }

    fn pop(&mut self) -> Option<(u64, V)> {
        let nth = self.rows.len();
        let row = self.rows.pop()?;
        self.remove(Slot::new(row.0, nth));
        Some(row)
    }

    /// The place of the row with this key.
    fn find(&self, key: u64) -> Option<usize> {
        let wanted = Slot::new(key, 0);
        let mut home = wanted.home(self.buckets.len());
        loop {
            let bucket = &self.buckets[home];
            for slot in bucket {
                if slot.tag == wanted.tag && !slot.is_free() {
                    let place = slot.nth as usize - 1;
                    if self.rows[place].0 == key {
                        return Some(place);
                    }
                }
            }
            if has_free(bucket) {
                return None;
            }
            home = (home + 1) & (self.buckets.len() - 1);
        }
    }

    /// Removes a slot, and moves later slots of the same chain into the gap.
    fn remove(&mut self, slot: Slot) {
        let (count, mask) = (self.buckets.len(), self.buckets.len() - 1);
        let mut hole = slot.home(count);
        while !self.buckets[hole].contains(&slot) {
            hole = (hole + 1) & mask;
        }
        let mut was_full = !has_free(&self.buckets[hole]);
        exchange(&mut self.buckets[hole], slot, Slot::FREE);
        let mut next = hole;
        while was_full {
            next = (next + 1) & mask;
            let bucket = self.buckets[next];
            was_full = !has_free(&bucket);
            // The distances in buckets of a slot from its home and from the hole.
            let behind = |home: usize| next.wrapping_sub(home) & mask;
            let moves = |one: &Slot| !one.is_free() && behind(one.home(count)) >= behind(hole);
            if let Some(moved) = bucket.into_iter().find(moves) {
                exchange(&mut self.buckets[hole], Slot::FREE, moved);
                exchange(&mut self.buckets[next], moved, Slot::FREE);
                hole = next;
            }
        }
    }
}

/// The maximum number of rows for `buckets` buckets.
const fn most(buckets: usize) -> usize {
    buckets * SLOTS / 4 * 3
}

fn has_free(bucket: &Bucket) -> bool {
    bucket.iter().any(|slot| slot.is_free())
}

/// Replaces the first slot that equals `from`.
fn exchange(bucket: &mut Bucket, from: Slot, to: Slot) {
    let found = bucket.iter_mut().find(|slot| **slot == from);
    *found.expect("the bucket contains it") = to;
}

/// Adds a slot to a table with a free one.
fn add(buckets: &mut impl IndexMut<usize, Output = Bucket>, count: usize, slot: Slot) {
    let mut home = slot.home(count);
    while !has_free(&buckets[home]) {
        home = (home + 1) & (count - 1);
    }
    exchange(&mut buckets[home], Slot::FREE, slot);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Key;

    fn keys() -> impl Iterator<Item = u64> {
        (0..).map(|n| Key::new(7).at(n).hash())
    }

    #[test]
    fn every_row_is_found_and_no_other() {
        let mut table = Table::default();
        for (nth, key) in (0..20_000).zip(keys()) {
            assert!(table.get(key).is_none());
            table.push(key, nth);
            assert_eq!((table.get(key), table.len()), (Some(&nth), nth + 1));
        }
        assert!((0..20_000).zip(keys()).all(|(nth, key)| table.get(key) == Some(&nth)));
        assert!(keys().skip(20_000).take(20_000).all(|key| table.get(key).is_none()));
        assert!(table.iter().map(|(key, _)| key).eq(keys().take(20_000)), "the order of insertion");
    }

    #[test]
    fn small_keys_in_turn_are_found_too() {
        let mut table = Table::default();
        (0..10_000).for_each(|key| table.push(key, key));
        assert!((0..10_000).all(|key| table.get(key) == Some(&key)));
        assert!(table.get(10_000).is_none());
        let buckets = table.many.map_or(0, |many| many.buckets.len());
        assert!(buckets * SLOTS <= 40_000, "{buckets} buckets");
    }

    #[test]
    fn removed_rows_are_gone_and_can_return() {
        let mut table = Table::default();
        for most in [10, 65, 193, 12_288] {
            keys().take(most).for_each(|key| table.push(key, 1));
            let copy = table.clone();
            for (key, left) in keys().take(most).collect::<Vec<_>>().into_iter().zip(0..most).rev()
            {
                assert_eq!(table.pop(), Some((key, 1)));
                assert_eq!((table.len(), table.get(key)), (left, None));
                if left == most / 2 || left == most * 7 / 8 {
                    assert!(keys().take(left).all(|key| table.get(key) == Some(&1)), "{left} left");
                }
            }
            assert_eq!(table.pop(), None);
            let mut slots = table.many.iter().flat_map(|many| many.buckets.iter()).flatten();
            assert!(slots.all(|slot| *slot == Slot::FREE));
            assert!(keys().take(most).all(|key| copy.get(key) == Some(&1)), "a clone has its rows");
        }
    }

    #[test]
    fn a_change_of_one_copy_is_no_change_of_the_other() {
        let mut table = Table::default();
        keys().take(100).for_each(|key| table.push(key, 1));
        let copy = table.clone();
        for key in keys().take(100) {
            *table.get_mut(key).expect("it was added") = 2;
        }
        assert!(
            keys().take(100).all(|key| (table.get(key), copy.get(key)) == (Some(&2), Some(&1)))
        );
        let read: Table<i32> =
            serde_json::from_str(&serde_json::to_string(&table).expect("writes")).expect("reads");
        assert!(read.iter().eq(table.iter()));
        assert!(keys().take(100).all(|key| read.get(key) == Some(&2)));
    }
}
