//! The basis of reports: sums over the days of a company's books, in its own currency.
//!
//! Amounts in other currencies are translated at reference rates: movements at the rate of their day, balances at the rate of the report's
//! day. A report shows the difference between the two as a line.

use std::collections::BTreeSet;

use crate::api::prelude::*;
use crate::model::Account;
use crate::model::fx::Rates;
use crate::world::books::Book;
use crate::world::days::Day;
use crate::world::history::History;
use crate::world::sums::Sums;

/// A sum in JSON.
pub(crate) fn minor(sum: i128) -> i64 {
    i64::try_from(sum)
        .expect("sums of a company's books stay within 64 bits: every amount put in is bounded")
}

/// Debits less credits by account, in the company's own currency.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) by_account: BTreeMap<Account, i128>,
    /// Currencies without a reference rate: their amounts are in no sum.
    pub(crate) untranslated: BTreeSet<Currency>,
}

impl Figures {
    /// Debits less credits of the selected accounts.
    pub(crate) fn sum(&self, wanted: impl Fn(Account) -> bool) -> i128 {
        let rows = self.by_account.iter();
        rows.filter(|(account, _)| wanted(**account)).map(|(_, net)| net).sum()
    }

    fn add(&mut self, sums: &Sums, into: Currency, rates: &mut Rates, day: Date) {
        for (currency, account, totals) in sums.iter().filter(|(_, _, t)| t.net() != 0) {
            match rates.translate(totals.net(), currency, into, day) {
                Some(net) => *self.by_account.entry(account).or_default() += net,
                None => {
                    self.untranslated.insert(currency);
                }
            }
        }
    }
}

/// One company's books, for sums.
pub(crate) struct Reading<'a> {
    currency: Currency,
    history: Option<Arc<History>>,
    since: Option<&'a Book>,
    rates: Rates,
    today: Date,
}

impl<'a> Reading<'a> {
    /// Opens the books of that company.
    pub(crate) fn of(world: &'a World, company: &Company) -> Self {
        Self {
            currency: company.currency,
            history: world.base().history(company.id),
            since: world.book(company.id),
            rates: rates(world),
            today: world.today(),
        }
    }

    fn days(&self, first: Date, last: Date) -> impl Iterator<Item = (Date, &Day)> {
        let grown = self.history.iter().flat_map(move |history| history.days.between(first, last));
        let since = self.since.into_iter();
        grown.chain(since.flat_map(move |book| book.days.between(first, last)))
    }

    /// The first day with a movement on a selected account, up to today.
    pub(crate) fn first_day(&self, counts: impl Fn(Account) -> bool) -> Option<Date> {
        let days = self.days(Date::FIRST, self.today);
        let moved = days.filter(|(_, day)| day.sums.iter().any(|(_, account, _)| counts(account)));
        moved.map(|(date, _)| date).min()
    }

    /// Totals by currency and account at the end of a day.
    pub(crate) fn totals(&self, as_of: Date) -> Sums {
        let mut sums = Sums::default();
        for (_, day) in self.days(Date::FIRST, as_of) {
            sums.absorb(&day.sums);
        }
        sums
    }

    /// Totals by currency and account of everything.
    pub(crate) fn all_totals(&self) -> Sums {
        let mut sums =
            self.history.as_ref().map_or_else(Sums::default, |history| history.sums.clone());
        if let Some(book) = self.since {
            sums.absorb(&book.sums);
        }
        sums
    }

    /// Movements of a range of days, both ends included, each at its own day's rate.
    pub(crate) fn moved(&self, first: Date, last: Date) -> Figures {
        self.moved_of(first, last, |day| &day.sums)
    }

    /// The same for the counterparts of cash.
    pub(crate) fn moved_against_cash(&self, first: Date, last: Date) -> Figures {
        self.moved_of(first, last, |day| &day.against_cash)
    }

    fn moved_of(&self, first: Date, last: Date, of: impl Fn(&Day) -> &Sums) -> Figures {
        let (mut figures, mut rates) = (Figures::default(), self.rates.clone());
        for (date, day) in self.days(first, last) {
            figures.add(of(day), self.currency, &mut rates, date);
        }
        figures
    }

    /// Balances at the end of a day, at that day's rate; for a future day, at today's.
    pub(crate) fn standing(&self, as_of: Date) -> Figures {
        let (mut figures, mut rates) = (Figures::default(), self.rates.clone());
        let day = as_of.min(self.today);
        figures.add(&self.totals(as_of), self.currency, &mut rates, day);
        figures
    }
}

/// The reference rates of a world.
pub(crate) fn rates(world: &World) -> Rates {
    Rates::new(world.base().key())
}
