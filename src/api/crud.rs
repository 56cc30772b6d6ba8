//! Code shared by the operations of all resources: reading one, listing many.

#![expect(clippy::cast_possible_truncation, reason = "positions in rows that are held in memory")]

use core::ops::Range;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::api::reply::{Data, List, Meta, Shown};
use crate::api::sort::{KeyOf, Sort, Sortable, Sorting};
use crate::value::{ApiError, Id, Prefixed, long_work};
use crate::world::{Grow, World};

/// Default number of rows per page.
pub(crate) const PER_PAGE: u64 = 25;
/// Maximum number of rows per page; the engine reduces larger values to it, as the contract says.
pub(crate) const MOST_PER_PAGE: u64 = 100;
/// The largest maximum that a contract may define.
pub(crate) const PER_PAGE_CEILING: u64 = 1_000;

/// Rows per page of a list that is read as a whole, as CSV or lines of JSON.
pub(crate) const EXPORT_ROWS: u64 = 10_000;

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
        self.per_page.unwrap_or(PER_PAGE).min(EXPORT_ROWS)
    }

    /// Positions of the page's rows in a list of that length.
    pub(crate) fn range(self, total: u64) -> Range<u64> {
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

/// The candidate rows of a list, before filters on the resources: first grown ones by index, then created ones, each
/// in creation order.
pub(crate) struct Candidates<'a, T> {
    grown: u64,
    /// Index of the grown resource with that rank.
    index: Box<dyn Fn(u64) -> Option<u64> + 'a>,
    created: Vec<Id<T>>,
}

impl<'a, T: Grow> Candidates<'a, T> {
    /// `count` grown resources, found by rank, and these created ones.
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

    /// The created resources: those of that parent, or all.
    pub(crate) fn created(world: &'a World, parent: Option<u64>) -> Self {
        match parent {
            Some(parent) => Self::new(0, |_| None, world.children(parent)),
            None => Self::new(0, |_| None, world.created()),
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.grown + self.created.len() as u64
    }

    fn get(&self, world: &World, rank: u64) -> Option<Arc<T>> {
        match rank.checked_sub(self.grown) {
            None => world.at((self.index)(rank)?),
            Some(since) => world.find(*self.created.get(usize::try_from(since).ok()?)?),
        }
    }

    /// All candidates, for a list that is always short.
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
        let sort = Sort::or_usual(sort);
        let total = self.len();
        let rows = paging.range(total);
        let data = match sort {
            Some(sort) if !sort.is_by_time() => {
                may_scan(total, "/sort")?;
                return Ok(self.page_where(world, paging, Some(&sort), |_| true));
            }
            Some(sort) if sort.is_descending() => self.newest(world, rows, sort.key()),
            _ => rows.filter_map(|rank| self.get(world, rank)).map(Shown).collect(),
        };
        Ok(List { data, meta: paging.meta(total) })
    }

    /// The rows at these places of the list with the newest rows first. Rows of one time stay in creation order. Ranks are in the order
    /// of time, so only the ends of each group of equal times are searched.
    fn newest(&self, world: &World, places: Range<u64>, time: KeyOf<T>) -> Vec<Shown<T>> {
        let total = self.len();
        let made_at = |rank| self.get(world, rank).map(|row| time(&row));
        let mut group = 0..0;
        let rows = places.filter_map(|place| {
            let mirrored = total - 1 - place;
            if !group.contains(&mirrored) {
                let at = made_at(mirrored);
                let before = reach(mirrored, |steps| made_at(mirrored - steps) == at);
                let after = reach(total - 1 - mirrored, |steps| made_at(mirrored + steps) == at);
                group = mirrored - before..mirrored + after + 1;
            }
            self.get(world, group.start + (group.end - 1 - mirrored))
        });
        rows.map(Shown).collect()
    }

    /// The page of the candidates that `keep` accepts. It reads every candidate, so [`may_scan`] must be called
    /// before.
    pub(crate) fn page_where(
        self,
        world: &World,
        paging: Paging,
        sort: Option<&Sort<T>>,
        keep: impl Fn(&T) -> bool,
    ) -> List<Shown<T>>
    where
        T: Sortable,
    {
        let sort = Sort::or_usual(sort);
        long_work::over(self.len(), || {
            let mut sorting = Sorting::new(sort);
            for rank in 0..self.len() {
                if let Some(row) = self.get(world, rank).filter(|row| keep(row)) {
                    sorting.add(&row, rank);
                }
            }
            let ranks = sorting.sorted();
            let range = paging.range(ranks.len() as u64);
            let page = range.filter_map(|place| ranks.get(usize::try_from(place).ok()?));
            let page = page.filter_map(|rank| self.get(world, *rank));
            List { data: page.map(Shown).collect(), meta: paging.meta(ranks.len() as u64) }
        })
    }
}

/// The largest step up to `limit` for which `same` is true. `same` must be true up to some step, and false after it.
fn reach(limit: u64, same: impl Fn(u64) -> bool) -> u64 {
    let (mut reached, mut stride) = (0, 1);
    while reached + stride <= limit && same(reached + stride) {
        reached += stride;
        stride *= 2;
    }
    while stride > 0 {
        if reached + stride <= limit && same(reached + stride) {
            reached += stride;
        }
        stride /= 2;
    }
    reached
}

/// Maximum number of rows read by one call. A scan keeps its results in memory, and blocks writers of the world.
const MOST_SCANNED: u64 = 100_000;

/// Refuses a call that would have to read more rows than allowed because of that member of its input.
pub(crate) fn may_scan(rows: u64, pointer: &str) -> Result<(), ApiError> {
    if rows <= MOST_SCANNED {
        return Ok(());
    }
    let detail = format!(
        "this sort or filter would read {rows} rows, and one call can read at most {MOST_SCANNED}: \
            filter by company, run or employee"
    );
    Err(ApiError::of_member(pointer, "too_many", detail))
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
        assert_eq!(paging(1, 1_000_000).range(50_000), 0..EXPORT_ROWS);
    }

    #[test]
    fn the_end_of_equal_steps_is_found() {
        for end in 0..40 {
            for limit in 0..40 {
                assert_eq!(reach(limit, |step| step <= end), end.min(limit), "{end} {limit}");
            }
        }
    }

    #[test]
    fn a_scan_beyond_the_limit_is_refused() {
        assert!(may_scan(MOST_SCANNED, "/sort").is_ok());
        let refused = may_scan(MOST_SCANNED + 1, "/sort").expect_err("too many");
        assert_eq!((&*refused.errors[0].pointer, refused.errors[0].code), ("/sort", "too_many"));
    }
}
