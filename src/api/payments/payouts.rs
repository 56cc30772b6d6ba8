//! Payouts: list and read, including wages.

use crate::api::pay_history::{GrownPayments, pays};
use crate::api::prelude::*;
use crate::model::payments::{Beneficiary, Payout, PayoutStatus};
use crate::world::purchases::bill_growth::PAYMENT_HOUR;
use crate::world::purchases::vendor_day;
use crate::world::{HISTORY_MONTHS, VENDORS_A_MONTH};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/payouts",
        summary: "List payouts",
        description: "Lists payouts, newest first, including wages and suppliers of the months \
            before the world's start.",
        long: true,
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
    newest first;
}

/// The kind of resource that a payout pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SourceType {
    PayrollItem,
    Escrow,
    Bill,
}

impl SourceType {
    const fn kind(self) -> Kind {
        match self {
            Self::PayrollItem => Kind::PayrollItem,
            Self::Escrow => Kind::Escrow,
            Self::Bill => Kind::Bill,
        }
    }
}

/// Payouts before the world's start that were created together: the wages of one pay, or the suppliers of a month.
#[derive(Clone, Copy)]
enum GrownPayouts {
    /// The ranks of the payments.
    Wages(u64, u64),
    Suppliers(u64),
}

/// In the order of time the wages of each pay and the suppliers of each month; then created ones.
fn candidates(world: &World, company: Option<Id<Company>>) -> Candidates<'_, Payout> {
    let pays = pays(world, None, |times| times.funded);
    let people = GrownPayments::new(world, pays, company, None, None);
    let base = world.base();
    let companies = people.companies();
    let suppliers =
        if people.count() == 0 { 0 } else { (companies.end - companies.start) * VENDORS_A_MONTH };
    let wages = people.pays().map(|(pay, ranks)| {
        let count = ranks.end - ranks.start;
        (base.pay(pay).funded, GrownPayouts::Wages(pay, ranks.start), count)
    });
    let months = (0..HISTORY_MONTHS).map(|month| {
        (vendor_day(base, month).at_hour(PAYMENT_HOUR), GrownPayouts::Suppliers(month), suppliers)
    });
    let mut groups: Vec<_> = wages.chain(months).collect();
    groups.sort_by_key(|(at, _, _)| *at);
    let grown = groups.iter().map(|(_, _, count)| count).sum();
    let find = move |rank: u64| {
        let mut rank = rank;
        for (_, group, count) in &groups {
            let Some(beyond) = rank.checked_sub(*count) else {
                return match *group {
                    GrownPayouts::Wages(pay, first) => people
                        .find(first + rank)
                        .map(|paid| base.salary_payout(pay, paid.company, paid.employee)),
                    GrownPayouts::Suppliers(month) => {
                        let company = companies.start + rank / VENDORS_A_MONTH;
                        Some(base.vendor_payout(month, company, rank % VENDORS_A_MONTH))
                    }
                };
            };
            rank = beyond;
        }
        None
    };
    match company {
        Some(company) => Candidates::new(grown, find, world.children(company.bits())),
        None => Candidates::new(grown, find, world.created()),
    }
}
