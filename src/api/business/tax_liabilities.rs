//! Tax liabilities of the runs since the world's start.

use crate::api::prelude::*;
use crate::model::business::{LiabilityStatus, TaxLiability};

pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    method: Method::Get,
    path: "/api/business/tax-liabilities",
    domain: Domain::Business,
    contract: Contract::Assumed,
    summary: "List tax liabilities",
    description: "Lists what each run owes to each authority, in creation order. For months before \
        the world's start, see the filings of those months.",
    ..operation!(read list_tax_liabilities)
}];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListTaxLiabilities {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<TaxLiability>>,
    /// Filter by company.
    company_id: Option<Id<Company>>,
    /// Filter by authority.
    authority: Option<Text<32>>,
    /// Filter by month.
    period: Option<Period>,
    /// Filter by status.
    status: Option<LiabilityStatus>,
}

impl Sortable for TaxLiability {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] = &[
        ("created_at", |liability| SortKey::Number(liability.created_at.millis())),
        ("authority", |liability| SortKey::Text(liability.authority.clone())),
        ("period", |liability| SortKey::Text(liability.period.to_string())),
        ("amount", |liability| SortKey::Number(liability.amount)),
    ];
}

fn list_tax_liabilities(
    world: &World,
    input: ListTaxLiabilities,
) -> Result<List<Shown<TaxLiability>>, ApiError> {
    let candidates = Candidates::new(0, |_| None, world.created());
    let keep = |liability: &TaxLiability| {
        is(input.company_id.as_ref(), &liability.company_id)
            && input
                .authority
                .as_ref()
                .is_none_or(|authority| authority.as_str() == liability.authority)
            && is(input.period.as_ref(), &liability.period)
            && is(input.status.as_ref(), &liability.status)
    };
    candidates.page_where(world, input.paging, input.sort.as_ref(), keep)
}
