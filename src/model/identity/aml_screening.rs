//! A screening: whether a list has a subject.

use crate::model::identity::{
    AmlAlert, ListName, Listed, MatchType, RiskLevel, Subject, Verification,
};
use crate::model::prelude::*;

states! {
    /// Where a screening stands.
    ScreeningStatus {
        Processing "processing", Clear "clear", NeedsReview "needs_review", ConfirmedMatch "confirmed_match",
    }
    "clear": Processing | NeedsReview => Clear;
    "hit": Processing | Clear => NeedsReview;
    "confirm": NeedsReview => ConfirmedMatch;
}

/// What was made of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HitStatus {
    Open,
    Dismissed,
    Confirmed,
}

/// An entry of a list that may be the subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Hit {
    /// The list.
    pub(crate) list: ListName,
    /// The entry's id in it.
    pub(crate) entry_id: String,
    /// The name that it has.
    pub(crate) name: String,
    /// How the names are alike.
    pub(crate) match_type: MatchType,
    /// 0 to 100: how much they are.
    #[schemars(range(max = 100))]
    pub(crate) match_score: u32,
    /// What was made of it.
    pub(crate) status: HitStatus,
}

impl Hit {
    /// An entry that was found.
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

/// Whether a list has a subject.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AmlScreening {
    /// The screening's id.
    pub(crate) id: Id<AmlScreening>,
    /// Always `aml_screening`.
    pub(crate) object: Object<AmlScreening>,
    /// The subject's company; null where it has none.
    pub(crate) company_id: Option<Id<Company>>,
    /// Who is screened.
    pub(crate) subject_id: Id<Subject>,
    /// The case that asked for it; null where a call did.
    pub(crate) verification_id: Option<Id<Verification>>,
    /// Where it stands.
    pub(crate) status: ScreeningStatus,
    /// The lists that are asked.
    pub(crate) lists: Vec<ListName>,
    /// How far names may differ: a hit scores at least 100 less this.
    #[schemars(range(max = 40))]
    pub(crate) fuzziness: u32,
    /// Whether it is repeated every day, for a year.
    pub(crate) ongoing: bool,
    /// Entries that may be the subject, dismissed ones included.
    pub(crate) hits: Vec<Hit>,
    /// 0 to 100: the highest of the hits that are not dismissed, each its score by the weight of its list.
    #[schemars(range(max = 100))]
    pub(crate) risk_score: u32,
    /// The latest alert that it opened.
    pub(crate) alert_id: Option<Id<AmlAlert>>,
    /// When it last found something, or nothing for the first time; null until then.
    pub(crate) completed_at: Option<Timestamp>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<ScreeningStatus>>,
}

impl AmlScreening {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.subject_id.bits()
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }

    /// Reckons the risk anew.
    pub(crate) fn reckon(&mut self) {
        let counted = self.hits.iter().filter(|hit| hit.status != HitStatus::Dismissed);
        let risks = counted.map(|hit| hit.list.risk(hit.match_score));
        self.risk_score = risks.max().unwrap_or(0);
    }

    /// What it makes of the subject.
    pub(crate) const fn risk_level(&self) -> RiskLevel {
        match (self.status, self.risk_score) {
            (ScreeningStatus::ConfirmedMatch, _) | (_, 75..) => RiskLevel::High,
            (_, 40..) => RiskLevel::Medium,
            _ => RiskLevel::Low,
        }
    }

    /// The open hits came to that.
    pub(crate) fn settle(&mut self, status: HitStatus) {
        for hit in &mut self.hits {
            if hit.status == HitStatus::Open {
                hit.status = status;
            }
        }
        self.reckon();
    }
}

stateful!(AmlScreening: ScreeningStatus);

/// What whoever keeps the lists says; decided when they are asked, known when they answer.
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
    /// The answer that a choice of `watchlist.reply` names.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_screening_can_be_reached() {
        crate::model::lifecycle::assert_sound(ScreeningStatus::Processing);
    }
}
