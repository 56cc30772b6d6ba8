//! The tax year that a pay date belongs to, found once for all the pays that are compared with it.

use crate::model::business::earnings::tax_year;
use crate::model::business::{Calculation, RunType};
use crate::model::payroll::{self, CountsOn, Pack};
use crate::model::prelude::*;

/// The day on which a pay counts for taxes: its pay date, or by the law of some countries the regular day from which regular pay moved.
pub(crate) fn counting_day(
    country: &str,
    (kind, pay_date): (RunType, Date),
    regular_day: Date,
) -> Date {
    match payroll::library().in_force(country, pay_date.civil()).pack.early_pay_counts_on {
        CountsOn::RegularDay if kind.pays_by_terms() => regular_day,
        CountsOn::RegularDay | CountsOn::PayDate => pay_date,
    }
}

/// The tax year of a pay date.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaxYear {
    pub(crate) pack: &'static Pack,
    /// The first day of the tax year.
    pub(crate) first: Date,
}

impl TaxYear {
    /// The tax year of a pay in that country.
    pub(crate) fn of(country: &str, pay_date: Date) -> Self {
        let pack = payroll::library().in_force(country, pay_date.civil()).pack;
        Self { pack, first: tax_year(pack, pay_date) }
    }

    /// Whether a pay belongs to the tax year.
    pub(crate) fn contains(&self, pay: &Calculation) -> bool {
        pay.tax_year == self.first && pay.pack == self.pack.code
    }
}
