//! Entries of deals.

use crate::model::ledger::Direction::{Credit, Debit};
use crate::model::posting::Posting;
use crate::model::{Account, AnyId};
use crate::value::Currency;

/// An investor's money arrives, as equity or as debt.
pub(crate) fn deal_won(deal: AnyId, currency: Currency, amount: i64, is_owed: bool) -> Posting {
    let from = if is_owed { Account::LoansPayable } else { Account::OwnerEquity };
    let lines = [(Account::CashAvailable, Debit, amount), (from, Credit, amount)];
    Posting::new("Deal won", deal, currency, &lines)
}
