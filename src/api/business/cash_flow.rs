//! Cash flow by the direct method: what cash came in and went out for, and how that explains the cash of two days.

use crate::api::business::companies::named;
use crate::api::business::figures::{Figures, Reading, minor};
use crate::api::business::journal_entries::in_order;
use crate::api::business::reports::reports;
use crate::api::prelude::*;
use crate::model::Account;

pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    method: Method::Get,
    path: "/api/business/reports/cash-flow",
    domain: Domain::Business,
    contract: Contract::Assumed,
    summary: "Cash flow",
    description: "What cash came in and went out for on some days, by the direct method. Cash is what is available, reserved, in transit \
        or in escrow, so that moving it between these is no flow. `opening_cash` and `closing_cash` are the balance sheet's. Flows in \
        other currencies are translated at the rates of their days; what rates did to the cash itself is `exchange_difference`.",
    example: r#"{"company_id":"@company:1","from":"2025-12-01","to":"2025-12-31"}"#,
    ..operation!(read get_cash_flow)
}];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetCashFlow {
    /// Whose report.
    company_id: Id<Company>,
    /// The first day.
    from: Date,
    /// The last day.
    to: Date,
}

/// What cash came in and went out for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CashFlow {
    /// Whose report.
    company_id: Id<Company>,
    /// The first day.
    from: Date,
    /// The last day.
    to: Date,
    /// The currency of every amount.
    currency: Currency,
    /// Cash at the end of the day before the first.
    opening_cash: i64,
    /// The business itself.
    operating: CashSection,
    /// Owners and lenders.
    financing: CashSection,
    /// Both sections together.
    net_change: i64,
    /// What rates of exchange did to cash in other currencies.
    exchange_difference: i64,
    /// Cash at the end of the last day.
    closing_cash: i64,
    /// Currencies without a reference rate, whose amounts are left out; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    untranslated: Vec<Currency>,
}

/// One part of a cash flow statement.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CashSection {
    /// By activity, those that moved anything.
    lines: Vec<CashLine>,
    /// Their sum.
    total: i64,
}

/// What cash moved for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CashLine {
    /// What for.
    activity: Activity,
    /// Minor units: in if positive, out if negative.
    amount: i64,
}

/// What cash moves for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Activity {
    ReceiptsFromCustomers,
    PaymentsToSuppliers,
    PaymentsToEmployees,
    PaymentsToAuthorities,
    FeesPaid,
    InterestPaid,
    Owners,
    Loans,
    /// Money of one currency for money of another: what is left of both sides once they are translated.
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
const FINANCING: &[Activity] = &[Activity::Owners, Activity::Loans, Activity::CurrencyConversion];

/// What cash moved for where it moved against that account; none where that is cash itself.
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
        | Account::ChargebackLosses => Activity::ReceiptsFromCustomers,
        Account::Purchases | Account::Rent => Activity::PaymentsToSuppliers,
        Account::WagesPayable | Account::DeductionsPayable | Account::Wages => {
            Activity::PaymentsToEmployees
        }
        Account::TaxPayable(_) | Account::PensionPayable | Account::EmployerContributions => {
            Activity::PaymentsToAuthorities
        }
        Account::Fees => Activity::FeesPaid,
        Account::Interest => Activity::InterestPaid,
        Account::OwnerEquity | Account::RetainedEarnings => Activity::Owners,
        Account::LoansPayable => Activity::Loans,
        Account::WorldFx => Activity::CurrencyConversion,
    })
}

reports!(CashFlow);

fn get_cash_flow(world: &World, input: GetCashFlow) -> Result<Data<CashFlow>, ApiError> {
    let company = named(world, input.company_id)?;
    in_order(input.from, input.to)?;
    let reading = Reading::of(world, &company);
    let opening = reading.standing(input.from.plus_days(-1));
    let closing = reading.standing(input.to);
    let moved = reading.moved_against_cash(input.from, input.to);
    let (operating, financing) = (section(&moved, OPERATING), section(&moved, FINANCING));
    let cash = |figures: &Figures| minor(figures.sum(Account::is_cash));
    let (opening_cash, closing_cash) = (cash(&opening), cash(&closing));
    let net_change = operating.total + financing.total;
    Ok(Data(CashFlow {
        company_id: company.id,
        from: input.from,
        to: input.to,
        currency: company.currency,
        opening_cash,
        operating,
        financing,
        net_change,
        exchange_difference: closing_cash - opening_cash - net_change,
        closing_cash,
        untranslated: closing.untranslated.into_iter().collect(),
    }))
}

fn section(moved: &Figures, activities: &[Activity]) -> CashSection {
    let amounts = activities.iter().map(|&wanted| CashLine {
        activity: wanted,
        // What stands on the other side of cash.
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
                OPERATING.contains(&activity) || FINANCING.contains(&activity)
            });
            assert!(shown, "{account}");
        }
    }
}
