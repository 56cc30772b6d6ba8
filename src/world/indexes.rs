//! The indexes of resources that are grown for each pay or month of history.

use crate::world::layout::{
    FILINGS_A_MONTH, HISTORY_MONTHS, INVOICES_A_MONTH, Layout, VENDORS_A_MONTH,
};

/// Indexes of resources that are grown for each pay or month. Pays come first, then companies. Months are numbered like the pays of companies
/// that pay monthly.
impl Layout {
    pub(crate) const fn run(&self, pay: u64, company: u64) -> u64 {
        pay * self.shape().companies + company
    }

    /// The pay and the company of a run.
    pub(crate) const fn run_place(&self, index: u64) -> (u64, u64) {
        (index / self.shape().companies, index % self.shape().companies)
    }

    /// The tax return with this number of this month and company.
    pub(crate) const fn filing(&self, month: u64, company: u64, number: u64) -> u64 {
        self.run(month, company) * FILINGS_A_MONTH + number
    }

    /// The month, the company and the number of a tax return.
    pub(crate) const fn filing_place(&self, index: u64) -> (u64, u64, u64) {
        let (month, company) = self.run_place(index / FILINGS_A_MONTH);
        (month, company, index % FILINGS_A_MONTH)
    }

    /// The item and the payslip of this employee in a run.
    pub(crate) const fn item(&self, run: u64, employee: u64) -> u64 {
        run * self.shape().employees_per_company + employee
    }

    /// The run and the employee of an item.
    pub(crate) const fn item_place(&self, index: u64) -> (u64, u64) {
        (index / self.shape().employees_per_company, index % self.shape().employees_per_company)
    }

    /// The payouts of one month: all wages, then the suppliers of every company.
    const fn payouts_a_month(&self) -> u64 {
        self.shape().companies * (self.shape().employees_per_company + VENDORS_A_MONTH)
    }

    /// The invoice with this number of this month and company, and the collection that paid it.
    pub(crate) const fn invoice(&self, month: u64, company: u64, number: u64) -> u64 {
        (month * INVOICES_A_MONTH + number) * self.shape().companies + company
    }

    /// The invoices that a grown company sent in this year.
    pub(crate) fn invoices_of(&self, year: i16) -> u64 {
        let months = (0..HISTORY_MONTHS).filter(|month| self.period(*month).year() == year);
        months.count() as u64 * INVOICES_A_MONTH
    }

    /// The month, the company and the number of an invoice.
    pub(crate) const fn invoice_place(&self, index: u64) -> (u64, u64, u64) {
        let (nth, company) = (index / self.shape().companies, index % self.shape().companies);
        (nth / INVOICES_A_MONTH, company, nth % INVOICES_A_MONTH)
    }

    /// The bill at this place of a company.
    pub(crate) const fn bill(&self, company: u64, place: u64) -> u64 {
        place * self.shape().companies + company
    }

    /// The company and the place of a bill.
    pub(crate) const fn bill_place(&self, index: u64) -> (u64, u64) {
        (index % self.shape().companies, index / self.shape().companies)
    }

    /// The payout of an item. Payouts of non-monthly pays come after all payouts of monthly pays.
    pub(crate) const fn salary_payout(&self, pay: u64, company: u64, employee: u64) -> u64 {
        let within = company * self.shape().employees_per_company + employee;
        if pay < HISTORY_MONTHS {
            return pay * self.payouts_a_month() + within;
        }
        let people = self.shape().companies * self.shape().employees_per_company;
        HISTORY_MONTHS * self.payouts_a_month() + (pay - HISTORY_MONTHS) * people + within
    }

    /// The index of a payout to a supplier.
    pub(crate) const fn vendor_payout(&self, month: u64, company: u64, vendor: u64) -> u64 {
        let people = self.shape().companies * self.shape().employees_per_company;
        month * self.payouts_a_month() + people + company * VENDORS_A_MONTH + vendor
    }

    /// The purpose of a payout of history.
    pub(crate) const fn payout_place(&self, index: u64) -> PayoutPlace {
        let people = self.shape().companies * self.shape().employees_per_company;
        let (mut pay, mut within) =
            (index / self.payouts_a_month(), index % self.payouts_a_month());
        if pay >= HISTORY_MONTHS {
            let beyond = index - HISTORY_MONTHS * self.payouts_a_month();
            (pay, within) = (HISTORY_MONTHS + beyond / people, beyond % people);
        }
        if within < people {
            let (company, employee) = (
                within / self.shape().employees_per_company,
                within % self.shape().employees_per_company,
            );
            return PayoutPlace::Salary { pay, company, employee };
        }
        let month = pay;
        let (company, vendor) =
            ((within - people) / VENDORS_A_MONTH, (within - people) % VENDORS_A_MONTH);
        PayoutPlace::Vendor { month, company, vendor }
    }
}

/// The purpose of a payout of history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PayoutPlace {
    Salary { pay: u64, company: u64, employee: u64 },
    Vendor { month: u64, company: u64, vendor: u64 },
}
