//! The bills of a grown company's suppliers: their amounts and tax, and when they are sent and paid.
//!
//! Rent, utilities and insurance are paid in the month of the bill, and the others in the next one. So some bills are
//! open at the start of the books, and bills of the last month are open at the world's start.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a company's months and suppliers are a dozen each"
)]

pub(crate) mod bill_growth;

use crate::model::payments::input_tax::InputTax;
use crate::model::payments::vat;
use crate::model::{AnyId, Kind};
use crate::value::{Date, Period};
use crate::world::layout::{
    BILLS_A_COMPANY, HISTORY_MONTHS, Layout, OPEN_BILLS, Plan, VENDORS_A_MONTH,
};
use crate::world::sales::SalesHistory;
use crate::world::suppliers::{self, MonthSales, scale};

/// The suppliers who are paid in the month of their bill: the first ones.
const PROMPT: u64 = VENDORS_A_MONTH - OPEN_BILLS;
/// Days within which prompt payers pay, and those of other suppliers. Some of these days are before the company pays.
const PROMPT_TERMS: i32 = 30;
const TERMS: [i32; 6] = [14, 30, 30, 45, 45, 45];
/// The day of the month on which suppliers are paid, or the business day before.
const VENDOR_DAY: i8 = 23;

/// Identifies a bill of a company.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BillOf {
    /// Its month of history; −1 for the month before.
    pub(crate) month: i32,
    pub(crate) vendor: u64,
}

impl BillOf {
    /// The bill at this place, in the order of time.
    pub(crate) const fn at(place: u64) -> Self {
        match place.checked_sub(OPEN_BILLS) {
            None => Self { month: -1, vendor: PROMPT + place },
            Some(place) => {
                Self { month: (place / VENDORS_A_MONTH) as i32, vendor: place % VENDORS_A_MONTH }
            }
        }
    }

    /// The bill that is paid in this month.
    pub(crate) const fn paid_in(month: u64, vendor: u64) -> Self {
        let month = month as i32;
        Self { month: if vendor < PROMPT { month } else { month - 1 }, vendor }
    }

    /// Its place among the bills of the company.
    pub(crate) const fn place(self) -> u64 {
        if self.month < 0 {
            return self.vendor - PROMPT;
        }
        OPEN_BILLS + self.month as u64 * VENDORS_A_MONTH + self.vendor
    }

    /// The month of history in which it is paid; none if it is open when the world starts.
    pub(crate) fn month_paid(self) -> Option<u64> {
        let month = if self.vendor < PROMPT { self.month } else { self.month + 1 };
        u64::try_from(month).ok().filter(|month| *month < HISTORY_MONTHS)
    }

    /// Its month.
    pub(crate) fn period(self, layout: &Layout) -> Period {
        layout.period(0).plus_months(self.month)
    }

    /// The date of the bill. Suppliers differ by three days, so that bills of all companies are in the order of time.
    pub(crate) fn issued_on(self, layout: &Layout) -> Date {
        self.period(layout).day(1 + 3 * self.vendor as i8).or_business_day_after()
    }

    /// The last day to pay.
    pub(crate) fn due_date(self, layout: &Layout, plan: &Plan) -> Date {
        let draw = suppliers::key(plan, self.vendor).with("terms").below(TERMS.len() as u64);
        let days = if self.vendor < PROMPT { PROMPT_TERMS } else { TERMS[draw as usize] };
        self.issued_on(layout).plus_days(days)
    }

    /// The bill as a resource of the company.
    pub(crate) fn id(self, layout: &Layout, company: u64) -> AnyId {
        layout.any_at(Kind::Bill, layout.bill(company, self.place()))
    }
}

/// The amounts of a bill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Billed {
    pub(crate) net: i64,
    pub(crate) tax: i64,
    /// The rate of the tax, in basis points.
    pub(crate) rate: u32,
    /// The tax that the company deducts from its own.
    pub(crate) recoverable: i64,
}

impl Billed {
    pub(crate) const fn total(self) -> i64 {
        self.net + self.tax
    }

    /// The expense.
    pub(crate) const fn cost(self) -> i64 {
        self.total() - self.recoverable
    }
}

/// All bills of a company, by place.
#[derive(Debug)]
pub(crate) struct PurchaseHistory(Vec<Billed>);

impl PurchaseHistory {
    /// Generates the values of the company of this plan.
    pub(crate) fn grow(layout: &Layout, plan: &Plan, sales: &SalesHistory) -> Self {
        let kinds = plan.industry.sells.iter().map(|sold| sold.kind);
        let sold = || kinds.clone().zip(sales.sold.iter().copied());
        let billed = (0..BILLS_A_COMPANY).map(|place| {
            let of = BillOf::at(place);
            // The sales of the month before the history are those of its first month.
            let net = sales.months[of.month.max(0) as usize].net();
            let month = u64::try_from(of.month).unwrap_or(HISTORY_MONTHS);
            let sales = MonthSales { net, average: sales.average };
            let amount = suppliers::amount(plan, month, of.vendor, sales);
            let (_, kind) = suppliers::sells(plan, of.vendor);
            let rate = plan.tax_place().rate_of(kind);
            let input_tax = InputTax::of(plan.tax_place(), of.issued_on(layout), sold());
            let share = input_tax.of_expense(suppliers::account(of.vendor), kind);
            // The cost is the same with and without a deduction.
            let whole = u64::from(vat::WHOLE);
            let lost = u64::from(rate) * (whole - u64::from(share));
            let net = scale(amount, whole * whole, whole * whole + lost);
            let tax = vat::on(net, rate);
            Billed { net, tax, rate, recoverable: vat::on(tax, share) }
        });
        Self(billed.collect())
    }

    /// The amounts of a bill.
    pub(crate) fn of(&self, bill: BillOf) -> Billed {
        self.0[bill.place() as usize]
    }

    /// The amount owed to suppliers at the start of the books.
    pub(crate) fn open_before(&self) -> i64 {
        self.0[..OPEN_BILLS as usize].iter().map(|billed| billed.total()).sum()
    }

    /// The tax on the bills of a month that the company deducts.
    pub(crate) fn input_tax(&self, month: u64) -> i64 {
        let bills = (0..VENDORS_A_MONTH).map(|vendor| BillOf { month: month as i32, vendor });
        bills.map(|bill| self.of(bill).recoverable).sum()
    }

    /// Its approximate size in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }
}

/// The day on which suppliers are paid.
pub(crate) fn vendor_day(layout: &Layout, month: u64) -> Date {
    layout.period(month).day(VENDOR_DAY).or_business_day_before()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bill_has_one_place_and_every_payment_one_bill() {
        for place in 0..BILLS_A_COMPANY {
            assert_eq!(BillOf::at(place).place(), place);
        }
        let months = (0..HISTORY_MONTHS)
            .flat_map(|month| (0..VENDORS_A_MONTH).map(move |vendor| (month, vendor)));
        for (month, vendor) in months {
            assert_eq!(BillOf::paid_in(month, vendor).month_paid(), Some(month));
        }
        let open = (0..BILLS_A_COMPANY).filter(|place| BillOf::at(*place).month_paid().is_none());
        assert_eq!(open.count() as u64, OPEN_BILLS);
    }
}
