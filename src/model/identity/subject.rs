//! A subject: a person or a business whose identity is verified.

use crate::model::business::{Address, Employee};
use crate::model::prelude::*;
use crate::value::BirthDate;

states! {
    /// The verification status of a subject.
    KycStatus {
        Unverified "unverified", Pending "pending", InReview "in_review", Approved "approved", Declined "declined",
        ReverifyRequired "reverify_required",
    }
    "submit": Unverified | Declined | ReverifyRequired => Pending;
    "review": Pending => InReview;
    "resubmit": InReview => Pending;
    "approve": Pending | InReview => Approved;
    "decline": Unverified | Pending | InReview | Approved | ReverifyRequired => Declined;
    "change": Approved => ReverifyRequired;
    "lapse": Pending | InReview => Unverified;
    "lapse_again": Pending | InReview => ReverifyRequired;
}

/// A person or a business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SubjectType {
    Person,
    Business,
}

/// The risk level of a subject.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RiskLevel {
    /// No screening has completed.
    #[default]
    Unknown,
    /// The highest risk score of a hit is below 40, or there is no hit.
    Low,
    /// The highest risk score of a hit is from 40 to 74.
    Medium,
    /// The highest risk score is 75 or more, or a hit was confirmed.
    High,
}

/// A person's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PersonName {
    /// Given names.
    pub(crate) first: String,
    /// The family name.
    pub(crate) last: String,
}

/// An identification number issued by an authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct IdNumber {
    /// The kind of number: `bvn`, `nin`, `ssn`, `rc_number` …
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The number, in the format of the authority.
    pub(crate) value: String,
    /// The issuing country, ISO 3166-1 alpha-2.
    pub(crate) country: String,
}

/// The latest trust score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LatestTrustScore")]
pub(crate) struct LatestTrust {
    /// Score from 0 to 1000; a higher score means a lower risk.
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) score: i32,
    /// When the score was calculated, in virtual time.
    pub(crate) at: Timestamp,
}

/// A person or a business whose identity is verified, as stored in a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Subject {
    pub(crate) id: Id<Subject>,
    pub(crate) company_id: Option<Id<Company>>,
    pub(crate) employee_id: Option<Id<Employee>>,
    #[serde(rename = "type")]
    pub(crate) kind: SubjectType,
    pub(crate) name: Option<PersonName>,
    pub(crate) legal_name: Option<String>,
    pub(crate) date_of_birth: Option<BirthDate>,
    pub(crate) country: String,
    pub(crate) id_numbers: Vec<IdNumber>,
    pub(crate) email: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) address: Option<Address>,
    pub(crate) external_id: Option<String>,
    pub(crate) status: KycStatus,
    /// The highest level since the subject became approved; none before the first approval.
    pub(crate) level: Option<crate::model::identity::levels::Level>,
    pub(crate) risk_level: RiskLevel,
    /// Whether verified data has changed since the last submission.
    #[serde(default)]
    pub(crate) changed: bool,
    pub(crate) trust: Option<LatestTrust>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) metadata: Metadata,
    pub(crate) status_history: StatusHistory<KycStatus>,
}

impl Subject {
    /// The parent of a subject is its company, if it has one.
    pub(crate) fn parent_bits(&self) -> u64 {
        self.company_id.map_or(0, Id::bits)
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }

    /// The full name that watchlists and bureaus use.
    pub(crate) fn full_name(&self) -> String {
        match (&self.name, &self.legal_name) {
            (Some(name), _) => format!("{} {}", name.first, name.last),
            (None, legal) => legal.clone().unwrap_or_default(),
        }
    }

    /// The word that is compared with reserved names: a person's last name, or the first word of a business name.
    pub(crate) fn reserved_word(&self) -> &str {
        match (&self.name, &self.legal_name) {
            (Some(name), _) => name.last.trim(),
            (None, legal) => {
                let words = legal.as_deref().unwrap_or_default();
                words.split_whitespace().next().unwrap_or_default()
            }
        }
    }

    /// The verification is no longer valid.
    pub(crate) fn outdate(&mut self, now: Timestamp) {
        let why = "what was verified has changed".to_owned();
        self.enter_because(KycStatus::ReverifyRequired, now, Some(why));
    }

    /// The status of a subject whose verification did not finish.
    pub(crate) fn before_pending(&self) -> KycStatus {
        let mut before = self.status_history.iter().rev().map(|change| change.status);
        let settled =
            before.find(|status| !matches!(status, KycStatus::Pending | KycStatus::InReview));
        settled.unwrap_or(KycStatus::Unverified)
    }
}

stateful!(Subject: KycStatus);

shown! {
    /// A person or a business whose identity is verified.
    #[schemars(rename = "Subject")]
    SubjectShape<'a> of Subject, |it| {
        /// The company that a business represents, or to which a person belongs; null if none was given.
        company_id: Option<Id<Company>>;
        /// The employee whom the person represents; null if the person is not an employee.
        employee_id: Option<Id<Employee>>;
        /// A person or a business.
        #[serde(rename = "type")]
        kind: SubjectType;
        /// A person's name; null for a business.
        name: Option<&'a PersonName> = it.name.as_ref();
        /// A business's registered name; null for a person.
        legal_name: Option<&'a str> = it.legal_name.as_deref();
        /// A person's date of birth, if known.
        date_of_birth: Option<BirthDate>;
        /// Country of residence or registration, ISO 3166-1 alpha-2.
        country: &'a str = &it.country;
        /// Identification numbers.
        id_numbers: &'a [IdNumber] = &it.id_numbers;
        /// An e-mail address.
        email: Option<&'a str> = it.email.as_deref();
        /// A telephone number.
        phone: Option<&'a str> = it.phone.as_deref();
        /// The address of the person or business.
        address: Option<&'a Address> = it.address.as_ref();
        /// The caller's own id of the subject.
        external_id: Option<&'a str> = it.external_id.as_deref();
        /// The same as `kyc_status`.
        status: KycStatus;
        /// Status of the verification.
        kyc_status: KycStatus = it.status;
        /// The level of the latest approval. A lower level does not replace a higher one while the subject is approved. Null before the first approval.
        verified_level: Option<crate::model::identity::levels::Level> = it.level;
        /// Risk level of the latest screening. It is not lower than the level of any alert about the subject that is not dismissed.
        risk_level: RiskLevel;
        /// The latest trust score; null before the first.
        trust_score: Option<LatestTrust> = it.trust;
        /// When it was created, in virtual time.
        created_at: Timestamp;
        /// When it last changed, in virtual time.
        updated_at: Timestamp;
        /// Key-value pairs set by the caller.
        metadata: &'a Metadata = &it.metadata;
        /// Every status the resource has had, oldest first.
        status_history: &'a [StatusChange<KycStatus>] = &it.status_history;
    }
}
