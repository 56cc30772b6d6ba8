//! Escrows: create, list, read. Operations that move money are in `escrow_verbs`, timers in `escrow_clock`.

use crate::api::payments::body_references::BodyReferences;
use crate::api::payments::payout_create::Parties;
use crate::api::prelude::*;
use crate::model::payments::escrow::Milestone;
use crate::model::payments::{Beneficiary, Escrow, EscrowStatus, MilestoneStatus};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/escrows",
        summary: "List escrows",
        description: "Lists escrows in creation order.",
        ..operation!(read list_escrows)
    },
    Operation {
        path: "/api/payments/escrows",
        summary: "Create an escrow",
        description: "Creates an escrow with the company as buyer and one of its beneficiaries as \
            seller. No money moves until it is funded. The milestones, if any, must sum to the \
            amount. At `auto_release_at` the held amount is released to the seller. At \
            `expires_at` an unfunded escrow becomes `expired`, and a held amount is refunded to \
            the buyer. A dispute prevents both.",
        example: r#"{"company_id":"@company:1","buyer_wallet_id":"@wallet:1","seller_beneficiary_id":"@beneficiary:1","amount":900000,"currency":"NGN","conditions":"Delivered and tested","milestones":[{"name":"Design","amount":300000},{"name":"Delivery","amount":600000}],"expires_at":"2027-01-01T00:00:00Z"}"#,
        success: 201,
        errors: &[ErrorCode::CurrencyMismatch],
        emits: &["escrow.created"],
        starts: &[TaskKind::ExpireEscrow],
        ..operation!(write create_escrow)
    },
    Operation {
        path: "/api/payments/escrows/{escrow_id}",
        summary: "Read an escrow",
        description: "Returns an escrow with the held, released and refunded amounts, and each \
            milestone.",
        ..operation!(get get_escrow: Escrow)
    },
]);

list! {
    fn list_escrows(ListEscrows) -> Escrow, of company_id;
    filter
        company_id: Id<Company>,
        status: EscrowStatus,
        /// Filter by the funding wallet.
        buyer: Id<Wallet> = buyer_wallet_id,
        /// Filter by the beneficiary that is paid.
        seller: Id<Beneficiary> = seller_beneficiary_id;
    sort created_at, amount;
}

/// A new escrow.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateEscrow {
    /// The buyer's company.
    company_id: Id<Company>,
    /// The wallet that will fund it; it must belong to the company.
    buyer_wallet_id: Id<Wallet>,
    /// The beneficiary that is paid on release; it must belong to the company and be verified.
    seller_beneficiary_id: Id<Beneficiary>,
    /// Amount in minor units, from 1.
    amount: Amount,
    /// The currency of the wallet and of the beneficiary's account.
    currency: Currency,
    /// The agreed conditions, as free text.
    conditions: Option<Text<2000>>,
    /// The parts in which it is released. They must sum to the amount.
    #[schemars(length(min = 1, max = 50))]
    milestones: Option<Vec<MilestoneInput>>,
    /// When the held amount is released to the seller automatically. It must be in the future and before `expires_at`.
    auto_release_at: Option<Timestamp>,
    /// When an unfunded escrow expires, or a held amount is refunded. It must be in the future.
    expires_at: Option<Timestamp>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

/// One part of an escrow.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct MilestoneInput {
    /// The condition for the release.
    name: Text<200>,
    /// Amount in minor units, from 1.
    amount: Amount,
}

impl CreateEscrow {
    /// The mistakes in its milestones and dates.
    fn faults(&self, now: Timestamp) -> Vec<Violation> {
        let mut wrong = Vec::new();
        let parts = self.milestones.as_deref().unwrap_or_default();
        let sum: i128 = parts.iter().map(|part| i128::from(part.amount.minor())).sum();
        if !parts.is_empty() && sum != i128::from(self.amount.minor()) {
            let amount = self.amount.minor();
            let detail = format!("the milestones sum to {sum}, but the amount is {amount}");
            wrong.push(Violation::new("/milestones", "sum", detail));
        }
        let dates = [("/auto_release_at", self.auto_release_at), ("/expires_at", self.expires_at)];
        for (at, date) in dates {
            if date.is_some_and(|date| date <= now) {
                let detail = format!("must be in the future (the time is {now})");
                wrong.push(Violation::new(at, "in_the_past", detail));
            }
        }
        if let Some((released, expires)) = self.auto_release_at.zip(self.expires_at)
            && released >= expires
        {
            let detail = format!("must be before expires_at, {expires}");
            wrong.push(Violation::new("/auto_release_at", "after_expiry", detail));
        }
        wrong
    }
}

fn create_escrow(world: &mut World, input: CreateEscrow) -> Result<Single<Escrow>> {
    let mut named = BodyReferences::default();
    let company = named.find(world, input.company_id, "/company_id");
    let wallet = named.find(world, input.buyer_wallet_id, "/buyer_wallet_id");
    let seller = named.find(world, input.seller_beneficiary_id, "/seller_beneficiary_id");
    let (Some(company), Some(wallet), Some(seller)) = (company, wallet, seller) else {
        return Err(named.missing());
    };
    let parties = Parties {
        company: &company,
        wallet: (&wallet, "/buyer_wallet_id"),
        beneficiary: (&seller, "/seller_beneficiary_id"),
        currency: input.currency,
    };
    let now = world.now();
    parties.check(input.faults(now))?;
    let parts = input.milestones.unwrap_or_default().into_iter();
    let milestones = (1..).zip(parts).map(|(number, part)| Milestone {
        id: format!("milestone_{number}"),
        name: part.name.into_string(),
        amount: part.amount.minor(),
        status: MilestoneStatus::Pending,
        payout_id: None,
    });
    let escrow = Escrow {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        buyer_wallet_id: wallet.id,
        seller_beneficiary_id: seller.id,
        status: EscrowStatus::Created,
        amount: input.amount.minor(),
        currency: input.currency,
        held: 0,
        released: 0,
        refunded: 0,
        conditions: input.conditions.map(Text::into_string),
        milestones: milestones.collect(),
        auto_release_at: input.auto_release_at,
        expires_at: input.expires_at,
        payout_id: None,
        dispute_id: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(EscrowStatus::Created, now)].into(),
    };
    let escrow = world.record("escrow.created", escrow);
    if let Some(expires) = escrow.expires_at {
        world.remind_at(expires, Task::ExpireEscrow(escrow.id));
    }
    Ok(Data(Shown(escrow)))
}
