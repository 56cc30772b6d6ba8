//! Reports: profit and loss, balance sheet, trial balance. Each is a fold of the ledger, in the company's base currency.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::business::accounting::{minor, sums_as_of, sums_between};
use crate::api::business::companies::named;
use crate::api::operation::{Contract, Domain, Method, Operation, operation};
use crate::api::reply::{Data, Identified};
use crate::model::business::authority::Authority;
use crate::model::business::company::Company;
use crate::model::ledger::{Account, AccountType, Direction};
use crate::value::error::{ApiError, Violation};
use crate::value::id::Id;
use crate::value::money::Currency;
use crate::value::time::Date;
use crate::world::World;
use crate::world::books::Sums;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/api/business/reports/profit-and-loss",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Profit and loss",
        description: "Revenue and expenses of some days. `basis=cash` counts what was received and paid instead of what was earned and \
            owed: receipts from customers are sales, less sales tax handed on; withholdings count when they are paid over.",
        example: r#"{"company_id":"@company:1","from":"2025-12-01","to":"2025-12-31"}"#,
        ..operation!(read get_profit_and_loss)
    },
    Operation {
        method: Method::Get,
        path: "/api/business/reports/balance-sheet",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Balance sheet",
        description: "What the company has and owes at the end of a day. What it has earned so far stands under equity.",
        example: r#"{"company_id":"@company:1","as_of":"2025-12-31"}"#,
        ..operation!(read get_balance_sheet)
    },
    Operation {
        method: Method::Get,
        path: "/api/business/reports/trial-balance",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Trial balance",
        description: "Every account that was posted to, and the proof that debits equal credits.",
        example: r#"{"company_id":"@company:1","as_of":"2025-12-31"}"#,
        ..operation!(read get_trial_balance)
    },
];

/// One line of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ReportLine {
    /// The account.
    account: Account,
    /// Minor units.
    amount: i64,
}

/// Reports are not kept: they have no id.
macro_rules! reports {
    ($($report:ty),*) => {
        $(impl Identified for $report {
            fn id_text(&self) -> Option<String> {
                None
            }
        })*
    };
}

reports!(ProfitAndLoss, BalanceSheet, TrialBalance);

/// When revenue and expenses count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Basis {
    #[default]
    Accrual,
    Cash,
}

/// What to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Compare {
    PreviousPeriod,
    PreviousYear,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetProfitAndLoss {
    /// Whose report.
    company_id: Id<Company>,
    /// The first day.
    from: Date,
    /// The last day.
    to: Date,
    /// When revenue and expenses count; `accrual` if absent.
    basis: Option<Basis>,
    /// Other days to show beside these.
    compare: Option<Compare>,
}

/// Revenue and expenses of some days.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProfitAndLoss {
    /// Whose report.
    company_id: Id<Company>,
    /// When revenue and expenses count.
    basis: Basis,
    /// The currency of every amount.
    currency: Currency,
    #[serde(flatten)]
    figures: ProfitFigures,
    /// The same of the days to compare with.
    comparison: Option<ProfitFigures>,
}

/// The figures of a profit and loss statement.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProfitFigures {
    /// The first day.
    from: Date,
    /// The last day.
    to: Date,
    /// By account.
    revenue: Vec<ReportLine>,
    /// Sum of revenue.
    total_revenue: i64,
    /// By account.
    expenses: Vec<ReportLine>,
    /// Sum of expenses.
    total_expenses: i64,
    /// Revenue less expenses.
    net_profit: i64,
}

fn get_profit_and_loss(
    world: &World,
    input: GetProfitAndLoss,
) -> Result<Data<ProfitAndLoss>, ApiError> {
    let company = named(world, input.company_id)?;
    if input.to < input.from {
        let detail = format!(
            "the last day, {}, is before the first, {}",
            input.to, input.from
        );
        return Err(ApiError::invalid(vec![Violation::new(
            "/to", "range", detail,
        )]));
    }
    let basis = input.basis.unwrap_or_default();
    let figures = |from, to| match basis {
        Basis::Accrual => accrual(world, &company, from, to),
        Basis::Cash => cash(world, &company, from, to),
    };
    let comparison = input.compare.map(|compare| {
        let (from, to) = compared(compare, input.from, input.to);
        figures(from, to)
    });
    Ok(Data(ProfitAndLoss {
        company_id: company.id,
        basis,
        currency: company.currency,
        figures: figures(input.from, input.to),
        comparison,
    }))
}

/// As many days just before, or the same days a year before.
fn compared(compare: Compare, from: Date, to: Date) -> (Date, Date) {
    match compare {
        Compare::PreviousPeriod => (from.plus_days(-to.days_since(from) - 1), from.plus_days(-1)),
        Compare::PreviousYear => (from.plus_years(-1), to.plus_years(-1)),
    }
}

fn accrual(world: &World, company: &Company, from: Date, to: Date) -> ProfitFigures {
    let sums = sums_between(world, company.id, Some(from), Some(to));
    let lines = |kind| lines(&sums, company.currency, kind);
    profit(
        from,
        to,
        lines(AccountType::Revenue),
        lines(AccountType::Expense),
    )
}

/// Counts entries that move cash, by what stands against it. Capital and loans are not income, nor is giving them back
/// an expense.
fn cash(world: &World, company: &Company, from: Date, to: Date) -> ProfitFigures {
    let mut moved: Vec<(Account, i128)> = Vec::new();
    for entry in crate::api::business::accounting::entries(world, company.id) {
        let in_range = (from..=to).contains(&entry.effective_on);
        if !in_range || !entry.lines.iter().any(|line| line.account.is_cash()) {
            continue;
        }
        for line in entry
            .lines
            .iter()
            .filter(|line| line.currency == company.currency)
        {
            if let Some(account) = counted_as(line.account) {
                match moved.iter_mut().find(|(known, _)| *known == account) {
                    Some((_, sum)) => *sum += i128::from(line.signed()),
                    None => moved.push((account, i128::from(line.signed()))),
                }
            }
        }
    }
    moved.sort_unstable_by_key(|(account, _)| *account);
    let of = |kind: AccountType| {
        let sign = if kind == AccountType::Revenue { -1 } else { 1 };
        let rows = moved
            .iter()
            .filter(move |(account, sum)| account.account_type() == kind && *sum != 0);
        rows.map(move |&(account, sum)| ReportLine {
            account,
            amount: minor(sign * sum),
        })
        .collect::<Vec<_>>()
    };
    profit(from, to, of(AccountType::Revenue), of(AccountType::Expense))
}

/// The revenue or expense that a line against cash stands for.
fn counted_as(account: Account) -> Option<Account> {
    match account {
        Account::AccountsReceivable | Account::RefundsPayable => Some(Account::Sales),
        Account::TaxPayable(authority) if authority == Authority::VAT => Some(Account::Sales),
        Account::WagesPayable => Some(Account::Wages),
        Account::TaxPayable(_) | Account::PensionPayable => Some(Account::EmployerContributions),
        other => matches!(
            other.account_type(),
            AccountType::Revenue | AccountType::Expense
        )
        .then_some(other),
    }
}

fn profit(
    from: Date,
    to: Date,
    revenue: Vec<ReportLine>,
    expenses: Vec<ReportLine>,
) -> ProfitFigures {
    let (total_revenue, total_expenses) = (total(&revenue), total(&expenses));
    ProfitFigures {
        from,
        to,
        revenue,
        total_revenue,
        expenses,
        total_expenses,
        net_profit: total_revenue - total_expenses,
    }
}

fn total(lines: &[ReportLine]) -> i64 {
    lines.iter().map(|line| line.amount).sum()
}

/// Accounts of a type with a balance, on their normal side.
fn lines(sums: &Sums, currency: Currency, kind: AccountType) -> Vec<ReportLine> {
    let sign = if kind.normal_side() == Direction::Debit {
        1
    } else {
        -1
    };
    let rows = sums
        .iter()
        .filter(|(of, account, _)| *of == currency && account.account_type() == kind);
    rows.filter(|(_, _, totals)| totals.net() != 0)
        .map(|(_, account, totals)| ReportLine {
            account,
            amount: minor(sign * totals.net()),
        })
        .collect()
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct AsOf {
    /// Whose report.
    company_id: Id<Company>,
    /// At the end of that day.
    as_of: Date,
}

/// What a company has and owes at the end of a day.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BalanceSheet {
    /// Whose report.
    company_id: Id<Company>,
    /// The day.
    as_of: Date,
    /// The currency of every amount.
    currency: Currency,
    /// By account.
    assets: Vec<ReportLine>,
    /// Sum of assets.
    total_assets: i64,
    /// By account.
    liabilities: Vec<ReportLine>,
    /// Sum of liabilities.
    total_liabilities: i64,
    /// By account.
    equity: Vec<ReportLine>,
    /// What was earned up to that day and not yet carried to equity.
    current_earnings: i64,
    /// Equity with current earnings: assets less liabilities.
    total_equity: i64,
}

fn get_balance_sheet(world: &World, input: AsOf) -> Result<Data<BalanceSheet>, ApiError> {
    let company = named(world, input.company_id)?;
    let sums = sums_as_of(world, company.id, Some(input.as_of));
    let lines = |kind| lines(&sums, company.currency, kind);
    let (assets, liabilities) = (lines(AccountType::Asset), lines(AccountType::Liability));
    let equity = lines(AccountType::Equity);
    let current_earnings =
        total(&lines(AccountType::Revenue)) - total(&lines(AccountType::Expense));
    Ok(Data(BalanceSheet {
        company_id: company.id,
        as_of: input.as_of,
        currency: company.currency,
        total_assets: total(&assets),
        total_liabilities: total(&liabilities),
        total_equity: total(&equity) + current_earnings,
        assets,
        liabilities,
        equity,
        current_earnings,
    }))
}

/// Every account that was posted to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrialBalance {
    /// Whose report.
    company_id: Id<Company>,
    /// The day.
    as_of: Date,
    /// By currency and account.
    accounts: Vec<TrialLine>,
    /// By currency.
    totals: Vec<TrialTotal>,
    /// Whether debits equal credits in every currency.
    balanced: bool,
}

/// One account of a trial balance.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrialLine {
    /// The account.
    account: Account,
    /// The currency of its amounts.
    currency: Currency,
    /// All debits, in minor units.
    debits: i64,
    /// All credits.
    credits: i64,
    /// The net of both, where it is a debit.
    debit_balance: i64,
    /// The net of both, where it is a credit.
    credit_balance: i64,
}

/// The sums of a trial balance in one currency.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrialTotal {
    /// The currency.
    currency: Currency,
    /// Sum of debit balances.
    debit_balances: i64,
    /// Sum of credit balances.
    credit_balances: i64,
}

fn get_trial_balance(world: &World, input: AsOf) -> Result<Data<TrialBalance>, ApiError> {
    let company = named(world, input.company_id)?;
    let sums = sums_as_of(world, company.id, Some(input.as_of));
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
            totals.push(TrialTotal {
                currency,
                debit_balances: 0,
                credit_balances: 0,
            });
        }
        let last = totals.last_mut().expect("one was just pushed");
        last.debit_balances += line.debit_balance;
        last.credit_balances += line.credit_balance;
        accounts.push(line);
    }
    let balanced = totals
        .iter()
        .all(|total| total.debit_balances == total.credit_balances);
    Ok(Data(TrialBalance {
        company_id: company.id,
        as_of: input.as_of,
        accounts,
        totals,
        balanced,
    }))
}
