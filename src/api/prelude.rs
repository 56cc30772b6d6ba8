//! Imports for almost every handler file: rows, lists, replies, values and the world.
//!
//! The project allows two glob imports, this one and `model::prelude`. A name belongs here when most handler files use it.

pub(crate) use std::borrow::Cow;
pub(crate) use std::collections::BTreeMap;
pub(crate) use std::sync::Arc;

pub(crate) use schemars::JsonSchema;
pub(crate) use serde::{Deserialize, Serialize};

pub(crate) use crate::api::change::{Change, changes};
pub(crate) use crate::api::crud::{
    Candidates, One, Paging, Single, existing, may_scan, page_of, show,
};
pub(crate) use crate::api::host::Session;
pub(crate) use crate::api::list::{Accepts, Filters, SortBy, list, select, sortable};
pub(crate) use crate::api::operation::{Contract, Domain, Method, Nothing, Operation, operation};
pub(crate) use crate::api::reply::{Data, Identified, List, Plain, Shown};
pub(crate) use crate::api::sort::{Sort, SortKey};
pub(crate) use crate::model::business::{Company, Employee};
pub(crate) use crate::model::payments::Wallet;
pub(crate) use crate::model::{
    AnyId, Kind, Object, State, Stateful, StatusChange, StatusHistory, Task, TaskKind, refused,
    step,
};
pub(crate) use crate::value::{
    Amount, ApiError, Currency, Date, ErrorCode, Id, Metadata, Period, Prefixed, Result, Span,
    Text, Timestamp, Violation,
};
pub(crate) use crate::world::{DecisionAnswer, Grow, World};
