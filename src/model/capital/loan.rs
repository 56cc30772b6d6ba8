//! A loan: its schedule, the payments, and the next amount due.
//!
//! A repayment pays the due instalments and that of the current month in order, interest first. The remainder lowers the balance, and the
//! later months are recalculated over the same days. The whole balance can be repaid at any time: the principal, and interest up to that
//! day.

use crate::model::capital::amortisation::{accrued, due_days};
use crate::model::capital::{Application, Offer, Product, amortisation};
use crate::model::payments::Wallet;
use crate::model::prelude::*;

states! {
    /// Status of a loan.
    LoanStatus {
        PendingDisbursement "pending_disbursement", Active "active", Late "late", Defaulted "defaulted", Repaid "repaid",
    }
    "disburse": PendingDisbursement => Active;
    "miss": Active => Late;
    "catch_up": Late => Active;
    "default": Late => Defaulted;
    "repay": Active | Late => Repaid;
}

/// How a loan is repaid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RepaymentMethod")]
pub(crate) enum RepaymentMethod {
    /// By calls of the company.
    #[default]
    Manual,
    /// What is due, late instalments included, is debited from the loan's wallet on each due day, if the wallet has all of it.
    Autopay,
    /// A share of each collection that settles is debited, until the loan is repaid.
    RevenueShare,
}

/// How a loan is repaid, and the share of sales that is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LoanRepaymentTerms {
    /// How the loan is repaid.
    pub(crate) method: RepaymentMethod,
    /// The share of each collection in basis points, 1000 for 10 %. Null unless the method is `revenue_share`.
    pub(crate) share_bp: Option<i64>,
}

/// Status of an instalment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum InstalmentStatus {
    /// The due date is in the future.
    Upcoming,
    /// The due date is today.
    Due,
    /// The due date has passed.
    Late,
    /// The instalment is paid.
    Paid,
}

/// One month of a loan's schedule; amounts are in minor units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Instalment {
    /// Position in the schedule, from 1.
    pub(crate) number: u32,
    /// The day on which the instalment must be paid.
    pub(crate) due_on: Date,
    /// The part of the instalment that repays the loan.
    pub(crate) principal: i64,
    /// The part of the instalment that is interest.
    pub(crate) interest: i64,
    /// The whole instalment: principal and interest.
    pub(crate) amount: i64,
    /// The part of the instalment that is paid. Interest is paid first.
    pub(crate) paid: i64,
    /// The principal that is outstanding after the instalment.
    pub(crate) balance: i64,
    /// Current status.
    pub(crate) status: InstalmentStatus,
}

impl Instalment {
    const fn left(&self) -> i64 {
        self.amount - self.paid
    }

    fn interest_paid(&self) -> i64 {
        self.paid.min(self.interest)
    }

    pub(crate) fn principal_paid(&self) -> i64 {
        self.paid - self.interest_paid()
    }

    fn is_owed(&self) -> bool {
        matches!(self.status, InstalmentStatus::Due | InstalmentStatus::Late)
    }
}

/// Balances of a loan, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LoanBalances {
    /// Outstanding principal.
    pub(crate) principal_outstanding: i64,
    /// Unpaid interest of instalments that are due or late.
    pub(crate) interest_due: i64,
    /// Unpaid amount of late instalments.
    pub(crate) overdue: i64,
    /// Principal that has been repaid.
    pub(crate) principal_paid: i64,
    /// Interest that has been paid.
    pub(crate) interest_paid: i64,
    /// Interest that has accrued in the books since the disbursement, paid or not. It grows every day.
    #[serde(default)]
    pub(crate) interest_accrued: i64,
}

/// The next unpaid instalment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NextDue {
    /// Position of the instalment in the schedule, from 1.
    pub(crate) number: u32,
    /// The day on which the instalment must be paid.
    pub(crate) due_on: Date,
    /// Unpaid amount, in minor units.
    pub(crate) amount: i64,
}

resource! {
    /// A loan to a company.
    Loan: LoanStatus {
        /// The company that repays the loan.
        company_id: Id<Company>,
        /// The application for the loan.
        application_id: Id<Application>,
        /// The offer that was accepted.
        offer_id: Id<Offer>,
        /// The wallet that received the money.
        wallet_id: Id<Wallet>,
        /// Current status.
        status: LoanStatus,
        /// The product: what kind of loan it is.
        product: Product,
        /// Amount lent, in minor units.
        amount: i64,
        /// Currency of the amount.
        currency: Currency,
        /// The yearly rate in basis points. One twelfth of it is charged per month.
        rate_bp: i64,
        /// The repayment term in months.
        term_months: u32,
        /// How the loan is repaid.
        repayment: LoanRepaymentTerms,
        /// When the money was paid out, in virtual time; null until then.
        disbursed_at: Option<Timestamp>,
        /// The instalments, starting at disbursement. The sum of their principal and `prepaid_principal` is the amount.
        schedule: Vec<Instalment>,
        /// Principal repaid in addition to the instalments, in minor units.
        prepaid_principal: i64,
        /// Number of instalments that were late.
        late_instalments: u32,
        /// Balances of the loan.
        balances: LoanBalances,
        /// The next unpaid instalment; null if there is none.
        next_due: Option<NextDue>,
    }
}

/// The allotment of a repayment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allotment {
    pub(crate) interest: i64,
    pub(crate) principal: i64,
}

impl Loan {
    /// The repayment taken from a collection of that amount. `None` if the loan takes no share of collections.
    pub(crate) fn share_of(&self, amount: i64) -> Option<i64> {
        let share = self.repayment.share_bp.filter(|_| self.is_open())?;
        let part = i128::from(amount) * i128::from(share) / 10_000;
        i64::try_from(part).ok().filter(|part| *part > 0)
    }

    /// The unpaid amount of instalments that are due or late.
    pub(crate) fn owed(&self) -> i64 {
        self.schedule.iter().filter(|row| row.is_owed()).map(Instalment::left).sum()
    }

    /// Whether a part is still outstanding.
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.status, LoanStatus::Active | LoanStatus::Late)
    }

    /// Creates the schedule, starting on the disbursement day.
    pub(crate) fn begin(&mut self, at: Timestamp) {
        self.disbursed_at = Some(at);
        let days = due_days(at.date(), self.term_months);
        self.schedule = instalments(self.amount, self.rate_bp, &days, 1);
        self.settle_figures();
    }

    fn principal_outstanding(&self) -> i64 {
        let paid: i64 = self.schedule.iter().map(Instalment::principal_paid).sum();
        self.amount - self.prepaid_principal - paid
    }

    /// Position of the current month's instalment: the first with a future due date. A move by hand can have made it late already.
    fn running(&self, today: Date) -> Option<usize> {
        self.schedule.iter().position(|row| row.due_on > today)
    }

    /// The interest of a month that has accrued by a day.
    fn accrued(&self, place: usize, today: Date) -> i64 {
        let row = &self.schedule[place];
        let start = match place.checked_sub(1) {
            Some(before) => self.schedule[before].due_on,
            None => self.disbursed_at.map_or(today, Timestamp::date),
        };
        accrued(row.interest, today.days_since(start), row.due_on.days_since(start))
    }

    /// Accrues the interest up to a day. Returns what was not accrued before: the expense (IFRS 9, paragraph 5.4.1 and appendix A; IAS 1,
    /// paragraph 27).
    pub(crate) fn accrue(&mut self, today: Date) -> i64 {
        let by_day = |place: usize| match self.status {
            LoanStatus::Repaid => self.schedule[place].interest,
            _ => self.accrued(place, today),
        };
        let interest: i64 = (0..self.schedule.len()).map(by_day).sum();
        let news = interest - self.balances.interest_accrued;
        self.balances.interest_accrued = interest;
        news
    }

    /// The date of a day of interest, counted from the disbursement; none after the last instalment.
    pub(crate) fn day_of_interest(&self, day: u32) -> Option<Date> {
        let (begun, last) = (self.disbursed_at?, self.schedule.last()?);
        let date = begun.date().plus_days(i32::try_from(day).ok()?);
        (date <= last.due_on).then_some(date)
    }

    /// The amount that repays the loan completely on a day: principal, and interest up to that day. Interest of the current month that
    /// was paid and has not accrued is credited.
    pub(crate) fn settlement(&self, today: Date) -> i64 {
        let running = self.running(today);
        let unpaid = self.schedule.iter().enumerate().map(|(place, row)| match running {
            Some(running) if running == place => self.accrued(place, today) - row.interest_paid(),
            _ if row.is_owed() => row.interest - row.interest_paid(),
            _ => 0,
        });
        (self.principal_outstanding() + unpaid.sum::<i64>()).max(0)
    }

    /// Allots a repayment, which must be at most the settlement amount.
    pub(crate) fn repay(&mut self, amount: i64, today: Date) -> Allotment {
        if amount == self.settlement(today) {
            return self.pay_off(amount, today);
        }
        let running = self.running(today);
        let (mut left, mut allotted) = (amount, Allotment::default());
        for (place, row) in self.schedule.iter_mut().enumerate() {
            if row.is_owed() || Some(place) == running {
                let before = row.interest_paid();
                let part = left.min(row.left());
                row.paid += part;
                left -= part;
                allotted.interest += row.interest_paid() - before;
            }
        }
        if left > 0 {
            self.prepay(left);
        }
        allotted.principal = amount - allotted.interest;
        self.settle_figures();
        allotted
    }

    /// Lowers the balance, and recalculates the months without payments.
    fn prepay(&mut self, amount: i64) {
        let untouched =
            |row: &Instalment| row.status == InstalmentStatus::Upcoming && row.paid == 0;
        let first = self.schedule.iter().position(untouched);
        let first = first.expect("less than the settlement is paid, so months are left");
        let rest = self.schedule.split_off(first);
        let balance: i64 = rest.iter().map(|row| row.principal).sum();
        let days: Vec<Date> = rest.iter().map(|row| row.due_on).collect();
        self.prepaid_principal += amount;
        let number = rest[0].number;
        self.schedule.extend(instalments(balance - amount, self.rate_bp, &days, number));
    }

    /// Repays everything. Interest that has not accrued is no longer due.
    fn pay_off(&mut self, amount: i64, today: Date) -> Allotment {
        let running = self.running(today);
        let accrued = running.map_or(0, |place| self.accrued(place, today));
        let paid_before: i64 = self.schedule.iter().map(Instalment::interest_paid).sum();
        for (place, row) in self.schedule.iter_mut().enumerate() {
            if row.status == InstalmentStatus::Upcoming || Some(place) == running {
                row.interest = if Some(place) == running { accrued } else { row.interest_paid() };
                row.amount = row.principal + row.interest;
            }
            row.paid = row.amount;
        }
        let interest: i64 = self.schedule.iter().map(|row| row.interest).sum();
        self.settle_figures();
        let interest = interest - paid_before;
        Allotment { interest, principal: amount - interest }
    }

    /// Marks an instalment as due or late. Returns whether its status changed: a paid or late instalment stays as it is.
    pub(crate) fn mark(&mut self, number: u32, status: InstalmentStatus) -> bool {
        let is_news = |row: &Instalment| match status {
            InstalmentStatus::Due => row.status == InstalmentStatus::Upcoming,
            _ => row.status == InstalmentStatus::Upcoming || row.status == InstalmentStatus::Due,
        };
        let mut rows = self.schedule.iter_mut();
        let row = rows.find(|row| row.number == number && is_news(row));
        let found = row.is_some();
        if let Some(row) = row {
            row.status = status;
            self.late_instalments += u32::from(status == InstalmentStatus::Late);
        }
        self.settle_figures();
        found
    }

    /// Whether any instalment is late.
    pub(crate) fn is_behind(&self) -> bool {
        let mut rows = self.schedule.iter();
        rows.any(|row| row.status == InstalmentStatus::Late)
    }

    pub(crate) fn first_unpaid(&self) -> Option<&Instalment> {
        let mut rows = self.schedule.iter();
        rows.find(|row| row.status != InstalmentStatus::Paid)
    }

    /// Updates the figures that follow from the schedule.
    fn settle_figures(&mut self) {
        for row in &mut self.schedule {
            if row.left() == 0 {
                row.status = InstalmentStatus::Paid;
            }
        }
        let outstanding = self.principal_outstanding();
        let rows = || self.schedule.iter();
        let owed = || rows().filter(|row| row.is_owed());
        let late = rows().filter(|row| row.status == InstalmentStatus::Late);
        self.balances = LoanBalances {
            principal_outstanding: outstanding,
            interest_due: owed().map(|row| row.interest - row.interest_paid()).sum(),
            overdue: late.map(Instalment::left).sum(),
            principal_paid: self.amount - outstanding,
            interest_paid: rows().map(Instalment::interest_paid).sum(),
            interest_accrued: self.balances.interest_accrued,
        };
        self.next_due = self.first_unpaid().map(|row| NextDue {
            number: row.number,
            due_on: row.due_on,
            amount: row.left(),
        });
    }
}

/// The instalments for a balance, numbered from `first`.
fn instalments(balance: i64, rate_bp: i64, days: &[Date], first: u32) -> Vec<Instalment> {
    let months = amortisation::schedule(balance, rate_bp, days);
    let rows = (first..).zip(months).map(|(number, month)| Instalment {
        number,
        due_on: month.due_on,
        principal: month.principal,
        interest: month.interest,
        amount: month.principal + month.interest,
        paid: 0,
        balance: month.balance,
        status: InstalmentStatus::Upcoming,
    });
    rows.collect()
}

#[cfg(test)]
mod tests;
