//! What a payout moves on its way, by what it pays. Wages were set aside by their run, what an escrow holds by its funding; a
//! payout to a vendor takes the money out of the wallet when it is asked for. What an escrow holds stands here, too.

use super::{
    Conversion, Credit, Debit, Posting, net_pay_bounced, net_pay_converted, net_pay_converted_back,
    net_pay_paid, net_pay_returned, net_pay_sent, vendor_payout_paid,
};
use crate::model::payments::{Payout, PayoutStatus, Pays};
use crate::model::{Account, AnyId};
use crate::value::Currency;

/// A payout is asked for. Wages move when they are sent.
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

/// A payout leaves with the rail. All but wages are on their way in the books since they were asked for.
pub(crate) fn sent(payout: &Payout) -> Option<Posting> {
    let wages = payout.pays() == Pays::Wages;
    wages.then(|| match conversion(payout) {
        Some(of) => net_pay_converted(&of),
        None => net_pay_sent(source(payout), payout.currency, payout.amount),
    })
}

/// A payout arrives.
pub(crate) fn paid(payout: &Payout) -> Posting {
    let (of, currency, amount) = (source(payout), payout.currency, payout.amount);
    match payout.pays() {
        Pays::Wages => net_pay_paid(of, currency, amount),
        Pays::Escrow | Pays::Vendor => vendor_payout_paid(of, currency, Account::Purchases, amount),
    }
}

/// The money is back, of a payout that stood there before. One that never left gives its fee back as well.
pub(crate) fn back(payout: &Payout, before: PayoutStatus) -> Option<Posting> {
    let (of, currency, amount) = (source(payout), payout.currency, payout.amount);
    if let (Pays::Wages, Some(of)) = (payout.pays(), conversion(payout)) {
        let (memo, from) = match before {
            PayoutStatus::Sent => ("Net pay bounced", Account::PayoutsInTransit),
            PayoutStatus::Paid => ("Net pay returned", Account::WagesPayable),
            _ => return None,
        };
        let into = Account::CashReserved;
        return Some(net_pay_converted_back(memo, &of, from, into));
    }
    match (payout.pays(), before) {
        (Pays::Wages, PayoutStatus::Sent) => Some(net_pay_bounced(of, currency, amount)),
        (Pays::Wages, PayoutStatus::Paid) => Some(net_pay_returned(of, currency, amount)),
        (Pays::Wages, _) => None, // it was held: no money had left
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

/// What was held is the buyer's again.
pub(crate) fn escrow_refunded(escrow: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [(Account::CashAvailable, Debit, amount), (Account::EscrowHeld, Credit, amount)];
    Posting::new("Escrow refunded", escrow, currency, &lines)
}

/// The conversion behind wages in another currency than the wallet's.
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
