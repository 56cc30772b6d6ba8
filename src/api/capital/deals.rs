//! Deals: list, add, read. What moves them is in `deal_verbs`.

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
        description: "The pipeline, in creation order.",
        ..operation!(read list_deals)
    },
    Operation {
        method: Method::Post,
        path: "/api/capital/deals",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "Add a deal",
        description: "It is `open` at the stage `sourced`. Its currency is that of one of the company's wallets: a deal that is won funds \
            that wallet.",
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
        description: "Where it stands, with `stage_history`, its case of due diligence and what the investor said.",
        ..operation!(read get_deal)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListDeals {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<Deal>>,
    /// Only those of that company.
    company_id: Option<Id<Company>>,
    /// Only those at that stage.
    stage: Option<DealStage>,
    /// Only those that are open, or that ended so.
    status: Option<DealStatus>,
    /// Only those of that investor.
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
    /// Who would get the money.
    company_id: Id<Company>,
    /// What the deal is called.
    name: Text<200>,
    /// What the investor gets.
    instrument: Instrument,
    /// Minor units that are hoped for.
    target_amount: Amount,
    /// Their currency: one in which the company has a wallet.
    currency: Currency,
    /// Whose money it would be.
    investor: Option<InvestorInput>,
    /// The day on which it may be closed, today or later. Nothing follows from it.
    expected_close_on: Option<Date>,
    /// The caller's own pairs.
    metadata: Option<Metadata>,
}

/// An investor.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "InvestorInput")]
pub(crate) struct InvestorInput {
    /// The investor's name: the same name is the same investor, whatever its case.
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
        let detail = format!("{day} is past: today is {today}");
        return Err(ApiError::of_member("/expected_close_on", "in_the_past", detail));
    }
    if world.wallet_of(company.id, input.currency).is_none() {
        let detail = format!("{} has no wallet in {}", company.id, input.currency);
        let wrong = Violation::new("/currency", "currency", "no wallet of the company is in it");
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
