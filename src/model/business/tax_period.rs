//! The tax year and the tax period that a pay date belongs to, found once for all the pays that are compared with it.

use crate::model::business::Calculation;
use crate::model::business::earnings::tax_year;
use crate::model::payroll::{self, Pack, PayPeriod};
use crate::model::prelude::*;

/// The tax year and the tax period of a pay date.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaxPeriod {
    pub(crate) pack: &'static Pack,
    /// The first day of the tax year.
    pub(crate) year: Date,
    frequency: PayPeriod,
    number: u32,
}

impl TaxPeriod {
    /// Of a pay in that country.
    pub(crate) fn of(country: &str, frequency: PayPeriod, pay_date: Date) -> Self {
        let pack = payroll::library().in_force(country, pay_date.civil()).pack;
        let number = pack.period_number(frequency, pay_date.civil());
        Self { pack, year: tax_year(pack, pay_date), frequency, number }
    }

    /// Whether a pay belongs to the tax year.
    pub(crate) fn is_in_year(&self, pay: &Calculation) -> bool {
        pay.tax_year == self.year && pay.pack == self.pack.code
    }

    /// Whether a pay belongs to the tax period.
    pub(crate) fn contains(&self, pay: &Calculation) -> bool {
        self.is_in_year(pay) && pay.frequency == self.frequency && pay.number == self.number
    }
}
