//! Entries of payouts and escrows. A run reserves wages and a funded escrow holds its money, so their payouts move reserved money. A payout
//! to a vendor debits the wallet when it is created.

use super::{
    Conversion, Credit, Debit, Posting, net_pay_bounced, net_pay_converted, net_pay_converted_back,
    net_pay_paid, net_pay_returned, net_pay_sent, vendor_payout_paid,
};
use crate::model::Account;
use crate::model::payments::{Payout, PayoutStatus, Pays};
use crate::model::prelude::*;

/// A payout is created. Wages move only when they are sent.
pub(crate) fn opened(payout: &Payout) -> Option<Posting> {
    let amount = payout.amount;
    let (memo, lines) = match payout.pays() {
        Pays::Wages => return None,
        Pays::Escrow => (
            "Escrow released",
            vec![(Account::PayoutsInTransit, Debit, amount), (Account::EscrowHeld, Credit, amount)],
        ),
        Pays::Vendor => (
            "Vendor payout sent",
            vec![
                (Account::PayoutsInTransit, Debit, amount),
                (Account::Fees, Debit, fee(payout)),
                (Account::CashAvailable, Credit, amount + fee(payout)),
            ],
        ),
    };
    Some(Posting::new(memo, source(payout), payout.currency, &lines))
}

/// A payout is sent. All payouts but wages have been in transit in the books since their creation.
pub(crate) fn sent(payout: &Payout) -> Option<Posting> {
    let wages = payout.pays() == Pays::Wages;
    wages.then(|| match conversion(payout) {
        Some(of) => net_pay_converted(&of),
        None => net_pay_sent(source(payout), payout.currency, payout.amount),
    })
}

/// A payout has arrived. `payable` is the account that owed its wages.
pub(crate) fn paid(payout: &Payout, payable: Account) -> Posting {
    let (of, currency, amount) = (source(payout), payout.currency, payout.amount);
    match payout.pays() {
        Pays::Wages => net_pay_paid(of, currency, payable, amount),
        Pays::Escrow | Pays::Vendor => vendor_payout_paid(of, currency, Account::Purchases, amount),
    }
}

/// The money of a payout is returned. `before` is its previous status, and `payable` the account of its unpaid wages.
/// A payout that was never sent also returns its fee.
pub(crate) fn back(payout: &Payout, before: PayoutStatus, payable: Account) -> Option<Posting> {
    let (of, currency, amount) = (source(payout), payout.currency, payout.amount);
    if let (Pays::Wages, Some(of)) = (payout.pays(), conversion(payout)) {
        let (memo, from) = match before {
            PayoutStatus::Sent => ("Net pay bounced", Account::PayoutsInTransit),
            PayoutStatus::Paid => ("Net pay returned", payable),
            _ => return None,
        };
        let into = Account::CashReserved;
        return Some(net_pay_converted_back(memo, &of, from, into));
    }
    match (payout.pays(), before) {
        (Pays::Wages, PayoutStatus::Sent) => Some(net_pay_bounced(of, currency, amount)),
        (Pays::Wages, PayoutStatus::Paid) => Some(net_pay_returned(of, currency, payable, amount)),
        (Pays::Wages, _) => None, // it was held, so no money had been sent
        (Pays::Escrow | Pays::Vendor, before) => {
            let came_from = if before == PayoutStatus::Paid {
                Account::Purchases
            } else {
                Account::PayoutsInTransit
            };
            let fee = match payout.status {
                PayoutStatus::Returned => 0,
                _ => fee(payout),
            };
            let lines = [
                (Account::CashAvailable, Debit, amount + fee),
                (came_from, Credit, amount),
                (Account::Fees, Credit, fee),
            ];
            let memo = match payout.status {
                PayoutStatus::Cancelled => "Payout cancelled",
                PayoutStatus::Failed => "Payout failed",
                _ => "Payout returned",
            };
            Some(Posting::new(memo, of, currency, &lines))
        }
    }
}

/// A buyer's money is held for a seller.
pub(crate) fn escrow_funded(escrow: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [(Account::EscrowHeld, Debit, amount), (Account::CashAvailable, Credit, amount)];
    Posting::new("Escrow funded", escrow, currency, &lines)
}

/// The held money returns to the buyer.
pub(crate) fn escrow_refunded(escrow: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [(Account::CashAvailable, Debit, amount), (Account::EscrowHeld, Credit, amount)];
    Posting::new("Escrow refunded", escrow, currency, &lines)
}

/// The currency conversion, for wages in another currency than the wallet's.
fn conversion(payout: &Payout) -> Option<Conversion> {
    let fx = payout.fx.as_ref()?;
    Some(Conversion {
        source: source(payout),
        given: fx.source_amount,
        given_in: fx.source_currency,
        fee: fx.fee_amount,
        got: fx.target_amount,
        got_in: payout.currency,
    })
}

fn source(payout: &Payout) -> AnyId {
    AnyId::of(payout.id)
}

fn fee(payout: &Payout) -> i64 {
    payout.fee.unwrap_or_default()
}

/// Two small amounts are sent to an account to verify it. They are not taken back.
pub(crate) fn micro_deposits_sent(of: AnyId, currency: Currency, total: i64) -> Posting {
    let lines = [(Account::Fees, Debit, total), (Account::CashAvailable, Credit, total)];
    Posting::new("Micro-deposits sent", of, currency, &lines)
}
