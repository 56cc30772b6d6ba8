//! The facts that scenario rows may select by: a resource of any kind, its related resources, and references
//! such as `@employee:3`.

use serde_json::{Map, Value};

use crate::model::business::{Company, Employee, PayrollItem};
use crate::model::kind::{for_each_kind, typed};
use crate::model::payments::{Collection, Dispute, Payout, Refund};
use crate::model::{AnyId, Entity, Kind, Record};
use crate::value::Id;
use crate::value::id::parse;
use crate::world::World;
use crate::world::script::{Comparison, Selector, Wanted};

/// The first part of a reference: `@ext:E-17`, or `@ext:employee:E-17`.
pub(crate) const EXTERNAL: &str = "ext";

/// One resource that a selector may use.
pub(crate) struct Fact {
    pub(crate) id: AnyId,
    /// Its position in its parent, from 1: the position of an employee in the run.
    place: Option<u64>,
    wire: Value,
}

impl World {
    /// The resource with this id, of any kind.
    pub(crate) fn any(&self, id: AnyId) -> Option<Record> {
        macro_rules! found {
            (
                kept { $($kind:ident $prefix:literal $name:literal $module:tt $states:tt $growth:ident $wire:ident;)* }
                named { $($bare:ident $bare_prefix:literal $bare_name:literal;)* }
            ) => {
                match id.kind {
                    $(Kind::$kind => {
                        self.find(Id::<typed!($module $kind)>::from_bits(id.bits)).map(Entity::into_record)
                    })*
                    $(Kind::$bare)|* => None,
                }
            };
        }
        if id.kind == Kind::JournalEntry {
            return self.entry(Id::from_bits(id.bits)).map(Entity::into_record);
        }
        for_each_kind!(found)
    }

    /// The resource and its related resources, the nearest first.
    pub(crate) fn facts(&self, subject: AnyId) -> Vec<Fact> {
        let mut ids = vec![(subject, None)];
        let bits = |id: AnyId| id.bits;
        if subject.kind == Kind::Payout
            && let Some(payout) = self.find(Id::<Payout>::from_bits(bits(subject)))
        {
            ids.extend(payout.beneficiary_id.map(|id| (AnyId::of(id), None)));
            ids.extend(payout.source.map(|source| (source, None)));
        }
        if subject.kind == Kind::Collection {
            let collection = self.find(Id::<Collection>::from_bits(bits(subject)));
            let mandate = collection.and_then(|collection| collection.mandate_id);
            ids.extend(mandate.map(|id| (AnyId::of(id), None)));
        }
        ids.extend(self.collected_by(subject).map(|id| (id, None)));
        let item = ids.last().map(|&(id, _)| id);
        if let Some(AnyId { kind: Kind::PayrollItem, bits }) = item
            && let Some(item) = self.find(Id::<PayrollItem>::from_bits(bits))
        {
            let run = self.find(item.payroll_run_id);
            let employees = run.as_ref().map_or(&[][..], |run| &run.employees);
            let place = (1..).zip(employees).find(|(_, id)| **id == item.employee_id);
            ids.push((AnyId::of(item.employee_id), place.map(|(place, _)| place)));
            ids.push((AnyId::of(item.payroll_run_id), None));
        }
        let mut facts: Vec<Fact> = ids
            .into_iter()
            .filter_map(|(id, place)| {
                let wire = self.any(id)?.to_wire();
                Some(Fact { id, place, wire })
            })
            .collect();
        // For a case, also the person or business that it concerns, and the employee that a person is.
        let named = |fact: Option<&Fact>, member: &str, kind: Kind| {
            let id = fact?.wire.get(member)?.as_str()?;
            let bits = parse(kind.prefix(), id)?;
            let id = AnyId { kind, bits };
            let wire = self.any(id)?.to_wire();
            Some(Fact { id, place: None, wire })
        };
        facts.extend(named(facts.first(), "subject_id", Kind::Subject));
        let of_subject = facts.iter().rev().find(|fact| fact.id.kind == Kind::Subject);
        facts.extend(named(of_subject, "employee_id", Kind::Employee));
        let company = facts.first().and_then(|fact| fact.wire.get("company_id"));
        let company = company.and_then(Value::as_str);
        let company = company.and_then(|id| parse(Kind::Company.prefix(), id));
        if let Some(company) = company.and_then(|bits| self.find(Id::<Company>::from_bits(bits))) {
            facts.push(Fact {
                id: AnyId::of(company.id),
                place: None,
                wire: company.into_record().to_wire(),
            });
        }
        facts
    }

    /// The collection of a refund or a dispute, and the invoice of a collection.
    fn collected_by(&self, subject: AnyId) -> impl Iterator<Item = AnyId> {
        let collection = match subject.kind {
            Kind::Collection => Some(subject),
            Kind::Refund => {
                let refund = self.find(Id::<Refund>::from_bits(subject.bits));
                refund.map(|refund| AnyId::of(refund.collection_id))
            }
            Kind::Dispute => {
                let dispute = self.find(Id::<Dispute>::from_bits(subject.bits));
                dispute.map(|dispute| dispute.source)
            }
            _ => None,
        };
        let invoice = collection
            .filter(|of| of.kind == Kind::Collection)
            .and_then(|of| self.find(Id::<Collection>::from_bits(of.bits))?.invoice_id);
        let behind = collection.filter(|of| *of != subject);
        behind.into_iter().chain(invoice.map(AnyId::of))
    }

    /// Whether a selector matches these facts.
    pub(crate) fn selects(&self, selector: &Selector, facts: &[Fact]) -> bool {
        let kind = kind_named(&selector.field);
        if let Some(kind) = kind {
            let of_kind = facts.iter().find(|fact| fact.id.kind == kind);
            return of_kind.is_some_and(|fact| match &selector.wanted {
                Wanted::Is(_) => {
                    matches!(self.resolved(&selector.wanted), Wanted::Is(id) if id.as_str() == Some(&fact.id.to_string()))
                }
                Wanted::Ordinal(place) => {
                    fact.place.or_else(|| self.place(fact.id)) == Some(*place)
                }
                Wanted::Reference(place) => self.at_place(kind, *place) == Some(fact.id),
                Wanted::Compare(..) => false,
            });
        }
        let mut members = facts.iter().filter_map(|fact| fact.wire.get(&selector.field));
        let wanted = self.resolved(&selector.wanted);
        members.next().is_some_and(|value| holds(&wanted, value))
    }

    /// Whether a selector matches the members of an input.
    pub(crate) fn selects_input(&self, selector: &Selector, members: &Map<String, Value>) -> bool {
        let value = members.get(&selector.field);
        value.is_some_and(|value| holds(&self.resolved(&selector.wanted), value))
    }

    /// `company_id = "@company:2"`: resolves the reference. An unresolved one matches nothing.
    fn resolved(&self, wanted: &Wanted) -> Wanted {
        let mut wanted = wanted.clone();
        if let Wanted::Is(value) = &mut wanted {
            // After an error the reference stays, and no member equals it.
            let _ = self.resolve(value);
        }
        wanted
    }

    /// The id of the resource at a position of the world, from 1: for companies, employees and wallets in the
    /// order of lists; for other kinds, in the order of
    /// creation since the world's start.
    pub(crate) fn at_place(&self, kind: Kind, place: u64) -> Option<AnyId> {
        let index = place.checked_sub(1)?;
        let grown = match kind {
            Kind::Company | Kind::Employee | Kind::Wallet => self.base.count(kind),
            _ => 0,
        };
        if index < grown {
            return Some(self.base.any_at(kind, index));
        }
        let index = usize::try_from(index - grown).ok()?;
        let bits = *self.overlay.created(kind).get(index)?;
        Some(AnyId { kind, bits })
    }

    fn place(&self, id: AnyId) -> Option<u64> {
        match id.kind {
            Kind::Employee => {
                let index = self.base.index_of(Id::<Employee>::from_bits(id.bits));
                let size = self.base.shape().employees_per_company.max(1);
                index.map(|index| index % size + 1)
            }
            Kind::Company => {
                let index = self.base.index_of(Id::<Company>::from_bits(id.bits));
                index.map(|index| index + 1)
            }
            kind => {
                let created = self.overlay.created(kind).iter();
                let found = (1..).zip(created).find(|(_, bits)| **bits == id.bits);
                found.map(|(place, _)| place)
            }
        }
    }

    /// Replaces every reference in a value by its id; an error names an unresolved one.
    pub(crate) fn resolve(&self, value: &mut Value) -> Result<(), String> {
        match value {
            Value::String(text) => {
                let Some((name, place)) = text.strip_prefix('@').and_then(|r| r.split_once(':'))
                else {
                    return Ok(());
                };
                if name == EXTERNAL {
                    *text = self.external(place)?.to_string();
                    return Ok(());
                }
                let kind = kind_named(name).zip(place.parse().ok());
                let id = kind.and_then(|(kind, place)| self.at_place(kind, place));
                *text = id
                    .ok_or_else(|| format!("{text} refers to no resource of this world"))?
                    .to_string();
                Ok(())
            }
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.resolve(item)),
            Value::Object(members) => {
                members.values_mut().try_for_each(|member| self.resolve(member))
            }
            _ => Ok(()),
        }
    }
}

/// The kind with this name.
pub(crate) fn kind_named(name: &str) -> Option<Kind> {
    Kind::ALL.iter().copied().find(|kind| kind.name() == name)
}

fn holds(wanted: &Wanted, value: &Value) -> bool {
    match wanted {
        Wanted::Is(wanted) => wanted == value,
        Wanted::Ordinal(number) => value.as_u64() == Some(*number),
        Wanted::Compare(relation, number) => value.as_i64().is_some_and(|value| match relation {
            Comparison::Less => value < *number,
            Comparison::LessOrEqual => value <= *number,
            Comparison::Equal => value == *number,
            Comparison::NotEqual => value != *number,
            Comparison::GreaterOrEqual => value >= *number,
            Comparison::Greater => value > *number,
        }),
        Wanted::Reference(_) => false,
    }
}
