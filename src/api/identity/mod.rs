//! Identity: verification of people and businesses, and watchlist screenings.

pub(crate) mod alert_facts;
pub(crate) mod alerts;
pub(crate) mod bank_accounts;
pub(crate) mod documents;
pub(crate) mod monitoring;
pub(crate) mod screenings;
pub(crate) mod subjects;
pub(crate) mod trust_factors;
pub(crate) mod trust_scores;
pub(crate) mod verification_clock;
mod verification_submit;
pub(crate) mod verifications;
