//! Totals of entries by day, so that a report sums days instead of entries.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::OrdMap;

use crate::model::ledger::{Account, EntryLine, JournalEntry};
use crate::model::{AnyId, Kind, posting};
use crate::value::money::Currency;
use crate::value::time::Date;
use crate::world::sums::Sums;

/// The totals of a company's entries on each day with entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Days(OrdMap<Date, Arc<Day>>);

/// The totals of the entries of one day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Day {
    /// Every line.
    pub(crate) sums: Sums,
    /// The lines opposite cash: for entries that move cash in a currency, their other lines in that currency. They
    /// show the reasons for cash movements.
    pub(crate) against_cash: Sums,
    /// The part of these that is tax on sales in what customers paid or got back.
    pub(crate) customers_tax: Sums,
    /// The lines of entries that close a year, or reverse such an entry. The sums include them, and reports of profit
    /// leave them out.
    pub(crate) closing: Sums,
    /// The lines of entries that accrue payroll: with a cost of pay and without cash.
    pub(crate) payroll: Sums,
    /// Movements of accounts payable against cash, by causing payout or bill: debits less credits.
    pub(crate) bills_paid: BTreeMap<(AnyId, Currency), i64>,
}

impl Day {
    /// Adds the entry's lines (`times` 1), or removes them (`times` −1).
    fn apply(&mut self, entry: &JournalEntry, times: i64) {
        let apply = if times > 0 { Sums::add } else { Sums::remove };
        apply(&mut self.sums, &entry.lines);
        if entry.closes_year() {
            apply(&mut self.closing, &entry.lines);
        }
        if accrues_payroll(entry) {
            apply(&mut self.payroll, &entry.lines);
        }
        for line in against_cash(&entry.lines) {
            apply(&mut self.against_cash, core::slice::from_ref(line));
            if is_customers_tax(entry, line) {
                apply(&mut self.customers_tax, core::slice::from_ref(line));
            }
            let is_of_bill = matches!(entry.source.kind, Kind::Payout | Kind::Bill);
            if line.account == Account::AccountsPayable && is_of_bill {
                let row = (entry.source, line.currency);
                let paid = self.bills_paid.entry(row).or_default();
                *paid += times * line.signed();
                if *paid == 0 {
                    self.bills_paid.remove(&row);
                }
            }
        }
    }

    /// The totals of both.
    fn plus(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.sums.absorb(&other.sums);
        both.against_cash.absorb(&other.against_cash);
        both.customers_tax.absorb(&other.customers_tax);
        both.closing.absorb(&other.closing);
        both.payroll.absorb(&other.payroll);
        for (&row, &amount) in &other.bills_paid {
            *both.bills_paid.entry(row).or_default() += amount;
        }
        both
    }

    fn bytes(&self) -> usize {
        let of_cash = self.against_cash.bytes() + self.customers_tax.bytes();
        let all = [&self.sums, &self.closing, &self.payroll];
        let bills = self.bills_paid.len() * size_of::<((AnyId, Currency), i64)>() * 3 / 2;
        all.map(Sums::bytes).iter().sum::<usize>() + of_cash + bills
    }
}

impl Days {
    /// Adds an entry to its day.
    pub(crate) fn add(&mut self, entry: &JournalEntry) {
        Arc::make_mut(self.0.entry(entry.effective_on).or_default()).apply(entry, 1);
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, entry: &JournalEntry) {
        let Some(day) = self.0.get_mut(&entry.effective_on) else { return };
        let day = Arc::make_mut(day);
        day.apply(entry, -1);
        if day.sums.is_empty() {
            self.0.remove(&entry.effective_on);
        }
    }

    /// Their approximate size in memory.
    pub(super) fn bytes(&self) -> usize {
        self.iter().map(|(_, day)| size_of::<(Date, Day)>() + day.bytes()).sum()
    }

    /// Every day, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Date, &Day)> {
        self.0.iter().map(|(date, day)| (*date, &**day))
    }

    /// The days of a range, both ends included, in order.
    pub(crate) fn between(&self, first: Date, last: Date) -> impl Iterator<Item = (Date, &Day)> {
        let any = first <= last;
        let days = any.then(|| self.0.range(first..=last));
        days.into_iter().flatten().map(|(date, day)| (*date, &**day))
    }
}

/// The days of two indexes, in order. A day of both has the totals of both.
pub(crate) fn merged<'a>(
    one: impl Iterator<Item = (Date, &'a Day)>,
    other: impl Iterator<Item = (Date, &'a Day)>,
) -> impl Iterator<Item = (Date, Cow<'a, Day>)> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    core::iter::from_fn(move || {
        let order = match (one.peek(), other.peek()) {
            (Some((one, _)), Some((other, _))) => one.cmp(other),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let alone = |(date, day)| (date, Cow::Borrowed(day));
        match order {
            Ordering::Less => one.next().map(alone),
            Ordering::Greater => other.next().map(alone),
            Ordering::Equal => {
                let ((date, one), (_, other)) = one.next().zip(other.next())?;
                Some((date, Cow::Owned(one.plus(other))))
            }
        }
    })
}

/// The lines that show the reasons of cash movements. Lines in a currency without a cash movement are left out.
pub(crate) fn against_cash(lines: &[EntryLine]) -> impl Iterator<Item = &EntryLine> {
    let moves_cash = |line: &EntryLine| {
        let mut others = lines.iter();
        others.any(|other| other.account.is_cash() && other.currency == line.currency)
    };
    lines.iter().filter(move |line| !line.account.is_cash() && moves_cash(line))
}

/// Whether the line is tax on sales in a refund, in a payment of a bad debt, or in a direct debit that was returned.
fn is_customers_tax(entry: &JournalEntry, line: &EntryLine) -> bool {
    matches!(entry.source.kind, Kind::Refund | Kind::Collection)
        && line.account == posting::vat_account()
}

/// Whether the entry records the costs and the debts of a payroll run.
fn accrues_payroll(entry: &JournalEntry) -> bool {
    let is_cost =
        |line: &EntryLine| matches!(line.account, Account::Wages | Account::EmployerContributions);
    entry.lines.iter().any(is_cost)
        && !entry.lines.iter().any(|line| line.account.is_cash())
        && !entry.closes_year()
}
