//! Scenario files: parses TOML into checked rows, with diagnostics that show the position and the correction.
//! Also the shipped scenarios, and the runner of the steps.
//!
//! `form` describes the file, `reading` and the modules beside it read it, and `file` combines it with its
//! includes. May import everything left of it. Deliberately
//! absent: reading files and calling servers, which the command line does.

mod absent;
mod file;
mod form;
pub(crate) mod import;
mod judged;
mod library_form;
mod members;
mod origin;
mod parts;
mod reading;
mod rows;
mod run;
mod schema;
mod select;
mod shadow;
mod shipped;
mod situations;
#[cfg(test)]
mod tests;
mod timeline;
mod vocabulary;
mod when;
mod words;

pub(crate) use self::file::{MOST_BYTES, check, check_text};
pub(crate) use self::run::{Came, Reply, RowHits, RunReport, Runner, judge, run};
pub(crate) use self::schema::schema;
pub(crate) use self::shipped::{find, is_shipped, names, shipped, source, unknown};
pub(crate) use self::situations::{sampling, showing};
pub(crate) use self::vocabulary::Places;
use crate::engine::Library;

/// The scenarios and situations that an engine can load by name.
pub(crate) const LIBRARY: Library = Library {
    scenarios: shipped,
    scenario: shipped::named,
    read: file::of_text,
    situations: showing,
    import: import::of_texts,
};
