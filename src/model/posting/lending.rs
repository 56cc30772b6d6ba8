//! Entries of loans. Interest is an expense of the days on which it accrues, and payable until it is paid. Interest that is paid before it
//! accrues is a debit balance of `interest_payable` until then.

use crate::model::ledger::Direction::{Credit, Debit};
use crate::model::posting::Posting;
use crate::model::{Account, AnyId};
use crate::value::Currency;

/// The lender's money arrives.
pub(crate) fn loan_disbursed(loan: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [(Account::CashAvailable, Debit, amount), (Account::LoansPayable, Credit, amount)];
    Posting::new("Loan disbursed", loan, currency, &lines)
}

/// The interest of a day, or of several days.
pub(crate) fn interest_accrued(loan: AnyId, currency: Currency, interest: i64) -> Posting {
    let lines =
        [(Account::Interest, Debit, interest), (Account::InterestPayable, Credit, interest)];
    Posting::new("Interest accrued", loan, currency, &lines)
}

/// Principal and interest are repaid.
pub(crate) fn loan_repaid(
    repayment: AnyId,
    currency: Currency,
    principal: i64,
    interest: i64,
) -> Posting {
    let lines = [
        (Account::LoansPayable, Debit, principal),
        (Account::InterestPayable, Debit, interest),
        (Account::CashAvailable, Credit, principal + interest),
    ];
    Posting::new("Loan repaid", repayment, currency, &lines)
}
