//! Money that returns to payers or never arrives: refunds, lost disputes, voided invoices, bad debts.

use super::{Posting, invoice_sent, vat_account};
use crate::model::Account;
use crate::model::ledger::Direction::{Credit, Debit};
use crate::model::prelude::*;

/// A dispute is lost. It is paid from the withheld amount and from the wallet; the remainder is a debt.
pub(crate) fn dispute_lost(
    dispute: AnyId,
    currency: Currency,
    amount: i64,
    withheld: i64,
    taken: i64,
) -> Posting {
    let lines = [
        (Account::ChargebackLosses, Debit, amount),
        (Account::CashReserved, Credit, withheld),
        (Account::CashAvailable, Credit, taken),
        (Account::RefundsPayable, Credit, amount - withheld - taken),
    ];
    Posting::new("Dispute lost", dispute, currency, &lines)
}

/// A refund starts: the amount, which contains the tax on the sale, is due to the payer and reserved.
pub(crate) fn refund_created(refund: AnyId, currency: Currency, amount: i64, tax: i64) -> Posting {
    let lines = [
        (Account::Sales, Debit, amount - tax),
        (vat_account(), Debit, tax),
        (Account::RefundsPayable, Credit, amount),
        (Account::CashReserved, Debit, amount),
        (Account::CashAvailable, Credit, amount),
    ];
    Posting::new("Refund created", refund, currency, &lines)
}

/// The refund has arrived.
pub(crate) fn refund_succeeded(refund: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [(Account::RefundsPayable, Debit, amount), (Account::CashReserved, Credit, amount)];
    Posting::new("Refund succeeded", refund, currency, &lines)
}

/// The refund failed: its creation is reversed.
pub(crate) fn refund_failed(refund: AnyId, currency: Currency, amount: i64, tax: i64) -> Posting {
    let mut posting = refund_created(refund, currency, -amount, -tax);
    posting.memo = Cow::Borrowed("Refund failed");
    posting
}

/// An invoice is voided: its sending is reversed.
pub(crate) fn invoice_voided(
    invoice: AnyId,
    currency: Currency,
    net: i64,
    vat: Option<(Account, i64)>,
) -> Posting {
    let vat = vat.map(|(account, tax)| (account, -tax));
    let mut posting = invoice_sent(invoice, currency, -net, vat);
    posting.memo = Cow::Borrowed("Invoice voided");
    posting
}

/// A receivable is written off. The tax that the authority gives back is no loss.
pub(crate) fn written_off(invoice: AnyId, currency: Currency, amount: i64, relief: i64) -> Posting {
    let lines = [
        (Account::BadDebts, Debit, amount - relief),
        (vat_account(), Debit, relief),
        (Account::AccountsReceivable, Credit, amount),
    ];
    Posting::new("Bad debt written off", invoice, currency, &lines)
}

/// The authority gives back the tax of a debt that was written off earlier.
pub(crate) fn tax_relieved(invoice: AnyId, currency: Currency, relief: i64) -> Posting {
    let lines = [(vat_account(), Debit, relief), (Account::BadDebts, Credit, relief)];
    Posting::new("Tax of a bad debt taken back", invoice, currency, &lines)
}

/// A customer pays a debt that was written off. The part of the tax that was taken back is due again.
pub(crate) fn bad_debt_recovered(
    collection: AnyId,
    currency: Currency,
    amount: i64,
    tax: i64,
) -> Posting {
    let lines = [
        (Account::CollectionsInTransit, Debit, amount),
        (Account::BadDebts, Credit, amount - tax),
        (vat_account(), Credit, tax),
    ];
    Posting::new("Bad debt recovered", collection, currency, &lines)
}

/// A payer's bank sends a direct debit back. Settled money is taken from the wallet, and a shortfall becomes a debt.
/// The amount includes tax that the authority refunds again because the debt is bad again.
pub(crate) fn debit_returned(
    collection: AnyId,
    currency: Currency,
    (against, amount, tax): (Account, i64, i64),
    (from, taken): (Account, i64),
) -> Posting {
    let lines = [
        (against, Debit, amount - tax),
        (vat_account(), Debit, tax),
        (from, Credit, taken),
        (Account::RefundsPayable, Credit, amount - taken),
    ];
    Posting::new("Direct debit returned", collection, currency, &lines)
}
