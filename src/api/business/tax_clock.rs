//! Timers for taxes: liabilities become due and late, and the tax office answers to submitted filings.

use crate::api::business::compliance::{self, Requirement};
use crate::api::business::{tax_liabilities, tax_payment};
use crate::api::prelude::*;
use crate::model::business::{
    ComplianceRequirement, FilingStatus, LiabilityStatus, RequirementType, TaxFiling, TaxLiability,
    tax_return,
};
use crate::model::decision::TAX_OFFICE;

/// From the submission to the acknowledgement.
const ACKNOWLEDGEMENT: Span = Span::seconds(60 * 60);
/// The default delay of a late acknowledgement.
const LATE_ACKNOWLEDGEMENT: Span = Span::BusinessDays(1);
/// From the acknowledgement to the answer.
const ANSWER: Span = Span::BusinessDays(2);

/// Sends the filing to the tax office, whose answers arrive later.
pub(crate) fn send(world: &mut World, filing: Id<TaxFiling>) {
    let reply = world.decide(&TAX_OFFICE, AnyId::of(filing), None);
    let late = reply.choice == "delayed";
    let (acknowledged, answered) = match (late, reply.after) {
        (true, after) => (after.unwrap_or(LATE_ACKNOWLEDGEMENT), ANSWER),
        (false, after) => (ACKNOWLEDGEMENT, after.unwrap_or(ANSWER)),
    };
    let calendar = world.calendar_behind(AnyId::of(filing));
    let acknowledged = calendar.after(world.now(), acknowledged);
    let answer = match reply.choice {
        "rejected" => Task::RejectFiling(filing),
        _ => Task::AcceptFiling(filing),
    };
    world.settle_at(acknowledged, Task::AcknowledgeFiling(filing));
    world.settle_at(calendar.after(acknowledged, answered), answer);
}

fn sent(world: &World, id: Id<TaxFiling>) -> TaxFiling {
    let filing = world.find(id);
    (*filing.expect("a task is set for what exists, and nothing is deleted")).clone()
}

/// The tax office acknowledges the filing.
pub(crate) fn acknowledge_filing(world: &mut World, id: Id<TaxFiling>) {
    let mut filing = sent(world, id);
    filing.acknowledged_at = Some(world.now());
    filing.updated_at = world.now();
    world.record("tax_filing.acknowledged", filing);
}

/// The tax office accepts the filing, and repays the surplus of tax on sales.
pub(crate) fn accept_filing(world: &mut World, id: Id<TaxFiling>) {
    let mut filing = sent(world, id);
    filing.enter(FilingStatus::Filed, world.now());
    let repaid = tax_payment::repay(world, &mut filing);
    let filing = world.record("tax_filing.filed", filing);
    let wallet = world.wallet_of(filing.company_id, filing.currency);
    if let Some(wallet) = wallet.filter(|_| repaid > 0) {
        world.emit_wallet("wallet.credited", &wallet);
    }
}

/// The tax office rejects the filing. It keeps the money: the liabilities stay paid, and only the filing must be amended.
pub(crate) fn reject_filing(world: &mut World, id: Id<TaxFiling>) {
    let mut filing = sent(world, id);
    let reason = "the authority rejected the filing: amend it and submit the new one; payments are \
        kept";
    filing.rejection_reason = Some(reason.to_owned());
    filing.enter(FilingStatus::Rejected, world.now());
    world.record("tax_filing.rejected", filing);
}

/// The due date of a liability to an authority for pay that counts on a day, from its country's payroll pack.
pub(crate) fn due_on(
    country: &str,
    authority: &str,
    form: Option<&str>,
    counts_on: Date,
) -> Option<Date> {
    let form = tax_return::of(country, authority, form, counts_on);
    form.map(|(_, due_on)| due_on)
}

/// Sets the timer for a liability. A negative liability never becomes due.
pub(crate) fn watch(world: &mut World, liability: &TaxLiability) {
    if let Some(day) = liability.due_on.filter(|_| liability.amount > 0) {
        world.remind_at(day.at_hour(0), Task::LiabilityDue(liability.id));
    }
}

/// The due date has arrived.
pub(crate) fn fall_due(world: &mut World, id: Id<TaxLiability>) {
    let is_owed =
        |owed: &Arc<TaxLiability>| owed.status == LiabilityStatus::Accrued && owed.amount > 0;
    let Some(liability) = world.find(id).filter(is_owed) else {
        return; // paid in the meantime, or reduced to zero
    };
    let mut liability = (*liability).clone();
    if let Some(day) = next_day_if_small(world, &liability) {
        liability.due_on = Some(day);
        liability.updated_at = world.now();
        let liability = world.record("tax_liability.updated", liability);
        watch(world, &liability);
        return;
    }
    liability.enter(LiabilityStatus::Due, world.now());
    let liability = world.record("tax_liability.due", liability);
    let over = liability.due_on.map_or(world.now(), |day| day.plus_days(1).at_hour(0));
    world.remind_at(over, Task::LiabilityLate(id));
}

/// The later day to pay, if the unpaid total of the form is below the limit for a payment now.
fn next_day_if_small(world: &World, liability: &TaxLiability) -> Option<Date> {
    let (authority, form) = (&liability.authority, &liability.form);
    let carried = tax_return::carried_to(
        &liability.jurisdiction,
        authority,
        form.as_deref(),
        liability.period,
        world.today(),
    )?;
    let of_company = tax_liabilities::of_company(world, liability.company_id);
    let unpaid = of_company.filter(|owed| {
        (&owed.authority, &owed.form) == (authority, form)
            && owed.jurisdiction == liability.jurisdiction
            && owed.currency == liability.currency
            && carried.months.contains(&owed.period)
            && !owed.status.is_closed()
    });
    let open = unpaid.map(|owed| owed.amount + owed.credit_used.unwrap_or_default());
    let total = open.fold(0_i64, i64::saturating_add);
    (total <= carried.upto).then_some(carried.due_on)
}

/// The due date has passed: the liability and its filing are late, and a requirement is opened.
pub(crate) fn miss(world: &mut World, id: Id<TaxLiability>) {
    let Some(liability) = world.find(id).filter(|l| l.status == LiabilityStatus::Due) else {
        return;
    };
    let mut liability = (*liability).clone();
    liability.enter(LiabilityStatus::Late, world.now());
    let filing = liability.tax_filing_id.and_then(|filing| world.find(filing));
    if let Some(mut filing) = filing.filter(|filing| !filing.late).map(|f| (*f).clone()) {
        filing.late = true;
        filing.updated_at = world.now();
        world.stage(filing);
    }
    let liability = world.record("tax_liability.late", liability);
    if overdue_filing(world, &liability).is_some() {
        return;
    }
    let (authority, period) = (&liability.authority, liability.period);
    let requirement = Requirement {
        company: liability.company_id,
        kind: RequirementType::OverdueFiling,
        subject: AnyId::of(liability.id),
        blocking: false,
        description: format!("file and pay the amount due to {authority} for {period}: it is late")
            .into(),
        unblocked_by: format!(
            "createTaxFiling for {authority} and {period}, then submitTaxFiling; the requirement \
                is then resolved automatically"
        )
        .into(),
    };
    compliance::require(world, requirement);
}

/// The open requirement about the same authority and month.
fn overdue_filing(world: &World, liability: &TaxLiability) -> Option<Arc<ComplianceRequirement>> {
    compliance::open(world, liability.company_id).find(|requirement| {
        let about = Id::<TaxLiability>::from_bits(requirement.subject.bits);
        let about =
            world.find(about).filter(|_| requirement.kind == RequirementType::OverdueFiling);
        about.is_some_and(|about| {
            about.authority == liability.authority && about.period == liability.period
        })
    })
}

/// Liabilities have been paid or are void: their timers are removed, and requirements are resolved if nothing late remains.
pub(crate) fn relieve(world: &mut World, liabilities: &[Arc<TaxLiability>]) {
    for liability in liabilities {
        world.forget_timers(AnyId::of(liability.id));
        let Some(requirement) = overdue_filing(world, liability) else { continue };
        let (authority, period) = (&liability.authority, liability.period);
        let mut owed = owed(world, liability.company_id, period);
        let left = owed
            .any(|other| other.authority == *authority && other.status == LiabilityStatus::Late);
        drop(owed);
        if !left {
            let reason = "nothing is due any more".to_owned();
            compliance::close(world, &requirement, None, Some(reason));
        }
    }
}

/// Liabilities of a month, paid or not.
fn owed(
    world: &World,
    company: Id<Company>,
    period: Period,
) -> impl Iterator<Item = Arc<TaxLiability>> {
    tax_liabilities::of_company(world, company).filter(move |liability| liability.period == period)
}
