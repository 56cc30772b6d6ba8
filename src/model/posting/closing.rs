//! The entries that close a year.

use super::{Credit, Debit, Posting};
use crate::model::{Account, AnyId};
use crate::value::Currency;

/// The result of a year moves to retained earnings, in one currency. `balances` are debits less credits of revenue and expenses.
pub(crate) fn year_closed(
    period: AnyId,
    currency: Currency,
    balances: &[(Account, i64)],
) -> Posting {
    let result = balances.iter().map(|(_, net)| net).sum();
    let cleared = balances.iter().map(|&(account, net)| (account, Credit, net));
    let lines: Vec<_> = cleared.chain([(Account::RetainedEarnings, Debit, result)]).collect();
    Posting::new("Year closed", period, currency, &lines)
}
