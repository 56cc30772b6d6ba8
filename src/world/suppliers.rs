//! The suppliers of a grown company: the expense of each, and its amount in a month.

use std::borrow::Cow;

use crate::model::Account;
use crate::model::growth::identity::{self, Origin};
use crate::value::Key;
use crate::world::layout::{Plan, VENDORS_A_MONTH};

/// The expense, what is sold, and the last words of the supplier's name.
type Other = (Account, &'static str, &'static [&'static str]);

/// Suppliers of other expenses than purchases; the others sell what the industry buys.
const OTHERS: [Other; 5] = [
    (Account::Rent, "Office rent", &["Properties", "Real Estate", "Property Holdings"]),
    (Account::Utilities, "Electricity and water", &["Power", "Energy", "Utilities"]),
    (Account::Insurance, "Business insurance", &["Insurance", "Assurance", "General Insurance"]),
    (Account::Marketing, "Advertising", &["Media", "Advertising", "Communications"]),
    (Account::ProfessionalFees, "Accounting and legal fees", &["Accountants", "Legal", "& Co."]),
];

/// The last words of the names of other suppliers.
const MERCHANTS: &[&str] = &["Supplies", "Supply Group", "Merchants", "Wholesale"];

/// The number of suppliers of purchases.
const PURCHASES: u64 = VENDORS_A_MONTH - OTHERS.len() as u64;

/// A month's sales, and those of an average month.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MonthSales {
    pub(crate) net: i64,
    pub(crate) average: i64,
}

/// The expense account of a supplier.
pub(crate) fn account(number: u64) -> Account {
    other(number).map_or(Account::Purchases, |(account, ..)| account)
}

/// What a supplier sells.
pub(crate) fn sells(plan: &Plan, number: u64) -> Cow<'static, str> {
    if let Some((_, what, _)) = other(number) {
        return what.into();
    }
    let bought = &plan.industry.buys;
    let place = key(plan, number).below(bought.len() as u64);
    bought[usize::try_from(place).unwrap_or_default()].into()
}

/// The key of a supplier.
pub(crate) fn key(plan: &Plan, number: u64) -> Key {
    plan.key.with("vendor").at(number)
}

/// The name of a supplier.
pub(crate) fn name(plan: &Plan, number: u64) -> String {
    let key = key(plan, number);
    let names = plan.key.with("vendor names");
    let origin = Origin::partner(key, names, number, plan.origin.known_on);
    let trade = other(number).map_or(("purchases", MERCHANTS), |(_, what, words)| (what, words));
    identity::legal_name(plan.country, trade, origin)
}

/// What a supplier is paid in a month. Rent and insurance are the same in every month; purchases and marketing follow the sales.
pub(crate) fn amount(plan: &Plan, month: u64, number: u64, sales: MonthSales) -> i64 {
    let costs = plan.industry.costs;
    let draw = plan.key.with("purchases").at(month).at(number);
    let near = |spread: u64| 100 - spread + draw.below(2 * spread + 1);
    let (base, percent, share) = match account(number) {
        Account::Rent => (sales.average, costs.rent, 100),
        Account::Insurance => (sales.average, costs.insurance, 100),
        Account::Utilities => (sales.average, costs.utilities, near(15)),
        Account::ProfessionalFees => (sales.average, costs.professional_fees, near(40)),
        Account::Marketing => (sales.net, costs.marketing, near(25)),
        _ => {
            return scale(
                sales.net,
                plan.industry.purchases_percent * near(20),
                10_000 * PURCHASES,
            );
        }
    };
    scale(base, percent * share, 10_000)
}

fn other(number: u64) -> Option<Other> {
    OTHERS.get(usize::try_from(number).ok()?).copied()
}

/// `amount` × `numerator` / `denominator`, rounded down.
pub(crate) fn scale(amount: i64, numerator: u64, denominator: u64) -> i64 {
    let scaled = i128::from(amount) * i128::from(numerator) / i128::from(denominator);
    i64::try_from(scaled).expect("sales and purchases are small multiples of a payroll")
}
