//! An employee. The published list shows six of these members (specification, §2).

use std::collections::BTreeMap;

use crate::model::business::paid_leave::PaidLeave;
use crate::model::business::pay_terms::{BroughtIn, Compensation};
use crate::model::business::payment_method::PaymentMethod;
use crate::model::business::payroll_run::RunType;
use crate::model::business::tax_attributes::DatedTaxAttributes;
use crate::model::lifecycle::State;
use crate::model::payroll::{CONTRACTORS, Pack, YearToDate};
use crate::model::prelude::*;

states! {
    /// Employment status. The specification (§2) leaves the values open.
    EmployeeStatus { Pending "pending", Active "active", OnLeave "on_leave", Suspended "suspended", Terminated "terminated" }
    "activate": Pending | OnLeave | Suspended => Active;
    "start_leave": Active => OnLeave;
    "end_leave": OnLeave => Active;
    "suspend": Active => Suspended;
    "terminate": Pending | Active | OnLeave | Suspended => Terminated;
}

states! {
    /// Payroll verification status. The specification (§2) leaves the values open.
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

resource! {
    /// A person whom a company employs.
    Employee: EmployeeStatus {
        /// The employer.
        company_id: Id<Company>,
        /// Full name.
        name: String,
        /// Job title.
        role: String,
        /// Name of the department.
        department: String,
        /// Status of the employment.
        status: EmployeeStatus,
        /// Payroll verification status. Only `verified` employees receive wages.
        payroll_status: PayrollStatus,
        /// Paid leave, if the employee has a setting of their own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paid_leave: Option<PaidLeave>,
        /// Why pay is on hold, if a call or a bank caused the hold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payroll_hold: Option<HoldReason>,
        /// Work e-mail address.
        email: Option<String>,
        /// Terms of employment.
        employment_type: EmploymentType,
        /// Country of employment, ISO 3166-1 alpha-2. It selects the payroll pack.
        country: String,
        /// First day of work.
        start_date: Date,
        /// Last day of work.
        #[serde(skip_serializing_if = "Option::is_none")]
        end_date: Option<Date>,
        /// Why the employment will end, while its last day is in the future. Afterwards the status history contains the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end_reason: Option<String>,
        /// How the final pay is paid. Absent once it has been paid.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        final_pay: Option<FinalPay>,
        /// The pay terms in force today, or the first ones if all are in the future.
        compensation: Option<Compensation>,
        /// All pay terms, including future ones, ordered by their first day. Absent if there are no terms other than `compensation`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        compensation_history: Vec<Compensation>,
        /// What the employee was paid earlier in the tax year, if it was provided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        brought_in: Option<Box<BroughtIn>>,
        /// The account that wages are paid to.
        payment_method: Option<Arc<PaymentMethod>>,
        /// The employee's number at the tax authority.
        tax_id: Option<String>,
        /// Attributes for the country's payroll pack that are in force today, such as tax code and filing status. Absent attributes have the
        /// pack's defaults.
        tax_attributes: Arc<BTreeMap<String, String>>,
        /// All tax attributes by the first day on which they apply, including future ones. Absent if they never changed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tax_attributes_history: Vec<DatedTaxAttributes>,
    }
}

impl Employee {
    /// The totals that the employee brought into the tax year of a pack that begins on that day. The totals of earlier employers contain only
    /// what counts by the law of the pack.
    pub(crate) fn totals_of(&self, pack: &Pack, tax_year: Date) -> Option<YearToDate> {
        let told = self.brought_in.as_ref().filter(|told| told.tax_year_start == tax_year)?;
        let mut totals = YearToDate::from_names(pack, &told.totals).ok()?;
        if !self.had_begun() {
            let is_left_out = |name: &str| pack.each_employer.iter().any(|it| it == name);
            if is_left_out("*") {
                return None;
            }
            totals.retain(pack, |name| !is_left_out(name));
        }
        Some(totals)
    }

    /// Whether the employment had begun before the employee was created here.
    pub(crate) fn had_begun(&self) -> bool {
        self.start_date < self.created_at.date()
    }

    /// Enters a payroll status if the lifecycle allows it. `hold` is the reason why pay is on hold.
    pub(crate) fn enter_payroll(
        &mut self,
        status: PayrollStatus,
        at: Timestamp,
        hold: Option<HoldReason>,
    ) {
        assert!(
            self.payroll_status.may_become(status),
            "payroll status of an employee changed from {:?} to {status:?}",
            self.payroll_status
        );
        self.payroll_status = status;
        self.payroll_hold = hold;
        self.updated_at = at;
    }

    /// Whether the current suspension caused the hold of pay.
    pub(crate) fn held_by_suspension(&self) -> bool {
        // Employees who were suspended before the world's start have no recorded reason, and were paid until then.
        let grown = self.status_history.last().is_some_and(|change| change.reason.is_none());
        self.payroll_status == PayrollStatus::OnHold
            && (self.payroll_hold == Some(HoldReason::Suspension)
                || self.payroll_hold.is_none() && grown)
    }

    /// The currency of the pay terms.
    pub(crate) fn paid_in(&self) -> Option<Currency> {
        self.compensation.as_ref().map(|terms| terms.currency)
    }

    /// The reason why a run of that kind cannot pay this employee, if any. Corrections and final pay can also pay
    /// employees who have left.
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

    /// Why wages cannot be paid to this employee, if so.
    pub(crate) fn not_payable(&self) -> Option<&'static str> {
        match (self.status, self.payroll_status) {
            (EmployeeStatus::Terminated, PayrollStatus::Verified)
                if self.final_pay == Some(FinalPay::NextRun) =>
            {
                None
            }
            (EmployeeStatus::Terminated, _) => Some("the employment has ended"),
            (EmployeeStatus::Pending, _) => Some("the employment has not started"),
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
                Some("payroll_status is pending: the checks have not finished yet")
            }
            (_, PayrollStatus::Failed) => {
                Some("payroll_status is failed: the last verification did not pass")
            }
            (_, PayrollStatus::OnHold) => Some("payroll_status is on_hold"),
            (_, PayrollStatus::Closed) => Some("payroll_status is closed"),
        }
    }
}

/// Why pay is on hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HoldReason {
    /// The employee is suspended.
    Suspension,
    /// A payout was returned by the employee's bank.
    ReturnedPayout,
    /// An alert about the employee was confirmed.
    AmlAlert,
}

/// How the final pay of an employment is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FinalPay {
    /// In a separate run of type `termination`, as soon as the employment ends.
    OffCycle,
    /// By the regular run of the month in which it ends.
    NextRun,
    /// Not paid: payroll closes with the employment.
    None,
}

/// Terms of employment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EmploymentType {
    FullTime,
    PartTime,
    /// Not an employee in law: paid without withholding and without contributions.
    Contractor,
}

impl EmploymentType {
    /// The country of the payroll pack: contractors everywhere have the same one, which has no taxes.
    pub(crate) const fn payroll_country(self, country: &str) -> &str {
        match self {
            Self::FullTime | Self::PartTime => country,
            Self::Contractor => CONTRACTORS,
        }
    }
}

impl Employee {
    /// The country of the payroll pack.
    pub(crate) fn payroll_country(&self) -> &str {
        self.employment_type.payroll_country(&self.country)
    }

    /// All pay terms that are still valid, including future ones, ordered by their first day.
    pub(crate) fn terms(&self) -> &[Compensation] {
        match self.compensation_history.as_slice() {
            [] => self.compensation.as_slice(),
            all => all,
        }
    }

    /// The terms in force on a day. Before the first day of the first terms, those first terms.
    pub(crate) fn terms_on(&self, day: Date) -> Option<&Compensation> {
        let all = self.terms();
        let begun = all.iter().rev().find(|terms| terms.effective_from <= day);
        begun.or_else(|| all.first())
    }

    /// Sets terms from their first day up to the next terms. Terms with the same first day are replaced.
    pub(crate) fn set_terms(&mut self, terms: Compensation, today: Date) {
        let mut all = self.terms().to_vec();
        match all.binary_search_by_key(&terms.effective_from, |known| known.effective_from) {
            Ok(place) => all[place] = terms,
            Err(place) => all.insert(place, terms),
        }
        if all.len() == 1 {
            // A single entry equals `compensation`, so it is not stored. This keeps employees without a history small.
            self.compensation = all.pop();
            self.compensation_history = Vec::new();
        } else {
            self.compensation_history = all;
            self.follow_terms(today);
        }
    }

    /// Makes the terms in force today the current ones. Returns whether they changed.
    pub(crate) fn follow_terms(&mut self, today: Date) -> bool {
        let current = self.terms_on(today).cloned();
        let changed = current != self.compensation;
        self.compensation = current;
        changed
    }

    /// The first days of future terms.
    pub(crate) fn terms_to_come(&self, today: Date) -> Vec<Date> {
        let current = self.compensation.as_ref().map(|now| now.effective_from);
        let days = self.terms().iter().map(|terms| terms.effective_from);
        days.filter(|day| *day > today && Some(*day) != current).collect()
    }
}

impl Employee {
    /// The tax attributes in force on a day. The first attributes also apply before their first day.
    pub(crate) fn tax_attributes_on(&self, day: Date) -> &Arc<BTreeMap<String, String>> {
        let all = &self.tax_attributes_history;
        let begun = all.iter().rev().find(|dated| dated.effective_from <= day);
        begun.or_else(|| all.first()).map_or(&self.tax_attributes, |dated| &dated.values)
    }

    /// Sets attributes from a day up to the next change; `None` restores a default. Other attributes are unchanged.
    pub(crate) fn set_tax_attributes(
        &mut self,
        effective_from: Date,
        changes: impl IntoIterator<Item = (String, Option<String>)>,
    ) {
        if self.tax_attributes_history.is_empty() && !self.tax_attributes.is_empty() {
            let effective_from = self.start_date.min(effective_from);
            let values = Arc::clone(&self.tax_attributes);
            self.tax_attributes_history.push(DatedTaxAttributes { effective_from, values });
        }
        let mut values = (**self.tax_attributes_on(effective_from)).clone();
        for (name, value) in changes {
            match value {
                Some(value) => values.insert(name, value),
                None => values.remove(&name),
            };
        }
        let dated = DatedTaxAttributes { effective_from, values: Arc::new(values) };
        let all = &mut self.tax_attributes_history;
        match all.binary_search_by_key(&effective_from, |known| known.effective_from) {
            Ok(place) => all[place] = dated,
            Err(place) => all.insert(place, dated),
        }
    }

    /// Makes the attributes in force today the current ones. Returns whether they changed.
    pub(crate) fn follow_tax_attributes(&mut self, today: Date) -> bool {
        let current = Arc::clone(self.tax_attributes_on(today));
        let changed = current != self.tax_attributes;
        self.tax_attributes = current;
        changed
    }

    /// The first days of future attributes.
    pub(crate) fn tax_attributes_to_come(&self, today: Date) -> impl Iterator<Item = Date> {
        let days = self.tax_attributes_history.iter().map(|dated| dated.effective_from);
        days.filter(move |day| *day > today)
    }
}
