//! Cash flow by the direct method: receipts and payments by purpose, which add up to the change in cash.

use crate::api::business::figures::{Figures, Reading, minor};
use crate::api::business::journal_entries::in_order;
use crate::api::business::reports::reports;
use crate::api::prelude::*;
use crate::model::Account;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([Operation {
    path: "/api/business/reports/cash-flow",
    summary: "Read the cash flow report",
    description: "Returns the cash flow of a range of days by the direct method. Cash is \
        available, reserved, in transit or in escrow; a transfer between these is not a cash flow. \
        Receipts from customers include the tax on sales, also for refunds and for payments of bad \
        debts. `opening_cash` and `closing_cash` are equal to the cash in the balance sheet. Flows \
        in other currencies are translated at the rates of their days. `exchange_difference` is \
        the effect of rates on the cash itself.",
    example: r#"{"company_id":"@company:1","from":"2025-12-01","to":"2025-12-31"}"#,
    long: true,
    ..operation!(read get_cash_flow)
}]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetCashFlow {
    /// The company to report on.
    company_id: Id<Company>,
    /// The first day of the report.
    from: Date,
    /// The last day of the report.
    to: Date,
}

/// The cash flow of a range of days, by activity.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CashFlow {
    /// The company of the report.
    company_id: Id<Company>,
    /// The first day of the report.
    from: Date,
    /// The last day of the report.
    to: Date,
    /// The currency of every amount.
    currency: Currency,
    /// Cash at the end of the day before the first day, in minor units.
    opening_cash: i64,
    /// Operating activities: customers, suppliers, wages, taxes, fees and interest.
    operating: CashSection,
    /// Investing activities: fixed assets.
    investing: CashSection,
    /// Financing activities: owners and lenders.
    financing: CashSection,
    /// Net change: the sum of the sections, in minor units.
    net_change: i64,
    /// The effect of exchange rates on cash in other currencies, in minor units.
    exchange_difference: i64,
    /// Cash at the end of the last day, in minor units.
    closing_cash: i64,
    /// Currencies without a reference rate, whose amounts are not included; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    untranslated: Vec<Currency>,
}

/// One section of a cash flow statement.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CashSection {
    /// One line per activity with a cash movement.
    lines: Vec<CashLine>,
    /// The sum of the lines, in minor units.
    total: i64,
}

/// The cash movement of one activity.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CashLine {
    /// The activity that moved cash.
    activity: Activity,
    /// Amount in minor units; positive for money in, negative for money out.
    amount: i64,
}

/// An activity with cash movements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "CashFlowActivity")]
enum Activity {
    ReceiptsFromCustomers,
    PaymentsToSuppliers,
    PaymentsToEmployees,
    PaymentsToAuthorities,
    FeesPaid,
    InterestPaid,
    FixedAssets,
    Owners,
    Loans,
    /// Conversion between currencies: the difference between both sides after translation.
    CurrencyConversion,
}

const OPERATING: &[Activity] = &[
    Activity::ReceiptsFromCustomers,
    Activity::PaymentsToSuppliers,
    Activity::PaymentsToEmployees,
    Activity::PaymentsToAuthorities,
    Activity::FeesPaid,
    Activity::InterestPaid,
];
const INVESTING: &[Activity] = &[Activity::FixedAssets];
const FINANCING: &[Activity] = &[Activity::Owners, Activity::Loans, Activity::CurrencyConversion];

/// The activity of cash movements against that account; none if the account is cash itself.
const fn activity(account: Account) -> Option<Activity> {
    Some(match account {
        Account::CashAvailable
        | Account::CashReserved
        | Account::PayoutsInTransit
        | Account::CollectionsInTransit
        | Account::EscrowHeld => return None,
        Account::AccountsReceivable
        | Account::RefundsPayable
        | Account::Sales
        | Account::BadDebts
        | Account::ChargebackLosses => Activity::ReceiptsFromCustomers,
        Account::AccountsPayable
        | Account::Inventory
        | Account::Purchases
        | Account::Rent
        | Account::Utilities
        | Account::Insurance
        | Account::Marketing
        | Account::ProfessionalFees => Activity::PaymentsToSuppliers,
        Account::WagesPayable
        | Account::ContractorsPayable
        | Account::DeductionsPayable
        | Account::Wages
        | Account::Contractors => Activity::PaymentsToEmployees,
        Account::TaxPayable(_)
        | Account::VatRecoverable
        | Account::PensionPayable
        | Account::IncomeTaxPayable
        | Account::IncomeTax
        | Account::EmployerContributions => Activity::PaymentsToAuthorities,
        Account::Fees => Activity::FeesPaid,
        Account::Interest | Account::InterestPayable => Activity::InterestPaid,
        Account::FixedAssets | Account::AccumulatedDepreciation | Account::Depreciation => {
            Activity::FixedAssets
        }
        Account::OwnerEquity | Account::RetainedEarnings => Activity::Owners,
        Account::LoansPayable => Activity::Loans,
        Account::WorldFx | Account::ExchangeGains | Account::ExchangeLosses => {
            Activity::CurrencyConversion
        }
    })
}

reports!(CashFlow);

fn get_cash_flow(world: &World, input: GetCashFlow) -> Result<Data<CashFlow>> {
    let company = existing(world, input.company_id, "/company_id")?;
    in_order(input.from, input.to)?;
    let reading = Reading::of(world, &company);
    let opening = reading.standing(input.from.plus_days(-1));
    let closing = reading.standing(input.to);
    let moved = reading.moved_against_cash(input.from, input.to);
    let [operating, investing, financing] =
        [OPERATING, INVESTING, FINANCING].map(|activities| section(&moved, activities));
    let cash = |figures: &Figures| minor(figures.sum(Account::is_cash));
    let (opening_cash, closing_cash) = (cash(&opening), cash(&closing));
    let untranslated = &(&opening.untranslated | &moved.untranslated) | &closing.untranslated;
    let net_change = operating.total + investing.total + financing.total;
    Ok(Data(CashFlow {
        company_id: company.id,
        from: input.from,
        to: input.to,
        currency: company.currency,
        opening_cash,
        operating,
        investing,
        financing,
        net_change,
        exchange_difference: closing_cash - opening_cash - net_change,
        closing_cash,
        untranslated: untranslated.into_iter().collect(),
    }))
}

fn section(moved: &Figures, activities: &[Activity]) -> CashSection {
    let amounts = activities.iter().map(|&wanted| CashLine {
        activity: wanted,
        // The counterparts of cash.
        amount: minor(-moved.sum(|account| activity(account) == Some(wanted))),
    });
    let lines: Vec<CashLine> = amounts.filter(|line| line.amount != 0).collect();
    CashSection { total: lines.iter().map(|line| line.amount).sum(), lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_account_but_cash_is_moved_for_something() {
        for &account in Account::FIXED {
            assert_eq!(activity(account).is_none(), account.is_cash(), "{account}");
            let shown = activity(account).is_none_or(|activity| {
                [OPERATING, INVESTING, FINANCING].concat().contains(&activity)
            });
            assert!(shown, "{account}");
        }
    }
}
