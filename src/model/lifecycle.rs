//! Lifecycles as const rows. The check, the 409 with `allowed`, the docs and the tests read the same rows.

use core::ops::Deref;
use core::{fmt, slice};
use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::Kind;
use crate::value::{ApiError, ErrorCode, Timestamp};

/// One transition of a lifecycle.
pub(crate) struct Transition<S: 'static> {
    /// The states in which it may start.
    pub(crate) from: &'static [S],
    /// The verb for it, as the API names it.
    pub(crate) verb: &'static str,
    /// The state it ends in.
    pub(crate) to: S,
}

/// The resource kind and the member of a machine. The registry of kinds implements this trait.
pub(crate) trait Listed {
    /// The kind of resource that it belongs to.
    const KIND: Kind;

    /// The member that contains its state.
    const MEMBER: &'static str;
}

/// The states of one kind of resource.
pub(crate) trait State: Listed + Copy + Eq + 'static {
    /// Every state with its name in JSON.
    const STATES: &'static [(Self, &'static str)];

    /// Every transition. A state that no transition leaves is terminal.
    const ROWS: &'static [Transition<Self>];

    /// The name in JSON.
    fn name(self) -> &'static str {
        Self::STATES.iter().find(|(state, _)| *state == self).map_or("unknown", |(_, name)| name)
    }

    /// The other states that can be reached from this one in one step.
    fn allowed(self) -> Vec<&'static str> {
        let mut names: Vec<&str> = Vec::new();
        for row in Self::ROWS.iter().filter(|row| row.from.contains(&self)) {
            if row.to != self && !names.contains(&row.to.name()) {
                names.push(row.to.name());
            }
        }
        names
    }

    /// Whether a row leads from this state to that one.
    fn may_become(self, to: Self) -> bool {
        Self::ROWS.iter().any(|row| row.to == to && row.from.contains(&self))
    }
}

/// A state that a timer's subject can enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entered {
    pub(crate) kind: Kind,
    /// `status`, unless the kind has a second machine.
    pub(crate) member: &'static str,
    pub(crate) state: &'static str,
}

impl Entered {
    pub(crate) fn of<S: State>(state: S) -> Self {
        Self { kind: S::KIND, member: S::MEMBER, state: state.name() }
    }
}

/// The target of a verb from a state, or the 409 that lists the states in which it may start.
///
/// # Panics
///
/// If the lifecycle has no such verb, which is a mistake in the handler.
pub(crate) fn step<S: State>(
    verb: &str,
    what: &str,
    id: impl core::fmt::Display,
    from: S,
) -> Result<S, ApiError> {
    let rows = || S::ROWS.iter().filter(|row| row.verb == verb);
    assert!(rows().next().is_some(), "no lifecycle row does {verb}");
    if let Some(row) = rows().find(|row| row.from.contains(&from)) {
        return Ok(row.to);
    }
    let starts: Vec<&str> = rows().flat_map(|row| row.from).map(|state| state.name()).collect();
    let detail = format!("{what} is {}: it must be {}", from.name(), starts.join(" or "));
    Err(refused(id, from, detail))
}

/// The 409 for an operation that the resource's state does not allow.
pub(crate) fn refused<S: State>(
    id: impl core::fmt::Display,
    current: S,
    detail: String,
) -> ApiError {
    let mut error = ApiError::new(ErrorCode::InvalidStateTransition, detail).about(id);
    error.current = Some(current.name());
    error.allowed = Some(current.allowed());
    error
}

/// Declares a status: its states in order and the transitions between them.
macro_rules! states {
    (
        $(#[$doc:meta])* $name:ident { $($state:ident $wire:literal),* $(,)? }
        $($verb:literal: $($from:ident)|* => $to:ident;)*
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $(#[$doc])*
        pub(crate) enum $name { $(#[serde(rename = $wire)] $state,)* }

        impl $crate::model::lifecycle::State for $name {
            const STATES: &'static [(Self, &'static str)] = &[$((Self::$state, $wire),)*];
            const ROWS: &'static [$crate::model::lifecycle::Transition<Self>] = &[$(
                $crate::model::lifecycle::Transition { from: &[$(Self::$from),*], verb: $verb, to: Self::$to },
            )*];
        }
    };
}
pub(crate) use states;

/// An entry of a `status_history`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "{S}Change")]
pub(crate) struct StatusChange<S> {
    /// The status that the resource entered.
    pub(crate) status: S,
    /// When the status changed, in virtual time.
    pub(crate) at: Timestamp,
    /// The reason for the change; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<Arc<String>>,
}

/// The statuses of a resource, oldest first. A single status is stored in place. Versions of the resource share a list of several.
#[derive(Clone, Debug)]
pub(crate) enum StatusHistory<S> {
    One(StatusChange<S>),
    Shared(Arc<[StatusChange<S>]>),
}

impl<S> Deref for StatusHistory<S> {
    type Target = [StatusChange<S>];

    fn deref(&self) -> &Self::Target {
        match self {
            Self::One(change) => slice::from_ref(change),
            Self::Shared(changes) => changes,
        }
    }
}

impl<S> Default for StatusHistory<S> {
    fn default() -> Self {
        Self::Shared([].into())
    }
}

impl<S, const N: usize> From<[StatusChange<S>; N]> for StatusHistory<S> {
    fn from(changes: [StatusChange<S>; N]) -> Self {
        changes.into_iter().collect()
    }
}

impl<S> FromIterator<StatusChange<S>> for StatusHistory<S> {
    fn from_iter<I: IntoIterator<Item = StatusChange<S>>>(changes: I) -> Self {
        let mut changes = changes.into_iter();
        match (changes.next(), changes.next()) {
            (Some(only), None) => Self::One(only),
            (first, second) => {
                Self::Shared(first.into_iter().chain(second).chain(changes).collect())
            }
        }
    }
}

impl<S: Serialize> Serialize for StatusHistory<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        serializer.collect_seq(&**self)
    }
}

impl<'de, S: Deserialize<'de>> Deserialize<'de> for StatusHistory<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

impl<S> JsonSchema for StatusHistory<S>
where
    Vec<StatusChange<S>>: JsonSchema,
{
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Vec::<StatusChange<S>>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<StatusChange<S>>::json_schema(generator)
    }
}

impl<S> StatusChange<S> {
    /// A change at that time, without a reason.
    pub(crate) const fn plain(status: S, at: Timestamp) -> Self {
        Self { status, at, reason: None }
    }
}

/// A resource with a lifecycle and a status history.
pub(crate) trait Stateful {
    /// Its states.
    type Status: State + fmt::Debug;

    /// Its status and the members that change with it.
    fn standing(&mut self) -> Standing<'_, Self::Status>;

    /// Enters `status`. The lifecycle must allow it: the caller has checked it, or the caller is the lifecycle's own
    /// timer.
    fn enter(&mut self, status: Self::Status, at: Timestamp) {
        self.enter_because(status, at, None);
    }

    /// Enters `status` with a reason.
    fn enter_because(&mut self, status: Self::Status, at: Timestamp, reason: Option<String>) {
        let standing = self.standing();
        let before = *standing.status;
        assert!(before.may_become(status), "no lifecycle row leads from {before:?} to {status:?}");
        *standing.status = status;
        if let Some(updated_at) = standing.updated_at {
            *updated_at = at;
        }
        let change = StatusChange { status, at, reason: reason.map(Arc::new) };
        *standing.history = standing.history.iter().cloned().chain([change]).collect();
    }
}

/// The status members of a resource.
pub(crate) struct Standing<'a, S> {
    pub(crate) status: &'a mut S,
    /// None if the resource reads it from its history.
    pub(crate) updated_at: Option<&'a mut Timestamp>,
    pub(crate) history: &'a mut StatusHistory<S>,
}

/// Declares where a resource stores its status: `status`, `status_history` and, unless it reads it from there, `updated_at`.
macro_rules! stateful {
    ($resource:ident: $status:ident) => {
        $crate::model::lifecycle::stateful!($resource: $status, |it| Some(&mut it.updated_at));
    };
    ($resource:ident: $status:ident, without updated_at) => {
        $crate::model::lifecycle::stateful!($resource: $status, |_it| None);
    };
    ($resource:ident: $status:ident, |$it:ident| $updated_at:expr) => {
        impl $crate::model::lifecycle::Stateful for $resource {
            type Status = $status;

            fn standing(&mut self) -> $crate::model::lifecycle::Standing<'_, $status> {
                let $it = self;
                $crate::model::lifecycle::Standing {
                    updated_at: $updated_at,
                    status: &mut $it.status,
                    history: &mut $it.status_history,
                }
            }
        }
    };
}
pub(crate) use stateful;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::business::EmployeeStatus;
    use crate::model::{business, capital, identity, payments};

    /// Checks every row of a lifecycle: each state can be reached and left as declared. For tests.
    fn assert_sound<S: State + core::fmt::Debug>(initial: S) {
        let mut reached = vec![initial];
        loop {
            let next = S::ROWS.iter().find(|row| {
                !reached.contains(&row.to) && row.from.iter().any(|s| reached.contains(s))
            });
            let Some(row) = next else { break };
            assert!(!row.verb.is_empty());
            reached.push(row.to);
        }
        for (state, name) in S::STATES {
            assert!(reached.contains(state), "no row leads to {name} ({state:?})");
        }
    }

    #[test]
    fn every_status_can_be_reached_from_the_first() {
        assert_sound(capital::deal::DealStatus::Open);
        assert_sound(capital::deal::DealStage::Sourced);
        assert_sound(capital::loan::LoanStatus::PendingDisbursement);
        assert_sound(business::accounting_period::PeriodStatus::Closed);
        assert_sound(business::compliance_requirement::RequirementStatus::Open);
        assert_sound(business::leave_request::LeaveStatus::Pending);
        assert_sound(business::pay_schedule::ScheduleStatus::Active);
        assert_sound(business::payroll_item::ItemStatus::Ready);
        assert_sound(business::payroll_run::RunStatus::Draft);
        assert_sound(business::payroll_verification::VerificationStatus::Pending);
        assert_sound(business::regulatory_report::ReportStatus::Compiled);
        assert_sound(business::tax_filing::FilingStatus::Pending);
        assert_sound(business::tax_liability::LiabilityStatus::Accrued);
        assert_sound(capital::application::ApplicationStatus::Submitted);
        assert_sound(capital::credit_score::ScoreStatus::Processing);
        assert_sound(capital::due_diligence_case::CaseStatus::Open);
        assert_sound(capital::due_diligence_request::RequestStatus::Requested);
        assert_sound(capital::insurance_risk_score::RiskScoreStatus::Processing);
        assert_sound(capital::offer::OfferStatus::Pending);
        assert_sound(capital::readiness_assessment::AssessmentStatus::Processing);
        assert_sound(identity::aml_alert::AlertStatus::Open);
        assert_sound(identity::aml_screening::ScreeningStatus::Processing);
        assert_sound(identity::document::DocumentStatus::Received);
        assert_sound(identity::subject::KycStatus::Unverified);
        assert_sound(identity::trust_score::TrustStatus::Processing);
        assert_sound(identity::verification::CaseStatus::Created);
        assert_sound(payments::bank_statement::StatementStatus::Processing);
        assert_sound(payments::beneficiary::BeneficiaryStatus::Pending);
        assert_sound(payments::bill::BillStatus::Draft);
        assert_sound(payments::collection::CollectionStatus::Pending);
        assert_sound(payments::dispute::DisputeStatus::NeedsResponse);
        assert_sound(payments::escrow::EscrowStatus::Created);
        assert_sound(payments::fx_quote::QuoteStatus::Open);
        assert_sound(payments::fx_transfer::FxTransferStatus::Processing);
        assert_sound(payments::invoice::InvoiceStatus::Draft);
        assert_sound(payments::mandate::MandateStatus::Pending);
        assert_sound(payments::payout::PayoutStatus::PendingApproval);
        assert_sound(payments::reconciliation_match::MatchStatus::Unmatched);
        assert_sound(payments::refund::RefundStatus::Pending);
    }

    #[test]
    fn a_verb_returns_the_next_state_or_lists_its_start_states() {
        let next = step("suspend", "the employee", "emp_1", EmployeeStatus::Active);
        assert_eq!(next.expect("a row"), EmployeeStatus::Suspended);
        let refused = step("suspend", "the employee", "emp_1", EmployeeStatus::Pending);
        let error = refused.expect_err("no row");
        assert_eq!(error.code, ErrorCode::InvalidStateTransition);
        assert_eq!(error.current, Some("pending"));
        assert_eq!(error.allowed, Some(vec!["active", "terminated"]));
        assert_eq!(error.detail, "the employee is pending: it must be active");
    }
}
