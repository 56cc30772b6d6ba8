//! Conversions between currencies. Each currency balances on its own, through the clearing account `world:fx`.

use super::{Credit, Debit, Posting, released, reserved};
use crate::model::{Account, AnyId};
use crate::value::Currency;

/// A conversion between currencies. The spread is a fee in the first currency. The remainder is the counterpart of the second on the
/// clearing account.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversion {
    pub(crate) source: AnyId,
    pub(crate) given: i64,
    pub(crate) given_in: Currency,
    /// The part of `given` that is a fee.
    pub(crate) fee: i64,
    pub(crate) got: i64,
    pub(crate) got_in: Currency,
}

impl Conversion {
    /// An entry in two currencies, each balanced on its own: `given` from one account, `got` into another.
    pub(super) fn entry(&self, memo: &'static str, from: Account, into: Account) -> Posting {
        let given = [
            (Account::WorldFx, Debit, self.given - self.fee),
            (Account::Fees, Debit, self.fee),
            (from, Credit, self.given),
        ];
        let got = [(into, Debit, self.got), (Account::WorldFx, Credit, self.got)];
        let mut posting = Posting::new(memo, self.source, self.given_in, &given);
        let got = Posting::new(memo, self.source, self.got_in, &got);
        posting.lines.extend(got.lines);
        posting
    }
}

/// Money is taken from a wallet to be converted.
pub(crate) fn fx_begun(of: &Conversion) -> Posting {
    reserved("Conversion begun", of.source, of.given_in, of.given)
}

/// The conversion is completed: the other currency arrives in its wallet.
pub(crate) fn fx_completed(of: &Conversion) -> Posting {
    of.entry("Conversion completed", Account::CashReserved, Account::CashAvailable)
}

/// The conversion failed.
pub(crate) fn fx_given_back(of: &Conversion) -> Posting {
    released("Conversion failed", of.source, of.given_in, of.given)
}
