//! Values: no state, no IO, and nothing of ours imported.
//!
//! Everything here is parsed at the edge into a type that cannot be wrong, so that no handler re-checks a shape.
//! Deliberately absent: anything that knows a resource, a world or a route.

pub mod birth_date;
pub(crate) mod diagnostic;
pub mod error;
pub mod id;
pub mod money;
pub mod stream;
pub mod text;
pub mod time;
