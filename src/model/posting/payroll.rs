//! Entries of runs: accrual at approval, sending and recalling wages, and the platform fee.

use super::{Conversion, Credit, Debit, Posting};
use crate::model::business::tax_return::DueTo;
use crate::model::business::{Calculation, PayrollItem};
use crate::model::{Account, AnyId};
use crate::value::Currency;

/// The amounts that a run owes to each party.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunCost {
    pub(crate) gross: i64,
    /// The part of `gross` that contractors receive.
    pub(crate) fees: i64,
    pub(crate) employer_contributions: i64,
    pub(crate) net: i64,
    /// The part of `net` that contractors receive.
    pub(crate) net_fees: i64,
    /// Deductions other than taxes and contributions, with the employer's parts.
    pub(crate) deductions: i64,
    /// Reimbursed expenses.
    pub(crate) reimbursed: i64,
    /// By account, `tax_payable` of each authority or `pension_payable`, and by form.
    pub(crate) owed: Vec<(DueTo, i64)>,
    /// Net pay in other currencies, by currency and by the account that owes it. It is not part of the other sums.
    pub(crate) abroad: Vec<Abroad>,
}

/// Net pay due in another currency than the company's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abroad {
    pub(crate) currency: Currency,
    /// The account that owes it.
    pub(crate) payable: Account,
    /// The amount due, in that currency.
    pub(crate) owed: i64,
    /// Its value in the run's currency.
    pub(crate) value: i64,
    /// The additional cost of converting it.
    pub(crate) fee: i64,
}

/// The amount if a contractor receives it.
fn fee(pay: &Calculation, amount: i64) -> i64 {
    if pay.is_fee() { amount } else { 0 }
}

/// The account that owes the net pay of an item.
pub(crate) fn payable(pay: &Calculation) -> Account {
    if pay.is_fee() { Account::ContractorsPayable } else { Account::WagesPayable }
}

impl RunCost {
    /// Adds the pay of a number of employees who earn the same.
    pub(crate) fn add(&mut self, pay: &Calculation, people: i64) {
        self.gross += pay.gross * people;
        self.fees += fee(pay, pay.gross) * people;
        self.employer_contributions += pay.on_top() * people;
        self.net += pay.net * people;
        self.net_fees += fee(pay, pay.net) * people;
        self.deductions += (pay.deductions() + pay.employer_benefits()) * people;
        self.reimbursed += pay.reimbursed() * people;
        for (party, amount) in pay.owed() {
            add_to(&mut self.owed, party, amount * people);
        }
    }

    /// The amounts due by account, for all forms together.
    pub(crate) fn owed_by_account(&self) -> Vec<(Account, i64)> {
        let mut by_account = Vec::new();
        for &(DueTo { account, .. }, amount) in &self.owed {
            add_to(&mut by_account, account, amount);
        }
        by_account
    }
}

/// Adds an amount to the sum of its party.
fn add_to<T: PartialEq>(sums: &mut Vec<(T, i64)>, party: T, amount: i64) {
    match sums.iter_mut().find(|(known, _)| *known == party) {
        Some((_, sum)) => *sum += amount,
        None => sums.push((party, amount)),
    }
}

impl RunCost {
    /// The cost of those items of a run.
    pub(crate) fn of<'a>(items: impl IntoIterator<Item = &'a PayrollItem>) -> Self {
        let mut cost = Self::default();
        for item in items {
            cost.add_item(item);
        }
        cost
    }

    pub(crate) fn add_item(&mut self, item: &PayrollItem) {
        let pay = item.value();
        self.gross += pay.gross;
        self.fees += fee(&item.calculation, pay.gross);
        self.employer_contributions += pay.employer_contributions;
        self.deductions += pay.deductions + pay.employer_benefits;
        self.reimbursed += pay.reimbursed;
        for (party, amount) in item.owed() {
            add_to(&mut self.owed, party, amount);
        }
        let Some(fx) = &item.fx else {
            self.net += pay.net;
            self.net_fees += fee(&item.calculation, pay.net);
            return;
        };
        let new = Abroad {
            currency: item.currency,
            payable: payable(&item.calculation),
            owed: fx.target_amount,
            value: fx.value(),
            fee: fx.fee_amount,
        };
        self.add_abroad(new);
    }

    fn add_abroad(&mut self, new: Abroad) {
        let same = |it: &&mut Abroad| (it.currency, it.payable) == (new.currency, new.payable);
        match self.abroad.iter_mut().find(same) {
            Some(known) => {
                known.owed += new.owed;
                known.value += new.value;
                known.fee += new.fee;
            }
            None => self.abroad.push(new),
        }
    }

    /// Adds the cost of other items.
    pub(crate) fn add_cost(&mut self, other: Self) {
        self.gross += other.gross;
        self.fees += other.fees;
        self.employer_contributions += other.employer_contributions;
        self.net += other.net;
        self.net_fees += other.net_fees;
        self.deductions += other.deductions;
        self.reimbursed += other.reimbursed;
        for (party, amount) in other.owed {
            add_to(&mut self.owed, party, amount);
        }
        for abroad in other.abroad {
            self.add_abroad(abroad);
        }
    }

    /// The amount needed to send the wages.
    pub(crate) fn to_send(&self) -> i64 {
        let abroad = self.abroad.iter().map(|it| it.value + it.fee);
        self.net + abroad.sum::<i64>()
    }

    /// The amount that the run itself pays: wages, and amounts withheld for others. Deductions for employees'
    /// creditors are not reserved: they remain in the wallet and payable. Tax that the run repays to employees does
    /// not reduce the amount: it is a credit for a later return.
    pub(crate) fn to_reserve(&self) -> i64 {
        let owed = self.owed.iter().map(|(_, amount)| (*amount).max(0));
        self.to_send() + owed.sum::<i64>()
    }

    /// The amount of one party.
    pub(crate) fn owed_to(&self, party: DueTo) -> i64 {
        self.owed.iter().find(|(known, _)| *known == party).map_or(0, |(_, amount)| *amount)
    }
}

/// The memo of a run's accrual.
pub(crate) const PAYROLL_APPROVED: &str = "Payroll approved";

/// A run is approved: wages and contributions accrue. Net pay in another currency is payable in that currency.
pub(crate) fn run_approved(run: AnyId, currency: Currency, cost: &RunCost) -> Posting {
    accrual(PAYROLL_APPROVED, run, currency, cost, 1)
}

/// Reverses the accrual when a run is reversed fully or partly.
pub(crate) fn run_mirrored(
    memo: &'static str,
    run: AnyId,
    currency: Currency,
    cost: &RunCost,
) -> Posting {
    accrual(memo, run, currency, cost, -1)
}

fn accrual(
    memo: &'static str,
    run: AnyId,
    currency: Currency,
    cost: &RunCost,
    sign: i64,
) -> Posting {
    let value: i64 = cost.abroad.iter().map(|it| it.value).sum();
    let mut lines = vec![
        (Account::Wages, Debit, cost.gross - cost.fees),
        (Account::Contractors, Debit, cost.fees),
        (Account::EmployerContributions, Debit, cost.employer_contributions),
        (Account::Purchases, Debit, cost.reimbursed),
        (Account::WagesPayable, Credit, cost.net - cost.net_fees),
        (Account::ContractorsPayable, Credit, cost.net_fees),
        (Account::WorldFx, Credit, value),
        (Account::DeductionsPayable, Credit, cost.deductions),
    ];
    let owed = cost.owed_by_account().into_iter();
    lines.extend(owed.map(|(account, amount)| (account, Credit, amount)));
    for (_, _, amount) in &mut lines {
        *amount *= sign;
    }
    let mut posting = Posting::new(memo, run, currency, &lines);
    for it in &cost.abroad {
        let lines =
            [(Account::WorldFx, Debit, sign * it.owed), (it.payable, Credit, sign * it.owed)];
        let abroad = Posting::new(memo, run, it.currency, &lines);
        posting.lines.extend(abroad.lines);
    }
    posting
}

/// The platform fee for paying a run; negative when it is refunded.
pub(crate) fn platform_fee(
    memo: &'static str,
    source: AnyId,
    currency: Currency,
    amount: i64,
) -> Posting {
    let lines = [(Account::Fees, Debit, amount), (Account::CashAvailable, Credit, amount)];
    Posting::new(memo, source, currency, &lines)
}

/// Paid net pay is recalled: one entry, and one more for each other currency.
pub(crate) fn net_pay_recalled(
    source: AnyId,
    currency: Currency,
    arrived: &RunCost,
) -> Vec<Posting> {
    const MEMO: &str = "Net pay called back";
    let lines = [
        (Account::CashAvailable, Debit, arrived.net),
        (Account::WagesPayable, Credit, arrived.net - arrived.net_fees),
        (Account::ContractorsPayable, Credit, arrived.net_fees),
    ];
    let mut postings = vec![Posting::new(MEMO, source, currency, &lines)];
    postings.extend(arrived.abroad.iter().map(|it| {
        let of = Conversion {
            source,
            given: it.value + it.fee,
            given_in: currency,
            fee: it.fee,
            got: it.owed,
            got_in: it.currency,
        };
        net_pay_converted_back(MEMO, &of, it.payable, Account::CashAvailable)
    }));
    postings
}

pub(crate) fn net_pay_sent(source: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines =
        [(Account::PayoutsInTransit, Debit, amount), (Account::CashReserved, Credit, amount)];
    Posting::new("Net pay sent", source, currency, &lines)
}

/// Net pay in another currency is sent: it is converted on the way.
pub(crate) fn net_pay_converted(of: &Conversion) -> Posting {
    of.entry("Net pay sent", Account::CashReserved, Account::PayoutsInTransit)
}

/// Net pay in another currency is returned and converted back at the original rate, from its previous account to its
/// new one.
pub(crate) fn net_pay_converted_back(
    memo: &'static str,
    of: &Conversion,
    from: Account,
    into: Account,
) -> Posting {
    let mut posting = of.entry(memo, into, from);
    for line in &mut posting.lines {
        line.direction = line.direction.opposite();
    }
    posting
}

pub(crate) fn net_pay_paid(
    source: AnyId,
    currency: Currency,
    payable: Account,
    amount: i64,
) -> Posting {
    let lines = [(payable, Debit, amount), (Account::PayoutsInTransit, Credit, amount)];
    Posting::new("Net pay paid", source, currency, &lines)
}

/// Net pay is returned before it was paid: the wages are still payable.
pub(crate) fn net_pay_bounced(source: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines =
        [(Account::CashReserved, Debit, amount), (Account::PayoutsInTransit, Credit, amount)];
    Posting::new("Net pay bounced", source, currency, &lines)
}

/// Net pay is returned after it was paid: the wages are payable again.
pub(crate) fn net_pay_returned(
    source: AnyId,
    currency: Currency,
    payable: Account,
    amount: i64,
) -> Posting {
    let lines = [(Account::CashReserved, Debit, amount), (payable, Credit, amount)];
    Posting::new("Net pay returned", source, currency, &lines)
}
