//! Tax liabilities: what the runs since the world's start owe authorities.

use crate::api::prelude::*;
use crate::model::business::{LiabilityStatus, TaxLiability};

pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    method: Method::Get,
    path: "/api/business/tax-liabilities",
    domain: Domain::Business,
    contract: Contract::Assumed,
    summary: "List tax liabilities",
    description: "What each run owes each authority, in creation order. What was owed for the months before the world's start is in \
        the returns of those months.",
    ..operation!(read list_tax_liabilities)
}];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListTaxLiabilities {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<TaxLiability>>,
    /// Only those of that company.
    company_id: Option<Id<Company>>,
    /// Only those owed to that authority.
    authority: Option<Text<32>>,
    /// Only those of that month.
    period: Option<Period>,
    /// Only those that stand there.
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
