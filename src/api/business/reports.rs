//! Reports: profit and loss, balance sheet, trial balance. Each adds up the ledger by day; the first two are in the company's own currency.

use crate::api::business::figures::{Figures, Reading, minor};
use crate::api::business::journal_entries::in_order;
use crate::api::prelude::*;
use crate::model::business::Authority;
use crate::model::{Account, AccountType, Direction};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/reports/profit-and-loss",
        summary: "Profit and loss",
        description: "Returns revenue and expenses of a range of days. `basis=cash` counts amounts \
            received and paid instead of earned and owed: receipts from customers are sales, less \
            sales tax paid to the authority; withholdings count when they are paid. Amounts in \
            other currencies are translated at the reference rate of their accounting date.",
        example: r#"{"company_id":"@company:1","from":"2025-12-01","to":"2025-12-31"}"#,
        ..operation!(read get_profit_and_loss)
    },
    Operation {
        path: "/api/business/reports/balance-sheet",
        summary: "Balance sheet",
        description: "Returns assets, liabilities and equity at the end of a day; for a future \
            day, as of now. Earnings are part of equity. Other currencies are translated: \
            balances at the rate of the day, earnings and paid-in equity at the rates of their \
            own days. The difference is a line of equity.",
        example: r#"{"company_id":"@company:1","as_of":"2025-12-31"}"#,
        ..operation!(read get_balance_sheet)
    },
    Operation {
        path: "/api/business/reports/trial-balance",
        summary: "Trial balance",
        description: "Returns every account with entries, and whether debits equal credits.",
        example: r#"{"company_id":"@company:1","as_of":"2025-12-31"}"#,
        ..operation!(read get_trial_balance)
    },
]);

/// One line of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ReportLine {
    /// The account.
    pub(crate) account: Account,
    /// Minor units.
    pub(crate) amount: i64,
}

/// Reports are not stored and have no id.
macro_rules! reports {
    ($($report:ty),*) => {
        $(impl $crate::api::reply::Identified for $report {
            fn id_text(&self) -> Option<String> {
                None
            }
        })*
    };
}
pub(crate) use reports;

reports!(ProfitAndLoss, BalanceSheet, TrialBalance);

/// When revenue and expenses count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AccountingBasis")]
pub(crate) enum Basis {
    #[default]
    Accrual,
    Cash,
}

/// The days to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ComparisonPeriod")]
pub(crate) enum Compare {
    PreviousPeriod,
    PreviousYear,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetProfitAndLoss {
    /// The company.
    company_id: Id<Company>,
    /// The first day.
    from: Date,
    /// The last day.
    to: Date,
    /// When revenue and expenses count. Default: `accrual`.
    basis: Option<Basis>,
    /// Other days to show for comparison.
    compare: Option<Compare>,
}

/// Revenue and expenses of a range of days.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProfitAndLoss {
    /// The company.
    company_id: Id<Company>,
    /// When revenue and expenses count.
    basis: Basis,
    /// The currency of every amount.
    currency: Currency,
    #[serde(flatten)]
    figures: ProfitFigures,
    /// The figures of the days to compare with.
    comparison: Option<ProfitFigures>,
    /// Currencies without a reference rate, whose amounts are not included; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    untranslated: Vec<Currency>,
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
    /// Sum of revenue, in minor units.
    total_revenue: i64,
    /// By account.
    expenses: Vec<ReportLine>,
    /// Sum of expenses, in minor units.
    total_expenses: i64,
    /// Revenue less expenses, in minor units.
    net_profit: i64,
}

fn get_profit_and_loss(world: &World, input: GetProfitAndLoss) -> Result<Data<ProfitAndLoss>> {
    let company = existing(world, input.company_id, "/company_id")?;
    in_order(input.from, input.to)?;
    let reading = Reading::of(world, &company);
    let basis = input.basis.unwrap_or_default();
    let moved = match basis {
        Basis::Accrual => reading.moved(input.from, input.to),
        Basis::Cash => reading.moved_against_cash(input.from, input.to),
    };
    let comparison = input.compare.map(|compare| {
        let (from, to) = compared(compare, input.from, input.to);
        let moved = match basis {
            Basis::Accrual => reading.moved(from, to),
            Basis::Cash => reading.moved_against_cash(from, to),
        };
        profit(from, to, basis, &moved)
    });
    Ok(Data(ProfitAndLoss {
        company_id: company.id,
        basis,
        currency: company.currency,
        figures: profit(input.from, input.to, basis, &moved),
        comparison,
        untranslated: moved.untranslated.into_iter().collect(),
    }))
}

/// The same number of days just before, or the same days a year earlier.
fn compared(compare: Compare, from: Date, to: Date) -> (Date, Date) {
    match compare {
        Compare::PreviousPeriod => (from.plus_days(-to.days_since(from) - 1), from.plus_days(-1)),
        Compare::PreviousYear => (from.plus_years(-1), to.plus_years(-1)),
    }
}

/// The revenue or expense that a counterpart of cash represents.
fn counted_as(account: Account) -> Option<Account> {
    match account {
        Account::AccountsReceivable | Account::RefundsPayable => Some(Account::Sales),
        Account::TaxPayable(authority) if authority == Authority::VAT => Some(Account::Sales),
        Account::WagesPayable | Account::DeductionsPayable => Some(Account::Wages),
        Account::TaxPayable(_) | Account::PensionPayable => Some(Account::EmployerContributions),
        other => matches!(other.account_type(), AccountType::Revenue | AccountType::Expense)
            .then_some(other),
    }
}

fn profit(from: Date, to: Date, basis: Basis, moved: &Figures) -> ProfitFigures {
    let mut counted: BTreeMap<Account, i128> = BTreeMap::new();
    for (&account, &net) in &moved.by_account {
        let as_what = match basis {
            Basis::Accrual => Some(account),
            Basis::Cash => counted_as(account),
        };
        if let Some(account) = as_what {
            *counted.entry(account).or_default() += net;
        }
    }
    let revenue = lines(&counted, AccountType::Revenue);
    let expenses = lines(&counted, AccountType::Expense);
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
fn lines(nets: &BTreeMap<Account, i128>, kind: AccountType) -> Vec<ReportLine> {
    let sign = if kind.normal_side() == Direction::Debit { 1 } else { -1 };
    let rows = nets.iter().filter(|(account, net)| account.account_type() == kind && **net != 0);
    rows.map(|(&account, &net)| ReportLine { account, amount: minor(sign * net) }).collect()
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct AsOf {
    /// The company.
    company_id: Id<Company>,
    /// The day; balances are those at its end.
    as_of: Date,
}

/// Assets, liabilities and equity of a company at the end of a day.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BalanceSheet {
    /// The company.
    company_id: Id<Company>,
    /// The day.
    as_of: Date,
    /// The currency of every amount.
    currency: Currency,
    /// By account.
    assets: Vec<ReportLine>,
    /// Sum of assets, in minor units.
    total_assets: i64,
    /// Cash in any state: available, reserved, in transit or in escrow, in minor units. Part of the assets.
    cash: i64,
    /// By account.
    liabilities: Vec<ReportLine>,
    /// Sum of liabilities, in minor units.
    total_liabilities: i64,
    /// By account.
    equity: Vec<ReportLine>,
    /// Earnings up to that day that are not yet part of equity accounts, in minor units.
    current_earnings: i64,
    /// The effect of exchange rates since amounts in other currencies were posted, in minor units. Balances are translated at this day's
    /// rate, earnings and paid-in equity at the rates of their own days.
    translation_difference: i64,
    /// Equity including current earnings and the difference: assets less liabilities.
    total_equity: i64,
    /// Currencies without a reference rate, whose amounts are not included; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    untranslated: Vec<Currency>,
}

fn get_balance_sheet(world: &World, input: AsOf) -> Result<Data<BalanceSheet>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let reading = Reading::of(world, &company);
    let standing = reading.standing(input.as_of);
    let moved = reading.moved(Date::FIRST, input.as_of);
    let assets = lines(&standing.by_account, AccountType::Asset);
    let liabilities = lines(&standing.by_account, AccountType::Liability);
    let equity = lines(&moved.by_account, AccountType::Equity);
    let earned = |kind| total(&lines(&moved.by_account, kind));
    let current_earnings = earned(AccountType::Revenue) - earned(AccountType::Expense);
    let (total_assets, total_liabilities) = (total(&assets), total(&liabilities));
    let total_equity = total_assets - total_liabilities;
    Ok(Data(BalanceSheet {
        company_id: company.id,
        as_of: input.as_of,
        currency: company.currency,
        total_assets,
        cash: minor(standing.sum(Account::is_cash)),
        total_liabilities,
        total_equity,
        translation_difference: total_equity - total(&equity) - current_earnings,
        assets,
        liabilities,
        equity,
        current_earnings,
        untranslated: standing.untranslated.into_iter().collect(),
    }))
}

/// Every account with entries.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrialBalance {
    /// The company.
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
    /// Sum of all debits, in minor units.
    debits: i64,
    /// Sum of all credits, in minor units.
    credits: i64,
    /// The net balance, if it is a debit.
    debit_balance: i64,
    /// The net balance, if it is a credit.
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

fn get_trial_balance(world: &World, input: AsOf) -> Result<Data<TrialBalance>> {
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
