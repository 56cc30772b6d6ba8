//! Watchlists of people and businesses: the shipped ones, and the entries that a caller added.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::model::identity::name_index;
use crate::model::identity::name_index::NameIndex;
use crate::model::name_match::{MatchType, Name};
use crate::model::prelude::*;

/// A watchlist.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ListName {
    Sanctions,
    Pep,
    Watchlist,
    AdverseMedia,
}

impl ListName {
    /// Every list.
    pub(crate) const ALL: [Self; 4] =
        [Self::Sanctions, Self::Pep, Self::Watchlist, Self::AdverseMedia];

    /// The risk score of a hit with that match score, out of 100.
    pub(crate) fn risk(self, score: u32) -> u32 {
        let list = LISTS.iter().find(|list| list.id == self);
        score * list.map_or(100, |list| list.weight) / 100
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    list: Vec<List>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    id: ListName,
    prefix: String,
    #[serde(rename = "title")]
    _title: String,
    weight: u32,
    names: Vec<String>,
}

static LISTS: LazyLock<Vec<List>> = LazyLock::new(|| {
    let text = include_str!("../../../fixtures/watchlists.toml");
    let file: File =
        toml::from_str(text).unwrap_or_else(|error| panic!("fixtures/watchlists.toml: {error}"));
    file.list
});

/// All names of all lists, in order.
static INDEX: LazyLock<NameIndex> = LazyLock::new(|| {
    NameIndex::of(LISTS.iter().flat_map(|list| list.names.iter().map(String::as_str)))
});

/// A list entry with a similar name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) list: ListName,
    pub(crate) entry_id: String,
    pub(crate) name: String,
    pub(crate) score: u32,
    pub(crate) kind: MatchType,
}

/// Entries of the shipped lists with at least that match score.
pub(crate) fn search(name: &str, lists: &[ListName], least: u32) -> Vec<Listed> {
    let found = INDEX.search(name, least).into_iter().filter_map(|found| {
        let (list, number, entry) = entry(found.place)?;
        lists.contains(&list.id).then(|| Listed {
            list: list.id,
            entry_id: format!("{}-{number:03}", list.prefix),
            name: entry.to_owned(),
            score: found.score,
            kind: found.kind,
        })
    });
    found.collect()
}

/// The entry at a position among all entries, with its number in its list, from 1.
fn entry(place: usize) -> Option<(&'static List, usize, &'static str)> {
    let mut place = place;
    for list in LISTS.iter() {
        match list.names.get(place) {
            Some(name) => return Some((list, place + 1, name.as_str())),
            None => place -= list.names.len(),
        }
    }
    None
}

/// An entry that a caller added to a watchlist of one world.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WatchlistEntry {
    /// The entry's id.
    pub(crate) id: Id<WatchlistEntry>,
    /// Always `watchlist_entry`.
    pub(crate) object: Object<WatchlistEntry>,
    /// The company of the subject that was named; null if only a name was given.
    pub(crate) company_id: Option<Id<Company>>,
    /// The watchlist that contains the entry.
    pub(crate) list: ListName,
    /// The name of the person or business.
    pub(crate) name: String,
    /// Always `listed`.
    pub(crate) status: EntryStatus,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Always empty.
    pub(crate) metadata: Metadata,
}

/// Status of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "WatchlistEntryStatus")]
pub(crate) enum EntryStatus {
    Listed,
}

impl WatchlistEntry {
    /// A watchlist entry has no parent: it applies to every company.
    #[expect(clippy::unused_self, reason = "the caller requires a parent from every resource")]
    pub(crate) const fn parent_bits(&self) -> u64 {
        0
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }

    /// The index keys of its name.
    pub(crate) fn name_keys(&self) -> BTreeSet<u64> {
        name_index::keys(&Name::read(&self.name))
    }

    /// The match with that name, if its score is at least `least`.
    pub(crate) fn listed(&self, name: &Name, least: u32) -> Option<Listed> {
        let (score, kind) = name.compare(&Name::read(&self.name));
        (score >= least).then(|| Listed {
            list: self.list,
            entry_id: self.id.to_string(),
            name: self.name.clone(),
            score,
            kind,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::growth::{countries, names};
    use crate::value::Key;

    #[test]
    fn every_entry_is_found_by_its_own_name() {
        for list in LISTS.iter() {
            for (number, name) in (1..).zip(&list.names) {
                let found = search(name, &[list.id], 100);
                let id = format!("{}-{number:03}", list.prefix);
                assert!(found.iter().any(|hit| hit.entry_id == id), "{name}");
            }
        }
    }

    #[test]
    fn no_generated_name_is_similar_to_a_watchlist_entry() {
        for code in countries::codes() {
            let country = countries::find(code).expect("a code of the table");
            for n in 0..300 {
                let person = names::person(country, Key::new(n));
                let name = format!("{} {}", person.first, person.last);
                let found = search(&name, &ListName::ALL, 80);
                assert_eq!(found, [], "{name}");
            }
        }
    }

    #[test]
    fn a_search_keeps_to_the_lists_that_are_asked_for() {
        let name = &LISTS[0].names[0];
        assert_eq!(search(name, &[ListName::Pep], 90), []);
        assert_eq!(search(name, &[LISTS[0].id], 90).len(), 1);
    }
}
