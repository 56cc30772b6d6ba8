//! What the clock does: the closed list of timers that a world can hold.

use serde::{Deserialize, Serialize};

use crate::model::AnyId;
use crate::model::business::payroll_run::PayrollRun;
use crate::model::payments::payout::Payout;
use crate::value::id::Id;

/// Something that falls due. Each is a system row of the operation table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "task", content = "subject")]
pub(crate) enum Task {
    /// Gross to net of every employee of the run, then approval where nobody has to ask.
    CalculateRun(Id<PayrollRun>),
    /// Reserve the run's money and open its payouts.
    FundRun(Id<PayrollRun>),
    /// Hand the run's payouts to the rail.
    SendRunPayouts(Id<PayrollRun>),
    /// The receiving bank's answer to one payout.
    SettlePayout(Id<Payout>),
}

impl Task {
    /// The resource that it is about.
    pub(crate) fn subject(self) -> AnyId {
        match self {
            Self::CalculateRun(run) | Self::FundRun(run) | Self::SendRunPayouts(run) => {
                AnyId::of(run)
            }
            Self::SettlePayout(payout) => AnyId::of(payout),
        }
    }
}
