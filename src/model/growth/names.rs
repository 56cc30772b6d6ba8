//! Names of people. A person is two `&'static str` without allocation, so that a page of a world of ten million
//! people takes microseconds.

use core::fmt;
use std::ops::Deref;
use std::sync::{LazyLock, OnceLock};

use fake::locales::{Data, EN, FR_FR, IT_IT, NL_NL, PT_BR, PT_PT};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::countries::Country;
use super::{Sections, permuted, pick, spelling};
use crate::value::Key;

/// First and last name of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) first: &'static str,
    pub(crate) last: &'static str,
}

/// A person among the numbered people of a company. No two of them have the same e-mail address, and few the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) person: Person,
    /// The number of earlier people with the same first and last name.
    again: u64,
}

/// Initials of middle names, which distinguish people with the same names.
const INITIALS: &[u8] = b"ABCDEFGHJKLMNOPRSTW";

impl Numbered {
    /// The initial of a middle name, an ASCII letter, if an earlier person has the same names.
    pub(crate) fn middle(self) -> Option<u8> {
        let place = self.again.checked_sub(1)? % INITIALS.len() as u64;
        Some(INITIALS[usize::try_from(place).unwrap_or_default()])
    }

    /// The number after the last name in an e-mail address, if initials do not suffice.
    pub(crate) fn suffix(self) -> Option<u64> {
        let round = self.again.checked_sub(1)? / INITIALS.len() as u64;
        (round > 0).then_some(round + 1)
    }
}

impl fmt::Display for Numbered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Person { first, last } = self.person;
        match self.middle() {
            None => write!(f, "{first} {last}"),
            Some(initial) => write!(f, "{first} {}. {last}", char::from(initial)),
        }
    }
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
    /// The last names of all groups, each once.
    families: Vec<&'static str>,
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

/// The number of people whose groups are drawn together: shares are percentages.
const BLOCK: u64 = 100;

/// The person with this number among the people of `key`.
///
/// Groups are distributed in blocks of a hundred people, so that the number of earlier people in a group can be
/// calculated. That number selects a pair from a permutation of the group's pairs of names. A pair repeats only after
/// all others.
pub(crate) fn numbered(country: &Country, key: Key, number: u64) -> Numbered {
    const UNITS: [u64; 8] = [1, 7, 11, 13, 17, 19, 23, 29]; // coprime to 100
    let (block, seat) = (number / BLOCK, number % BLOCK);
    let bits = key.at(GROUP).at(block).hash();
    let unit = UNITS[usize::try_from(bits & 7).unwrap_or_default()];
    let mut seat = (seat * unit + (bits >> 40)) % BLOCK;
    for (place, group) in (1..).zip(country.names.groups()) {
        match seat.checked_sub(group.share) {
            Some(rest) => seat = rest,
            None => return group.numbered(key.at(place), block * group.share + seat),
        }
    }
    unreachable!("the shares of a table are a hundred")
}

impl Group {
    /// The person with this number in the group.
    fn numbered(&self, key: Key, number: u64) -> Numbered {
        let pairs = [self.first.len() as u64, self.last.len() as u64];
        let (again, [first, last]) = permuted(key, number, pairs);
        let of = |names: &[&'static str], place| names[usize::try_from(place).unwrap_or_default()];
        Numbered {
            person: Person { first: of(&self.first, first), last: of(&self.last, last) },
            again,
        }
    }
}

impl NameTable {
    /// The last names of the country, without two that are written the same in an address.
    pub(crate) fn families(&self) -> &[&'static str] {
        &self.families
    }

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
    Sections::of("growth/names.toml", include!(concat!(env!("OUT_DIR"), "/names.rs")))
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
        let mut groups: Vec<Group> = Vec::new();
        for group in row.group.into_iter().map(Group::from) {
            groups.push(group.apart_from(&groups));
        }
        let mut families = groups.iter().flat_map(|group| &group.last).copied().collect();
        spelling::keep_distinct(&mut families);
        Self { groups, families }
    }
}

impl Group {
    /// Removes names with the same spelling in an address, and last names of earlier groups that share a first name.
    /// Therefore a pair of names is in one group only.
    fn apart_from(mut self, earlier: &[Self]) -> Self {
        let own = spelling::keep_distinct(&mut self.first);
        spelling::keep_distinct(&mut self.last);
        let shares = |group: &&Self| {
            spelling::hashes(&group.first).iter().any(|hash| own.binary_search(hash).is_ok())
        };
        for group in earlier.iter().filter(shares) {
            let mut taken = spelling::hashes(&group.last);
            taken.sort_unstable();
            let mut hashes = spelling::hashes(&self.last).into_iter();
            let is_free = |hash: u64| taken.binary_search(&hash).is_err();
            self.last.retain(|_| hashes.next().is_some_and(is_free));
        }
        assert!(!self.last.is_empty(), "names.toml: a group without last names of its own");
        self
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
