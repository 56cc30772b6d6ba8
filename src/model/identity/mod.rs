//! Who somebody is: subjects, their documents and verifications, and what the lists say of them.

pub(crate) mod aml_alert;
pub(crate) mod aml_rules;
pub(crate) mod aml_screening;
pub(crate) mod bank_account_verification;
pub(crate) mod document;
pub(crate) mod levels;
pub(crate) mod name_index;
pub(crate) mod name_match;
pub(crate) mod subject;
pub(crate) mod trust_score;
pub(crate) mod trust_weights;
pub(crate) mod verification;
pub(crate) mod watchlist;
