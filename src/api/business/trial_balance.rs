//! The trial balance: every account in every currency, without translation.

use crate::api::business::figures::{Reading, minor};
use crate::api::business::reports::reports;
use crate::api::prelude::*;
use crate::model::Account;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([Operation {
    path: "/api/business/reports/trial-balance",
    summary: "Read the trial balance",
    description: "Returns every account with entries, and whether debits equal credits.",
    example: r#"{"company_id":"@company:1","as_of":"2025-12-31"}"#,
    long: true,
    ..operation!(read get_trial_balance)
}]);

reports!(TrialBalance);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetTrialBalance {
    /// The company to report on.
    company_id: Id<Company>,
    /// The day of the report, which shows the balances at its end.
    as_of: Date,
}

/// Every account with entries.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrialBalance {
    /// The company of the report.
    company_id: Id<Company>,
    /// The day of the report. Balances are those at the end of the day.
    as_of: Date,
    /// One row for each currency and account.
    accounts: Vec<TrialLine>,
    /// The sums, one row for each currency.
    totals: Vec<TrialTotal>,
    /// Whether debits equal credits in every currency.
    balanced: bool,
}

/// One account of a trial balance.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrialLine {
    /// The code of the account, such as `cash_available`.
    account: Account,
    /// The currency of all amounts in the row.
    currency: Currency,
    /// Sum of all debits, in minor units.
    debits: i64,
    /// Sum of all credits, in minor units.
    credits: i64,
    /// The net balance in minor units if it is a debit, otherwise 0.
    debit_balance: i64,
    /// The net balance in minor units if it is a credit, otherwise 0.
    credit_balance: i64,
}

/// The sums of a trial balance in one currency.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrialTotal {
    /// The currency of both sums.
    currency: Currency,
    /// Sum of all debit balances, in minor units.
    debit_balances: i64,
    /// Sum of all credit balances, in minor units.
    credit_balances: i64,
}

fn get_trial_balance(world: &World, input: GetTrialBalance) -> Result<Data<TrialBalance>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let sums = Reading::of(world, &company).totals(input.as_of);
    let mut totals: Vec<TrialTotal> = Vec::new();
    let mut accounts = Vec::new();
    for (currency, account, sum) in sums.iter() {
        let net = minor(sum.net());
        let line = TrialLine {
            account,
            currency,
            debits: minor(sum.debits),
            credits: minor(sum.credits),
            debit_balance: net.max(0),
            credit_balance: (-net).max(0),
        };
        if totals.last().is_none_or(|last| last.currency != currency) {
            totals.push(TrialTotal { currency, debit_balances: 0, credit_balances: 0 });
        }
        let last = totals.last_mut().expect("one was just pushed");
        last.debit_balances += line.debit_balance;
        last.credit_balances += line.credit_balance;
        accounts.push(line);
    }
    let balanced = totals.iter().all(|total| total.debit_balances == total.credit_balances);
    Ok(Data(TrialBalance {
        company_id: company.id,
        as_of: input.as_of,
        accounts,
        totals,
        balanced,
    }))
}
