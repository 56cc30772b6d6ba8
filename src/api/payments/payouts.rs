//! Payouts: list and read, including wages.

use crate::api::business::payroll::Months;
use crate::api::pay_history::GrownPayments;
use crate::api::prelude::*;
use crate::model::payments::{Beneficiary, Payout, PayoutStatus};
use crate::world::VENDORS_A_MONTH;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/payouts",
        summary: "List payouts",
        description: "Lists payouts in creation order: wages and suppliers of the months before \
            the world's start, then later ones.",
        ..operation!(read list_payouts)
    },
    Operation {
        path: "/api/payments/payouts/{payout_id}",
        summary: "Read a payout",
        description: "Returns a payout with its status and the reason for a failure.",
        ..operation!(get get_payout: Payout)
    },
]);

list! {
    fn list_payouts(ListPayouts) -> Payout,
        from |world, input| candidates(world, input.company_id), of company_id;
    filter
        company_id: Id<Company>,
        status: PayoutStatus,
        beneficiary_id: Id<Beneficiary>,
        /// Filter by the type of the resource that is paid.
        source_type: SourceType => |of, payout| payout.source.is_some_and(|source| source.kind == of.kind()),
        /// Filter by the resource that is paid.
        source_id: Text<64> = source;
    sort created_at, amount;
}

/// The kind of resource that a payout pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SourceType {
    PayrollItem,
    Escrow,
}

impl SourceType {
    const fn kind(self) -> Kind {
        match self {
            Self::PayrollItem => Kind::PayrollItem,
            Self::Escrow => Kind::Escrow,
        }
    }
}

/// Month by month all wages, then the suppliers of all companies; then created ones.
fn candidates(world: &World, company: Option<Id<Company>>) -> Candidates<'_, Payout> {
    let people = GrownPayments::new(world, Months::of(world, None), company, None, None);
    let base = world.base();
    let (companies, months) = (people.companies(), people.months());
    let suppliers =
        if people.count() == 0 { 0 } else { (companies.end - companies.start) * VENDORS_A_MONTH };
    let before = move |month: u64, people: &GrownPayments<'_>| {
        people.count_before(month) + (month - months.start) * suppliers
    };
    let months = people.months();
    let grown = before(months.end, &people);
    let find = move |rank: u64| {
        let month = months.clone().rev().find(|month| before(*month, &people) <= rank)?;
        let (rank, wages) = (rank - before(month, &people), people.count_before(month));
        match rank.checked_sub(people.count_before(month + 1) - wages) {
            None => people
                .find(wages + rank)
                .map(|paid| base.salary_payout(month, paid.company, paid.employee)),
            Some(supplier) => {
                let company = companies.start + supplier / VENDORS_A_MONTH;
                Some(base.vendor_payout(month, company, supplier % VENDORS_A_MONTH))
            }
        }
    };
    match company {
        Some(company) => Candidates::new(grown, find, world.children(company.bits())),
        None => Candidates::new(grown, find, world.created()),
    }
}
