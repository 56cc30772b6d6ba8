//! The final state of a run without the values that differ between two equal runs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::api::json;
use crate::cli::lab::text;
use crate::world::log_hashes;

/// The effects of a run.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Canon {
    pub(in crate::cli) objects: Vec<Object>,
    money: Vec<Sum>,
}

/// A resource that the run created or changed.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Object {
    pub(in crate::cli) id: String,
    pub(in crate::cli) kind: String,
    pub(in crate::cli) is_obligation: bool,
    pub(in crate::cli) counterparty: Option<String>,
    pub(in crate::cli) value: Value,
}

/// A sum of journal lines: debits minus credits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sum {
    place: Place,
    amount: i64,
}

/// The place of a sum.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cli) struct Place {
    pub(in crate::cli) company: String,
    pub(in crate::cli) account: String,
    pub(in crate::cli) currency: String,
    pub(in crate::cli) counterparty: Option<String>,
}

/// Members that the app itself varies, by kind.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Masks(BTreeSet<(String, String)>);

/// Objects with equal texts.
#[derive(Clone, Copy)]
pub(in crate::cli) struct Group<'a> {
    pub(in crate::cli) count: usize,
    pub(in crate::cli) sample: &'a Object,
}

pub(in crate::cli) type Groups<'a> = BTreeMap<Vec<u8>, Group<'a>>;

impl Canon {
    /// From the canonical difference of the control plane.
    pub(in crate::cli) fn of(found: &Value) -> Self {
        let rows = |name: &str| found[name].as_array().cloned().unwrap_or_default();
        let object = |row: &Value| Object {
            id: text(&row["id"]),
            kind: text(&row["kind"]),
            is_obligation: row["obligation"] == true,
            counterparty: row["counterparty"].as_str().map(str::to_owned),
            value: row["value"].clone(),
        };
        let sum = |row: &Value| Sum {
            place: Place {
                company: text(&row["company_id"]),
                account: text(&row["account"]),
                currency: text(&row["currency"]),
                counterparty: row["counterparty"].as_str().map(str::to_owned),
            },
            amount: row["amount"].as_i64().unwrap_or_default(),
        };
        Self {
            objects: rows("objects").iter().map(object).collect(),
            money: rows("money").iter().map(sum).collect(),
        }
    }

    /// The obligations, or all other objects, by their text.
    pub(in crate::cli) fn groups(&self, masks: &Masks, obligations: bool) -> Groups<'_> {
        let mut groups = Groups::new();
        for object in self.objects.iter().filter(|object| object.is_obligation == obligations) {
            let group =
                groups.entry(masks.text(object)).or_insert(Group { count: 0, sample: object });
            group.count += 1;
        }
        groups
    }

    /// The sums of money that are not zero.
    pub(in crate::cli) fn sums(&self, masks: &Masks) -> BTreeMap<Place, i64> {
        let mut sums: BTreeMap<Place, i64> = BTreeMap::new();
        for Sum { place, amount } in &self.money {
            let mut place = place.clone();
            if masks.hide_names() {
                place.counterparty = None;
            }
            let sum = sums.entry(place).or_default();
            *sum = sum.saturating_add(*amount);
        }
        sums.retain(|_, amount| *amount != 0);
        sums
    }

    /// Whether two runs had the same effects.
    pub(in crate::cli) fn equals(&self, other: &Self, masks: &Masks) -> bool {
        let counts = |canon: &Self, obligations| -> Vec<(Vec<u8>, usize)> {
            let groups = canon.groups(masks, obligations);
            groups.into_iter().map(|(text, group)| (text, group.count)).collect()
        };
        counts(self, true) == counts(other, true)
            && counts(self, false) == counts(other, false)
            && self.sums(masks) == other.sums(masks)
    }

    /// A hash of the effects.
    pub(in crate::cli) fn digest(&self, masks: &Masks) -> String {
        let counts = [true, false].map(|obligations| {
            let groups = self.groups(masks, obligations).into_iter();
            groups.map(|(text, group)| (text, group.count)).collect::<Vec<_>>()
        });
        log_hashes::of(&(counts, format!("{:?}", self.sums(masks))))
    }

    /// The kinds of resources and the accounts in which two runs differ.
    pub(in crate::cli) fn differing(&self, other: &Self, masks: &Masks) -> BTreeSet<String> {
        let objects = unequal(self, other, masks).into_iter().chain(unequal(other, self, masks));
        let mut kinds: BTreeSet<String> = objects.map(|object| object.kind.clone()).collect();
        let (one, two) = (self.sums(masks), other.sums(masks));
        let places = one.keys().chain(two.keys());
        let places = places.filter(|place| one.get(*place) != two.get(*place));
        kinds.extend(places.map(|place| place.account.clone()));
        kinds
    }

    /// Whether a resource existed before the run. It has its id in its text.
    pub(in crate::cli) fn existed(&self, id: &str) -> bool {
        self.objects.iter().any(|object| object.id == id && object.value["id"] == id)
    }

    /// The text of each object, by its id.
    pub(in crate::cli) fn texts(&self, masks: &Masks) -> BTreeMap<&str, String> {
        let text = |object: &Object| String::from_utf8_lossy(&masks.text(object)).into_owned();
        self.objects.iter().map(|object| (object.id.as_str(), text(object))).collect()
    }
}

impl Masks {
    /// The members in which the unequal objects of two runs differ, each with its nearest one.
    pub(in crate::cli) fn between(one: &Canon, two: &Canon) -> Self {
        let none = Self::default();
        let mut masks = Self::default();
        let (mut left, right) = (unequal(one, two, &none), unequal(two, one, &none));
        for object in right {
            let same = |other: &&Object| other.kind == object.kind;
            let nearest = left
                .iter()
                .enumerate()
                .filter(|(_, other)| same(other))
                .map(|(place, other)| (differing(object, other), place))
                .min();
            let Some((members, place)) = nearest else { continue };
            left.remove(place);
            masks.0.extend(members.into_iter().map(|member| (object.kind.clone(), member)));
        }
        masks
    }

    /// Whether the names of recipients and payers differ from run to run.
    pub(in crate::cli) fn hide_names(&self) -> bool {
        let names = ["name", "recipient", "payer", "customer", "first_name", "last_name"];
        self.0.iter().any(|(_, member)| names.contains(&member.as_str()))
    }

    fn text(&self, object: &Object) -> Vec<u8> {
        let mut value = object.value.clone();
        self.hide(&object.kind, &mut value);
        let mut text = object.kind.clone().into_bytes();
        text.extend_from_slice(&json::canonical(&value));
        text
    }

    /// Removes the masked members, also of the resources inside.
    fn hide(&self, kind: &str, value: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        match value {
            Value::Object(members) => {
                let kind = match members.get("object").and_then(Value::as_str) {
                    Some(inner) => inner.to_owned(),
                    None => kind.to_owned(),
                };
                members.retain(|name, _| !self.0.contains(&(kind.clone(), name.clone())));
                for member in members.values_mut() {
                    self.hide(&kind, member);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide(kind, item)),
            _ => {}
        }
    }
}

/// The objects that only one of two runs has. An object occurs as many times as one run has it more
/// often.
fn unequal<'a>(one: &'a Canon, other: &Canon, masks: &Masks) -> Vec<&'a Object> {
    let mut rest: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for object in &other.objects {
        *rest.entry(masks.text(object)).or_default() += 1;
    }
    let is_more = |object: &&Object| match rest.get_mut(&masks.text(object)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    one.objects.iter().filter(is_more).collect()
}

/// Members that identify a resource. A difference in them is never masked.
const SAYING: [&str; 5] = ["amount", "currency", "status", "period", "object"];

fn differing(one: &Object, other: &Object) -> Vec<String> {
    let (Some(one), Some(other)) = (one.value.as_object(), other.value.as_object()) else {
        return Vec::new();
    };
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let names = names.into_iter().filter(|name| one.get(*name) != other.get(*name));
    let names = names.filter(|name| !name.ends_with("_id") && !SAYING.contains(&name.as_str()));
    names.cloned().collect()
}
