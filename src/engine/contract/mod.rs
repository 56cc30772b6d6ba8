//! The contract overlay: the differences between the real service and the sandbox's assumptions, as data.
//!
//! The operation table does not change. An overlay defines the served rows with their paths and statuses
//! ([`Rows`], applied by the router), the page size, the accepted keys ([`Auth`]), and the dialect
//! ([`dialect`]). Header names and refusals are translated at the entry and the exit of the engine, so other
//! code needs only the default dialect. The overlay does not affect the control plane.
//!
//! Deliberately absent: reading files. [`Overlay::parse`] checks an overlay and reports every mistake at
//! once.

pub(crate) mod assumptions;
mod base_path;
mod dialect;
mod mask;
mod read;
mod rows;
#[cfg(test)]
mod tests;
mod values;

use std::collections::BTreeMap;
use std::fmt;

use crate::api::crud::{MOST_PER_PAGE, PER_PAGE};
use crate::api::operation::{Contract, Operation};

pub(crate) use self::base_path::BasePath;
pub(crate) use self::dialect::{Dialect, ENVELOPE, ErrorFormat, Header, LoggedId, Name};
pub(crate) use self::rows::takes_alias;

/// The differences from our assumptions; none by default.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Overlay {
    /// The path before every route.
    pub(crate) base_path: BasePath,
    pub(crate) rows: Rows,
    pub(crate) auth: Auth,
    pub(crate) dialect: Dialect,
}

impl fmt::Debug for Overlay {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Its keys are secrets.
        out.debug_struct("Overlay")
            .field("base_path", &self.base_path)
            .field("rows", &self.rows)
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}

impl Overlay {
    /// The name of the header with this key; `None` if it is off.
    pub(crate) fn called(&self, key: &str) -> Option<&str> {
        let changed = self.dialect.headers.iter().find(|(header, _)| header.key == key);
        match changed {
            Some((_, name)) => name.as_ref().map(|name| name.written.as_str()),
            None => Header::ALL.iter().find(|header| header.key == key).map(|header| header.name),
        }
    }

    /// Only the two published operations.
    pub(crate) fn published() -> Self {
        Self { rows: Rows { published_only: true, ..Rows::default() }, ..Self::default() }
    }
}

/// The rows of the product that are served, and their changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Whether assumed rows are left out.
    pub(crate) published_only: bool,
    /// By the row's name.
    pub(crate) changed: BTreeMap<&'static str, Row>,
    pub(crate) paging: Paging,
    /// Whether a POST must have an `Idempotency-Key`.
    pub(crate) key_required: bool,
    /// Where the product has webhook endpoints; none by default.
    pub(crate) webhook_endpoints: Option<String>,
}

/// The webhook endpoints of the control plane.
pub(crate) const WEBHOOK_ENDPOINTS: &str = "/_sandbox/webhook-endpoints";

/// The changes of one row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) status: Option<u16>,
    pub(crate) aliases: Vec<String>,
    pub(crate) disabled: bool,
}

impl Rows {
    pub(crate) fn serves(&self, row: &Operation) -> bool {
        let left_out = self.published_only && row.contract == Contract::Assumed;
        !left_out && self.changed(row).is_none_or(|changed| !changed.disabled)
    }

    /// The status of the row's success.
    pub(crate) fn status(&self, row: &Operation) -> u16 {
        self.changed(row).and_then(|changed| changed.status).unwrap_or(row.success)
    }

    /// Further paths of the row.
    pub(crate) fn aliases(&self, row: &Operation) -> &[String] {
        self.changed(row).map_or(&[], |changed| &changed.aliases)
    }

    /// The path in the product of a row of the control plane.
    pub(crate) fn product_path(&self, row: &Operation) -> Option<String> {
        let rest = row.path.strip_prefix(WEBHOOK_ENDPOINTS)?;
        Some(format!("{}{rest}", self.webhook_endpoints.as_ref()?))
    }

    fn changed(&self, row: &Operation) -> Option<&Row> {
        self.changed.get(row.name)
    }
}

/// The number of rows of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paging {
    /// The default without `per_page`.
    pub(crate) default: u64,
    /// The maximum; larger values count as it.
    pub(crate) most: u64,
}

impl Default for Paging {
    fn default() -> Self {
        Self { default: PER_PAGE, most: MOST_PER_PAGE }
    }
}

impl Paging {
    /// The description of `per_page` in the document.
    pub(crate) fn words(self) -> String {
        let Self { default, most } = self;
        format!(
            "Rows per page, from 1. Values above {most} are treated as {most}. Default: \
            {default}."
        )
    }
}

/// The accepted keys.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Auth {
    /// The only keys that open a world; any if empty.
    pub(crate) keys: Vec<String>,
    /// Whether keys that look like those of live systems are refused.
    pub(crate) refuse_live: bool,
}

impl Default for Auth {
    fn default() -> Self {
        Self { keys: Vec::new(), refuse_live: true }
    }
}
