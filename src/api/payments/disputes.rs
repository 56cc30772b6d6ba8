//! Disputes: a payer's bank or a party of an escrow demands money back. A collected amount is withheld until the decision.

use crate::api::payments::dispute_clock;
use crate::api::payments::wallet_level::debited;
use crate::api::prelude::*;
use crate::model::payments::{Dispute, DisputeStatus, RaisedBy};
use crate::model::posting;

/// Number of days to respond to a dispute.
const EVIDENCE_DAYS: i64 = 7;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/disputes",
        summary: "List disputes",
        description: "Lists chargebacks of collections and disputes about escrows, in creation \
            order.",
        ..operation!(read list_disputes)
    },
    Operation {
        path: "/api/payments/disputes/{dispute_id}",
        summary: "Read a dispute",
        description: "Returns a dispute with the amount, the reason, the deadline \
            (`evidence_due_by`) and the result.",
        ..operation!(get get_dispute: Dispute)
    },
    Operation {
        path: "/api/payments/disputes/{dispute_id}/respond",
        summary: "Contest or accept a dispute",
        description: "Responds to a dispute. `contest` requires `evidence`, and is decided two \
            weeks later. `accept` ends the dispute at once. A dispute without a response within \
            seven days is lost. If a chargeback is won, the withheld amount is available again. If \
            it is lost, the amount that was not withheld is debited from the wallet. The part that \
            the wallet does not cover becomes a debt (`refunds_payable`).",
        example: r#"{"action":"contest","evidence":{"delivery_note":"Signed for on 12 January"}}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &[
            "dispute.under_review",
            "dispute.accepted",
            "wallet.debited",
            "wallet.low_balance",
            "escrow.released",
            "payout.created",
        ],
        starts: &[TaskKind::DecideDispute, TaskKind::DecideEscrowDispute, TaskKind::SendPayout],
        ..operation!(write respond_to_dispute)
    },
]);

/// The kind of resource that is disputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DisputedType {
    Collection,
    Escrow,
}

impl DisputedType {
    /// Whether the disputed resource has this kind.
    fn is(self, source: AnyId) -> bool {
        let name = match self {
            Self::Collection => "collection",
            Self::Escrow => "escrow",
        };
        source.kind.name() == name
    }
}

list! {
    fn list_disputes(ListDisputes) -> Dispute, of company_id;
    filter
        company_id: Id<Company>,
        status: DisputeStatus,
        /// Filter by kind of disputed resource: chargebacks of collections or disputes about escrows.
        source_type: DisputedType => |kind, dispute| kind.is(dispute.source);
    sort created_at, amount, evidence_due_by;
}

/// The company's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DisputeResponse")]
pub(crate) enum Response {
    Contest,
    Accept,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct RespondToDispute {
    /// The dispute.
    dispute_id: Id<Dispute>,
    /// Whether to contest or to accept.
    action: Response,
    /// Evidence, by name. Required for `contest`; must be absent for `accept`.
    #[serde(default)]
    evidence: Metadata,
}

fn respond_to_dispute(world: &mut World, input: RespondToDispute) -> Result<Single<Dispute>> {
    let mut dispute = (*world.get(input.dispute_id)?).clone();
    let contests = input.action == Response::Contest;
    if contests == input.evidence.pairs().is_empty() {
        let (code, detail) = if contests {
            ("required", "contest requires evidence")
        } else {
            ("not_taken", "accept does not allow evidence: omit it, or contest")
        };
        return Err(ApiError::of_member("/evidence", code, detail));
    }
    let verb = if contests { "contest" } else { "accept" };
    let status = step(verb, "the dispute", dispute.id, dispute.status)?;
    if contests {
        dispute.evidence = input.evidence;
        dispute.enter(status, world.now());
        let dispute = world.record("dispute.under_review", dispute);
        dispute_clock::await_verdict(world, &dispute);
        return show(world, dispute.id);
    }
    dispute_clock::end(world, dispute.id, status, None);
    show(world, input.dispute_id)
}

/// A dispute to open.
pub(crate) struct NewDispute {
    pub(crate) company: Id<Company>,
    /// A collection or an escrow.
    pub(crate) source: AnyId,
    pub(crate) amount: i64,
    pub(crate) currency: Currency,
    pub(crate) reason: String,
    pub(crate) raised_by: RaisedBy,
}

/// The events of [`open`]; those of the wallet only for a collection.
pub(crate) const OPENED: &[&str] = &["dispute.created", "wallet.debited", "wallet.low_balance"];

/// Opens a dispute, and sets the timer for the response. A collected amount is withheld up to the balance of the
/// wallet; money of an escrow remains in the escrow.
pub(crate) fn open(world: &mut World, new: NewDispute) -> Arc<Dispute> {
    let now = world.now();
    let id: Id<Dispute> = world.next_id(new.company.bits());
    let available = world.balances(new.company, new.currency).available;
    let withheld = match new.source.kind {
        Kind::Collection => available.clamp(0, new.amount),
        _ => 0,
    };
    let due = now.plus_millis(EVIDENCE_DAYS * 24 * 60 * 60 * 1_000);
    let dispute = Dispute {
        id,
        object: Object::NAME,
        company_id: new.company,
        source: new.source,
        status: DisputeStatus::NeedsResponse,
        amount: new.amount,
        currency: new.currency,
        withheld,
        reason: new.reason,
        raised_by: new.raised_by,
        evidence: Metadata::default(),
        evidence_due_by: due,
        resolved_at: None,
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(DisputeStatus::NeedsResponse, now)].into(),
    };
    if withheld > 0 {
        let posting = posting::reserved("Dispute opened", AnyId::of(id), new.currency, withheld);
        world.post(new.company, posting);
    }
    let dispute = world.record("dispute.created", dispute);
    if withheld > 0
        && let Some(wallet) = world.wallet_of(new.company, new.currency)
        && let Some(company) = world.find(new.company)
    {
        debited(world, &company, &wallet, available);
    }
    let unanswered = match new.source.kind {
        Kind::Escrow => Task::EscrowDisputeUnanswered(id),
        _ => Task::DisputeUnanswered(id),
    };
    world.remind_at(due, unanswered);
    dispute
}
