//! A store that several processes share: worlds in PostgreSQL, each served by one process at a time.
//!
//! Communicates only with the database, and never with other processes. An input is stored only
//! while this process serves its world and the world's log ends at the expected entry. So two
//! processes never extend the same world. A world is claimed when its key arrives, and replayed
//! from its inputs. Deliberately absent: the meaning of an entry, which only the engine interprets,
//! and the form of an entry, which is that of a recording.

mod claim;
mod claims;
mod connection;
mod group;
mod keeper;
pub(crate) mod log;
mod read;
pub(crate) mod schema;
pub(crate) mod writer;
