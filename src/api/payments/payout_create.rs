//! Creating a payout: checks, costs, and approval.

use crate::api::business::payroll_people::may_pay;
use crate::api::payments::body_references::BodyReferences;
use crate::api::payments::payout_rail::{arrival, departure};
use crate::api::payments::platform_fee::FeeMonth;
use crate::api::payments::wallet_level;
use crate::api::prelude::*;
use crate::model::payments::rails::route;
use crate::model::payments::{Beneficiary, BeneficiaryStatus, Payout, PayoutStatus, Rail};
use crate::model::posting::payouts as posting;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
Operation {
    path: "/api/payments/payouts",
    summary: "Pay a beneficiary",
    description: "Creates a payout. The amount and the platform fee are debited at once; the banks \
        process the payout later. An `instant` payout is sent at any time. A `same_day` or \
        `standard` payout is sent before the cut-off of a business day (usually 16:00), otherwise \
        at 09:00 of the next business day. The payout is `pending_approval` if the company's \
        `payment_settings` require approval. If a payout is cancelled or fails, the amount and the \
        fee are refunded. If it is returned, only the amount is refunded. Two payouts may have the \
        same reference: use an Idempotency-Key to prevent a duplicate payout.",
    example: r#"{"company_id":"@company:1","wallet_id":"@wallet:1","beneficiary_id":"@beneficiary:1","amount":250000,"currency":"NGN","rail":"instant","reference":"Invoice 2026-014"}"#,
    success: 201,
    errors: &[
        ErrorCode::ComplianceBlocked,
        ErrorCode::CompanySuspended,
        ErrorCode::CurrencyMismatch,
        ErrorCode::InsufficientFunds,
    ],
    emits: &["payout.created", "payout.pending_approval", "wallet.debited", "wallet.low_balance"],
    starts: &[TaskKind::SendPayout],
    ..operation!(write create_payout)
}]);

/// A new payout.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreatePayout {
    /// The company that pays. It must be active and have no open blocking requirements.
    company_id: Id<Company>,
    /// The wallet to debit; it must belong to the company.
    wallet_id: Id<Wallet>,
    /// The beneficiary to pay; it must belong to the company and be verified.
    beneficiary_id: Id<Beneficiary>,
    /// Amount in minor units, from 1. The fee is added.
    amount: Amount,
    /// The currency of the wallet and of the beneficiary's account.
    currency: Currency,
    /// The speed. With the country and the currency of the account it determines the payment rail.
    rail: Rail,
    /// The reference on the recipient's statement.
    reference: Text<140>,
    /// The person who requests the payout. The same person cannot approve it.
    maker: Option<Text<200>>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_payout(world: &mut World, input: CreatePayout) -> Result<Single<Payout>> {
    let mut named = BodyReferences::default();
    let company = named.find(world, input.company_id, "/company_id");
    let wallet = named.find(world, input.wallet_id, "/wallet_id");
    let beneficiary = named.find(world, input.beneficiary_id, "/beneficiary_id");
    let (Some(company), Some(wallet), Some(beneficiary)) = (company, wallet, beneficiary) else {
        return Err(named.missing());
    };
    may_pay(world, &company)?;
    let parties = Parties {
        company: &company,
        wallet: (&wallet, "/wallet_id"),
        beneficiary: (&beneficiary, "/beneficiary_id"),
        currency: input.currency,
    };
    parties.check(Vec::new())?;
    let amount = input.amount.minor();
    parties.within_limit(amount, input.rail)?;
    let fee_month = FeeMonth::now(world, company.id, input.currency);
    let fee = fee_month.meter(world).charge(amount);
    let available = world.balances(company.id, input.currency).available;
    if i128::from(amount) + i128::from(fee.amount) > i128::from(available) {
        return Err(short(&wallet, available, (amount, fee.amount)));
    }
    let mut payout = parties.payout(world, amount, input.rail, input.reference.into_string());
    payout.fee = Some(fee.amount);
    payout.maker = input.maker.map(|maker| maker.into_string().into());
    payout.metadata = input.metadata.unwrap_or_default();
    if wallet_level::needs_approval(world, &company, amount, input.currency) {
        payout.status = PayoutStatus::PendingApproval;
        payout.estimated_arrival = None;
        payout.status_history = [StatusChange::plain(payout.status, world.now())].into();
    }
    let payout = open(world, payout);
    fee_month.charged(world, AnyId::of(payout.id), fee);
    if payout.status == PayoutStatus::PendingApproval {
        world.emit("payout.pending_approval", &payout);
    }
    wallet_level::debited(world, &company, &wallet, available);
    Ok(Data(Shown(payout)))
}

/// The wallet and the beneficiary of a payout or an escrow, each with the member that names it.
pub(crate) struct Parties<'a> {
    pub(crate) company: &'a Company,
    pub(crate) wallet: (&'a Arc<Wallet>, &'static str),
    pub(crate) beneficiary: (&'a Arc<Beneficiary>, &'static str),
    pub(crate) currency: Currency,
}

impl Parties<'_> {
    /// Checks that both belong to the company, the beneficiary can be paid, and all have one currency. Other violations in `wrong` are
    /// reported, too.
    pub(crate) fn check(&self, mut wrong: Vec<Violation>) -> Result<()> {
        let (company, currency) = (self.company.id, self.currency);
        let (wallet, wallet_at) = self.wallet;
        let (beneficiary, beneficiary_at) = self.beneficiary;
        if wallet.company_id != company {
            let detail =
                format!("{} is a wallet of {}, not of {company}", wallet.id, wallet.company_id);
            wrong.push(Violation::new(wallet_at, "foreign_wallet", detail));
        }
        if beneficiary.company_id != company {
            let (id, of) = (beneficiary.id, beneficiary.company_id);
            let detail = format!("{id} is a beneficiary of {of}, not of {company}");
            wrong.push(Violation::new(beneficiary_at, "foreign_beneficiary", detail));
        }
        if beneficiary.status != BeneficiaryStatus::Verified {
            let detail =
                format!("{} is {}: it must be verified", beneficiary.id, beneficiary.status.name());
            wrong.push(Violation::new(beneficiary_at, "not_verified", detail));
        }
        let currencies = [
            ("the wallet", wallet.currency),
            ("the beneficiary's account", beneficiary.account.currency),
        ];
        let other = currencies.iter().filter(|(_, other)| *other != currency);
        let others = other.map(|(what, other)| format!("{what} has the currency {other}"));
        let others: Vec<String> = others.collect();
        let detail = format!("{}, not {currency}", others.join(" and "));
        let mismatch =
            (!others.is_empty()).then(|| Violation::new("/currency", "currency", detail.clone()));
        if !wrong.is_empty() {
            wrong.extend(mismatch);
            return Err(ApiError::invalid(wrong));
        }
        let Some(mismatch) = mismatch else { return Ok(()) };
        Err(ApiError::new(ErrorCode::CurrencyMismatch, detail).with_errors(vec![mismatch]))
    }

    /// Refuses an amount above the limit of the rail.
    pub(crate) fn within_limit(&self, amount: i64, rail: Rail) -> Result<()> {
        let country = &self.beneficiary.0.account.country;
        let payment_rail = route(rail.service(), country, self.currency);
        let Some(limit) = payment_rail.limit(rail.service()).filter(|limit| amount > *limit) else {
            return Ok(());
        };
        let (row, limit) = (payment_rail.rail(), self.currency.display(limit));
        let detail = format!("one payment by {} ({}) is limited to {limit}", row.id, row.title);
        Err(ApiError::of_member("/amount", "beyond_rail_limit", detail))
    }

    /// A payout between them that is sent as soon as the rail accepts it.
    pub(crate) fn payout(
        &self,
        world: &World,
        amount: i64,
        rail: Rail,
        reference: String,
    ) -> Payout {
        let (company, now) = (self.company.id, world.now());
        let leaves = departure(world, company, rail);
        let country = &self.beneficiary.0.account.country;
        let payment_rail = route(rail.service(), country, self.currency);
        Payout {
            id: world.next_id(company.bits()),
            object: Object::NAME,
            company_id: company,
            wallet_id: self.wallet.0.id,
            beneficiary_id: Some(self.beneficiary.0.id),
            status: PayoutStatus::Queued,
            amount,
            currency: self.currency,
            fx: None,
            fee: None,
            rail,
            payment_rail,
            estimated_arrival: Some(arrival(world, company, (payment_rail, rail), leaves)),
            recipient: Arc::clone(&self.beneficiary.0.recipient),
            reference: reference.into(),
            source: None,
            maker: None,
            approver: None,
            failure: None,
            split: None,
            correction: None,
            supersedes: None,
            superseded_by: None,
            created_at: now,
            updated_at: now,
            metadata: Metadata::default(),
            status_history: [StatusChange::plain(PayoutStatus::Queued, now)].into(),
        }
    }
}

/// Opens a checked payout: it is in transit in the books, counts for the platform fee, and waits for the rail or for approval.
pub(crate) fn open(world: &mut World, payout: Payout) -> Arc<Payout> {
    let payout = world.stage(payout);
    if let Some(posting) = posting::opened(&payout) {
        world.post(payout.company_id, posting);
        let fee_month = FeeMonth::now(world, payout.company_id, payout.currency);
        fee_month.count(world, payout.amount);
    }
    world.emit("payout.created", &payout);
    if payout.status == PayoutStatus::Queued {
        queue(world, &payout);
    }
    payout
}

/// Sets the timer at which the rail accepts a queued payout.
pub(crate) fn queue(world: &mut World, payout: &Payout) {
    let leaves = departure(world, payout.company_id, payout.rail);
    world.settle_at(leaves, Task::SendPayout(payout.id));
}

/// The 402 for a wallet without enough for the amount and its fee.
fn short(wallet: &Wallet, available: i64, (amount, fee): (i64, i64)) -> ApiError {
    let shown = |minor| wallet.currency.display(minor);
    let detail = format!(
        "the available balance is {}, but {} with a fee of {} is required",
        shown(available),
        shown(amount),
        shown(fee)
    );
    ApiError::new(ErrorCode::InsufficientFunds, detail).about(AnyId::of(wallet.id))
}
