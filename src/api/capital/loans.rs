//! Loans: list and read.

use crate::api::prelude::*;
use crate::model::capital::{Loan, LoanStatus};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/api/capital/loans",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "List loans",
        description: "Lists loans in creation order, with their schedules.",
        ..operation!(read list_loans)
    },
    Operation {
        method: Method::Get,
        path: "/api/capital/loans/{loan_id}",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "Read a loan",
        description: "Returns a loan with its balances, its schedule, the next amount due, and the \
            amount that would repay it today (`settlement_amount`).",
        ..operation!(read get_loan)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListLoans {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<Loan>>,
    /// Filter by company.
    company_id: Option<Id<Company>>,
    /// Filter by status.
    status: Option<LoanStatus>,
}

impl Sortable for Loan {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] = &[
        ("created_at", |loan| SortKey::Number(loan.created_at.millis())),
        ("amount", |loan| SortKey::Number(loan.amount)),
    ];
}

fn list_loans(world: &World, input: ListLoans) -> Result<List<Shown<Loan>>, ApiError> {
    let none = |_| None;
    let candidates = match input.company_id {
        Some(company) => Candidates::new(0, none, world.children(company.bits())),
        None => Candidates::new(0, none, world.created()),
    };
    if input.status.is_none() {
        return candidates.page(world, input.paging, input.sort.as_ref());
    }
    let keep = |loan: &Loan| is(input.status.as_ref(), &loan.status);
    candidates.page_where(world, input.paging, input.sort.as_ref(), keep)
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneLoan {
    /// The loan.
    loan_id: Id<Loan>,
}

/// A loan, with the amount that would repay it today.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LoanWithSettlement")]
pub(crate) struct LoanToday {
    #[serde(flatten)]
    loan: Loan,
    /// The amount that repays the loan completely today: its principal, and interest up to today, in minor units. Null unless the loan is
    /// active or late.
    settlement_amount: Option<i64>,
}

impl Identified for LoanToday {
    fn id_text(&self) -> Option<String> {
        Some(self.loan.id.to_string())
    }
}

fn get_loan(world: &World, input: OneLoan) -> Result<Data<LoanToday>, ApiError> {
    let loan = world.get(input.loan_id)?;
    let settlement = loan.is_open().then(|| loan.settlement(world.today()));
    Ok(Data(LoanToday { loan: (*loan).clone(), settlement_amount: settlement }))
}
