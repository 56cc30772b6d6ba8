//! Deals: list, create, read. Other steps are in `deal_verbs`.

use crate::api::prelude::*;
use crate::model::capital::deal::{Instrument, Investor, StageChange};
use crate::model::capital::{Deal, DealStage, DealStatus};
use crate::value::id::encode_to_string;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Capital.table([
    Operation {
        path: "/api/capital/deals",
        summary: "List deals",
        description: "Lists deals, in creation order.",
        ..operation!(read list_deals)
    },
    Operation {
        path: "/api/capital/deals",
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
        path: "/api/capital/deals/{deal_id}",
        summary: "Read a deal",
        description: "Returns a deal with its `stage_history`, its due diligence case and the \
            investor's reply.",
        ..operation!(get get_deal: Deal)
    },
]);

list! {
    fn list_deals(ListDeals) -> Deal, of company_id;
    filter
        company_id: Id<Company>,
        stage: DealStage,
        status: DealStatus,
        investor_id: Text<64> => |id, deal| {
            deal.investor.as_ref().is_some_and(|investor| investor.id == id.as_str())
        };
    sort created_at, name, target_amount;
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateDeal {
    /// The company that would receive the money.
    company_id: Id<Company>,
    /// The caller's name for the deal.
    name: Text<200>,
    /// The instrument that the investor receives.
    instrument: Instrument,
    /// Target amount in minor units.
    target_amount: Amount,
    /// The currency. The company must have a wallet in this currency.
    currency: Currency,
    /// A potential investor.
    investor: Option<InvestorInput>,
    /// The expected closing day, not in the past. For information only.
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

fn create_deal(world: &mut World, input: CreateDeal) -> Result<Single<Deal>> {
    let company = existing(world, input.company_id, "/company_id")?;
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
        status_history: [StatusChange::plain(DealStatus::Open, now)].into(),
    };
    Ok(Data(Shown(world.record("deal.created", deal))))
}
