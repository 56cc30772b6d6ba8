//! The suppliers of a grown company: the expense of each, and its amount in a month.

use crate::model::Account;
use crate::model::growth::identity::{self, Origin};
use crate::value::Key;
use crate::world::layout::{Plan, VENDORS_A_MONTH};

/// A supplier of another expense than purchases.
#[derive(Clone, Copy)]
struct Other {
    expense: Account,
    what: &'static str,
    /// The kind of goods for the tax on sales, if `fixtures/vat.toml` has separate rates for it.
    kind: &'static str,
    /// The last words of the supplier's name.
    words: &'static [&'static str],
}

const fn other_of(
    expense: Account,
    what: &'static str,
    kind: &'static str,
    words: &'static [&'static str],
) -> Other {
    Other { expense, what, kind, words }
}

/// Suppliers of other expenses than purchases; the others sell what the industry buys.
const OTHERS: [Other; 5] = [
    other_of(
        Account::Rent,
        "Office rent",
        "rent",
        &["Properties", "Real Estate", "Property Holdings"],
    ),
    other_of(Account::Utilities, "Electricity and water", "", &["Power", "Energy", "Utilities"]),
    other_of(
        Account::Insurance,
        "Business insurance",
        "insurance",
        &["Insurance", "Assurance", "General Insurance"],
    ),
    other_of(Account::Marketing, "Advertising", "", &["Media", "Advertising", "Communications"]),
    other_of(
        Account::ProfessionalFees,
        "Accounting and legal fees",
        "",
        &["Accountants", "Legal", "& Co."],
    ),
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
    other(number).map_or(Account::Purchases, |other| other.expense)
}

/// The goods that a supplier sells, and their kind for the tax.
pub(crate) fn sells(plan: &Plan, number: u64) -> (&'static str, &'static str) {
    if let Some(other) = other(number) {
        return (other.what, other.kind);
    }
    let bought = &plan.industry.buys;
    let count = bought.len() as u64;
    let place = (plan.key.with("bought").below(count) + number) % count;
    let bought = &bought[usize::try_from(place).unwrap_or_default()];
    (bought.what, bought.kind)
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
    let trade = other(number).map_or(("purchases", MERCHANTS), |other| (other.what, other.words));
    identity::legal_name(plan.country, trade, origin)
}

/// The amount that a supplier bills for a month, without recoverable tax. Rent and insurance are the same in every
/// month; purchases and marketing follow the sales.
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
