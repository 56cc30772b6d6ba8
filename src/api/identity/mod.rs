//! Identity: who people and businesses are, and what the lists say of them.

pub(crate) mod documents;
pub(crate) mod subjects;
pub(crate) mod verification_clock;
pub(crate) mod verifications;
