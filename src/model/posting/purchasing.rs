//! Entries of bills: accounts payable, and the tax on purchases.

use super::{Credit, Debit, Posting};
use crate::model::Account;
use crate::model::payments::Bill;
use crate::model::prelude::*;

/// A bill is approved: expenses and recoverable tax accrue against accounts payable.
pub(crate) fn bill_approved(bill: &Bill) -> Posting {
    approved(AnyId::of(bill.id), bill.currency, &bill.expenses(), bill.tax_recoverable)
}

/// A bill with these expenses is approved.
pub(crate) fn approved(
    bill: AnyId,
    currency: Currency,
    expenses: &[(Account, i64)],
    tax_recoverable: i64,
) -> Posting {
    let total = tax_recoverable + expenses.iter().map(|(_, amount)| amount).sum::<i64>();
    let mut lines: Vec<_> =
        expenses.iter().map(|&(account, amount)| (account, Debit, amount)).collect();
    lines.push((Account::VatRecoverable, Debit, tax_recoverable));
    lines.push((Account::AccountsPayable, Credit, total));
    Posting::new("Bill approved", bill, currency, &lines)
}

/// A bill that was approved before the start of the books. It reduces the owners' equity.
pub(crate) fn bill_opened(bill: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines =
        [(Account::RetainedEarnings, Debit, amount), (Account::AccountsPayable, Credit, amount)];
    Posting::new("Opening balance", bill, currency, &lines)
}

/// A bill is voided: its approval is reversed.
pub(crate) fn bill_voided(bill: &Bill) -> Posting {
    let mut posting = bill_approved(bill);
    for line in &mut posting.lines {
        line.direction = line.direction.opposite();
    }
    posting.memo = Cow::Borrowed("Bill voided");
    posting
}

/// A bill is paid, fully or partly.
pub(crate) fn bill_paid(bill: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines =
        [(Account::AccountsPayable, Debit, amount), (Account::CashAvailable, Credit, amount)];
    Posting::new("Bill paid", bill, currency, &lines)
}

/// A return of tax on sales is submitted: the tax on purchases in it is deducted. A negative amount returns tax that was deducted before.
pub(crate) fn input_tax_deducted(
    filing: AnyId,
    currency: Currency,
    liability: Account,
    amount: i64,
) -> Posting {
    let lines = [(liability, Debit, amount), (Account::VatRecoverable, Credit, amount)];
    Posting::new("Tax on purchases deducted", filing, currency, &lines)
}
