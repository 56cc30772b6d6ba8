//! Statements: the movements of one wallet's available balance, found by position, day or time.
//!
//! A page costs the same for a statement of any length.

use std::sync::Arc;

use crate::model::ledger::WalletTransaction;
use crate::model::payments::wallet::Wallet;
use crate::value::time::{Date, Timestamp};
use crate::world::World;
use crate::world::books::WalletLines;
use crate::world::history::History;

/// One wallet's statement, history included.
pub(crate) struct Statement<'a> {
    history: Option<Arc<History>>,
    since: Option<&'a WalletLines>,
}

impl World {
    /// The wallet's statement.
    pub(crate) fn statement(&self, wallet: &Wallet) -> Statement<'_> {
        let history = self.base.history(wallet.company_id);
        // A grown company has one wallet with a history; others have none.
        let own = |history: &Arc<History>| {
            let first = history.statement.first();
            first.is_some_and(|line| line.wallet_id == wallet.id)
        };
        let book = self.book(wallet.company_id);
        Statement {
            history: history.filter(own),
            since: book.and_then(|book| book.by_wallet.get(&wallet.id.bits())),
        }
    }
}

impl Statement<'_> {
    fn grown(&self) -> &[Arc<WalletTransaction>] {
        self.history.as_ref().map_or(&[], |history| &history.statement)
    }

    /// The number of lines.
    pub(crate) fn len(&self) -> usize {
        self.grown().len() + self.since.map_or(0, |since| since.lines.len())
    }

    /// The line at this position, from 0 for the oldest.
    pub(crate) fn get(&self, place: usize) -> Option<&Arc<WalletTransaction>> {
        match place.checked_sub(self.grown().len()) {
            None => self.grown().get(place),
            Some(place) => self.since?.lines.get(place),
        }
    }

    /// Every line, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<WalletTransaction>> {
        let since = self.since.into_iter().flat_map(|since| since.lines.iter());
        self.grown().iter().chain(since)
    }

    /// Whether the lines are also in the order of their days.
    pub(crate) fn is_by_day(&self) -> bool {
        let since = self.since.and_then(|since| since.lines.front());
        let after = |first: &Arc<WalletTransaction>| {
            let last = self.grown().last();
            last.is_none_or(|last| last.effective_on <= first.effective_on)
        };
        self.since.is_none_or(|since| since.back == 0) && since.is_none_or(after)
    }

    /// The positions of the lines of a range of days, both included, in a statement ordered by day.
    pub(crate) fn between(&self, from: Option<Date>, to: Option<Date>) -> core::ops::Range<usize> {
        let first = from.map_or(0, |from| self.split(|line| line.effective_on < from));
        let end = to.map_or(self.len(), |to| self.split(|line| line.effective_on <= to));
        first..end.max(first)
    }

    /// The positions of the lines of one instant.
    pub(crate) fn made_at(&self, instant: Timestamp) -> core::ops::Range<usize> {
        let first = self.split(|line| line.created_at < instant);
        first..self.split(|line| line.created_at <= instant)
    }

    /// The number of lines at the beginning that match.
    fn split(&self, near: impl Fn(&WalletTransaction) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).is_some_and(|line| near(line)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}
