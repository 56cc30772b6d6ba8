//! The details that the specification leaves open ("not shown"), with the sandbox's behaviour:
//! `fixtures/assumptions.toml`.
//!
//! Tests check that every error code, header, key of the overlay and area of assumed operations has a row. They also
//! check that every row names an existing test.

use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Assumption {
    /// Its name, for references.
    pub(crate) id: String,
    /// The section of the specification that leaves it open.
    pub(crate) section: String,
    pub(crate) question: String,
    /// The sandbox's answer.
    pub(crate) answer: String,
    /// Keys of the overlay that override it; empty if there are none.
    #[serde(default)]
    keys: Vec<String>,
    /// Whether it is an area of operations.
    #[serde(default)]
    area: bool,
    /// Another setting that changes it: a flag, a scenario or a call.
    pub(crate) setting: Option<String>,
    /// The reason why no setting changes it.
    pub(crate) fixed: Option<String>,
    /// The test that shows it.
    pub(crate) proof: String,
}

impl Assumption {
    /// The path of an area: the first one in its answer.
    pub(crate) fn area_path(&self) -> Option<&str> {
        let start = self.answer.find("/api/").filter(|_| self.area)?;
        self.answer[start..].split('`').next()
    }

    /// Keys of the overlay that override it; none if it has no key.
    pub(crate) fn keys(&self) -> Vec<&str> {
        if self.area { AREA.to_vec() } else { self.keys.iter().map(String::as_str).collect() }
    }
}

/// Keys that change the operations of an area.
const AREA: [&str; 4] =
    ["operations.*.enabled", "operations.*.aliases", "operations.*.status", "serve"];

#[derive(Deserialize)]
struct Table {
    assumption: Vec<Assumption>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../fixtures/assumptions.toml"))
        .expect("tests read the table")
});

/// Every assumption, in the order of the specification.
pub(crate) fn all() -> impl Iterator<Item = &'static Assumption> {
    TABLE.assumption.iter()
}
