//! Scenario files: TOML to checked rows, with diagnostics that show where and how to mend; the shipped ones; and the runner of
//! their steps.
//!
//! `form` says what a file may hold, `reading` and its neighbours read it, `file` gathers it with what it includes. May import
//! everything left of it. Deliberately absent: reading files and calling servers, which are the command line's.

mod file;
mod form;
mod members;
mod parts;
mod reading;
mod rows;
mod run;
mod schema;
mod select;
mod shadow;
mod shipped;
#[cfg(test)]
mod tests;
mod vocabulary;

pub(crate) use self::file::{MOST_BYTES, check};
pub(crate) use self::run::{Came, Reply, RowHits, RunReport, Runner, run};
pub(crate) use self::schema::schema;
pub(crate) use self::shipped::{find, shipped, source, unknown};
pub(crate) use self::vocabulary::Places;
