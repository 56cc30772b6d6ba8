//! Loans: list and read.

use crate::api::prelude::*;
use crate::model::capital::{Loan, LoanStatus};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Capital.table([
    Operation {
        path: "/api/capital/loans",
        summary: "List loans",
        description: "Lists loans in creation order, with their schedules.",
        ..operation!(read list_loans)
    },
    Operation {
        path: "/api/capital/loans/{loan_id}",
        summary: "Read a loan",
        description: "Returns a loan with its balances, its schedule, the next amount due, and the \
            amount that would repay it today (`settlement_amount`).",
        ..operation!(read get_loan)
    },
]);

list! {
    fn list_loans(ListLoans) -> Loan, of company_id;
    filter company_id: Id<Company>, status: LoanStatus;
    sort created_at, amount;
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

fn get_loan(world: &World, input: One<Loan>) -> Result<Data<LoanToday>> {
    let loan = world.get(input.id)?;
    let settlement = loan.is_open().then(|| loan.settlement(world.today()));
    Ok(Data(LoanToday { loan: (*loan).clone(), settlement_amount: settlement }))
}
