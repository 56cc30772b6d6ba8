//! Deals: list, create, read. Other steps are in `deal_verbs`.

use crate::api::business::companies::named;
use crate::api::prelude::*;
use crate::model::Object;
use crate::model::capital::deal::{Instrument, Investor, StageChange};
use crate::model::capital::{Deal, DealStage, DealStatus};
use crate::value::id::encode_to_string;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/api/capital/deals",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "List deals",
        description: "Lists deals, in creation order.",
        ..operation!(read list_deals)
    },
    Operation {
        method: Method::Post,
        path: "/api/capital/deals",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "Add a deal",
        description: "Creates an `open` deal at the stage `sourced`. The company must have a \
            wallet in its currency, which receives the money of a won deal.",
        example: r#"{"company_id":"@company:1","name":"Seed round","instrument":"equity","target_amount":500000000,"currency":"NGN","investor":{"name":"Palm Ventures"},"expected_close_on":"2026-03-31"}"#,
        success: 201,
        errors: &[ErrorCode::CurrencyMismatch],
        emits: &["deal.created"],
        ..operation!(write create_deal)
    },
    Operation {
        method: Method::Get,
        path: "/api/capital/deals/{deal_id}",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "Read a deal",
        description: "Returns a deal with its `stage_history`, its due diligence case and the \
            investor's reply.",
        ..operation!(read get_deal)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListDeals {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<Deal>>,
    /// Filter by company.
    company_id: Option<Id<Company>>,
    /// Filter by stage.
    stage: Option<DealStage>,
    /// Filter by status.
    status: Option<DealStatus>,
    /// Filter by investor.
    investor_id: Option<Text<64>>,
}

impl Sortable for Deal {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] = &[
        ("created_at", |deal| SortKey::Number(deal.created_at.millis())),
        ("name", |deal| SortKey::Text(deal.name.clone())),
        ("target_amount", |deal| SortKey::Number(deal.target_amount)),
    ];
}

fn list_deals(world: &World, input: ListDeals) -> Result<List<Shown<Deal>>, ApiError> {
    let none = |_| None;
    let candidates = match input.company_id {
        Some(company) => Candidates::new(0, none, world.children(company.bits())),
        None => Candidates::new(0, none, world.created()),
    };
    if input.stage.is_none() && input.status.is_none() && input.investor_id.is_none() {
        return candidates.page(world, input.paging, input.sort.as_ref());
    }
    let investor = input.investor_id.as_ref().map(Text::as_str);
    let keep = |deal: &Deal| {
        let of = deal.investor.as_ref().map(|investor| investor.id.as_str());
        is(input.stage.as_ref(), &deal.stage)
            && is(input.status.as_ref(), &deal.status)
            && (investor.is_none() || investor == of)
    };
    candidates.page_where(world, input.paging, input.sort.as_ref(), keep)
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateDeal {
    /// The company that would receive the money.
    company_id: Id<Company>,
    /// The name of the deal.
    name: Text<200>,
    /// The instrument that the investor receives.
    instrument: Instrument,
    /// Target amount in minor units.
    target_amount: Amount,
    /// The currency; the company must have a wallet in it.
    currency: Currency,
    /// A potential investor.
    investor: Option<InvestorInput>,
    /// The expected closing day, not in the past. It has no effect.
    expected_close_on: Option<Date>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

/// An investor.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "InvestorInput")]
pub(crate) struct InvestorInput {
    /// The investor's name. Equal names, ignoring case, are the same investor.
    name: Text<200>,
}

impl InvestorInput {
    fn kept(self, world: &World) -> Investor {
        let name = self.name.into_string();
        let key = world.base().key().with("investor");
        let key = key.with(name.trim().to_lowercase().as_str());
        Investor {
            id: format!("ivs_{}", encode_to_string(key.hash())),
            name,
            reply: None,
            replied_at: None,
        }
    }
}

fn create_deal(world: &mut World, input: CreateDeal) -> Result<Data<Shown<Deal>>, ApiError> {
    let company = named(world, input.company_id)?;
    let today = world.today();
    if let Some(day) = input.expected_close_on.filter(|day| *day < today) {
        let detail = format!("{day} is in the past: today is {today}");
        return Err(ApiError::of_member("/expected_close_on", "in_the_past", detail));
    }
    if world.wallet_of(company.id, input.currency).is_none() {
        let detail = format!("{} has no wallet in {}", company.id, input.currency);
        let wrong = Violation::new(
            "/currency",
            "currency",
            "the company has no wallet in this \
            currency",
        );
        let error = ApiError::new(ErrorCode::CurrencyMismatch, detail);
        return Err(error.with_errors(vec![wrong]));
    }
    let now = world.now();
    let deal = Deal {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        status: DealStatus::Open,
        stage: DealStage::Sourced,
        name: input.name.into_string(),
        instrument: input.instrument,
        target_amount: input.target_amount.minor(),
        currency: input.currency,
        investor: input.investor.map(|investor| investor.kept(world)),
        expected_close_on: input.expected_close_on,
        due_diligence_case_id: None,
        amount: None,
        wallet_id: None,
        stage_history: vec![StageChange { stage: DealStage::Sourced, at: now, note: None }],
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: vec![StatusChange::plain(DealStatus::Open, now)],
    };
    Ok(Data(Shown(world.record("deal.created", deal))))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneDeal {
    /// The deal.
    deal_id: Id<Deal>,
}

fn get_deal(world: &World, input: OneDeal) -> Result<Data<Shown<Deal>>, ApiError> {
    show(world, input.deal_id)
}
