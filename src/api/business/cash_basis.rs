//! Profit and loss on a cash basis: the expenses and income behind the payments of a range of days.
//!
//! A payment of a bill counts in the accounts of the bill. A payment of a payroll debt, such as a tax, counts partly
//! as wages and partly as employer contributions. The proportion is that of the amounts accrued by runs up to that
//! day.

use crate::api::business::figures::{ByDay, Figures, Reading, behind};
use crate::api::prelude::*;
use crate::model::payments::Bill;
use crate::model::{Account, business::Authority, fx::half_even};

/// The movements of accounts against cash. Payments of bills and of payroll debts count as the expenses behind them.
pub(crate) fn paid(world: &World, reading: &Reading<'_>, from: Date, to: Date) -> Figures {
    let accrued = Accrued::until(reading, to);
    let mut bills = Bills::paid_in(world, reading, from, to);
    let mut days = ByDay::new();
    for (date, day) in reading.days(from, to) {
        let rows = days.entry(date).or_default();
        let mut add = |currency: Currency, account: Account, part: i128| {
            *rows.entry((currency, account)).or_default() += part;
        };
        for (currency, account, totals) in day.against_cash.iter() {
            let amount = totals.net();
            if is_owed_by_payroll(account) {
                let employers = accrued.employers_part(currency, date, amount);
                add(currency, Account::EmployerContributions, employers);
                add(currency, Account::Wages, amount - employers);
            } else {
                add(currency, account, amount);
            }
        }
        for (&(source, currency), &amount) in &day.bills_paid {
            let Some(parts) = bills.pay(source, currency, amount) else { continue };
            add(currency, Account::AccountsPayable, -i128::from(amount));
            for (account, part) in parts {
                add(currency, account, part);
            }
        }
    }
    reading.of_days(&days)
}

/// The bills that are paid in a range of days, with the amount paid earlier. So the parts of all instalments add up
/// to the bill.
#[derive(Default)]
struct Bills {
    behind: BTreeMap<AnyId, Arc<Bill>>,
    /// The amount paid so far, by bill.
    paid: BTreeMap<(Id<Bill>, Currency), i128>,
}

impl Bills {
    /// Reads earlier days only for bills paid in instalments. A single payment has the amounts of the bill.
    fn paid_in(world: &World, reading: &Reading<'_>, from: Date, to: Date) -> Self {
        let (mut bills, mut since) = (Self::default(), from);
        for (_, day) in reading.days(from, to) {
            for (&(source, currency), &amount) in &day.bills_paid {
                let bill = behind(world, source).map(Id::<Bill>::from_bits);
                let Some(bill) = bill.and_then(|id| world.find(id)) else { continue };
                if amount.abs() != bill.total {
                    since = since.min(bill.issued_on).min(bill.created_at.date());
                    bills.paid.insert((bill.id, currency), 0);
                }
                bills.behind.insert(source, bill);
            }
        }
        for (_, day) in reading.days(since, from.plus_days(-1)) {
            for (&(source, currency), &amount) in &day.bills_paid {
                let bill = behind(world, source).map(Id::from_bits);
                if let Some(paid) = bill.and_then(|bill| bills.paid.get_mut(&(bill, currency))) {
                    *paid += i128::from(amount);
                }
            }
        }
        bills
    }

    /// The parts of a payment. None if it is of no bill.
    fn pay(
        &mut self,
        source: AnyId,
        currency: Currency,
        amount: i64,
    ) -> Option<impl Iterator<Item = (Account, i128)> + use<>> {
        let bill = self.behind.get(&source)?;
        let paid = self.paid.entry((bill.id, currency)).or_default();
        let before = of_bill(bill, *paid);
        *paid += i128::from(amount);
        let until = of_bill(bill, *paid).into_iter();
        Some(until.zip(before).map(|((account, until), (_, before))| (account, until - before)))
    }
}

/// A payment of a bill, divided in proportion to the bill's amounts including tax.
fn of_bill(bill: &Bill, amount: i128) -> Vec<(Account, i128)> {
    let amounts = bill.payments();
    let all: i128 = amounts.iter().map(|(_, cost)| i128::from(*cost)).sum();
    if all <= 0 {
        return vec![(Account::AccountsPayable, amount)];
    }
    let (mut cost, mut before) = (0, 0);
    let part = |(account, of_it): (Account, i64)| {
        cost += i128::from(of_it);
        let until = half_even(amount * cost, all);
        let part = until - before;
        before = until;
        (account, part)
    };
    amounts.into_iter().map(part).collect()
}

/// Whether the account is a payable for amounts that runs withhold from wages or add to them.
fn is_owed_by_payroll(account: Account) -> bool {
    match account {
        Account::PensionPayable | Account::DeductionsPayable => true,
        Account::TaxPayable(authority) => authority != Authority::VAT,
        _ => false,
    }
}

/// Amounts that payroll owes to third parties.
#[derive(Clone, Copy, Debug, Default)]
struct Owed {
    all: i128,
    /// The part that is a cost of the employer.
    employers: i128,
}

impl Owed {
    fn plus(self, other: Self) -> Self {
        Self { all: self.all + other.all, employers: self.employers + other.employers }
    }
}

/// The cumulative amounts owed by payroll in each currency, at the end of each day with a run.
struct Accrued(BTreeMap<Currency, BTreeMap<Date, Owed>>);

impl Accrued {
    fn until(reading: &Reading<'_>, last: Date) -> Self {
        let mut days: BTreeMap<Currency, BTreeMap<Date, Owed>> = BTreeMap::new();
        for (date, day) in reading.days(Date::FIRST, last) {
            for (currency, account, totals) in day.payroll.iter() {
                let new = match account {
                    Account::EmployerContributions => Owed { all: 0, employers: totals.net() },
                    other if is_owed_by_payroll(other) => Owed { all: -totals.net(), employers: 0 },
                    _ => continue,
                };
                let day = days.entry(currency).or_default().entry(date).or_default();
                *day = day.plus(new);
            }
        }
        for days in days.values_mut() {
            let mut sum = Owed::default();
            for day in days.values_mut() {
                sum = sum.plus(*day);
                *day = sum;
            }
        }
        Self(days)
    }

    /// The part of a payment that counts as employer contributions; 0 before the first run.
    fn employers_part(&self, currency: Currency, day: Date, amount: i128) -> i128 {
        let before = self.0.get(&currency).and_then(|days| days.range(..=day).next_back());
        let owed = before.map(|(_, owed)| *owed).unwrap_or_default();
        if owed.all <= 0 {
            return 0;
        }
        half_even(amount * owed.employers.clamp(0, owed.all), owed.all)
    }
}
