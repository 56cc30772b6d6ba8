//! Declared lists: one `list!` states a list's parameters, its filters and its sort keys.
//!
//! ```text
//! list! {
//!     fn list_loans(ListLoans) -> Loan, of company_id;
//!     filter company_id: Id<Company>, status: LoanStatus;
//!     sort created_at, amount;
//! }
//! ```
//!
//! - `of x`: the rows are children of the resource that parameter `x` names. Without `x`, they are
//!   all rows that calls created.
//! - `from f`: `f(&World, &Input) -> Candidates` chooses the rows, for resources that growth also creates.
//! - `struct Input of Row` instead of `fn …`: no handler; the file writes its own around [`select`]. Without `sort`, the row is
//!   not a resource: the handler reads its rows itself and pages them with `Paging::list`.
//! - `in x: T` is a member that every call has; `with x: T` is an optional one that does not filter.
//! - A filter compares with the row's field of the same name. `x: T = a.b` names another field; `x: T => |wanted, row| …`
//!   decides itself; `kind as "type": T` has another name on the wire. A filter without a doc comment is described as
//!   "Filter by x."
//! - `sort x = a.b` names another field than `x`. `newest first` after it changes the default order; without it, rows come in creation order.

use std::sync::Arc;

use schemars::Schema;

use crate::api::crud::{Candidates, Paging, may_scan};
use crate::api::reply::{List, Shown};
use crate::api::sort::{Sort, SortKey, Sortable};
use crate::model::{Account, AnyId};
use crate::value::{ApiError, CountryCode, Currency, Date, Period, Text, Timestamp};
use crate::world::{Grow, World};

/// The media type of a whole list as a table.
pub(crate) const CSV: &str = "text/csv";
/// The media type of a whole list as lines of JSON.
pub(crate) const LINES: &str = "application/x-ndjson";

/// The filters of a declared list.
pub(crate) trait Filters {
    /// The type of its rows.
    type Row;

    /// Whether a filter is set that the choice of candidates does not already apply.
    fn is_filtered(&self) -> bool;

    /// The pointer of the filter, or else of the sort.
    fn pointer(&self) -> &'static str;

    /// Whether every filter accepts the row.
    fn accepts(&self, row: &Self::Row) -> bool;
}

/// The input of a declared list of resources.
pub(crate) trait Listing: Filters {
    fn paging(&self) -> Paging;

    fn sort(&self) -> Option<&Sort<Self::Row>>;
}

/// The page of those candidates that the input's filters accept.
pub(crate) fn select<T: Grow + Sortable>(
    world: &World,
    input: &impl Listing<Row = T>,
    candidates: Candidates<'_, T>,
) -> Result<List<Shown<T>>, ApiError> {
    if input.is_filtered() {
        may_scan(candidates.len(), input.pointer())?;
        return Ok(
            candidates.page_where(world, input.paging(), input.sort(), |row| input.accepts(row))
        );
    }
    candidates.page(world, input.paging(), input.sort())
}

/// A filter's value, compared with a member of a row.
pub(crate) trait Accepts<V> {
    fn accepts(&self, value: &V) -> bool;
}

impl<V: PartialEq> Accepts<V> for V {
    fn accepts(&self, value: &V) -> bool {
        self == value
    }
}

impl<V: PartialEq> Accepts<Option<V>> for V {
    fn accepts(&self, value: &Option<V>) -> bool {
        value.as_ref() == Some(self)
    }
}

impl<const MOST: usize> Accepts<String> for Text<MOST> {
    fn accepts(&self, value: &String) -> bool {
        self.as_str() == value
    }
}

impl<const MOST: usize> Accepts<Option<String>> for Text<MOST> {
    fn accepts(&self, value: &Option<String>) -> bool {
        value.as_deref() == Some(self.as_str())
    }
}

impl<const MOST: usize> Accepts<AnyId> for Text<MOST> {
    fn accepts(&self, value: &AnyId) -> bool {
        value.to_string() == self.as_str()
    }
}

impl<const MOST: usize> Accepts<Option<AnyId>> for Text<MOST> {
    fn accepts(&self, value: &Option<AnyId>) -> bool {
        value.is_some_and(|id| self.accepts(&id))
    }
}

/// A member that rows can be sorted by.
pub(crate) trait SortBy {
    fn sort_key(&self) -> SortKey;
}

macro_rules! sort_by {
    ($($type:ty: $key:ident(|$it:ident| $value:expr);)*) => {$(
        impl SortBy for $type {
            fn sort_key(&self) -> SortKey {
                let $it = self;
                SortKey::$key($value)
            }
        }
    )*};
}

sort_by! {
    i64: Number(|it| *it);
    i32: Number(|it| (*it).into());
    u8: Number(|it| (*it).into());
    Timestamp: Number(|it| it.millis());
    Date: Number(|it| it.midnight().millis());
    Period: Text(|it| it.to_string());
    Currency: Text(|it| it.to_string());
    Account: Text(|it| it.to_string());
    String: Text(|it| it.clone());
    Box<str>: Text(|it| it.to_string());
    CountryCode: Text(|it| it.to_string());
    Arc<str>: Text(|it| (**it).to_owned());
}

/// A row without the member comes first.
impl<T: SortBy> SortBy for Option<T> {
    fn sort_key(&self) -> SortKey {
        self.as_ref().map_or(SortKey::Number(i64::MIN), T::sort_key)
    }
}

/// Describes each filter that has no text of its own: "Filter by company."
pub(crate) fn describe_filters(schema: &mut Schema) {
    let members = schema.get_mut("properties").and_then(|members| members.as_object_mut());
    for (name, member) in members.into_iter().flatten() {
        let words = name.strip_suffix("_id").unwrap_or(name).replace('_', " ");
        if let Some(member) = member.as_object_mut() {
            member.entry("description").or_insert_with(|| format!("Filter by {words}.").into());
        }
    }
}

/// The sort keys of a resource's lists: `sortable!(Loan: created_at, amount)`.
macro_rules! sortable {
    ($row:ident: $($key:ident $(= $($member:ident).+)?),* $(; newest $first:ident)?) => {
        impl $crate::api::sort::Sortable for $row {
            const NEWEST_FIRST: bool = !concat!($(stringify!($first))?).is_empty();
            const KEYS: &'static [(&'static str, $crate::api::sort::KeyOf<Self>)] = &[$((
                stringify!($key),
                |row| $crate::api::list::sortable!(@key row $key $(= $($member).+)?),
            )),*];
        }
    };
    (@key $row:ident $key:ident) => { $crate::api::list::SortBy::sort_key(&$row.$key) };
    (@key $row:ident $key:ident = $($member:ident).+) => {
        $crate::api::list::SortBy::sort_key(&$row.$($member).+)
    };
}
pub(crate) use sortable;

macro_rules! list {
    (fn $handler:ident($input:ident) -> $row:ident $(, of $parent:ident)?; $($clauses:tt)*) => {
        $crate::api::list::list! {
            fn $handler($input) -> $row, from |world, input: &$input| {
                let parent: Option<u64> = None$(.or(input.$parent.map(|id| id.bits())))?;
                let _ = input;
                $crate::api::crud::Candidates::created(world, parent)
            } $(, of $parent)?; $($clauses)*
        }
    };
    (
        fn $handler:ident($input:ident) -> $row:ident, from $candidates:expr $(, of $parent:ident)?;
        $($clauses:tt)*
    ) => {
        $crate::api::list::list! { struct $input of $row $(, of $parent)?; $($clauses)* }

        fn $handler(
            world: &$crate::world::World,
            input: $input,
        ) -> Result<
            $crate::api::reply::List<$crate::api::reply::Shown<$row>>,
            $crate::value::ApiError,
        > {
            let candidates: for<'a> fn(
                &'a $crate::world::World,
                &$input,
            ) -> $crate::api::crud::Candidates<'a, $row> = $candidates;
            $crate::api::list::select(world, &input, candidates(world, &input))
        }
    };
    (
        struct $input:ident of $row:ident $(, of $parent:ident)?;
        $(in $(#[$above_doc:meta])* $above:ident: $above_type:ty;)?
        $(with $($(#[$extra_doc:meta])* $extra:ident: $extra_type:ty),*;)?
        filter $(
            $(#[$doc:meta])*
            $filter:ident $(as $wire:literal)?: $type:ty $(= $($field:ident).+)? $(=> $test:expr)?
        ),*;
        sort $($key:ident $(= $($member:ident).+)?),*;
        $(newest $first:ident;)?
    ) => {
        $crate::api::list::list! {
            struct $input of $row $(, of $parent)?;
            $(in $(#[$above_doc])* $above: $above_type;)?
            with sort: $crate::api::sort::Sort<$row> $($(, $(#[$extra_doc])* $extra: $extra_type)*)?;
            filter $(
                $(#[$doc])* $filter $(as $wire)?: $type $(= $($field).+)? $(=> $test)?
            ),*;
        }

        $crate::api::list::sortable!($row: $($key $(= $($member).+)?),* $(; newest $first)?);

        impl $crate::api::list::Listing for $input {
            fn paging(&self) -> $crate::api::crud::Paging {
                self.paging
            }

            fn sort(&self) -> Option<&$crate::api::sort::Sort<$row>> {
                self.sort.as_ref()
            }
        }
    };
    (
        struct $input:ident of $row:ident $(, of $parent:ident)?;
        $(in $(#[$above_doc:meta])* $above:ident: $above_type:ty;)?
        $(with $($(#[$extra_doc:meta])* $extra:ident: $extra_type:ty),*;)?
        filter $(
            $(#[$doc:meta])*
            $filter:ident $(as $wire:literal)?: $type:ty $(= $($field:ident).+)? $(=> $test:expr)?
        ),*;
    ) => {
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        #[schemars(transform = $crate::api::list::describe_filters)]
        pub(crate) struct $input {
            $($(#[$above_doc])* $above: $above_type,)?
            #[serde(flatten)]
            paging: $crate::api::crud::Paging,
            $($($(#[$extra_doc])* $extra: Option<$extra_type>,)*)?
            $(
                $(#[$doc])*
                $(#[serde(rename = $wire)])?
                $filter: Option<$type>,
            )*
        }

        impl $crate::api::list::Filters for $input {
            type Row = $row;

            fn is_filtered(&self) -> bool {
                let given = 0 $(+ usize::from(self.$filter.is_some()))*;
                let parents = 0 $(+ usize::from(self.$parent.is_some()))?;
                given > parents
            }

            fn pointer(&self) -> &'static str {
                let parents: &[&str] = &[$(stringify!($parent))?];
                $(
                    if self.$filter.is_some() && !parents.contains(&stringify!($filter)) {
                        return $crate::api::list::list!(@pointer $filter $($wire)?);
                    }
                )*
                "/sort"
            }

            fn accepts(&self, row: &$row) -> bool {
                true $(&& self.$filter.as_ref().is_none_or(|wanted: &$type| {
                    $crate::api::list::list!(
                        @test ($type, $row) wanted row $filter $(= $($field).+)? $(=> $test)?
                    )
                }))*
            }
        }
    };
    (@pointer $filter:ident) => { concat!("/", stringify!($filter)) };
    (@pointer $filter:ident $wire:literal) => { concat!("/", $wire) };
    (@test $types:tt $wanted:ident $row:ident $filter:ident) => {
        $crate::api::list::Accepts::accepts($wanted, &$row.$filter)
    };
    (@test $types:tt $wanted:ident $row:ident $filter:ident = $($field:ident).+) => {
        $crate::api::list::Accepts::accepts($wanted, &$row.$($field).+)
    };
    (@test ($type:ty, $of:ident) $wanted:ident $row:ident $filter:ident => $test:expr) => {{
        let test: fn(&$type, &$of) -> bool = $test;
        test($wanted, $row)
    }};
}
pub(crate) use list;
