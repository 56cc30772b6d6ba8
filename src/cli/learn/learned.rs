//! The result of learning: whether each assumption is confirmed or different, and the resulting contract.

use std::collections::BTreeMap;

use crate::api::operation::Operation;
use crate::cli::learn::call::Call;
use crate::engine::contract::assumptions::{self, Assumption};
use crate::engine::contract::{Overlay, Row, takes_alias};
use crate::render::assumptions::{differences, file};
use crate::value::Look;

/// Maximum number of places that are kept for one difference.
const MOST_PLACES: usize = 3;

/// The result of all checks.
pub(super) struct Learned {
    /// The contract in force, with the changes that were learned.
    contract: Overlay,
    before: Overlay,
    seen: BTreeMap<&'static str, Seen>,
}

/// The evidence about one assumption.
#[derive(Default)]
pub(super) struct Seen {
    /// The places that confirm it.
    pub(super) confirmed: Vec<String>,
    pub(super) different: Vec<Difference>,
    /// Calls of a recording that depend on it.
    pub(super) used: Vec<String>,
}

/// One difference.
pub(super) struct Difference {
    /// The behaviour of the service.
    pub(super) what: String,
    pub(super) at: Vec<String>,
    /// The key of the contract that covers it.
    pub(super) key: Option<String>,
}

impl Learned {
    pub(super) fn new(contract: Overlay) -> Self {
        Self { before: contract.clone(), contract, seen: BTreeMap::new() }
    }

    pub(super) const fn contract(&self) -> &Overlay {
        &self.contract
    }

    /// Changes the contract if a contract file can have this change, and returns whether it can. `change` returns false if no key has it.
    pub(super) fn set(&mut self, change: impl FnOnce(&mut Overlay) -> bool) -> bool {
        let mut changed = self.contract.clone();
        let is_possible =
            change(&mut changed) && Overlay::parse("", &file(&changed), Look::Plain).is_ok();
        if is_possible {
            self.contract = changed;
        }
        is_possible
    }

    /// Adds an alias of an operation if a contract file can have it, and returns whether it can.
    pub(super) fn add_alias(&mut self, row: &'static Operation, alias: &str) -> bool {
        let is_possible = takes_alias(&self.contract, row, alias);
        if is_possible {
            let changed = self.contract.rows.changed.entry(row.name).or_default();
            changed.aliases.push(alias.to_owned());
        }
        is_possible
    }

    /// Switches an operation off, unless the contract changes it. Returns whether it did.
    pub(super) fn switch_off(&mut self, row: &'static Operation) -> bool {
        let changed = self.contract.rows.changed.entry(row.name).or_default();
        changed.disabled = *changed == Row::default();
        changed.disabled
    }

    /// Whether the contract has gained this key.
    pub(super) fn has_learned(&self, key: &str) -> bool {
        self.changes().contains_key(key)
    }

    fn of(&mut self, id: &str) -> &mut Seen {
        let known = assumptions::all().find(|one| one.id == id);
        let known = known.expect("every check belongs to an assumption: a test runs all");
        self.seen.entry(known.id.as_str()).or_default()
    }

    pub(super) fn confirm(&mut self, id: &str, call: &Call) {
        note(&mut self.of(id).confirmed, &call.at);
    }

    /// Notes that a call of a recording depends on it.
    pub(super) fn uses(&mut self, id: &str, call: &Call) {
        note(&mut self.of(id).used, &call.at);
    }

    /// Adds a difference. `key` is the key of the contract that was set because of it.
    pub(super) fn differ(&mut self, id: &str, what: String, call: &Call, key: Option<&str>) {
        let seen = self.of(id);
        if let Some(known) = seen.different.iter_mut().find(|it| it.what == what) {
            note(&mut known.at, &call.at);
            return;
        }
        let key = key.map(str::to_owned);
        seen.different.push(Difference { what, at: vec![call.at.clone()], key });
    }

    /// Confirms an assumption or adds a difference that no key covers.
    pub(super) fn check(&mut self, id: &str, agrees: bool, what: &str, call: &Call) {
        if agrees {
            self.confirm(id, call);
        } else {
            self.differ(id, what.to_owned(), call, None);
        }
    }

    /// Every assumption, with the evidence about it.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'static Assumption, Option<&Seen>)> {
        assumptions::all().map(|one| (one, self.seen.get(one.id.as_str())))
    }

    /// All differences.
    pub(super) fn different(&self) -> impl Iterator<Item = &Difference> {
        self.seen.values().flat_map(|seen| &seen.different)
    }

    /// The keys that the contract has gained, with their values.
    pub(super) fn changes(&self) -> BTreeMap<String, String> {
        let before = differences(&self.before);
        differences(&self.contract).into_iter().filter(|it| !before.contains(it)).collect()
    }
}

fn note(places: &mut Vec<String>, at: &str) {
    if places.len() < MOST_PLACES && !places.iter().any(|known| known == at) {
        places.push(at.to_owned());
    }
}
