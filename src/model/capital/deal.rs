//! A deal: a possible investment in a company, from first contact to the payment. The requirements of each stage are data
//! (`fixtures/deals.toml`).

use std::sync::LazyLock;

use crate::model::State;
use crate::model::capital::{DueDiligenceCase, Template};
use crate::model::payments::Wallet;
use crate::model::prelude::*;

states! {
    /// Whether a deal is open, or how it ended.
    DealStatus { Open "open", Won "won", Lost "lost", Withdrawn "withdrawn" }
    "win": Open => Won;
    "lose": Open => Lost;
    "withdraw": Open => Withdrawn;
}

states! {
    /// Stage of a deal.
    DealStage {
        Sourced "sourced", Screening "screening", DueDiligence "due_diligence", TermSheet "term_sheet", Closing "closing",
    }
    "advance": Sourced => Screening;
    "advance": Screening => DueDiligence;
    "advance": DueDiligence => TermSheet;
    "advance": TermSheet => Closing;
}

impl DealStage {
    /// The next stage.
    pub(crate) fn next(self) -> Option<Self> {
        let mut rows = Self::ROWS.iter();
        rows.find(|row| row.from.contains(&self)).map(|row| row.to)
    }
}

/// The instrument that the investor receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DealInstrument")]
pub(crate) enum Instrument {
    /// Shares in the company.
    Equity,
    /// Shares whose number is calculated later.
    Safe,
    /// A loan that is repaid with interest.
    Debt,
    /// A share of future sales.
    RevenueShare,
}

impl Instrument {
    /// Whether the company owes the money after closing.
    pub(crate) const fn is_owed(self) -> bool {
        matches!(self, Self::Debt | Self::RevenueShare)
    }

    pub(crate) fn terms(self) -> &'static InstrumentTerms {
        let mut rows = RULES.instrument.iter();
        rows.find(|row| row.instrument == self).expect("the file has a row for every instrument")
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstrumentTerms {
    instrument: Instrument,
    /// The checklist of the due diligence case that the deal opens.
    pub(crate) template: Template,
    /// Minimum readiness score to close a deal, 0 to 100.
    pub(crate) readiness: i64,
}

/// A requirement for entering a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Guard {
    /// The company's KYB is approved.
    KybApproved,
    /// The company has no confirmed AML alert.
    AmlClear,
    /// The deal's case is completed.
    DueDiligenceCompleted,
    /// The latest readiness assessment has a sufficient score.
    Readiness,
}

impl Guard {
    /// Its name in the file and in error messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::KybApproved => "kyb_approved",
            Self::AmlClear => "aml_clear",
            Self::DueDiligenceCompleted => "due_diligence_completed",
            Self::Readiness => "readiness",
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StageRow {
    stage: DealStage,
    guards: Vec<Guard>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    stage: Vec<StageRow>,
    instrument: Vec<InstrumentTerms>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../fixtures/deals.toml"))
        .expect("the embedded rules are whole: a test reads them")
});

impl DealStage {
    /// The requirements for entering the stage.
    pub(crate) fn guards(self) -> &'static [Guard] {
        let row = RULES.stage.iter().find(|row| row.stage == self);
        row.map_or(&[], |row| &row.guards)
    }
}

/// An entry of a `stage_history`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DealStageChange")]
pub(crate) struct StageChange {
    /// The stage that the deal entered.
    pub(crate) stage: DealStage,
    /// When the stage changed, in virtual time.
    pub(crate) at: Timestamp,
    /// The caller's note, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// An investor's reply to a deal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "InvestorReply")]
pub(crate) enum Reply {
    /// The investor continues.
    Interested,
    /// The investor declines.
    Passes,
}

/// A potential investor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Investor {
    /// Derived from the name: equal names are the same investor in every deal of a world.
    pub(crate) id: String,
    /// The investor's name.
    pub(crate) name: String,
    /// The investor's latest reply; null until there is one.
    pub(crate) reply: Option<Reply>,
    /// When the investor replied, in virtual time.
    pub(crate) replied_at: Option<Timestamp>,
}

/// A possible investment in a company.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Deal {
    /// The deal's id.
    pub(crate) id: Id<Deal>,
    /// Always `deal`.
    pub(crate) object: Object<Deal>,
    /// The company that would receive the money.
    pub(crate) company_id: Id<Company>,
    /// Whether the deal is open, or how it ended.
    pub(crate) status: DealStatus,
    /// Current stage, or the last one if the deal has ended.
    pub(crate) stage: DealStage,
    /// The caller's name for the deal.
    pub(crate) name: String,
    /// The instrument that the investor receives.
    pub(crate) instrument: Instrument,
    /// Target amount in minor units.
    pub(crate) target_amount: i64,
    /// Currency of the amounts. It must be the currency of one of the company's wallets.
    pub(crate) currency: Currency,
    /// The investor, if known.
    pub(crate) investor: Option<Investor>,
    /// The expected closing day.
    pub(crate) expected_close_on: Option<Date>,
    /// The due diligence case that must be completed; null until it is opened.
    pub(crate) due_diligence_case_id: Option<Id<DueDiligenceCase>>,
    /// Amount received, in minor units; null unless the deal is won.
    pub(crate) amount: Option<i64>,
    /// The wallet that received the money.
    pub(crate) wallet_id: Option<Id<Wallet>>,
    /// Every stage of the deal, oldest first.
    pub(crate) stage_history: Vec<StageChange>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
    /// Every status of the deal, oldest first; `reason` says why it ended.
    pub(crate) status_history: StatusHistory<DealStatus>,
}

impl Deal {
    /// Enters the next stage, at the caller's request.
    pub(crate) fn enter_stage(&mut self, stage: DealStage, at: Timestamp, note: Option<String>) {
        assert_eq!(self.stage.next(), Some(stage), "stages follow one another");
        self.stage = stage;
        self.updated_at = at;
        self.stage_history.push(StageChange { stage, at, note });
    }
}

stateful!(Deal: DealStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_is_the_last_stage_of_a_deal() {
        assert_eq!(DealStage::Closing.next(), None);
    }

    #[test]
    fn the_rules_have_a_row_for_every_stage_to_enter_and_every_instrument() {
        let stages = DealStage::STATES.iter().map(|(stage, _)| *stage).skip(1);
        let rows = RULES.stage.iter().map(|row| row.stage);
        assert!(rows.eq(stages));
        for row in &RULES.stage {
            assert!(row.guards.contains(&Guard::KybApproved), "{row:?}");
        }
        for instrument in
            [Instrument::Equity, Instrument::Safe, Instrument::Debt, Instrument::RevenueShare]
        {
            assert!((1..=100).contains(&instrument.terms().readiness));
        }
    }

    #[test]
    fn guards_are_named_as_in_the_file() {
        for guard in DealStage::Closing.guards() {
            let read: Rules = toml::from_str(&format!(
                "instrument = []\n[[stage]]\nstage = \"closing\"\nguards = [\"{}\"]",
                guard.name()
            ))
            .expect("a rule");
            assert_eq!(read.stage[0].guards, [*guard]);
        }
    }
}
