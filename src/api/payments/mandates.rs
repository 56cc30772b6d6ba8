//! Mandates: a payer's authorisation to collect by direct debit, confirmed by the payer's bank.

use crate::api::payments::payer::Payer;
use crate::api::prelude::*;
use crate::model::decision::MANDATE_REPLY;
use crate::model::payments::rails::{MandateRule, later, route};
use crate::model::payments::{Mandate, MandateStatus, RailId, Refusal, Scope, Service};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/mandates",
        summary: "List mandates",
        description: "Lists mandates in creation order.",
        ..operation!(read list_mandates)
    },
    Operation {
        path: "/api/payments/mandates",
        summary: "Create a mandate",
        description: "Registers a payer's authorisation to collect by direct debit. The payer's \
            bank confirms the mandate at once, or two business days later in the United Kingdom. \
            The mandate is then `active`: `createCollection` with `method` `direct_debit` and this \
            `mandate_id` debits the payer. Without `expires_on`, the rule of the rail applies: a \
            mandate that is not used for 36 months (SEPA) or 13 months (Bacs) expires.",
        example: r#"{"company_id":"@company:1","currency":"NGN","payer":{"name":"Ngozi Eze","account_number":"0123456789"},"reference":"MANDATE-1001"}"#,
        success: 201,
        errors: &[ErrorCode::DuplicateReference],
        emits: &["mandate.created"],
        starts: &[TaskKind::AnswerMandate, TaskKind::ExpireMandate],
        ..operation!(write create_mandate)
    },
    Operation {
        path: "/api/payments/mandates/{mandate_id}",
        summary: "Read a mandate",
        description: "Returns a mandate with its status and the day on which it expires.",
        ..operation!(get get_mandate: Mandate)
    },
    Operation {
        path: "/api/payments/mandates/{mandate_id}/revoke",
        summary: "Revoke a mandate",
        description: "Revokes a pending or active mandate. Collections that were created before \
            are not changed.",
        example: r#"{"reason":"The customer has cancelled"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["mandate.revoked"],
        ..operation!(write revoke_mandate)
    },
]);

list! {
    fn list_mandates(ListMandates) -> Mandate, of company_id;
    filter
        company_id: Id<Company>,
        status: MandateStatus,
        reference: Text<140>;
    sort created_at, reference;
}

/// A new mandate.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateMandate {
    /// The company that collects.
    company_id: Id<Company>,
    /// The currency of its collections.
    currency: Currency,
    /// The payer; the account number is required.
    payer: Payer,
    /// The company's reference, unique among its pending and active mandates.
    reference: Text<140>,
    /// The last day on which it is valid; not in the past. Default: by the rule of the rail.
    expires_on: Option<Date>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_mandate(world: &mut World, input: CreateMandate) -> Result<Single<Mandate>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let today = world.today();
    let mut wrong = Vec::new();
    if let Some(day) = input.expires_on.filter(|day| *day < today) {
        let detail = format!("{day} is in the past: today is {today}");
        wrong.push(Violation::new("/expires_on", "in_the_past", detail));
    }
    let payer = input.payer.shown();
    match payer.account_number.as_deref().map(|number| Scope::Collections.check_account(number)) {
        None => {
            let detail = "the account to debit is required".to_owned();
            wrong.push(Violation::new("/payer/account_number", "required", detail));
        }
        Some(Err(detail)) => {
            wrong.push(Violation::new("/payer/account_number", "code_of_another_rail", detail));
        }
        Some(Ok(())) => {}
    }
    ApiError::if_any(wrong)?;
    let reference = input.reference.into_string();
    free(world, company.id, &reference)?;
    let rail = route(Service::DirectDebit, &company.country, input.currency);
    let rule = rule(rail);
    let unused_months = rule.unused_months.filter(|_| input.expires_on.is_none());
    let expires_on = input.expires_on.or(unused_months.map(|months| later(today, months)));
    let now = world.now();
    let mandate = Mandate {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        status: MandateStatus::Pending,
        payer,
        payment_rail: rail,
        currency: input.currency,
        reference,
        expires_on,
        unused_months,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(MandateStatus::Pending, now)].into(),
    };
    let mandate = world.record("mandate.created", mandate);
    let reply = world.decide(&MANDATE_REPLY, AnyId::of(mandate.id), None);
    if reply.choice != "never" {
        let task = Task::AnswerMandate(mandate.id, reply.choice == "confirmed");
        world.settle_when(rule.confirmed, reply.after, task);
    }
    watch(world, &mandate);
    Ok(Data(Shown(mandate)))
}

/// Refuses the reference of another open mandate of the company.
fn free(world: &World, company: Id<Company>, reference: &str) -> Result<()> {
    let others = world.children::<Mandate>(company.bits());
    let mut others = others.filter_map(|id| world.find(id));
    let other = others.find(|other| other.status.is_open() && other.reference == reference);
    let Some(other) = other else { return Ok(()) };
    let detail = format!("the mandate {} has this reference", other.id);
    let error = ApiError::new(ErrorCode::DuplicateReference, detail).about(other.id);
    Err(error.at("/reference", "duplicate"))
}

fn rule(rail: RailId) -> MandateRule {
    rail.rail().mandate.expect("every rail of direct debits has a rule: a test checks")
}

/// Sets the timer for the end of its last day.
fn watch(world: &mut World, mandate: &Mandate) {
    if let Some(day) = mandate.expires_on {
        world.remind_at(day.plus_days(1).midnight(), Task::ExpireMandate(mandate.id));
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RevokeMandate {
    /// The mandate.
    mandate_id: Id<Mandate>,
    /// The reason, for the status history.
    reason: Option<Text<500>>,
}

fn revoke_mandate(world: &mut World, input: RevokeMandate) -> Result<Single<Mandate>> {
    let mandate = world.get(input.mandate_id)?;
    step("revoke", "the mandate", mandate.id, mandate.status)?;
    let mandate = revoke(world, &mandate, input.reason.map(Text::into_string));
    Ok(Data(Shown(mandate)))
}

/// Revokes an open mandate.
pub(crate) fn revoke(world: &mut World, mandate: &Mandate, reason: Option<String>) -> Arc<Mandate> {
    let mut mandate = mandate.clone();
    mandate.enter_because(MandateStatus::Revoked, world.now(), reason);
    let mandate = world.record("mandate.revoked", mandate);
    world.forget_timers(AnyId::of(mandate.id));
    mandate
}

/// The payer's bank has sent a collection back because the payer denies or withdraws the authorisation.
pub(super) fn withdrawn(world: &mut World, id: Id<Mandate>, refusal: Refusal) {
    let open = world.find(id).filter(|mandate| mandate.status.is_open());
    if let Some(mandate) = open {
        let reason = refusal.failure().rail_message.map(Cow::into_owned);
        revoke(world, &mandate, reason);
    }
}

/// The payer's bank has answered.
pub(crate) fn answer(world: &mut World, id: Id<Mandate>, confirmed: bool) {
    let pending = world.find(id).filter(|mandate| mandate.status == MandateStatus::Pending);
    let Some(mandate) = pending else { return };
    if !confirmed {
        revoke(world, &mandate, Some("the payer's bank refused it".to_owned()));
        return;
    }
    let mut mandate = (*mandate).clone();
    mandate.enter(MandateStatus::Active, world.now());
    world.record("mandate.activated", mandate);
}

/// Its last day is over.
pub(crate) fn expire(world: &mut World, id: Id<Mandate>) {
    let open = world.find(id).filter(|mandate| mandate.status.is_open());
    if let Some(mandate) = open {
        let mut mandate = (*mandate).clone();
        mandate.enter(MandateStatus::Expired, world.now());
        world.record("mandate.expired", mandate);
        world.forget_timers(AnyId::of(id));
    }
}

/// Refuses a collection by a mandate that is not active.
pub(super) fn usable(mandate: &Mandate) -> Result<()> {
    if mandate.status == MandateStatus::Active {
        return Ok(());
    }
    let detail = "only an active mandate allows a collection".to_owned();
    Err(refused(mandate.id, mandate.status, detail).at("/mandate_id", "not_active"))
}

/// A collection is created by it: by the rule of some rails, that prolongs it. The collection's event seals the change.
pub(super) fn used(world: &mut World, mandate: &Mandate) {
    let Some(months) = mandate.unused_months else { return };
    let mut mandate = mandate.clone();
    mandate.expires_on = Some(later(world.today(), months));
    mandate.updated_at = world.now();
    world.forget_timers(AnyId::of(mandate.id));
    watch(world, &mandate);
    world.stage(mandate);
}
