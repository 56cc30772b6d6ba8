//! Offers: created by the underwriter, answered by the company within two weeks.

use crate::api::business::payroll_people::may_pay;
use crate::api::capital::loan_clock;
use crate::api::capital::underwriting::Terms;
use crate::api::payments::wallets::{belongs, room};
use crate::api::prelude::*;
use crate::model::capital::amortisation::{due_days, instalment, schedule};
use crate::model::capital::loan::{LoanRepaymentTerms, RepaymentMethod};
use crate::model::capital::{Application, Offer, OfferStatus};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Capital.table([Operation {
    path: "/api/capital/offers/{offer_id}/respond",
    summary: "Accept or decline an offer",
    description: "Answers an offer. `accept` requires the `wallet_id` that receives the money: a \
        wallet of the company in the offer's currency. The loan is created at once (`loan_id`) and \
        paid out one business day later. `repayment` sets how the loan is repaid: by calls, by \
        `autopay` from the wallet, or by a share of sales (`revenue_share`). With `decline`, \
        `wallet_id` must be absent. An offer without an answer expires after 14 days.",
    example: r#"{"decision":"accept","wallet_id":"@wallet:1"}"#,
    errors: &[
        ErrorCode::InvalidStateTransition,
        ErrorCode::CurrencyMismatch,
        ErrorCode::LimitExceeded,
        ErrorCode::ComplianceBlocked,
        ErrorCode::CompanySuspended,
    ],
    emits: &["offer.accepted", "offer.declined", "loan.created"],
    starts: &[TaskKind::DisburseLoan],
    ..operation!(write respond_to_offer)
}]);

/// The period of validity of an offer.
const VALIDITY: Span = Span::seconds(14 * 24 * 60 * 60);

/// An offer for an application, before it is created.
pub(super) fn drawn_up(world: &World, application: &Application, terms: &Terms) -> Offer {
    let now = world.now();
    let days = due_days(world.today(), application.term_months);
    let months = schedule(terms.amount, terms.rate_bp, &days);
    Offer {
        id: world.next_id(application.id.bits()),
        object: Object::NAME,
        company_id: application.company_id,
        application_id: application.id,
        status: OfferStatus::Pending,
        product: application.product,
        amount: terms.amount,
        currency: application.currency,
        rate_bp: terms.rate_bp,
        term_months: application.term_months,
        instalment: months.first().map_or_else(
            || instalment(terms.amount, terms.rate_bp, days.len()),
            |month| month.principal + month.interest,
        ),
        total_repayable: months.iter().map(|month| month.principal + month.interest).sum(),
        expires_at: now.plus(VALIDITY),
        loan_id: None,
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(OfferStatus::Pending, now)].into(),
    }
}

/// Creates the offer, and sets the timer for its expiry.
pub(super) fn make(world: &mut World, offer: Offer) {
    let (id, expires_at) = (offer.id, offer.expires_at);
    world.record("offer.created", offer);
    world.remind_at(expires_at, Task::ExpireOffer(id));
}

/// The offer expires without an answer.
pub(crate) fn expire(world: &mut World, id: Id<Offer>) {
    let open = world.find(id);
    let Some(offer) = open.filter(|offer| offer.status == OfferStatus::Pending) else { return };
    let mut offer = (*offer).clone();
    offer.enter(OfferStatus::Expired, world.now());
    world.record("offer.expired", offer);
}

/// The company's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OfferAnswer {
    Accept,
    Decline,
}

/// How a loan is repaid.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LoanRepaymentTermsInput")]
pub(crate) struct RepaymentInput {
    /// `manual`: by calls. `autopay`: each instalment from the wallet on its due day. `revenue_share`: a share of each collection that settles.
    method: RepaymentMethod,
    /// The share of each collection in basis points, 1000 for 10 %. Required for `revenue_share`; must be absent otherwise.
    #[schemars(range(min = 1, max = 10_000))]
    share_bp: Option<i64>,
}

impl RepaymentInput {
    fn terms(self) -> Result<LoanRepaymentTerms> {
        let wrong = match (self.method, self.share_bp) {
            (RepaymentMethod::RevenueShare, None) => {
                Some(("required", "the share is required for revenue_share"))
            }
            (RepaymentMethod::Manual | RepaymentMethod::Autopay, Some(_)) => {
                Some(("not_taken", "a share is allowed only for revenue_share"))
            }
            _ => None,
        };
        match wrong {
            Some((code, detail)) => Err(ApiError::of_member("/repayment/share_bp", code, detail)),
            None => Ok(LoanRepaymentTerms { method: self.method, share_bp: self.share_bp }),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct RespondToOffer {
    /// The offer.
    offer_id: Id<Offer>,
    /// Whether the offer is accepted.
    decision: OfferAnswer,
    /// The wallet that receives the money. Required for `accept`; must be absent for `decline`.
    wallet_id: Option<Id<Wallet>>,
    /// How the loan is repaid; only for `accept`. Default: `manual`.
    repayment: Option<RepaymentInput>,
}

fn respond_to_offer(world: &mut World, input: RespondToOffer) -> Result<Single<Offer>> {
    let mut offer = (*world.get(input.offer_id)?).clone();
    match (input.decision, input.wallet_id) {
        (OfferAnswer::Accept, Some(wallet)) => {
            let wallet = existing(world, wallet, "/wallet_id")?;
            let terms = input.repayment.map(RepaymentInput::terms).transpose()?;
            accept(world, offer, &wallet, terms.unwrap_or_default()).map(|offer| Data(Shown(offer)))
        }
        (OfferAnswer::Accept, None) => {
            let detail = "wallet_id is required for accept";
            Err(ApiError::of_member("/wallet_id", "required", detail))
        }
        (OfferAnswer::Decline, Some(_)) => {
            let detail = "wallet_id is allowed only for accept";
            Err(ApiError::of_member("/wallet_id", "not_taken", detail))
        }
        (OfferAnswer::Decline, None) if input.repayment.is_some() => {
            let detail = "repayment is allowed only for accept";
            Err(ApiError::of_member("/repayment", "not_taken", detail))
        }
        (OfferAnswer::Decline, None) => {
            let status = step("decline", "the offer", offer.id, offer.status)?;
            offer.enter(status, world.now());
            let offer = world.record("offer.declined", offer);
            world.drop_timers(Task::ExpireOffer(offer.id));
            Ok(Data(Shown(offer)))
        }
    }
}

fn accept(
    world: &mut World,
    mut offer: Offer,
    wallet: &Wallet,
    repayment: LoanRepaymentTerms,
) -> Result<Arc<Offer>> {
    belongs(wallet, offer.company_id, offer.currency)?;
    let company = world.get(offer.company_id)?;
    may_pay(world, &company)?;
    let status = step("accept", "the offer", offer.id, offer.status)?;
    room(world, wallet, offer.amount)?;
    let loan = loan_clock::drawn_up(world, &offer, wallet, repayment);
    offer.loan_id = Some(loan.id);
    offer.enter(status, world.now());
    let offer = world.record("offer.accepted", offer);
    world.drop_timers(Task::ExpireOffer(offer.id));
    loan_clock::make(world, loan);
    Ok(offer)
}
