//! Code shared by the operations of all resources: reading one, listing many.

#![expect(clippy::cast_possible_truncation, reason = "positions in rows that are held in memory")]

use core::marker::PhantomData;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::api::reply::{Data, List, Meta, Shown};
use crate::value::{ApiError, Id, Prefixed, long_work};
use crate::world::{Grow, World};

/// Default number of rows per page.
pub(crate) const PER_PAGE: u64 = 25;
/// Maximum number of rows per page; the engine reduces larger values to it, as the contract says.
pub(crate) const MOST_PER_PAGE: u64 = 100;
/// The largest maximum that a contract may define.
pub(crate) const PER_PAGE_CEILING: u64 = 1_000;

/// Selects a page of a list.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Paging {
    /// Page number, from 1. A page after the end is empty.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    page: Option<u64>,
    /// Rows per page, from 1. Values above 100 are treated as 100. Default: 25.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    per_page: Option<u64>,
}

impl Paging {
    /// A page number with a number of rows.
    pub(crate) const fn new(page: Option<u64>, per_page: Option<u64>) -> Self {
        Self { page, per_page }
    }

    /// The page number.
    pub(crate) fn page(self) -> u64 {
        self.page.unwrap_or(1)
    }

    /// Rows per page.
    pub(crate) fn per_page(self) -> u64 {
        self.per_page.unwrap_or(PER_PAGE).min(PER_PAGE_CEILING)
    }

    /// Positions of the page's rows in a list of that length.
    pub(crate) fn range(self, total: u64) -> core::ops::Range<u64> {
        let start = (self.page() - 1).saturating_mul(self.per_page()).min(total);
        start..start.saturating_add(self.per_page()).min(total)
    }

    /// The rows of the page.
    pub(crate) fn page_of<T>(self, all: &[T]) -> &[T] {
        let range = self.range(all.len() as u64);
        &all[range.start as usize..range.end as usize]
    }

    pub(crate) fn meta(self, total: u64) -> Meta {
        Meta { total, page: self.page() }
    }

    /// The page of rows that are all in memory.
    pub(crate) fn list<T, S>(self, rows: &[T], shown: impl Fn(&T) -> S) -> List<S> {
        let data = self.page_of(rows).iter().map(shown).collect();
        List { data, meta: self.meta(rows.len() as u64) }
    }
}

/// The value that rows are sorted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SortKey {
    Number(i64),
    Text(String),
}

/// Reads the value that a row is sorted by.
pub(crate) type KeyOf<T> = fn(&T) -> SortKey;

/// A resource whose lists can be sorted.
pub(crate) trait Sortable: Sized + 'static {
    /// Names of the members, and how to read them.
    const KEYS: &'static [(&'static str, KeyOf<Self>)];
}

/// `sort=name` ascending, `sort=-name` descending; equal rows stay in creation order.
pub(crate) struct Sort<T> {
    key: usize,
    descending: bool,
    of: PhantomData<fn() -> T>,
}

impl<T: Sortable> Sort<T> {
    /// Whether it is the default order of lists.
    pub(crate) fn is_own_order(&self) -> bool {
        T::KEYS[self.key].0 == "created_at" && !self.descending
    }

    /// Whether it sorts by creation time, ascending or descending.
    pub(crate) fn is_by_time(&self) -> bool {
        T::KEYS[self.key].0 == "created_at"
    }

    pub(crate) fn apply(&self, rows: &mut [Arc<T>]) {
        let key = T::KEYS[self.key].1;
        if self.descending {
            rows.sort_by_cached_key(|row| core::cmp::Reverse(key(row)));
        } else {
            rows.sort_by_cached_key(|row| key(row));
        }
    }
}

impl<'de, T: Sortable> Deserialize<'de> for Sort<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let (descending, name) =
            text.strip_prefix('-').map_or((false, &*text), |name| (true, name));
        let key = T::KEYS.iter().position(|(known, _)| *known == name);
        let key =
            key.ok_or_else(|| de::Error::custom("this list cannot be sorted by this member"))?;
        Ok(Self { key, descending, of: PhantomData })
    }
}

impl<T: Sortable> JsonSchema for Sort<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Sort".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = T::KEYS.iter().flat_map(|(name, _)| [(*name).to_owned(), format!("-{name}")]);
        json_schema!({
            "type": "string",
            "description": "Sort by this member; a minus sign sorts descending. Equal rows stay in \
                creation order.",
            "enum": names.collect::<Vec<_>>(),
        })
    }
}

/// An input whose one member is the id in the path: `loan_id` for a loan.
pub(crate) struct One<T> {
    pub(crate) id: Id<T>,
}

impl<T: Prefixed> One<T> {
    /// The member's name. Paths written before this rule have shorter ones.
    fn member() -> String {
        match T::NAME {
            "aml_alert" => "alert_id".to_owned(),
            "aml_screening" => "screening_id".to_owned(),
            name => format!("{name}_id"),
        }
    }
}

impl<'de, T: Prefixed> Deserialize<'de> for One<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = BTreeMap::<String, Id<T>>::deserialize(deserializer)?;
        let id = members.remove(&Self::member());
        Ok(Self { id: id.ok_or_else(|| de::Error::custom("the id is missing"))? })
    }
}

impl<T: Prefixed> JsonSchema for One<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("one_{}", T::NAME).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let member = Self::member();
        let words = member.trim_end_matches("_id").replace('_', " ");
        let mut id = generator.subschema_for::<Id<T>>();
        id.insert("description".to_owned(), format!("The {words}.").into());
        json_schema!({ "type": "object", "properties": { &member: id }, "required": [member] })
    }
}

/// The reply with a single resource.
pub(crate) type Single<T> = Data<Shown<T>>;

/// The handler of rows declared by `operation!(get …)`.
pub(crate) fn get<T: Grow>(world: &World, input: One<T>) -> Result<Data<Shown<T>>, ApiError> {
    show(world, input.id)
}

/// One resource by id.
pub(crate) fn show<T: Grow>(world: &World, id: Id<T>) -> Result<Data<Shown<T>>, ApiError> {
    Ok(Data(Shown(world.get(id)?)))
}

/// The resource that a member of the body names; the 404 points at the member.
pub(crate) fn existing<T: Grow>(
    world: &World,
    id: Id<T>,
    pointer: &str,
) -> Result<Arc<T>, ApiError> {
    world.get(id).map_err(|error| error.at(pointer, "not_found"))
}

/// The possible rows of a list, before filters on the resources themselves: the grown ones by index, then the created ones, each in
/// creation order.
pub(crate) struct Candidates<'a, T> {
    grown: u64,
    /// Index of the grown resource with that rank.
    index: Box<dyn Fn(u64) -> Option<u64> + 'a>,
    created: Vec<Id<T>>,
}

impl<'a, T: Grow> Candidates<'a, T> {
    /// A number of grown resources, found by rank, and these created ones.
    pub(crate) fn new(
        grown: u64,
        index: impl Fn(u64) -> Option<u64> + 'a,
        created: impl Iterator<Item = Id<T>>,
    ) -> Self {
        Self { grown, index: Box::new(index), created: created.collect() }
    }

    /// All resources of a kind whose indexes have no gaps.
    pub(crate) fn all(world: &'a World) -> Self {
        Self::new(world.base().count(T::KIND), Some, world.created::<T>())
    }

    /// The ones that calls created: those below that parent, or every one.
    pub(crate) fn created(world: &'a World, parent: Option<u64>) -> Self {
        match parent {
            Some(parent) => Self::new(0, |_| None, world.children(parent)),
            None => Self::new(0, |_| None, world.created()),
        }
    }

    fn len(&self) -> u64 {
        self.grown + self.created.len() as u64
    }

    fn get(&self, world: &World, rank: u64) -> Option<Arc<T>> {
        match rank.checked_sub(self.grown) {
            None => world.at((self.index)(rank)?),
            Some(since) => world.find(*self.created.get(usize::try_from(since).ok()?)?),
        }
    }

    /// All of them, for a list that is known to be short.
    pub(crate) fn every(&self, world: &World) -> Vec<Arc<T>> {
        (0..self.len()).filter_map(|rank| self.get(world, rank)).collect()
    }

    /// The page of all candidates.
    pub(crate) fn page(
        self,
        world: &World,
        paging: Paging,
        sort: Option<&Sort<T>>,
    ) -> Result<List<Shown<T>>, ApiError>
    where
        T: Sortable,
    {
        if sort.is_some_and(|sort| !sort.is_own_order()) {
            return self.page_where(world, paging, sort, |_| true);
        }
        let total = self.len();
        let rows = paging.range(total).filter_map(|rank| self.get(world, rank));
        Ok(List { data: rows.map(Shown).collect(), meta: paging.meta(total) })
    }

    /// The page of the candidates that `keep` accepts, which requires reading each of them.
    pub(crate) fn page_where(
        self,
        world: &World,
        paging: Paging,
        sort: Option<&Sort<T>>,
        keep: impl Fn(&T) -> bool,
    ) -> Result<List<Shown<T>>, ApiError>
    where
        T: Sortable,
    {
        may_scan(self.len())?;
        long_work::over(self.len(), || {
            let all = (0..self.len()).filter_map(|rank| self.get(world, rank));
            let mut rows: Vec<Arc<T>> = all.filter(|row| keep(row)).collect();
            if let Some(sort) = sort {
                sort.apply(&mut rows);
            }
            Ok(page_of(&rows, paging))
        })
    }
}

/// Maximum number of rows read by one call. A scan keeps its results in memory, and writers of the world wait for it.
const MOST_SCANNED: u64 = 100_000;

/// Refuses a call that would have to read more rows than allowed.
pub(crate) fn may_scan(rows: u64) -> Result<(), ApiError> {
    if rows <= MOST_SCANNED {
        return Ok(());
    }
    let detail = format!(
        "this sort or filter would read {rows} rows, and one call can read at most {MOST_SCANNED}: \
            filter by company, run or employee"
    );
    Err(ApiError::of_member("", "too_many", detail))
}

/// A page of rows that are all in memory.
pub(crate) fn page_of<T>(rows: &[Arc<T>], paging: Paging) -> List<Shown<T>> {
    paging.list(rows, |row| Shown(Arc::clone(row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_past_the_end_are_empty_however_far() {
        let paging = |page, per_page| Paging { page: Some(page), per_page: Some(per_page) };
        assert_eq!(paging(1, 25).range(75), 0..25);
        assert_eq!(paging(4, 25).range(80), 75..80);
        assert_eq!(paging(5, 25).range(80), 80..80);
        assert_eq!(paging(1_000_000_000_000, 100).range(80), 80..80);
        assert_eq!(paging(9_007_199_254_740_991, 1_000_000).range(80), 80..80);
        assert_eq!(paging(1, 10_000).range(5_000), 0..1_000);
    }

    #[test]
    fn a_scan_beyond_the_limit_is_refused() {
        assert!(may_scan(MOST_SCANNED).is_ok());
        let refused = may_scan(MOST_SCANNED + 1).expect_err("too many");
        assert_eq!(refused.errors[0].code, "too_many");
    }
}
