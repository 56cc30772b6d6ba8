//! The canonical form of a difference: equal for two runs of one program that had the same effects.
//!
//! It leaves out values that depend on the number or the time of attempts: ids, instants, references, rails and fees.
//! `sandbox exam` compares it. Deliberately absent: values that the program itself varies; only a comparison of two
//! runs can find them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::api::json;
use crate::api::prelude::*;
use crate::model::{Account, JournalEntry, Record};
use crate::value::id::parse;
use crate::world::diff::Differences;

/// States in which a resource has no effect any more.
const DEAD: [&str; 8] =
    ["cancelled", "draft", "expired", "failed", "rejected", "returned", "void", "voided"];

/// Members that differ between two equal effects.
const LEFT_OUT: [&str; 16] = [
    "checkout_url",
    "estimated_arrival",
    "fee",
    "fees",
    "id",
    "metadata",
    "number",
    "payment_rail",
    "rail",
    "reference",
    "requested_by",
    "status_history",
    "superseded_by",
    "supersedes",
    "updated_by",
    "virtual_account",
];

/// Maximum number of resources in the canonical form.
pub(super) const MOST_OBJECTS: usize = 20_000;

/// Maximum number of items of an array that is repeated.
const MOST_ITEMS: usize = 100;

/// Members of an obligation that follow from other effects, which are compared by themselves.
const DERIVED: [&str; 3] = ["amount_refunded", "refund_status", "tax_amount"];

/// The effects between two states of a world.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CanonicalDiff")]
pub(crate) struct Canonical {
    /// Created and changed resources, without balances. Resources in a state without effect are left out.
    objects: Vec<CanonicalObject>,
    /// Sums of journal lines that are not zero.
    money: Vec<MoneySum>,
}

/// A resource in canonical form: only the members that have an effect.
#[derive(Serialize, JsonSchema)]
struct CanonicalObject {
    /// The id of the resource.
    id: String,
    /// The kind of the resource, as in its `object` member.
    kind: &'static str,
    /// Whether the resource is new, and moves money or obliges a party to move money.
    obligation: bool,
    /// The name of the recipient or payer; null without one.
    counterparty: Option<String>,
    /// The members of the resource without ids, instants, references, rails and fees. If the
    /// difference created another resource, its id is replaced by its members. An array of more
    /// than 100 items in these members is replaced by its length.
    value: Value,
}

/// The net change of one account: debits minus credits.
#[derive(Serialize, JsonSchema)]
struct MoneySum {
    /// The company that owns the account.
    company_id: String,
    /// The code of the account. Fees count as cash, so that a payment by another rail has the same
    /// sums.
    account: String,
    /// The currency of the amount.
    currency: String,
    /// The name of the recipient or payer; null without one.
    counterparty: Option<String>,
    /// Debits minus credits, in minor units.
    amount: i64,
}

impl Canonical {
    /// The form of these differences; `after` is their later state.
    pub(crate) fn of(after: &World, found: &Differences) -> Self {
        let wires: BTreeMap<String, (AnyId, Value, bool)> = found
            .iter()
            .filter(|(id, _)| !is_balance(id.kind))
            .filter_map(|(id, difference)| {
                let record = difference.after.as_ref()?;
                Some((id.to_string(), (*id, record.to_wire(), difference.before.is_none())))
            })
            .collect();
        let created = wires.iter().filter(|(_, (_, _, is_new))| *is_new);
        let shallow: BTreeMap<&str, Value> = created
            .map(|(id, (any, wire, _))| {
                let inner = |id: &str| {
                    let (any, ..) = wires.get(id).filter(|(_, _, is_new)| *is_new)?;
                    Some(Value::from(any.kind.name()))
                };
                let members = shortened(underived(any.kind, stripped(wire, &inner)));
                (id.as_str(), with_object(*any, members))
            })
            .collect();
        let objects = wires.iter().filter(|(_, (_, wire, _))| !is_dead(wire));
        let objects = objects.map(|(id, (any, wire, is_new))| {
            let mut value = stripped(wire, &|id| shallow.get(id).cloned());
            if !is_new {
                value["id"] = id.as_str().into();
            }
            let (kind, obligation) = (any.kind.name(), *is_new && is_obligation(any.kind));
            if obligation {
                value = underived(any.kind, value);
            }
            let counterparty = counterparty(after, wire);
            CanonicalObject { id: id.clone(), kind, obligation, counterparty, value }
        });
        let mut objects: Vec<CanonicalObject> = objects.collect();
        objects.sort_by_cached_key(|object| (object.kind, json::canonical(&object.value)));
        Self { objects, money: money(after, found) }
    }
}

/// Balances follow from the journal.
pub(super) const fn is_balance(kind: Kind) -> bool {
    matches!(kind, Kind::Wallet | Kind::WalletTransaction | Kind::JournalEntry)
}

const fn is_obligation(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Payout
            | Kind::Collection
            | Kind::Refund
            | Kind::FxTransfer
            | Kind::Escrow
            | Kind::PayrollRun
            | Kind::PayrollItem
            | Kind::Invoice
            | Kind::Loan
            | Kind::LoanRepayment
    )
}

fn is_dead(wire: &Value) -> bool {
    wire["status"].as_str().is_some_and(|status| DEAD.contains(&status))
}

fn any_id(id: &str) -> Option<AnyId> {
    let (prefix, _) = id.split_once('_')?;
    let kind = *Kind::ALL.iter().find(|kind| kind.prefix() == prefix)?;
    Some(AnyId { kind, bits: parse(prefix, id)? })
}

/// An obligation without members that follow from other effects.
fn underived(kind: Kind, mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut().filter(|_| is_obligation(kind)) {
        members.retain(|name, _| !DERIVED.contains(&name.as_str()));
    }
    value
}

fn with_object(id: AnyId, mut value: Value) -> Value {
    value["object"] = id.kind.name().into();
    value
}

/// A value without the members that differ between equal effects, and with replaced ids.
fn stripped(value: &Value, replaced: &impl Fn(&str) -> Option<Value>) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, value)| is_kept(name, value));
            let mut kept: Vec<_> =
                kept.map(|(name, value)| (name.clone(), stripped(value, replaced))).collect();
            kept.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(kept.into_iter().collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(|item| stripped(item, replaced)).collect(),
        Value::String(text) => replaced(text).unwrap_or_else(|| value.clone()),
        other => other.clone(),
    }
}

/// A value whose long arrays are replaced by their lengths, because it is repeated in every resource that refers to it.
fn shortened(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, shortened(value))).collect()
        }
        Value::Array(items) if items.len() > MOST_ITEMS => items.len().into(),
        other => other,
    }
}

fn is_kept(name: &str, value: &Value) -> bool {
    let is_instant =
        value.as_str().is_some_and(|text| text.contains('T') && text.parse::<Timestamp>().is_ok());
    let is_time = name.ends_with("_at");
    !is_instant && !is_time && !LEFT_OUT.contains(&name)
}

/// The name of the recipient or payer of a resource.
fn counterparty(world: &World, wire: &Value) -> Option<String> {
    const OWN: [&str; 5] =
        ["/recipient/name", "/payer/name", "/customer/name", "/supplier/name", "/employee_name"];
    const OTHERS: [&str; 6] = [
        "beneficiary_id",
        "seller_beneficiary_id",
        "supplier_id",
        "employee_id",
        "collection_id",
        "payout_id",
    ];
    let own = OWN.iter().find_map(|pointer| wire.pointer(pointer)?.as_str());
    if let Some(name) = own {
        return Some(name.to_owned());
    }
    OTHERS.iter().find_map(|member| {
        let other = world.any(any_id(wire[member].as_str()?)?)?.to_wire();
        let own = ["/name", "/recipient/name", "/payer/name"];
        let own = own.iter().find_map(|pointer| other.pointer(pointer)?.as_str());
        let full = || {
            let (first, last) = (other["first_name"].as_str()?, other["last_name"].as_str()?);
            Some(format!("{first} {last}"))
        };
        own.map(str::to_owned).or_else(full)
    })
}

fn money(world: &World, found: &Differences) -> Vec<MoneySum> {
    let mut sums: BTreeMap<(String, String, String, Option<String>), i128> = BTreeMap::new();
    let mut sources: BTreeMap<AnyId, Option<String>> = BTreeMap::new();
    for difference in found.values().filter(|difference| difference.before.is_none()) {
        let Some(Record::JournalEntry(entry)) = &difference.after else { continue };
        let JournalEntry { company_id, source, lines, .. } = &**entry;
        let name = sources.entry(*source).or_insert_with(|| {
            let source = world.any(*source)?.to_wire();
            counterparty(world, &source)
        });
        for line in lines {
            let account = match line.account {
                Account::Fees => Account::CashAvailable,
                account => account,
            };
            let place = (company_id.to_string(), account.to_string());
            let place = (place.0, place.1, line.currency.to_string(), name.clone());
            *sums.entry(place).or_default() += i128::from(line.signed());
        }
    }
    let sums = sums.into_iter().filter(|(_, amount)| *amount != 0);
    let sums = sums.map(|((company_id, account, currency, counterparty), amount)| MoneySum {
        company_id,
        account,
        currency,
        counterparty,
        amount: i64::try_from(amount).unwrap_or(i64::MAX),
    });
    sums.collect()
}
