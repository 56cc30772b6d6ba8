//! Imports for almost every resource file: values, lifecycles and the derives.
//!
//! The project allows two glob imports, this one and `api::prelude`. A name belongs here when most resource files use it.

pub(crate) use std::borrow::Cow;
pub(crate) use std::sync::Arc;

pub(crate) use schemars::JsonSchema;
pub(crate) use serde::{Deserialize, Serialize};

pub(crate) use crate::model::business::Company;
pub(crate) use crate::model::{
    AnyId, Kind, Object, Stateful, StatusChange, StatusHistory, resource, shown, stateful, states,
};
pub(crate) use crate::value::{
    Amount, Currency, Date, Id, Metadata, Period, Prefixed, Span, Timestamp,
};
