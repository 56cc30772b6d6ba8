//! Industries: the roles they employ and their cash flows. Data: `fixtures/growth/industries.toml`.

#![cfg_attr(
    not(test),
    expect(dead_code, reason = "tests read some columns that the program does not use")
)]

use std::sync::LazyLock;

use serde::Deserialize;

use super::Sections;
use super::customers::{self, Mix};

/// Number of role slots of a company; a larger company repeats them.
pub(crate) const ROLES: usize = 25;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Industry {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    /// Last words of company names.
    pub(crate) words: Vec<&'static str>,
    /// Lines of sales invoices.
    pub(crate) sells: Vec<Sells>,
    /// Lines of suppliers' bills.
    pub(crate) buys: Vec<Sells>,
    /// Monthly sales, in percent of the payroll cost of an average month.
    pub(crate) revenue_percent: u64,
    /// Purchases, in percent of sales.
    pub(crate) purchases_percent: u64,
    /// Other expenses, in percent of sales.
    pub(crate) costs: Costs,
    pub(crate) assets: Assets,
    pub(crate) part_time: PartTime,
    /// Sales of January to December; 100 is an average month.
    season: [u64; 12],
    /// Growth of sales within a year, in percent.
    pub(crate) growth_percent: u64,
    pub(crate) bonus: Bonus,
    /// The mix of customers, by id.
    #[serde(deserialize_with = "customers::by_id")]
    pub(crate) customers: &'static Mix,
    /// The title of the head of each further 25 people, instead of the first role.
    pub(crate) lead: &'static str,
    /// Grouped by department; the head of the company comes first.
    pub(crate) roles: [Role; ROLES],
}

/// Something that an industry sells or buys.
#[derive(Debug, Deserialize)]
pub(crate) struct Sells {
    pub(crate) what: &'static str,
    /// The kind of goods or services, if it has its own rates of tax on sales; otherwise empty.
    #[serde(default)]
    pub(crate) kind: &'static str,
}

/// The assets of a company, in percent of a year's sales.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Assets {
    /// Fixed assets, at cost.
    pub(crate) fixed: u64,
    /// The years over which they are depreciated.
    pub(crate) years: u64,
    /// Stock in an average month.
    pub(crate) stock: u64,
}

/// The employees who work part-time.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartTime {
    /// The highest grade.
    pub(crate) grades: u8,
    /// The number of part-time workers out of ten people.
    pub(crate) of_ten: u64,
}

/// Expenses other than wages and purchases, in percent of sales, named like their accounts.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Costs {
    pub(crate) rent: u64,
    pub(crate) utilities: u64,
    pub(crate) insurance: u64,
    pub(crate) marketing: u64,
    pub(crate) professional_fees: u64,
}

impl Costs {
    pub(crate) const fn sum(self) -> u64 {
        self.rent + self.utilities + self.insurance + self.marketing + self.professional_fees
    }
}

/// A bonus for every employee, once a year.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bonus {
    /// 1 to 12.
    pub(crate) month: i8,
    /// Percent of a month's pay, for employees who have worked for a year.
    pub(crate) percent: u64,
}

/// A role in the company.
#[derive(Debug, Deserialize)]
pub(crate) struct Role {
    pub(crate) title: &'static str,
    pub(crate) department: &'static str,
    /// 1 to 8: a row of the country's pay grades.
    pub(crate) grade: u8,
}

impl Industry {
    /// The sales of a month, from 1, as a fraction of those of an average month.
    pub(crate) fn season(&self, month: i8) -> (u64, u64) {
        let place = usize::try_from(month - 1).expect("a month is from 1 to 12");
        (self.season[place] * 12, self.season.iter().sum())
    }

    /// The title of the employee at that position in the company, from 0.
    pub(crate) fn title(&self, position: u64) -> &'static str {
        if position > 0 && position.is_multiple_of(ROLES as u64) {
            self.lead
        } else {
            self.role(position).title
        }
    }

    /// The role slot of the employee at that position in the company, from 0.
    pub(crate) fn role(&self, position: u64) -> &Role {
        let slot = usize::try_from(position % ROLES as u64).expect("a slot is below 25");
        &self.roles[slot]
    }
}

/// Every industry. Each is read when the iterator reaches it.
pub(crate) fn all() -> impl ExactSizeIterator<Item = &'static Industry> {
    (0..INDUSTRIES.len()).map(at)
}

/// The industry at this place of the list.
pub(crate) fn at(place: usize) -> &'static Industry {
    INDUSTRIES.at(place)
}

static INDUSTRIES: LazyLock<Sections<Industry>> = LazyLock::new(|| {
    Sections::of("growth/industries.toml", include!(concat!(env!("OUT_DIR"), "/industries.rs")))
});
