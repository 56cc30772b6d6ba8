//! Totals of accounts: gross debits and credits, by currency.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ledger::{Account, Direction, EntryLine};
use crate::value::money::Currency;

/// Gross debits and credits of one account, in minor units. Both are stored, so that the turnover is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) debits: i128,
    pub(crate) credits: i128,
}

impl Totals {
    /// Debits less credits.
    pub(crate) const fn net(self) -> i128 {
        self.debits - self.credits
    }

    /// Both sums.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self { debits: self.debits + other.debits, credits: self.credits + other.credits }
    }

    /// Adds a line, or removes it.
    fn apply(&mut self, line: &EntryLine, sign: i128) {
        match line.direction {
            Direction::Debit => self.debits += sign * i128::from(line.amount),
            Direction::Credit => self.credits += sign * i128::from(line.amount),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(Currency, Account, Totals)>", into = "Vec<(Currency, Account, Totals)>")]
pub(crate) struct Sums(BTreeMap<(Currency, Account), Totals>);

impl Sums {
    pub(crate) fn add(&mut self, lines: &[EntryLine]) {
        for line in lines {
            self.0.entry((line.currency, line.account)).or_default().apply(line, 1);
        }
    }

    /// Removes every line of an entry.
    pub(crate) fn remove(&mut self, lines: &[EntryLine]) {
        for line in lines {
            let totals = self.0.entry((line.currency, line.account)).or_default();
            totals.apply(line, -1);
            if *totals == Totals::default() {
                self.0.remove(&(line.currency, line.account));
            }
        }
    }

    /// Whether nothing was added, or all of it was removed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds other totals.
    pub(crate) fn absorb(&mut self, other: &Self) {
        for (&row, &totals) in &other.0 {
            let own = self.0.entry(row).or_default();
            *own = own.plus(totals);
        }
    }

    pub(crate) fn get(&self, currency: Currency, account: Account) -> Totals {
        self.0.get(&(currency, account)).copied().unwrap_or_default()
    }

    /// Their approximate size in memory.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() * size_of::<(Currency, Account, Totals)>() * 3 / 2
    }

    /// All accounts with entries, ordered by currency and account.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Currency, Account, Totals)> {
        self.0.iter().map(|(&(currency, account), &totals)| (currency, account, totals))
    }
}

impl From<Vec<(Currency, Account, Totals)>> for Sums {
    fn from(rows: Vec<(Currency, Account, Totals)>) -> Self {
        Self(
            rows.into_iter()
                .map(|(currency, account, totals)| ((currency, account), totals))
                .collect(),
        )
    }
}

impl From<Sums> for Vec<(Currency, Account, Totals)> {
    fn from(sums: Sums) -> Self {
        sums.iter().collect()
    }
}
