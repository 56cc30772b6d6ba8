//! A screening: checks whether a watchlist contains a subject.

use crate::model::identity::{AmlAlert, ListName, Listed, RiskLevel, Subject, Verification};
use crate::model::name_match::MatchType;
use crate::model::prelude::*;

states! {
    /// Status of a screening.
    ScreeningStatus {
        Processing "processing", Clear "clear", NeedsReview "needs_review", ConfirmedMatch "confirmed_match",
    }
    "clear": Processing | NeedsReview => Clear;
    "hit": Processing | Clear => NeedsReview;
    "confirm": NeedsReview => ConfirmedMatch;
}

/// The decision about a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ScreeningHitStatus")]
pub(crate) enum HitStatus {
    Open,
    Dismissed,
    Confirmed,
}

/// A watchlist entry that may be the subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ScreeningHit")]
pub(crate) struct Hit {
    /// The watchlist that contains the entry.
    pub(crate) list: ListName,
    /// The entry's id in the list.
    pub(crate) entry_id: String,
    /// The entry's name.
    pub(crate) name: String,
    /// How the names match.
    pub(crate) match_type: MatchType,
    /// Similarity of the names, 0 to 100.
    #[schemars(range(max = 100))]
    pub(crate) match_score: u32,
    /// The decision about the hit.
    pub(crate) status: HitStatus,
}

impl Hit {
    /// The hit for an entry that was found.
    pub(crate) fn of(listed: Listed) -> Self {
        Self {
            list: listed.list,
            entry_id: listed.entry_id,
            name: listed.name,
            match_type: listed.kind,
            match_score: listed.score,
            status: HitStatus::Open,
        }
    }
}

resource! {
    /// Checks whether watchlists contain a subject.
    AmlScreening: ScreeningStatus {
        /// The subject's company, or null if it has none.
        company_id: Option<Id<Company>>,
        /// The subject that is screened.
        subject_id: Id<Subject>,
        /// The verification that started the screening; null if a call did.
        verification_id: Option<Id<Verification>>,
        /// Current status.
        status: ScreeningStatus,
        /// The watchlists that are searched.
        lists: Vec<ListName>,
        /// Tolerance for differences between names: a hit must score at least 100 minus this value.
        #[schemars(range(max = 40))]
        fuzziness: u32,
        /// Whether the screening is repeated every day for a year.
        ongoing: bool,
        /// List entries that may be the subject, including dismissed ones.
        hits: Vec<Hit>,
        /// Risk score from 0 to 100: the highest score of hits that are not dismissed, weighted by list.
        #[schemars(range(max = 100))]
        risk_score: u32,
        /// The latest alert that the screening opened.
        alert_id: Option<Id<AmlAlert>>,
        /// When the screening first completed, or last found a new hit; null until then.
        completed_at: Option<Timestamp>,
    }
}

impl AmlScreening {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.subject_id.bits()
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }

    /// Recalculates the risk score.
    pub(crate) fn recalculate_risk(&mut self) {
        let counted = self.hits.iter().filter(|hit| hit.status != HitStatus::Dismissed);
        let risks = counted.map(|hit| hit.list.risk(hit.match_score));
        self.risk_score = risks.max().unwrap_or(0);
    }

    /// The subject's risk level according to this screening.
    pub(crate) const fn risk_level(&self) -> RiskLevel {
        match (self.status, self.risk_score) {
            (ScreeningStatus::ConfirmedMatch, _) | (_, 75..) => RiskLevel::High,
            (_, 40..) => RiskLevel::Medium,
            _ => RiskLevel::Low,
        }
    }

    /// Sets the status of all open hits.
    pub(crate) fn settle(&mut self, status: HitStatus) {
        for hit in &mut self.hits {
            if hit.status == HitStatus::Open {
                hit.status = status;
            }
        }
        self.recalculate_risk();
    }
}

/// The reply of the watchlist provider. It is decided when the request is sent, and known when the provider replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ListAnswer {
    ByName,
    Clear,
    Sanctioned,
    Pep,
    Lookalike,
}

impl ListAnswer {
    /// The reply for a choice of `watchlist.reply`.
    pub(crate) fn of(choice: &str) -> Self {
        match choice {
            "by_name" => Self::ByName,
            "clear" => Self::Clear,
            "sanctioned" => Self::Sanctioned,
            "pep" => Self::Pep,
            "lookalike" => Self::Lookalike,
            other => unreachable!("watchlist.reply has no choice {other}"),
        }
    }
}
