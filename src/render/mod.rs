//! The documents about the operations: the OpenAPI documents, the reference pages, the catalogue of events, the tools
//! for language models. They are generated from the operation table only. Also the files of the dashboard.
//!
//! May import everything left of `io`. Deliberately absent: sockets and files; the caller serves and prints
//! the documents.

pub(crate) mod assumptions;
mod dashboard;
mod events;
mod llms;
pub(crate) mod mcp;
pub(crate) mod openapi;
pub(crate) mod pages;
mod samples;
