//! Who somebody is: subjects, their documents and verifications, and what the lists say of them.

pub(crate) mod document;
pub(crate) mod levels;
pub(crate) mod subject;
pub(crate) mod verification;
