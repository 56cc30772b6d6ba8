//! The result of learning: whether each assumption is confirmed or different, and the resulting contract.

use std::collections::BTreeMap;

use crate::cli::learn::call::Call;
use crate::engine::contract::Overlay;
use crate::engine::contract::assumptions::{self, Assumption};
use crate::render::assumptions::differences;

/// The most places that are kept for one difference.
const MOST_PLACES: usize = 3;

/// The result of all checks.
pub(super) struct Learned {
    /// The contract in force, with the changes that were learned.
    pub(super) contract: Overlay,
    before: Overlay,
    seen: BTreeMap<&'static str, Seen>,
}

/// What was seen about one assumption.
#[derive(Default)]
pub(super) struct Seen {
    /// Where it was confirmed.
    pub(super) confirmed: Vec<String>,
    pub(super) different: Vec<Difference>,
    /// Calls of a recording that depend on it.
    pub(super) used: Vec<String>,
}

/// One difference.
pub(super) struct Difference {
    /// What the service does.
    pub(super) what: String,
    pub(super) at: Vec<String>,
    /// The key of the contract that covers it.
    pub(super) key: Option<String>,
}

impl Learned {
    pub(super) fn new(contract: Overlay) -> Self {
        Self { before: contract.clone(), contract, seen: BTreeMap::new() }
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

    /// Every assumption, with what was seen about it.
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
