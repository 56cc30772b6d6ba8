//! The trial of an import in copies of a world: the mistakes that only the rules of the world find.
//!
//! One mistake must not hide another. So a refused call is reported, repaired and repeated, and the rows that need
//! its resource are tried, too. A repair leaves the wrong member out, or takes it from the operation's example.
//! Mistakes that a repair causes are not reported.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::api::control::import::perform;
use crate::model::growth::countries;
use crate::scenario::import::form::REPORTED;
use crate::scenario::import::plan::Plan;
use crate::scenario::members::is_reference;
use crate::scenario::vocabulary::vocabulary;
use crate::value::{ApiError, Diagnostic, Violation};
use crate::world::World;

/// Maximum number of repairs of one call.
const MOST_REPAIRS: usize = 32;
/// Maximum number of countries that are tried for a company whose country is wrong.
const MOST_COUNTRIES: usize = 4;
/// The countries to try if the currency of the company does not determine one. Their banks and taxes differ.
const USUAL_COUNTRIES: [&str; MOST_COUNTRIES] = ["NG", "GB", "US", "DE"];

/// A mistake that the trial finds.
pub(super) struct Mistake {
    /// The file, by its place in the list.
    pub(super) file: usize,
    pub(super) diagnostic: Diagnostic,
    /// Whether it is about a whole row, which can have further mistakes.
    pub(super) is_of_row: bool,
}

impl Mistake {
    /// Whether this one is reported already.
    pub(super) fn is_known(&self, known: &[Diagnostic]) -> bool {
        known.iter().any(|known| {
            if self.is_of_row {
                *known == self.diagnostic
            } else {
                known.is_of_same_place(&self.diagnostic)
            }
        })
    }
}

/// The mistakes of an import that the rules of this world refuse. If the country of a company is wrong, several
/// countries are tried, and only mistakes in all of them are reported.
pub(super) fn mistakes(plan: &Plan, world: &World) -> Vec<Mistake> {
    let creating = plan.calls.iter().filter(|call| call.call == "createCompany");
    let choices = creating.map(|call| choices(&call.with).len()).max().unwrap_or(1);
    let mut all = Trial::of(plan, world, 0);
    for choice in 1..choices {
        let others = Trial::of(plan, world, choice);
        let is_same = |one: &Mistake, other: &Mistake| {
            one.file == other.file && one.diagnostic.is_of_same_place(&other.diagnostic)
        };
        all.retain(|one| others.iter().any(|other| is_same(one, other)));
    }
    all
}

/// The countries that a company may have.
fn choices(company: &Value) -> Vec<&str> {
    match company["country"].as_str() {
        Some(known) if countries::is_known(known) => return vec![known],
        _ => {}
    }
    let mut found = with_currency_of(company);
    found.truncate(MOST_COUNTRIES);
    if found.is_empty() { USUAL_COUNTRIES.to_vec() } else { found }
}

/// The countries that have the currency of a company.
pub(super) fn with_currency_of(company: &Value) -> Vec<&'static str> {
    let currency = company["currency"].as_str().unwrap_or_default();
    let has_it = |code: &&str| countries::find(code).is_some_and(|it| it.currency == currency);
    countries::codes().filter(has_it).collect()
}

/// One run of all calls.
struct Trial<'p> {
    plan: &'p Plan,
    /// Which of the possible countries a company gets.
    choice: usize,
    /// The rows with a repaired call.
    repaired: BTreeSet<usize>,
    /// Number of repairs of each call.
    repairs: BTreeMap<usize, usize>,
    found: Vec<Mistake>,
}

impl<'p> Trial<'p> {
    fn of(plan: &'p Plan, world: &World, choice: usize) -> Vec<Mistake> {
        let (repaired, repairs) = (BTreeSet::new(), BTreeMap::new());
        let mut trial = Self { plan, choice, repaired, repairs, found: Vec::new() };
        let mut calls = plan.calls.clone();
        for (place, call) in calls.iter_mut().enumerate() {
            trial.repair_form(place, &mut call.with);
        }
        perform(&mut world.clone(), &calls, &mut |place, with, error| {
            trial.refused(place, with, error)
        });
        trial.found
    }

    /// Repairs what `rows` has reported: the mistakes that the schema of the operation shows.
    fn repair_form(&mut self, place: usize, with: &mut Value) {
        let operation = &self.plan.calls[place].call;
        for _ in 0..MOST_REPAIRS {
            let found = vocabulary().operations[operation].checker().check(with);
            let text = |pointer: &str| with.pointer(pointer).and_then(Value::as_str);
            let is_wrong = |one: &&Violation| {
                text(&one.pointer).is_none_or(|text| text == REPORTED || !is_reference(text))
            };
            let wrong: Vec<String> =
                found.iter().filter(is_wrong).map(|one| one.pointer.clone()).collect();
            if wrong.is_empty() || !self.repair(place, with, &wrong) {
                return;
            }
        }
    }

    /// Reports a refusal, and returns a repaired input to call again with.
    fn refused(&mut self, place: usize, with: &Value, error: &ApiError) -> Option<Value> {
        let row = self.plan.row_of(place);
        let is_repaired = self.repaired.contains(&row);
        for refusal in self.plan.refusal(place, error) {
            if refusal.is_written || !is_repaired {
                self.found.push(refusal.mistake);
            }
        }
        let repairs = self.repairs.entry(place).or_default();
        *repairs += 1;
        if *repairs > MOST_REPAIRS {
            return None;
        }
        let wrong: Vec<String> = error.errors.iter().map(|one| one.pointer.clone()).collect();
        let mut with = with.clone();
        let is_repaired = self.repair(place, &mut with, &wrong);
        self.repair_form(place, &mut with);
        is_repaired.then_some(with)
    }

    /// Whether a member could be repaired.
    fn repair(&mut self, place: usize, with: &mut Value, wrong: &[String]) -> bool {
        let mut is_repaired = false;
        for pointer in wrong {
            is_repaired |= self.repair_member(&self.plan.calls[place].call, with, pointer);
        }
        if is_repaired {
            self.repaired.insert(self.plan.row_of(place));
        }
        is_repaired
    }

    /// Removes a wrong member. If the member is missing, it is required: it is then taken from the example, or its
    /// parent is removed.
    fn repair_member(&self, operation: &str, with: &mut Value, pointer: &str) -> bool {
        if operation == "createCompany" && pointer == "/country" {
            let known = choices(with);
            let country = known[self.choice.min(known.len() - 1)].to_owned();
            with["country"] = country.into();
            return true;
        }
        let Some((parent, name)) = pointer.rsplit_once('/') else { return false };
        let name = name.replace("~1", "/").replace("~0", "~");
        let example = || -> Option<Value> {
            let example = vocabulary().operations[operation].operation.example;
            serde_json::from_str::<Value>(example).ok()?.pointer(pointer).cloned()
        };
        match with.pointer_mut(parent) {
            Some(Value::Object(members)) => {
                if members.shift_remove(&name).is_some() {
                    return true;
                }
                if let Some(value) = example() {
                    members.insert(name, value);
                    return true;
                }
            }
            Some(Value::Array(items)) => {
                if let Some(at) = name.parse().ok().filter(|at| *at < items.len()) {
                    items.remove(at);
                    return true;
                }
            }
            _ => {}
        }
        self.repair_member(operation, with, parent)
    }
}
