//! The contract overlay: what of our assumptions the real service turned out to do otherwise, as data.
//!
//! The table of operations stays as it is. An overlay says which rows are served, where, and with which status
//! ([`Rows`], applied by the router), how many rows a page has, who may come in ([`Auth`]), and which dialect the doors
//! speak ([`dialect`]): names of headers and the form of refusals are translated as requests come in and replies go out, so
//! that nothing between the doors knows of them. The control plane is the sandbox's own and stays as it is.
//!
//! Deliberately absent: reading files. A wrong overlay is told apart from a right one by [`Overlay::parse`] alone, with
//! every mistake at once.

pub(crate) mod assumptions;
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
use crate::value::Look;
use crate::value::diagnostic::report;

pub(crate) use self::dialect::{Dialect, ENVELOPE, ErrorFormat, Header, LoggedId};

/// What differs from our assumptions; nothing by default.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Overlay {
    pub(crate) rows: Rows,
    pub(crate) auth: Auth,
    pub(crate) dialect: Dialect,
}

impl fmt::Debug for Overlay {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Its keys are secrets.
        out.debug_struct("Overlay")
            .field("rows", &self.rows)
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}

impl Overlay {
    /// The overlay of a file's text. An error is the report of every mistake in it, in which no key is shown.
    pub(crate) fn parse(file: &str, source: &str, look: Look) -> Result<Self, String> {
        read::read(source).map_err(|found| report(file, &mask::masked(source), &found, look))
    }

    /// What the header of that key is called; `None` where it is off.
    pub(crate) fn called(&self, key: &str) -> Option<&str> {
        let changed = self.dialect.headers.iter().find(|(header, _)| header.key == key);
        match changed {
            Some((_, name)) => name.as_ref().map(|name| name.written.as_str()),
            None => Header::ALL.iter().find(|header| header.key == key).map(|header| header.name),
        }
    }

    /// Nothing but the two operations that the specification shows.
    pub(crate) fn published() -> Self {
        Self { rows: Rows { published_only: true, ..Rows::default() }, ..Self::default() }
    }
}

/// Which rows of the product are served, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Whether rows that we assumed are left out.
    pub(crate) published_only: bool,
    /// By the row's name.
    pub(crate) changed: BTreeMap<&'static str, Row>,
    pub(crate) paging: Paging,
    /// Whether a POST must have an `Idempotency-Key`.
    pub(crate) key_required: bool,
}

/// What is otherwise of one row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) status: Option<u16>,
    pub(crate) aliases: Vec<String>,
    pub(crate) disabled: bool,
}

impl Rows {
    /// Whether the row is served at all.
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

    fn changed(&self, row: &Operation) -> Option<&Row> {
        self.changed.get(row.name)
    }
}

/// How many rows a page has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paging {
    /// Without `per_page`.
    pub(crate) default: u64,
    /// At most; more is taken as this.
    pub(crate) most: u64,
}

impl Default for Paging {
    fn default() -> Self {
        Self { default: PER_PAGE, most: MOST_PER_PAGE }
    }
}

impl Paging {
    /// What the document says of `per_page`.
    pub(crate) fn words(self) -> String {
        let Self { default, most } = self;
        format!("Rows a page, from 1; more than {most} is taken as {most}. {default} if absent.")
    }
}

/// Whose requests are taken.
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
