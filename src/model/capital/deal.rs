//! A deal: what an investor may put into a company, from the first talk to the wallet. What a stage asks for is data
//! (`fixtures/deals.toml`).

use std::sync::LazyLock;

use crate::model::State;
use crate::model::capital::{DueDiligenceCase, Template};
use crate::model::payments::Wallet;
use crate::model::prelude::*;

states! {
    /// Whether a deal is open, and how it ended.
    DealStatus { Open "open", Won "won", Lost "lost", Withdrawn "withdrawn" }
    "win": Open => Won;
    "lose": Open => Lost;
    "withdraw": Open => Withdrawn;
}

states! {
    /// How far a deal is.
    DealStage {
        Sourced "sourced", Screening "screening", DueDiligence "due_diligence", TermSheet "term_sheet", Closing "closing",
    }
    "advance": Sourced => Screening;
    "advance": Screening => DueDiligence;
    "advance": DueDiligence => TermSheet;
    "advance": TermSheet => Closing;
}

impl DealStage {
    /// The one that follows.
    pub(crate) fn next(self) -> Option<Self> {
        let mut rows = Self::ROWS.iter();
        rows.find(|row| row.from.contains(&self)).map(|row| row.to)
    }
}

/// What the investor gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DealInstrument")]
pub(crate) enum Instrument {
    /// A share of the company.
    Equity,
    /// A share that is reckoned later.
    Safe,
    /// The money back, with interest.
    Debt,
    /// A part of the sales to come.
    RevenueShare,
}

impl Instrument {
    /// Whether the company owes the money from then on.
    pub(crate) const fn is_owed(self) -> bool {
        matches!(self, Self::Debt | Self::RevenueShare)
    }

    /// What depends on it.
    pub(crate) fn terms(self) -> &'static InstrumentTerms {
        let mut rows = RULES.instrument.iter();
        rows.find(|row| row.instrument == self).expect("the file has a row for every instrument")
    }
}

/// What depends on the instrument.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstrumentTerms {
    instrument: Instrument,
    /// The checklist of the case that a deal opens.
    pub(crate) template: Template,
    /// The least readiness that closes a deal, 0 to 100.
    pub(crate) readiness: i64,
}

/// Something that a stage asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Guard {
    /// It is known what business the company is.
    KybApproved,
    /// No confirmed AML alert is about the company.
    AmlClear,
    /// The deal's case is completed.
    DueDiligenceCompleted,
    /// The newest readiness assessment says enough.
    Readiness,
}

impl Guard {
    /// Its word in the file and in refusals.
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
    /// What a deal has to show before it enters the stage.
    pub(crate) fn guards(self) -> &'static [Guard] {
        let row = RULES.stage.iter().find(|row| row.stage == self);
        row.map_or(&[], |row| &row.guards)
    }
}

/// One line of a `stage_history`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DealStageChange")]
pub(crate) struct StageChange {
    /// The stage entered.
    pub(crate) stage: DealStage,
    /// When, in virtual time.
    pub(crate) at: Timestamp,
    /// The caller's note, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// What an investor says to a deal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "InvestorReply")]
pub(crate) enum Reply {
    /// Goes on.
    Interested,
    /// Does not.
    Passes,
}

/// Whose money it would be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Investor {
    /// Follows from the name: the same name is the same investor in every deal of a world.
    pub(crate) id: String,
    /// The investor's name.
    pub(crate) name: String,
    /// What the investor said last; null until then.
    pub(crate) reply: Option<Reply>,
    /// When that was, in virtual time.
    pub(crate) replied_at: Option<Timestamp>,
}

/// Money that may come into a company.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Deal {
    /// The deal's id.
    pub(crate) id: Id<Deal>,
    /// Always `deal`.
    pub(crate) object: Object<Deal>,
    /// Who would get the money.
    pub(crate) company_id: Id<Company>,
    /// Whether it is open, and how it ended.
    pub(crate) status: DealStatus,
    /// How far it is, or was.
    pub(crate) stage: DealStage,
    /// What the caller calls it.
    pub(crate) name: String,
    /// What the investor gets.
    pub(crate) instrument: Instrument,
    /// Minor units that are hoped for.
    pub(crate) target_amount: i64,
    /// Their currency: that of one of the company's wallets.
    pub(crate) currency: Currency,
    /// Whose money it would be, where that is known.
    pub(crate) investor: Option<Investor>,
    /// The day on which it may be closed, in the caller's hope.
    pub(crate) expected_close_on: Option<Date>,
    /// The case of due diligence that it waits for, once it is open.
    pub(crate) due_diligence_case_id: Option<Id<DueDiligenceCase>>,
    /// Minor units that came, once it is won.
    pub(crate) amount: Option<i64>,
    /// The wallet that they came into.
    pub(crate) wallet_id: Option<Id<Wallet>>,
    /// Every stage it was in.
    pub(crate) stage_history: Vec<StageChange>,
    /// When it was added, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had; `reason` says why it ended.
    pub(crate) status_history: Vec<StatusChange<DealStatus>>,
}

impl Deal {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }

    /// Enters the next stage, which the caller has asked for.
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
    fn every_status_and_stage_of_a_deal_can_be_reached() {
        crate::model::lifecycle::assert_sound(DealStatus::Open);
        crate::model::lifecycle::assert_sound(DealStage::Sourced);
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
