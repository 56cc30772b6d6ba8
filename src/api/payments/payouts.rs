//! Payouts: list and read, including wages.

use crate::api::business::payroll::Months;
use crate::api::pay_history::GrownPayments;
use crate::api::prelude::*;
use crate::model::payments::{Beneficiary, Payout, PayoutStatus};
use crate::world::VENDORS_A_MONTH;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/api/payments/payouts",
        domain: Domain::Payments,
        contract: Contract::Assumed,
        summary: "List payouts",
        description: "Lists payouts in creation order: wages and suppliers of the months before \
            the world's start, then later ones.",
        ..operation!(read list_payouts)
    },
    Operation {
        method: Method::Get,
        path: "/api/payments/payouts/{payout_id}",
        domain: Domain::Payments,
        contract: Contract::Assumed,
        summary: "Read a payout",
        description: "Returns a payout with its status and the reason for a failure.",
        ..operation!(read get_payout)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListPayouts {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<Payout>>,
    /// Filter by company.
    company_id: Option<Id<Company>>,
    /// Filter by status.
    status: Option<PayoutStatus>,
    /// Filter by beneficiary.
    beneficiary_id: Option<Id<Beneficiary>>,
    /// Filter by the type of the resource that is paid.
    source_type: Option<SourceType>,
    /// Filter by the resource that is paid.
    source_id: Option<Text<64>>,
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

impl Sortable for Payout {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] = &[
        ("created_at", |payout| SortKey::Number(payout.created_at.millis())),
        ("amount", |payout| SortKey::Number(payout.amount)),
    ];
}

fn list_payouts(world: &World, input: ListPayouts) -> Result<List<Shown<Payout>>, ApiError> {
    let candidates = candidates(world, input.company_id);
    let filtered = input.status.is_some()
        || input.beneficiary_id.is_some()
        || input.source_type.is_some()
        || input.source_id.is_some();
    if !filtered {
        return candidates.page(world, input.paging, input.sort.as_ref());
    }
    let keep = |payout: &Payout| {
        is(input.status.as_ref(), &payout.status)
            && (input.beneficiary_id.is_none() || payout.beneficiary_id == input.beneficiary_id)
            && input
                .source_type
                .is_none_or(|of| payout.source.is_some_and(|source| source.kind == of.kind()))
            && input
                .source_id
                .as_ref()
                .is_none_or(|id| payout.source.is_some_and(|s| s.to_string() == id.as_str()))
    };
    candidates.page_where(world, input.paging, input.sort.as_ref(), keep)
}

/// Month by month all wages, then the suppliers of all companies; then created ones.
fn candidates(world: &World, company: Option<Id<Company>>) -> Candidates<'_, Payout> {
    let people = GrownPayments::new(world, Months::of(world, None), company, None, None);
    let base = world.base();
    let companies = people.companies();
    let suppliers =
        if people.a_month() == 0 { 0 } else { (companies.end - companies.start) * VENDORS_A_MONTH };
    let a_month = people.a_month() + suppliers;
    let grown = a_month * (people.months().end - people.months().start);
    let find = move |rank: u64| {
        let (month, within) = (rank / a_month, rank % a_month);
        match within.checked_sub(people.a_month()) {
            None => people
                .find(within)
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

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OnePayout {
    /// The payout.
    payout_id: Id<Payout>,
}

fn get_payout(world: &World, input: OnePayout) -> Result<Data<Shown<Payout>>, ApiError> {
    show(world, input.payout_id)
}
