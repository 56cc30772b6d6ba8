//! What people and programs read about the operations: the OpenAPI documents, the reference pages,
//! the catalogue of events. Loops over the table, and nothing that the table does not say.
//!
//! May import all that stands left of `io`. Deliberately absent: sockets and files; the caller
//! serves and prints what is made here.

pub(crate) mod assumptions;
mod events;
pub(crate) mod openapi;
pub(crate) mod pages;
mod samples;
