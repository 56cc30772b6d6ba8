//! Identity: subjects, their documents and verifications, and watchlist screenings.

pub(crate) mod aml_alert;
pub(crate) mod aml_rules;
pub(crate) mod aml_screening;
pub(crate) mod bank_account_verification;
pub(crate) mod document;
pub(crate) mod levels;
pub(crate) mod name_index;
pub(crate) mod subject;
pub(crate) mod trust_score;
pub(crate) mod trust_weights;
pub(crate) mod verification;
pub(crate) mod watchlist;

pub(crate) use self::aml_alert::{AlertRule, AlertStatus, AmlAlert, Severity};
pub(crate) use self::aml_screening::{AmlScreening, HitStatus, ListAnswer, ScreeningStatus};
pub(crate) use self::bank_account_verification::BankAccountVerification;
pub(crate) use self::document::{Document, DocumentFault, DocumentStatus, DocumentType};
pub(crate) use self::levels::{CaseCheckName, Level, VerificationType};
pub(crate) use self::subject::{KycStatus, RiskLevel, Subject, SubjectType};
pub(crate) use self::trust_score::{
    TrustContext, TrustFactorName, TrustScore, TrustSignals, TrustStatus,
};
pub(crate) use self::trust_weights::WEIGHTS;
pub(crate) use self::verification::{
    BureauAnswer, CaseCheckStatus, CaseStatus, RejectLabel, Verification,
};
pub(crate) use self::watchlist::{ListName, Listed, WatchlistEntry};
