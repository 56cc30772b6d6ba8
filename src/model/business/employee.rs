//! An employee: who is paid. The published list shows six of these members (specification, §2).

use std::collections::BTreeMap;

use crate::model::State;
use crate::model::business::{Allowance, BroughtIn, Deduction, RunType};
use crate::model::prelude::*;

states! {
    /// Employment. The specification (§2) leaves the values open.
    EmployeeStatus { Pending "pending", Active "active", OnLeave "on_leave", Suspended "suspended", Terminated "terminated" }
    "activate": Pending | OnLeave | Suspended => Active;
    "start_leave": Active => OnLeave;
    "end_leave": OnLeave => Active;
    "suspend": Active => Suspended;
    "terminate": Pending | Active | OnLeave | Suspended => Terminated;
}

states! {
    /// Payroll verification. The specification (§2) leaves the values open.
    PayrollStatus {
        NotEnrolled "not_enrolled", Pending "pending", Verified "verified", Failed "failed", OnHold "on_hold", Closed "closed",
    }
    "verify": NotEnrolled | Failed | OnHold => Pending;
    "set_payment_method": NotEnrolled | Pending | Verified | Failed | OnHold => Pending;
    "pass": Pending => Verified;
    "fail": Pending => Failed;
    "hold": Verified => OnHold;
    "release": OnHold => Verified;
    "close": NotEnrolled | Pending | Verified | Failed | OnHold => Closed;
}

/// A person whom a company employs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Employee {
    /// The employee's id.
    pub(crate) id: Id<Employee>,
    /// Always `employee`.
    pub(crate) object: Object<Employee>,
    /// The employer.
    pub(crate) company_id: Id<Company>,
    /// Full name.
    pub(crate) name: String,
    /// Job title.
    pub(crate) role: String,
    /// Department.
    pub(crate) department: String,
    /// Employment.
    pub(crate) status: EmployeeStatus,
    /// Payroll verification: wages go only to those `verified`.
    pub(crate) payroll_status: PayrollStatus,
    /// Why pay is held, where a call or a bank has held it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) payroll_hold: Option<HoldReason>,
    /// Work e-mail address.
    pub(crate) email: Option<String>,
    /// Terms of employment.
    pub(crate) employment_type: EmploymentType,
    /// Country of employment, ISO 3166-1 alpha-2; its payroll pack applies.
    pub(crate) country: String,
    /// First day of work.
    pub(crate) start_date: Date,
    /// Last day of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end_date: Option<Date>,
    /// Why the employment is to end, where its last day lies ahead; the history of statuses has it once it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end_reason: Option<String>,
    /// How the last days are paid, until they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) final_pay: Option<FinalPay>,
    /// What is paid: the terms in force today, or the first ones where they lie ahead.
    pub(crate) compensation: Option<Compensation>,
    /// All terms that were set, those of days to come included, by their first day. Absent where there are none but
    /// `compensation`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) compensation_history: Vec<Compensation>,
    /// What the person was paid earlier in the tax year, as far as it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) brought_in: Option<BroughtIn>,
    /// Where it is paid to.
    pub(crate) payment_method: Option<PaymentMethod>,
    /// The tax authority's number for the person.
    pub(crate) tax_id: Option<String>,
    /// What the country's payroll pack asks of the person: tax code, filing status; absent ones take the pack's defaults.
    pub(crate) tax_attributes: BTreeMap<String, String>,
    /// When the record was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every employment status the person had.
    pub(crate) status_history: Vec<StatusChange<EmployeeStatus>>,
}

impl Employee {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }

    /// Enters a payroll status, which the lifecycle allows; `hold` says why, where pay is held.
    pub(crate) fn enter_payroll(
        &mut self,
        status: PayrollStatus,
        at: Timestamp,
        hold: Option<HoldReason>,
    ) {
        assert!(
            self.payroll_status.may_become(status),
            "payroll of an employee went from {:?} to {status:?}",
            self.payroll_status
        );
        self.payroll_status = status;
        self.payroll_hold = hold;
        self.updated_at = at;
    }

    /// Whether it is the running suspension that holds the pay, and not something that was there before it.
    pub(crate) fn held_by_suspension(&self) -> bool {
        // People who were suspended before the world's start have no reason on record, and were paid until then.
        let grown = self.status_history.last().is_some_and(|change| change.reason.is_none());
        self.payroll_status == PayrollStatus::OnHold
            && (self.payroll_hold == Some(HoldReason::Suspension)
                || self.payroll_hold.is_none() && grown)
    }

    /// The currency of the terms of pay.
    pub(crate) fn paid_in(&self) -> Option<Currency> {
        self.compensation.as_ref().map(|terms| terms.currency)
    }

    /// Why a run of that kind cannot pay this person, if so. Corrections and final pay reach those who have left, too.
    pub(crate) fn not_payable_by(&self, kind: RunType) -> Option<&'static str> {
        match kind {
            RunType::Termination if self.end_date.is_none() => {
                Some("the employment has no last day: terminate it first")
            }
            RunType::Termination | RunType::Correction
                if self.status == EmployeeStatus::Terminated =>
            {
                match self.payroll_status {
                    PayrollStatus::Verified | PayrollStatus::Closed => {
                        let account = self.payment_method.as_ref();
                        account.is_none().then_some("no payment method is set")
                    }
                    _ => Some("payroll_status is neither verified nor closed"),
                }
            }
            _ => self.not_payable(),
        }
    }

    /// Why wages cannot be paid to this person, if so.
    pub(crate) fn not_payable(&self) -> Option<&'static str> {
        match (self.status, self.payroll_status) {
            (EmployeeStatus::Terminated, PayrollStatus::Verified)
                if self.final_pay == Some(FinalPay::NextRun) =>
            {
                None
            }
            (EmployeeStatus::Terminated, _) => Some("the employment has ended"),
            (EmployeeStatus::Pending, _) => Some("the employment has not begun"),
            (EmployeeStatus::Suspended, _) => Some("the employee is suspended"),
            (_, PayrollStatus::Verified) if self.compensation.is_none() => {
                Some("no compensation is set")
            }
            (_, PayrollStatus::Verified) if self.payment_method.is_none() => {
                Some("no payment method is set")
            }
            (_, PayrollStatus::Verified) => None,
            (_, PayrollStatus::NotEnrolled) => {
                Some("payroll_status is not_enrolled: verify the employee for payroll first")
            }
            (_, PayrollStatus::Pending) => {
                Some("payroll_status is pending: the checks have not finished")
            }
            (_, PayrollStatus::Failed) => {
                Some("payroll_status is failed: the last verification did not pass")
            }
            (_, PayrollStatus::OnHold) => Some("payroll_status is on_hold"),
            (_, PayrollStatus::Closed) => Some("payroll_status is closed"),
        }
    }
}

stateful!(Employee: EmployeeStatus);

/// Why pay is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HoldReason {
    /// The employee is suspended.
    Suspension,
    /// A payout came back from the employee's bank.
    ReturnedPayout,
    /// An alert about the employee was confirmed.
    AmlAlert,
}

/// How the last days of an employment are paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FinalPay {
    /// By a run of its own, of type `termination`, as soon as the employment ends.
    OffCycle,
    /// By the regular run of the month in which it ends.
    NextRun,
    /// By none: payroll closes with the employment.
    None,
}

/// Terms of employment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EmploymentType {
    FullTime,
    PartTime,
    Contractor,
}

/// How often an amount of pay is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PayInterval {
    Month,
    Year,
    Hour,
}

/// Pay terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Compensation {
    /// Gross pay an interval, in minor units.
    pub(crate) amount: i64,
    /// Its currency.
    pub(crate) currency: Currency,
    /// The interval: a year is paid in twelfths, an hour as a twelfth of 52 weeks of 40 hours.
    pub(crate) interval: PayInterval,
    /// The parts of a month's gross pay, in minor units; they sum to it.
    pub(crate) components: Vec<Component>,
    /// The first day it applies to.
    pub(crate) effective_from: Date,
    /// The day on which it was set; absent where that is not told, as of people who were there before the world's start.
    #[serde(rename = "recorded_on", default, skip_serializing_if = "Option::is_none")]
    pub(crate) recorded: Option<Date>,
    /// What is paid every month on top.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) allowances: Vec<Allowance>,
    /// What is kept back every month.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) deductions: Vec<Deduction>,
}

/// One part of a month's gross pay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Component {
    /// What the payroll pack calls it: `basic`, `housing`, `transport` …
    pub(crate) id: String,
    /// Minor units a month.
    pub(crate) amount: i64,
}

impl Compensation {
    /// The day on which it was set: its first one, where nothing else is known.
    #[allow(dead_code, reason = "the calculation of pay reads it")]
    pub(crate) fn recorded_on(&self) -> Date {
        self.recorded.unwrap_or(self.effective_from)
    }

    /// A month's gross pay in minor units, half a unit rounded up.
    pub(crate) fn monthly(amount: i64, interval: PayInterval) -> i64 {
        let (times, divisor) = match interval {
            PayInterval::Month => (1, 1),
            PayInterval::Year => (1, 12),
            PayInterval::Hour => (52 * 40, 12),
        };
        let twice = i128::from(amount) * times * 2 + divisor;
        i64::try_from(twice / (divisor * 2)).unwrap_or(i64::MAX)
    }
}

/// The kind of account that wages go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PaymentMethodType {
    Bank,
    MobileMoney,
}

/// Where wages go to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PaymentMethod {
    /// Bank account or mobile money.
    #[serde(rename = "type")]
    pub(crate) kind: PaymentMethodType,
    /// The bank's name, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bank_name: Option<String>,
    /// The bank's code in its country: sort code, routing number, bank code.
    pub(crate) bank_code: String,
    /// The account's number.
    pub(crate) account_number: String,
    /// The IBAN, where the country uses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) iban: Option<String>,
    /// The holder's name.
    pub(crate) account_name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_months_pay_rounds_half_up() {
        assert_eq!(Compensation::monthly(100, PayInterval::Month), 100);
        assert_eq!(Compensation::monthly(1_000, PayInterval::Year), 83);
        assert_eq!(Compensation::monthly(1_002, PayInterval::Year), 84);
        assert_eq!(Compensation::monthly(1_271, PayInterval::Hour), 220_307);
    }
}
