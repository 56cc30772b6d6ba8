//! Resources and rules, pure: wire shapes, lifecycles, growth, postings, the payroll engine.
//!
//! May import `value`. Deliberately absent: any state. A world stores a resource as a [`Record`].

mod belongs;
pub(crate) mod business;
pub(crate) mod calendar;
pub(crate) mod capital;
pub(crate) mod decision;
pub(crate) mod fx;
pub(crate) mod fx_quoting;
pub(crate) mod growth;
pub(crate) mod identity;
pub(crate) mod kind;
pub(crate) mod ledger;
pub(crate) mod lifecycle;
pub(crate) mod name_match;
pub(crate) mod object;
pub(crate) mod payments;
pub mod payroll;
pub(crate) mod posting;
pub(crate) mod prelude;
pub mod registry;
pub(crate) mod resource;
pub(crate) mod task;

pub(crate) use self::kind::Kind;
pub(crate) use self::ledger::{
    Account, AccountType, Direction, EntryLine, EntryStatus, JournalEntry, TransactionType,
    WalletTransaction,
};
pub(crate) use self::lifecycle::{
    State, Stateful, StatusChange, StatusHistory, refused, stateful, states, step,
};
pub(crate) use self::object::{AnyId, Object, Wire};
pub(crate) use self::registry::{Entity, Record};
pub(crate) use self::resource::{resource, shown};
pub(crate) use self::task::{Task, TaskKind, UnderwriterDecision};
