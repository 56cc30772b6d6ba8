//! Entries of loans. Interest is an expense when it is paid; unpaid interest is in the loan's schedule, not in the books.

use crate::model::ledger::Direction::{Credit, Debit};
use crate::model::posting::Posting;
use crate::model::{Account, AnyId};
use crate::value::Currency;

/// The lender's money arrives.
pub(crate) fn loan_disbursed(loan: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [(Account::CashAvailable, Debit, amount), (Account::LoansPayable, Credit, amount)];
    Posting::new("Loan disbursed", loan, currency, &lines)
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
        (Account::Interest, Debit, interest),
        (Account::CashAvailable, Credit, principal + interest),
    ];
    Posting::new("Loan repaid", repayment, currency, &lines)
}
