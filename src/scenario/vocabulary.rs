//! The names that a scenario may use, read from the tables of the program. This module has no list of its
//! own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use crate::api::check::Checker;
use crate::api::control::inbound::kind_of;
use crate::api::operation::{Contract, Operation};
use crate::api::resource_members::plural;
use crate::api::{self, system};
use crate::model::Kind;

/// All names except those of decisions.
pub(crate) struct Vocabulary {
    /// Types of events.
    pub(crate) events: BTreeSet<String>,
    /// Operations by operationId, those of the control plane included.
    pub(crate) operations: BTreeMap<String, Callable>,
    /// `business`, `payments`.
    pub(crate) domains: BTreeSet<String>,
    /// Kinds that `@kind:n` can name.
    pub(crate) kinds: BTreeMap<&'static str, Places>,
    /// The inbound kinds, with the rows that execute them.
    pub(crate) inbound: BTreeMap<String, Callable>,
}

/// The list in which positions of a kind are counted.
#[derive(Clone, Copy)]
pub(crate) enum Places {
    /// The resources that this row lists.
    Listed(&'static Operation),
    /// The resources created since the world's start.
    Made,
}

/// An operation, with the schema of its input.
pub(crate) struct Callable {
    pub(crate) operation: &'static Operation,
    checker: OnceLock<Checker>,
}

impl std::fmt::Debug for Callable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.operation.name)
    }
}

impl Callable {
    const fn new(operation: &'static Operation) -> Self {
        Self { operation, checker: OnceLock::new() }
    }

    /// The checker of its input, compiled at the first use.
    pub(crate) fn checker(&self) -> &Checker {
        self.checker.get_or_init(|| self.operation.checker())
    }

    /// Whether it belongs to the product, not to the control plane.
    pub(crate) fn is_product(&self) -> bool {
        self.operation.contract != Contract::Control
    }
}

/// The names of this build.
pub(crate) fn vocabulary() -> &'static Vocabulary {
    static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
    VOCABULARY.get_or_init(|| Vocabulary::of(api::product(), api::control()))
}

impl Vocabulary {
    fn of(
        product: impl Iterator<Item = &'static Operation>,
        control: impl Iterator<Item = &'static Operation>,
    ) -> Self {
        let (product, control): (Vec<_>, Vec<_>) = (product.collect(), control.collect());
        let all = || product.iter().chain(&control).copied();
        let declared = system::event_types();
        let events: BTreeSet<String> = declared.into_iter().map(str::to_owned).collect();
        let places = |kind: Kind| {
            let listed = format!("list_{}", plural(kind.name()));
            let row = product.iter().find(|row| row.name == listed);
            match (kind, row) {
                // The counting of the world.
                (Kind::Company | Kind::Employee | Kind::Wallet, Some(row)) => {
                    Some(Places::Listed(row))
                }
                _ => events.contains(&format!("{}.created", kind.name())).then_some(Places::Made),
            }
        };
        let kinds = Kind::ALL.iter().filter_map(|&kind| Some((kind.name(), places(kind)?)));
        Self {
            kinds: kinds.collect(),
            operations: all().map(|row| (row.operation_id(), Callable::new(row))).collect(),
            domains: product.iter().map(|row| domain(row)).collect(),
            inbound: inbound(&control),
            events,
        }
    }

    /// The operationIds of the product.
    pub(crate) fn product(&self) -> impl Iterator<Item = &str> + Clone {
        self.operations
            .iter()
            .filter(|(_, callable)| callable.is_product())
            .map(|(name, _)| name.as_str())
    }

    /// Whether an operation belongs to a domain.
    pub(crate) fn is_of_domain(&self, operation_id: &str, name: &str) -> bool {
        let callable = self.operations.get(operation_id).filter(|callable| callable.is_product());
        callable.is_some_and(|callable| domain(callable.operation) == name)
    }

    /// Resources that have events: `payroll_run` of `payroll_run.paid`.
    pub(crate) fn resources(&self) -> BTreeSet<&str> {
        self.events.iter().filter_map(|name| Some(name.split_once('.')?.0)).collect()
    }
}

/// The name of an operation's domain.
fn domain(row: &Operation) -> String {
    format!("{:?}", row.domain).to_ascii_lowercase()
}

/// The inbound kinds, each with the row that takes its input.
fn inbound(control: &[&'static Operation]) -> BTreeMap<String, Callable> {
    let named = |row: &&'static Operation| Some((kind_of(row)?.to_owned(), Callable::new(row)));
    control.iter().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_tables() {
        let names = vocabulary();
        assert!(names.events.contains("payroll_run.paid"));
        assert!(names.events.contains("payout.sent"));
        assert!(names.operations.contains_key("runPayroll"));
        assert!(names.operations.contains_key("advanceClock"));
        assert!(names.product().all(|name| name != "advanceClock"));
        assert!(names.domains.contains("payments"));
        assert!(
            matches!(names.kinds["company"], Places::Listed(row) if row.name == "list_companies")
        );
        assert!(matches!(names.kinds["payout"], Places::Made));
        assert!(!names.kinds.contains_key("payroll_item"));
        assert!(names.inbound.contains_key("bank_transfer"));
    }

    #[test]
    fn nouns_have_the_plural_of_the_paths() {
        assert_eq!(plural("company"), "companies");
        assert_eq!(plural("payroll_run"), "payroll_runs");
    }
}
