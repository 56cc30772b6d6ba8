//! What goes back to payers: refunds, disputes that are lost, invoices that are withdrawn.

use super::{Posting, invoice_sent};
use crate::model::Account;
use crate::model::ledger::Direction::{Credit, Debit};
use crate::model::prelude::*;

/// A dispute is lost: out of what was withheld and what is still taken from the wallet; the rest is owed.
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

/// Collected money goes back: it is owed to the payer, and set aside for the way.
pub(crate) fn refund_created(refund: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [
        (Account::Sales, Debit, amount),
        (Account::RefundsPayable, Credit, amount),
        (Account::CashReserved, Debit, amount),
        (Account::CashAvailable, Credit, amount),
    ];
    Posting::new("Refund created", refund, currency, &lines)
}

/// It has arrived.
pub(crate) fn refund_succeeded(refund: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [(Account::RefundsPayable, Debit, amount), (Account::CashReserved, Credit, amount)];
    Posting::new("Refund succeeded", refund, currency, &lines)
}

/// It did not arrive: the mirror of its creation.
pub(crate) fn refund_failed(refund: AnyId, currency: Currency, amount: i64) -> Posting {
    let mut posting = refund_created(refund, currency, -amount);
    posting.memo = Cow::Borrowed("Refund failed");
    posting
}

/// An invoice is withdrawn: the mirror of its sending.
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
