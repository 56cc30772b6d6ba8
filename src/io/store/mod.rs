//! A store that several processes share: worlds in PostgreSQL, each served by one process at a time.
//!
//! Knows the database, and nothing of the other processes. An input is stored only while this process serves its world and the log of the world
//! ends where it must, so two processes never both extend a world. A world is claimed when its key arrives, and replayed from its inputs.
//! Deliberately absent: the meaning of an entry, which the engine knows, and the form of an entry, which is that of a recording.

mod claim;
mod claims;
mod connection;
mod group;
mod keeper;
pub(crate) mod log;
mod read;
pub(crate) mod schema;
pub(crate) mod writer;
