//! Names of people. A person is two `&'static str` without allocation, because a page of a world of ten million must cost microseconds.

#![cfg_attr(
    not(test),
    expect(dead_code, reason = "tests read some columns that the program does not use")
)]

use std::ops::Deref;
use std::sync::{LazyLock, OnceLock};

use fake::locales::{Data, EN, FR_FR, IT_IT, NL_NL, PT_BR, PT_PT};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::countries::Country;
use super::{Sections, pick};
use crate::value::Key;

/// First and last name of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) first: &'static str,
    pub(crate) last: &'static str,
}

/// The names of people in one country. They are read when a person is named.
#[derive(Debug)]
pub(crate) struct Names {
    id: &'static str,
    table: OnceLock<&'static NameTable>,
}

impl Deref for Names {
    type Target = NameTable;

    fn deref(&self) -> &NameTable {
        self.table.get_or_init(|| TABLES.find(self.id).expect("its id was checked"))
    }
}

/// Reads the id of a table.
impl<'de: 'static> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = <&'static str>::deserialize(deserializer)?;
        if TABLES.ids().any(|known| known == id) {
            return Ok(Self { id, table: OnceLock::new() });
        }
        Err(D::Error::custom(format!("names.toml has no table {id}")))
    }
}

/// A table of names.
#[derive(Debug)]
pub(crate) struct NameTable {
    groups: Vec<Group>,
}

/// Names that belong together, with their percentage of people.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) share: u64,
    pub(crate) first: Vec<&'static str>,
    pub(crate) last: Vec<&'static str>,
}

/// Purposes as numbers: hashing strings would be too slow for pages of names.
const GROUP: u64 = 0;
const FIRST: u64 = 1;
const LAST: u64 = 2;

/// The person for `key`, independent of other draws from that key.
pub(crate) fn person(country: &Country, key: Key) -> Person {
    let group = country.names.group(key);
    Person {
        first: pick::<&str>(key.at(FIRST), &group.first),
        last: pick::<&str>(key.at(LAST), &group.last),
    }
}

impl NameTable {
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn group(&self, key: Key) -> &Group {
        let (last, others) = self.groups.split_last().expect("a table has a group");
        if others.is_empty() {
            return last;
        }
        let mut percent = key.at(GROUP).below(100);
        for group in others {
            match percent.checked_sub(group.share) {
                Some(rest) => percent = rest,
                None => return group,
            }
        }
        last
    }
}

static TABLES: LazyLock<Sections<NameTable>> = LazyLock::new(|| {
    let text = include_str!("../../../fixtures/growth/names.toml");
    Sections::cut("growth/names.toml", text, "[[table]]\n")
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableRow {
    id: &'static str,
    group: Vec<GroupRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupRow {
    share: u64,
    fake: Option<&'static str>,
    #[serde(default)]
    first: Vec<&'static str>,
    #[serde(default)]
    last: Vec<&'static str>,
}

impl<'de: 'static> Deserialize<'de> for NameTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        TableRow::deserialize(deserializer).map(Self::from)
    }
}

impl From<TableRow> for NameTable {
    fn from(row: TableRow) -> Self {
        let shares: u64 = row.group.iter().map(|group| group.share).sum();
        assert_eq!(shares, 100, "names.toml: shares of {}", row.id);
        Self { groups: row.group.into_iter().map(Group::from).collect() }
    }
}

impl From<GroupRow> for Group {
    fn from(row: GroupRow) -> Self {
        let (first, last) = match row.fake {
            Some(locale) => locale_names(locale),
            None => (row.first, row.last),
        };
        assert!(!first.is_empty() && !last.is_empty(), "names.toml: a group without names");
        Self { share: row.share, first, last }
    }
}

/// The lists themselves are used, because `fake` picks with rand's sampler, which is not a stable function of the seed.
fn locale_names(locale: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    match locale {
        "en" => lists::<EN>(),
        "fr" => lists::<FR_FR>(),
        "it" => lists::<IT_IT>(),
        "nl" => lists::<NL_NL>(),
        "pt" => lists::<PT_PT>(),
        "pt_br" => lists::<PT_BR>(),
        other => panic!("names.toml: no locale {other}"),
    }
}

/// Trimmed, because one Italian surname ends in a tab. Impossible names are removed, such as a Portuguese surname with a quotation mark.
fn lists<L: Data>() -> (Vec<&'static str>, Vec<&'static str>) {
    let is_name = |name: &&str| !name.contains(['"', '\\']);
    let good =
        |names: &[&'static str]| names.iter().map(|name| name.trim()).filter(is_name).collect();
    (good(L::NAME_FIRST_NAME), good(L::NAME_LAST_NAME))
}
