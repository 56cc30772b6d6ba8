//! Micro-deposits: two small amounts are sent to the account of a beneficiary, and the holder confirms them.

use crate::api::business::payroll_people::may_pay;
use crate::api::payments::beneficiaries::reason;
use crate::api::payments::wallet_level::debited;
use crate::api::payments::wallets::{belongs, short};
use crate::api::prelude::*;
use crate::model::payments::beneficiary::{AccountCheck, MicroDeposits, Rejection};
use crate::model::payments::rails::{Service, route};
use crate::model::payments::{Beneficiary, BeneficiaryStatus};
use crate::model::posting::payouts as posting;

/// Maximum number of attempts to confirm the amounts.
const ATTEMPTS: u8 = 3;
/// The time after their arrival in which the amounts can be confirmed.
const CONFIRMABLE: Span = Span::BusinessDays(10);
/// The largest of the two amounts, in minor units.
const LARGEST: u64 = 99;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/beneficiaries/{beneficiary_id}/micro-deposits",
        summary: "Send micro-deposits",
        description: "Sends two amounts of 1 to 99 minor units to the account of a pending \
            beneficiary with `verification` `micro_deposits`. This is possible only once. The \
            amounts are debited from the wallet at once as `fees`, and arrive after the normal \
            time of the standard rail. If they are not confirmed within ten business days after \
            they arrive, the beneficiary is `rejected`. `GET \
            /_sandbox/beneficiaries/{beneficiary_id}/micro-deposits` shows the amounts.",
        example: r#"{"wallet_id":"@wallet:1"}"#,
        errors: &[
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
            ErrorCode::CurrencyMismatch,
            ErrorCode::InsufficientFunds,
            ErrorCode::InvalidStateTransition,
        ],
        emits: &["beneficiary.micro_deposits_sent", "wallet.debited", "wallet.low_balance"],
        starts: &[TaskKind::ArriveMicroDeposits],
        ..operation!(write send_micro_deposits)
    },
    Operation {
        path: "/api/payments/beneficiaries/{beneficiary_id}/micro-deposits/confirm",
        summary: "Confirm micro-deposits",
        description: "Confirms the two amounts, in any order, after their arrival: the beneficiary \
            is `verified`. Wrong amounts lower `attempts_left`; after three wrong attempts the \
            beneficiary is `rejected`.",
        example: r#"{"amounts":[12,34]}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &[
            "beneficiary.verified",
            "beneficiary.rejected",
            "beneficiary.micro_deposits_mismatched",
        ],
        ..operation!(write confirm_micro_deposits)
    },
]);

/// The two amounts; always the same for a beneficiary.
pub(crate) fn amounts(world: &World, id: Id<Beneficiary>) -> [i64; 2] {
    let key = world.base().key().with("micro deposits").at(id.bits());
    [0, 1].map(|place| {
        let drawn = 1 + key.at(place).below(LARGEST);
        i64::try_from(drawn).expect("at most 99")
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendMicroDeposits {
    /// The beneficiary.
    beneficiary_id: Id<Beneficiary>,
    /// The wallet to debit: it must belong to the company and have the account's currency.
    wallet_id: Id<Wallet>,
}

fn send_micro_deposits(world: &mut World, input: SendMicroDeposits) -> Result<Single<Beneficiary>> {
    let known = world.get(input.beneficiary_id)?;
    let wallet = existing(world, input.wallet_id, "/wallet_id")?;
    let currency = known.account.currency;
    belongs(&wallet, known.company_id, currency)?;
    let company = world.get(known.company_id)?;
    may_pay(world, &company)?;
    step("verify", "the beneficiary", known.id, known.status)?;
    let refuse = |detail: &str| Err(refused(known.id, known.status, detail.to_owned()));
    if known.verification != AccountCheck::MicroDeposits {
        return refuse("its account is verified by its bank, not by micro-deposits");
    }
    if known.micro_deposits.is_some() {
        return refuse("the amounts have been sent already");
    }
    let total = amounts(world, known.id).iter().sum();
    short(world, &wallet, total)?;
    let before = world.balances(company.id, currency).available;
    let rail = route(Service::Standard, &known.account.country, currency);
    let mut beneficiary = (*known).clone();
    beneficiary.micro_deposits = Some(MicroDeposits {
        sent_at: world.now(),
        arrived_at: None,
        expires_at: None,
        total,
        attempts_left: ATTEMPTS,
    });
    beneficiary.updated_at = world.now();
    let of = AnyId::of(beneficiary.id);
    world.post(company.id, posting::micro_deposits_sent(of, currency, total));
    let beneficiary = world.record("beneficiary.micro_deposits_sent", beneficiary);
    let task = Task::ArriveMicroDeposits(beneficiary.id);
    world.settle_after(rail.time(Service::Standard), task);
    debited(world, &company, &wallet, before);
    Ok(Data(Shown(beneficiary)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfirmMicroDeposits {
    /// The beneficiary.
    beneficiary_id: Id<Beneficiary>,
    /// The two amounts in minor units, in any order.
    #[schemars(length(min = 2, max = 2))]
    amounts: Vec<Amount>,
}

fn confirm_micro_deposits(
    world: &mut World,
    input: ConfirmMicroDeposits,
) -> Result<Single<Beneficiary>> {
    let known = world.get(input.beneficiary_id)?;
    step("verify", "the beneficiary", known.id, known.status)?;
    let now = world.now();
    let refuse = |detail: &str| Err(refused(known.id, known.status, detail.to_owned()));
    let Some(mut sent) = known.micro_deposits else {
        return refuse("no amounts were sent to its account");
    };
    if sent.arrived_at.is_none() {
        return refuse("the amounts have not arrived yet");
    }
    let mut given: Vec<i64> = input.amounts.iter().map(|amount| amount.minor()).collect();
    let mut right = amounts(world, known.id);
    given.sort_unstable();
    right.sort_unstable();
    if given == right {
        return Ok(Data(Shown(verify(world, &known))));
    }
    sent.attempts_left = sent.attempts_left.saturating_sub(1);
    let mut beneficiary = (*known).clone();
    beneficiary.micro_deposits = Some(sent);
    if sent.attempts_left == 0 {
        let beneficiary = reject(world, beneficiary, "amounts_not_confirmed");
        return Ok(Data(Shown(beneficiary)));
    }
    beneficiary.updated_at = now;
    let beneficiary = world.record("beneficiary.micro_deposits_mismatched", beneficiary);
    Ok(Data(Shown(beneficiary)))
}

/// The amounts are confirmed.
pub(crate) fn verify(world: &mut World, known: &Beneficiary) -> Arc<Beneficiary> {
    let mut beneficiary = known.clone();
    beneficiary.enter(BeneficiaryStatus::Verified, world.now());
    let beneficiary = world.record("beneficiary.verified", beneficiary);
    world.forget_timers(AnyId::of(beneficiary.id));
    beneficiary
}

fn reject(world: &mut World, mut beneficiary: Beneficiary, code: &'static str) -> Arc<Beneficiary> {
    beneficiary.failure =
        Some(Rejection { code: Cow::Borrowed(code), detail: Cow::Borrowed(reason(code)) });
    beneficiary.enter_because(BeneficiaryStatus::Rejected, world.now(), Some(code.to_owned()));
    let beneficiary = world.record("beneficiary.rejected", beneficiary);
    world.forget_timers(AnyId::of(beneficiary.id));
    beneficiary
}

/// The amounts are on the account.
pub(crate) fn arrive(world: &mut World, id: Id<Beneficiary>) {
    let pending = world.find(id).filter(|it| it.status == BeneficiaryStatus::Pending);
    let Some(known) = pending else { return };
    let now = world.now();
    let until = world.calendar_of(known.company_id).after(now, CONFIRMABLE);
    let mut beneficiary = (*known).clone();
    beneficiary.micro_deposits = known.micro_deposits.map(|sent| MicroDeposits {
        arrived_at: Some(now),
        expires_at: Some(until),
        ..sent
    });
    beneficiary.updated_at = now;
    world.record("beneficiary.micro_deposits_arrived", beneficiary);
    world.remind_at(until, Task::ExpireMicroDeposits(id));
}

/// The time to confirm is over.
pub(crate) fn expire(world: &mut World, id: Id<Beneficiary>) {
    let pending = world.find(id).filter(|it| it.status == BeneficiaryStatus::Pending);
    if let Some(beneficiary) = pending {
        reject(world, (*beneficiary).clone(), "confirmation_expired");
    }
}
