//! The factors of a trust score: a percentage of the weight for each, and why.

use crate::api::identity::alert_facts;
use crate::api::prelude::*;
use crate::model::business::{PayrollRun, PayrollStatus, RunStatus};
use crate::model::identity::trust_score::TrustReason;
use crate::model::identity::{
    AmlScreening, KycStatus, Level, ScreeningStatus, Subject, TrustContext, TrustFactorName,
    TrustSignals, WEIGHTS,
};
use crate::model::payments::{Payout, PayoutStatus};

/// The period in which past events count, in milliseconds.
const WINDOW: i64 = 90 * 24 * 60 * 60 * 1_000;
/// Maximum number of payouts and of runs that are read, newest first.
const MOST: usize = 1_000;

/// A percentage, and the reason.
type Part = (i32, String);

/// The parts of a score, which sum to it.
pub(crate) fn reasons(
    world: &World,
    subject: &Subject,
    context: TrustContext,
    signals: TrustSignals,
) -> Vec<TrustReason> {
    let reason = |factor: TrustFactorName| {
        let (percent, detail) = match factor {
            TrustFactorName::Kyc => kyc(subject),
            TrustFactorName::Aml => aml(world, subject),
            TrustFactorName::Payments => payments(world, subject.company_id),
            TrustFactorName::Payroll => payroll(world, subject),
            TrustFactorName::Profile => profile(subject),
            TrustFactorName::Signals => said(signals),
        };
        let weight = WEIGHTS.weight(context, factor);
        TrustReason { factor, weight, percent, points: weight * percent / 100, detail }
    };
    TrustFactorName::ALL.map(reason).to_vec()
}

fn kyc(subject: &Subject) -> Part {
    let table = &WEIGHTS.kyc;
    let percent = match subject.status {
        KycStatus::Approved => match subject.level {
            Some(Level::Enhanced) => table.enhanced,
            Some(Level::Standard) => table.standard,
            _ => table.basic,
        },
        KycStatus::ReverifyRequired => table.reverify_required,
        KycStatus::InReview => table.in_review,
        KycStatus::Pending => table.pending,
        KycStatus::Unverified => table.unverified,
        KycStatus::Declined => table.declined,
    };
    (percent, format!("kyc_status is {}", subject.status.name()))
}

fn aml(world: &World, subject: &Subject) -> Part {
    let table = &WEIGHTS.aml;
    let of_company = subject.company_id;
    let frozen = of_company.is_some_and(|company| alert_facts::confirmed_alert(world, company));
    let condemned = alert_facts::condemn(world, subject.id);
    let mut screenings =
        world.children::<AmlScreening>(subject.id.bits()).rev().filter_map(|id| world.find(id));
    let latest =
        screenings.find(|one| one.status != ScreeningStatus::Processing).map(|one| one.status);
    let (percent, what) = match latest {
        _ if condemned => (table.confirmed, "an alert about the subject is confirmed"),
        _ if frozen => (table.confirmed, "an alert about the company is confirmed"),
        Some(ScreeningStatus::ConfirmedMatch) => (
            table.confirmed,
            "a watchlist contains the \
            subject",
        ),
        Some(ScreeningStatus::NeedsReview) => (
            table.needs_review,
            "a watchlist may contain the \
            subject",
        ),
        Some(_) => (table.clear, "no watchlist contains the subject"),
        None => (table.not_screened, "the subject was not screened"),
    };
    (percent, what.to_owned())
}

fn is_recent(world: &World, at: Timestamp) -> bool {
    world.now().millis() - at.millis() <= WINDOW
}

/// A share as a percentage.
fn share(good: usize, all: usize, none: i32, what: &str) -> Part {
    let percent = (good * 100).checked_div(all);
    match percent.and_then(|percent| i32::try_from(percent).ok()) {
        Some(percent) => (percent, format!("{good} of {all} {what}")),
        None => (none, format!("no {what} yet")),
    }
}

fn payments(world: &World, company: Option<Id<Company>>) -> Part {
    let none = WEIGHTS.payments.none;
    let Some(company) = company else {
        return (none, "the subject has no company whose payments count".to_owned());
    };
    let payouts = world.children::<Payout>(company.bits()).rev().take(MOST);
    let recent = payouts
        .filter_map(|id| world.find(id))
        .filter(|payout| is_recent(world, payout.created_at));
    let (mut good, mut all) = (0, 0);
    for payout in recent {
        let arrived = payout.status == PayoutStatus::Paid;
        let undone = matches!(payout.status, PayoutStatus::Failed | PayoutStatus::Returned);
        good += usize::from(arrived);
        all += usize::from(arrived || undone);
    }
    share(good, all, none, "payouts of 90 days that settled")
}

fn payroll(world: &World, subject: &Subject) -> Part {
    let table = &WEIGHTS.payroll;
    if let Some(employee) = subject.employee_id.and_then(|id| world.find(id)) {
        let percent = match employee.payroll_status {
            PayrollStatus::Verified => 100,
            PayrollStatus::Pending | PayrollStatus::NotEnrolled => table.pending,
            _ => 0,
        };
        let status = employee.payroll_status.name();
        return (percent, format!("payroll_status is {status}"));
    }
    let Some(company) = subject.company_id else {
        return (table.none, "the subject has no company whose payroll counts".to_owned());
    };
    let runs = world.children::<PayrollRun>(company.bits()).rev().take(MOST);
    let recent =
        runs.filter_map(|id| world.find(id)).filter(|run| is_recent(world, run.created_at));
    let (mut good, mut all) = (0, 0);
    for run in recent {
        let paid = run.status == RunStatus::Paid;
        let short = matches!(
            run.status,
            RunStatus::PartiallyPaid | RunStatus::Failed | RunStatus::FundingFailed
        );
        good += usize::from(paid);
        all += usize::from(paid || short);
    }
    share(good, all, table.none, "payroll runs of 90 days that paid every employee")
}

fn profile(subject: &Subject) -> Part {
    let table = &WEIGHTS.profile;
    let present = [
        ("email", subject.email.is_some(), table.email),
        ("phone", subject.phone.is_some(), table.phone),
        ("address", subject.address.is_some(), table.address),
        ("an id number", !subject.id_numbers.is_empty(), table.id_number),
    ];
    sum(&present, "on record")
}

fn said(signals: TrustSignals) -> Part {
    let table = &WEIGHTS.signals;
    let is = |signal: Option<bool>| signal == Some(true);
    let present = [
        ("email_verified", is(signals.email_verified), table.email_verified),
        ("phone_verified", is(signals.phone_verified), table.phone_verified),
        ("device_known", is(signals.device_known), table.device_known),
    ];
    sum(&present, "said")
}

fn sum(parts: &[(&str, bool, i32)], what: &str) -> Part {
    let present = || parts.iter().filter(|(_, present, _)| *present);
    let names: Vec<&str> = present().map(|(name, ..)| *name).collect();
    let detail = if names.is_empty() {
        format!("nothing is {what}")
    } else {
        format!("{what}: {}", names.join(", "))
    };
    (present().map(|(.., percent)| *percent).sum(), detail)
}
