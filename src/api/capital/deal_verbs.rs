//! What moves a deal: the next stage, which its guards let through, the end of it, and what the investor says.

use crate::api::business::payroll_people::may_pay;
use crate::api::capital::{due_diligence, readiness};
use crate::api::identity::alerts;
use crate::api::identity::subjects::kyb_approved;
use crate::api::payments::wallets::room;
use crate::api::prelude::*;
use crate::api::system_row::SystemRow;
use crate::model::capital::deal::{Guard, Reply};
use crate::model::capital::{CaseStatus, Deal, DealStage, DealStatus};
use crate::model::decision::INVESTOR;
use crate::model::payments::Wallet;
use crate::model::posting::deals;
use crate::model::{State, refused, step};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Post,
        path: "/api/capital/deals/{deal_id}/advance",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "Advance a deal",
        description: "To the next stage; `to_stage`, where it is sent, is that one. Guards let it through: `screening` asks for a verified \
            business (`kyb_approved`), `term_sheet` for no confirmed alert (`aml_clear`) and a completed case besides (`due_diligence_completed`), `closing` for a readiness \
            assessment that says enough for the instrument (`readiness`). A 409 `stage_guard_failed` names each guard that is not met and \
            what would meet it. With `screening` the investor is asked, who replies within two business days; with `due_diligence` a case \
            is opened, unless the deal has one.",
        example: r#"{"to_stage":"screening","note":"A first call went well"}"#,
        errors: &[ErrorCode::InvalidStateTransition, ErrorCode::StageGuardFailed],
        emits: &[
            "deal.stage_changed",
            "due_diligence_case.opened",
            "due_diligence_request.created",
        ],
        starts: &["reply_to_deal", "miss_request"],
        ..operation!(write advance_deal)
    },
    Operation {
        method: Method::Post,
        path: "/api/capital/deals/{deal_id}/close",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "Close a deal",
        description: "`won`, from `closing` alone: the `amount` is in the company's wallet at once, as equity (`equity`, `safe`) or as a debt \
            (`debt`, `revenue_share`). `lost` or `withdrawn` from any stage, without an amount.",
        example: r#"{"outcome":"withdrawn","reason":"The owners changed their minds"}"#,
        errors: &[
            ErrorCode::InvalidStateTransition,
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
            ErrorCode::LimitExceeded,
        ],
        emits: &["deal.won", "deal.lost", "deal.withdrawn", "wallet.credited"],
        ..operation!(write close_deal)
    },
];

pub(crate) const REPLY_TO_DEAL: SystemRow = SystemRow {
    name: "reply_to_deal",
    emits: &["deal.investor_replied", "deal.lost"],
    ..SystemRow::LAST
};

/// From the question to the investor's reply.
const CONSIDERATION: Span = Span::BusinessDays(2);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct AdvanceDeal {
    /// The deal.
    deal_id: Id<Deal>,
    /// The next stage; it is the next one that is meant if absent.
    to_stage: Option<DealStage>,
    /// What the caller has to say to it; it stands in `stage_history`.
    note: Option<Text<500>>,
}

fn advance_deal(world: &mut World, input: AdvanceDeal) -> Result<Data<Shown<Deal>>, ApiError> {
    let deal = world.get(input.deal_id)?;
    still_open(&deal)?;
    let Some(next) = deal.stage.next() else {
        let detail = "the deal is closing: close it as won, lost or withdrawn".to_owned();
        return Err(refused(deal.id, deal.stage, detail));
    };
    if let Some(to) = input.to_stage.filter(|to| *to != next) {
        let (at, to, next) = (deal.stage.name(), to.name(), next.name());
        let detail = format!("the deal is at {at}: {next} comes next, and not {to}");
        return Err(refused(deal.id, deal.stage, detail));
    }
    guarded(world, &deal, next)?;
    let deal = advance(world, &deal, next, input.note.map(Text::into_string));
    Ok(Data(Shown(deal)))
}

fn still_open(deal: &Deal) -> Result<(), ApiError> {
    if deal.status == DealStatus::Open {
        return Ok(());
    }
    let detail = format!("the deal is {}: it would have to be open", deal.status.name());
    Err(refused(deal.id, deal.status, detail))
}

/// Refuses a stage whose guards are not met: all of them are named.
fn guarded(world: &World, deal: &Deal, to: DealStage) -> Result<(), ApiError> {
    let guards = to.guards().iter();
    let unmet = guards.filter_map(|guard| {
        let why = unmet(world, deal, *guard)?;
        Some(Violation::new("", guard.name(), why))
    });
    let unmet: Vec<Violation> = unmet.collect();
    if unmet.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = unmet.iter().map(|one| one.code).collect();
    let detail = format!("{} asks for {}", to.name(), names.join(", "));
    let mut error = ApiError::new(ErrorCode::StageGuardFailed, detail).about(deal.id);
    error.current = Some(deal.stage.name());
    Err(error.with_errors(unmet))
}

/// Why a guard does not let a deal through, and what would meet it; none where it does.
fn unmet(world: &World, deal: &Deal, guard: Guard) -> Option<String> {
    let company = deal.company_id;
    match guard {
        Guard::KybApproved => (!kyb_approved(world, company)).then(|| {
            format!(
                "no business subject of {company} is approved: createSubject (business, with the company_id), createVerification (kyb) and \
                 submitVerification meet it"
            )
        }),
        Guard::AmlClear => alerts::confirmed_alert(world, company).then(|| {
            format!("a confirmed alert of {company} stands, which nothing takes back: close the deal as lost or withdrawn")
        }),
        Guard::DueDiligenceCompleted => {
            let case = deal.due_diligence_case_id.and_then(|id| world.find(id));
            let Some(case) = case else {
                return Some("no case is open for the deal: openDueDiligenceCase with its deal_id opens one".to_owned());
            };
            let open = case.progress.mandatory - case.progress.mandatory_settled;
            (case.status != CaseStatus::Completed).then(|| {
                format!(
                    "{} waits for {open} of {} mandatory requests: submitDueDiligenceRequest and reviewDueDiligenceRequest (accept or waive) \
                     meet it",
                    case.id, case.progress.mandatory
                )
            })
        }
        Guard::Readiness => {
            let least = deal.instrument.terms().readiness;
            let latest = readiness::latest(world, company);
            let score = latest.as_ref().and_then(|latest| latest.score);
            match latest.zip(score) {
                Some((_, score)) if score >= least => None,
                Some((latest, score)) => Some(format!(
                    "{} says {score}, and {least} is the least: what its next_steps name and another createReadinessAssessment meet it",
                    latest.id
                )),
                None => Some(format!(
                    "the company was not assessed: a createReadinessAssessment that says {least} or more meets it"
                )),
            }
        }
    }
}

/// Enters the next stage, with what follows from it. Guards were asked by whoever calls, or are not to be asked.
pub(crate) fn advance(
    world: &mut World,
    deal: &Deal,
    to: DealStage,
    note: Option<String>,
) -> Arc<Deal> {
    let mut deal = deal.clone();
    deal.enter_stage(to, world.now(), note);
    let begins = to == DealStage::DueDiligence && deal.due_diligence_case_id.is_none();
    let case = begins.then(|| {
        let template = deal.instrument.terms().template;
        let mut case = due_diligence::drawn_up_for(world, deal.company_id, template);
        case.deal_id = Some(deal.id);
        deal.due_diligence_case_id = Some(case.id);
        case
    });
    let deal = world.record("deal.stage_changed", deal);
    if let Some(case) = case {
        due_diligence::open(world, case);
    }
    let unasked = deal.investor.as_ref().is_some_and(|it| it.reply.is_none());
    if to == DealStage::Screening && unasked {
        let reply = world.decide(&INVESTOR, AnyId::of(deal.id), None);
        let passes = reply.choice == "passes";
        world.settle_when(CONSIDERATION, reply.after, Task::ReplyToDeal(deal.id, passes));
    }
    deal
}

/// The investor's reply comes.
pub(crate) fn reply_later(world: &mut World, id: Id<Deal>, passes: bool) {
    let said = if passes { Reply::Passes } else { Reply::Interested };
    reply(world, id, said, None);
}

/// The investor replies: who passes ends the deal.
pub(crate) fn reply(world: &mut World, id: Id<Deal>, reply: Reply, note: Option<String>) {
    let open = world.find(id).filter(|deal| deal.status == DealStatus::Open);
    let Some(mut deal) = open.map(Arc::unwrap_or_clone) else {
        return;
    };
    let now = world.now();
    let Some(investor) = &mut deal.investor else {
        return;
    };
    investor.reply = Some(reply);
    investor.replied_at = Some(now);
    let why = note.unwrap_or_else(|| format!("{} passes", investor.name));
    deal.updated_at = now;
    let deal = world.record("deal.investor_replied", deal);
    if reply == Reply::Passes {
        end(world, &deal, DealStatus::Lost, Some(why));
    } else {
        world.forget_timers(AnyId::of(id));
    }
}

/// How a deal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DealOutcome")]
pub(crate) enum DealOutcome {
    Won,
    Lost,
    Withdrawn,
}

impl DealOutcome {
    const fn verb(self) -> &'static str {
        match self {
            Self::Won => "win",
            Self::Lost => "lose",
            Self::Withdrawn => "withdraw",
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CloseDeal {
    /// The deal.
    deal_id: Id<Deal>,
    /// How it ends.
    outcome: DealOutcome,
    /// Minor units that come into the wallet. `won` needs them, and the others take none.
    amount: Option<Amount>,
    /// Why it ends so.
    reason: Option<Text<500>>,
}

fn close_deal(world: &mut World, input: CloseDeal) -> Result<Data<Shown<Deal>>, ApiError> {
    let deal = world.get(input.deal_id)?;
    let reason = input.reason.map(Text::into_string);
    match (input.outcome, input.amount) {
        (DealOutcome::Won, None) => {
            let detail = "the amount that comes into the wallet is needed";
            return Err(ApiError::of_member("/amount", "required", detail));
        }
        (DealOutcome::Lost | DealOutcome::Withdrawn, Some(_)) => {
            let detail = "nothing comes in from a deal that is not won: leave it out";
            return Err(ApiError::of_member("/amount", "not_taken", detail));
        }
        (DealOutcome::Won, Some(_)) => {
            let company = world.get(deal.company_id)?;
            may_pay(world, &company)?;
        }
        _ => {}
    }
    let verb = input.outcome.verb();
    let status = step(verb, "the deal", deal.id, deal.status)?;
    let deal = match input.amount {
        Some(amount) => win(world, &deal, amount.minor(), reason)?,
        None => end(world, &deal, status, reason),
    };
    Ok(Data(Shown(deal)))
}

/// The money comes. It is refused before the last stage, and where the wallet has no room for it.
pub(crate) fn win(
    world: &mut World,
    deal: &Deal,
    amount: i64,
    reason: Option<String>,
) -> Result<Arc<Deal>, ApiError> {
    if deal.stage != DealStage::Closing {
        let at = deal.stage.name();
        let detail = format!("the deal is at {at}: it can be won from closing alone");
        return Err(refused(deal.id, deal.stage, detail));
    }
    let wallet = world.wallet_of(deal.company_id, deal.currency);
    let wallet: Arc<Wallet> = wallet.expect("a deal is in a wallet's currency, and no wallet goes");
    room(world, &wallet, amount)?;
    let mut deal = deal.clone();
    deal.amount = Some(amount);
    deal.wallet_id = Some(wallet.id);
    deal.enter_because(DealStatus::Won, world.now(), reason);
    let deal = world.stage(deal);
    let is_owed = deal.instrument.is_owed();
    let won = deals::deal_won(AnyId::of(deal.id), deal.currency, amount, is_owed);
    world.post(deal.company_id, won);
    world.emit("deal.won", &deal);
    world.emit_wallet("wallet.credited", &wallet);
    world.forget_timers(AnyId::of(deal.id));
    Ok(deal)
}

/// Nothing comes of it.
pub(crate) fn end(
    world: &mut World,
    deal: &Deal,
    status: DealStatus,
    reason: Option<String>,
) -> Arc<Deal> {
    let mut deal = deal.clone();
    deal.enter_because(status, world.now(), reason);
    let event = match status {
        DealStatus::Lost => "deal.lost",
        _ => "deal.withdrawn",
    };
    let deal = world.record(event, deal);
    world.forget_timers(AnyId::of(deal.id));
    deal
}

/// What an investor says.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct InvestorReply {
    /// The deal: one that is open, and has an investor.
    deal_id: Id<Deal>,
    /// What is said.
    reply: Reply,
    /// Why; of an investor who passes it is the reason for which the deal is lost.
    note: Option<Text<500>>,
}

/// An inbound kind: the investor says it now.
pub(crate) fn investor_reply(
    world: &mut World,
    input: InvestorReply,
) -> Result<Data<Shown<Deal>>, ApiError> {
    let deal = world.get(input.deal_id)?;
    if deal.investor.is_none() {
        let detail = format!("{} has no investor", deal.id);
        return Err(ApiError::of_member("/deal_id", "no_investor", detail));
    }
    still_open(&deal)?;
    reply(world, deal.id, input.reply, input.note.map(Text::into_string));
    Ok(Data(Shown(world.get(deal.id)?)))
}
