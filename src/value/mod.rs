//! Values without state or IO. Imports nothing else of this crate.
//!
//! Values are parsed at the edge into types that cannot be invalid, so handlers never check formats again. Deliberately absent: anything
//! about resources, worlds or routes.

pub(crate) mod aside;
pub mod birth_date;
mod country_code;
pub(crate) mod diagnostic;
pub mod error;
pub mod id;
pub(crate) mod interned;
pub(crate) mod json_sink;
mod json_writer;
pub(crate) mod later;
pub(crate) mod long_work;
pub mod money;
#[cfg(test)]
pub(crate) mod mutation;
mod short;
pub mod span;
pub mod stream;
pub mod text;
pub mod time;
pub(crate) mod trace;
mod wire;

pub(crate) use self::birth_date::BirthDate;
pub(crate) use self::country_code::CountryCode;
pub(crate) use self::diagnostic::{Diagnostic, Look};
pub(crate) use self::error::{ApiError, ErrorCode, Result, Violation};
pub(crate) use self::id::{Id, Prefixed};
pub(crate) use self::money::{Amount, Currency};
pub(crate) use self::span::Span;
pub(crate) use self::stream::Key;
pub(crate) use self::text::{Email, Metadata, Text};
pub(crate) use self::time::{Date, Period, Timestamp};
pub(crate) use self::trace::TraceParent;
