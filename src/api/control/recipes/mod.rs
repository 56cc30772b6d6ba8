//! What causes each type of event: calls of the product, in order, and what the outside world answers to them.
//!
//! Names in their inputs stand for resources of the world that is asked; `trigger` says for which.

mod business;
mod capital;
mod identity;
mod payments;

/// One thing to do on the way to an event.
pub(super) enum Act {
    /// An operation of the product by its handler's name, and its input.
    Call(&'static str, &'static str),
    /// The same, and what the outside world answers then.
    Answered(&'static str, &'static str, &'static [(&'static str, &'static str)]),
    /// A resource moved along its lifecycle.
    Move(&'static str, &'static str),
    /// A payroll run of two people; the outside world answers so about the first of them.
    Payroll(&'static [(&'static str, &'static str)]),
    /// Money that arrives by bank transfer.
    Transfer,
}

use Act::Call;

/// Types of events, and what causes them.
pub(super) type Recipe = (&'static [&'static str], &'static [Act]);

const NEW_COMPANY: Act =
    Call("create_company", r#"{"legal_name":"Triggered Ltd","country":"GB","currency":"GBP"}"#);
/// Stands for an employee who can be paid.
pub(super) const PAYABLE: &str = "@payable";
/// Stands for what the act before made or moved.
pub(super) const LAST: &str = "@last";

/// What causes that type of event.
pub(super) fn recipe(name: &str) -> Option<&'static Recipe> {
    let domains = [business::RECIPES, payments::RECIPES, identity::RECIPES, capital::RECIPES];
    domains.into_iter().flatten().find(|(causes, _)| causes.contains(&name))
}
