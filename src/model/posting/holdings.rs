//! Entries of assets other than money, of tax on profit, and of payments to a pension provider.

use super::{Credit, Debit, Posting};
use crate::model::{Account, AnyId};
use crate::value::Currency;

/// The opening assets and liabilities of a company, without cash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// Fixed assets, at cost.
    pub(crate) fixed: i64,
    /// Their accumulated depreciation.
    pub(crate) depreciated: i64,
    pub(crate) stock: i64,
    /// Tax on profit that is not paid yet.
    pub(crate) tax: i64,
    /// Suppliers' bills that are not paid yet. Each has an entry of its own.
    pub(crate) bills: i64,
    /// The rest of a bank loan.
    pub(crate) loan: i64,
}

impl Opening {
    /// The owners' equity.
    pub(crate) const fn net(&self) -> i64 {
        self.fixed - self.depreciated + self.stock - self.tax - self.bills - self.loan
    }
}

/// The opening entry of assets and liabilities without cash. A part of the equity is paid-in capital, and the rest is
/// retained earnings.
pub(crate) fn opened(company: AnyId, currency: Currency, with: Opening, paid_in: i64) -> Posting {
    let lines = [
        (Account::FixedAssets, Debit, with.fixed),
        (Account::Inventory, Debit, with.stock),
        (Account::AccumulatedDepreciation, Credit, with.depreciated),
        (Account::IncomeTaxPayable, Credit, with.tax),
        (Account::LoansPayable, Credit, with.loan),
        (Account::OwnerEquity, Credit, paid_in),
        (Account::RetainedEarnings, Credit, with.net() + with.bills - paid_in),
    ];
    Posting::new("Opening balance", company, currency, &lines)
}

/// A month of depreciation (IAS 16, paragraph 48).
pub(crate) fn depreciated(company: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [
        (Account::Depreciation, Debit, amount),
        (Account::AccumulatedDepreciation, Credit, amount),
    ];
    Posting::new("Depreciation of the month", company, currency, &lines)
}

/// Adjusts the inventory at the end of a month: unsold goods are not an expense yet (IAS 2, paragraph 34).
pub(crate) fn stock_counted(company: AnyId, currency: Currency, change: i64) -> Posting {
    let lines = [(Account::Inventory, Debit, change), (Account::Purchases, Credit, change)];
    Posting::new("Stock counted", company, currency, &lines)
}

/// A month of tax on the profit of the year (IAS 34, paragraph 30(c)).
pub(crate) fn income_tax_accrued(company: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines = [(Account::IncomeTax, Debit, amount), (Account::IncomeTaxPayable, Credit, amount)];
    Posting::new("Income tax of the month", company, currency, &lines)
}

/// Tax on profit is paid.
pub(crate) fn income_tax_paid(company: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines =
        [(Account::IncomeTaxPayable, Debit, amount), (Account::CashAvailable, Credit, amount)];
    Posting::new("Income tax paid", company, currency, &lines)
}

/// Pays pension deductions and the employer's parts to the provider.
pub(crate) fn pension_paid(company: AnyId, currency: Currency, amount: i64) -> Posting {
    let lines =
        [(Account::DeductionsPayable, Debit, amount), (Account::CashAvailable, Credit, amount)];
    Posting::new("Pension contributions paid", company, currency, &lines)
}
