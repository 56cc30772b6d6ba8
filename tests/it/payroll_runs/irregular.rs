//! A bonus in a pay period without regular pay: its tax is the increase that it causes in the tax on the last regular
//! pay.

use serde_json::{Value, json};

use super::changed::{amount, bonus, extra};
use super::moved::{hire, hired, slip};
use super::zero::away;
use crate::harness::Caller;

/// Country, monthly pay and bonus, the taxes on the bonus, and the contributions on it.
type Row = (&'static str, [i64; 2], Amounts, Amounts);
type Amounts = &'static [(&'static str, i64)];

/// - Canada: T4127 ch. 4 step 3 ("I = 0: use the last I"); canada.ca: no exemption of CPP for a bonus apart from regular pay.
/// - South Africa: PAYE-GEN-01-G18, the annual equivalent is 720,000. UIF has a ceiling of each month.
/// - Nigeria: NTA 2025 s. 58. A year is 12 million less pension of 960,000: 960,000 at 18 % and 40,000 at 21 %.
const ROWS: [Row; 3] = [
    (
        "CA",
        [1_000_000, 2_000_000],
        &[("federal_tax", 514_799), ("ontario_tax", 344_710)],
        &[("cpp", 119_000), ("ei", 32_600)],
    ),
    ("ZA", [6_000_000, 6_000_000], &[("paye", 2_340_000)], &[("uif", 17_712)]),
    ("NG", [100_000_000, 100_000_000], &[("paye", 18_120_000)], &[("pension", 0)]),
];

fn assert_takes(slip: &Value, (list, expected): (&str, Amounts)) {
    for (line, expected) in expected {
        assert_eq!(amount(slip, list, line), *expected, "{line}: {slip}");
    }
}

fn take_leave_in_may(caller: &Caller, person: &str) {
    away(caller, person, ["2026-05-01", "2026-05-31"]);
}

const MAY: (&str, &str) = ("2026-05", "2026-06-05");

#[test]
fn a_bonus_in_a_month_of_unpaid_leave_is_taxed_on_top_of_the_last_pay() {
    for (country, [pay, extra_pay], taxes, contributions) in ROWS {
        let (caller, company, person) = hired(country, "2026-03-01", pay);
        caller.pay_monthly(&company);
        let [_, april] = ["2026-03", "2026-04"].map(|month| slip(&caller, &person, month));
        take_leave_in_may(&caller, &person);
        assert_eq!(slip(&caller, &person, "2026-05")["gross"], 0);
        let paid = extra(&caller, &company, MAY, &bonus(&person, extra_pay));
        assert_takes(&paid, ("taxes", taxes));
        assert_takes(&paid, ("contributions", contributions));
        // Nothing is left for the next pay to make up.
        let june = slip(&caller, &person, "2026-06");
        for (line, _) in taxes {
            assert_eq!(amount(&june, "taxes", line), amount(&april, "taxes", line), "{june}");
        }
        caller.audit();
    }
}

/// The bonus of the last regular pay counts once: as earlier irregular pay. 60,000.00 and 30,000.00 twice: 39 % from 695,800.00 on.
#[test]
fn a_bonus_of_the_last_pay_is_not_a_part_of_regular_pay() {
    let (caller, company, person) = hired("ZA", "2026-03-01", 6_000_000);
    caller.pay_monthly(&company);
    slip(&caller, &person, "2026-03");
    let first = extra(&caller, &company, ("2026-03", "2026-04-08"), &bonus(&person, 3_000_000));
    take_leave_in_may(&caller, &person);
    slip(&caller, &person, "2026-05");
    let second = extra(&caller, &company, MAY, &bonus(&person, 3_000_000));
    assert_eq!(amount(&first, "taxes", "paye"), 1_170_000);
    assert_eq!(amount(&second, "taxes", "paye"), 1_170_000);
    caller.audit();
}

/// The first pay of a pay period is a bonus: the regular pay takes the rest of the tax on both.
#[test]
fn a_bonus_before_the_regular_pay_of_its_period_costs_the_same_tax() {
    for (country, [pay, extra_pay], taxes, _) in ROWS {
        let (caller, company, person) = hired(country, "2026-03-01", pay);
        caller.pay_monthly(&company);
        let colleague = hire(&caller, &company, "2026-03-01", pay);
        let both = [&person, &colleague];
        for it in both {
            slip(&caller, it, "2026-04");
        }
        let early = extra(&caller, &company, MAY, &bonus(&person, extra_pay));
        let [regular, usual] = both.map(|it| slip(&caller, it, "2026-05"));
        let days = ("2026-05", "2026-06-25");
        let late = extra(&caller, &company, days, &bonus(&colleague, extra_pay));
        for (line, _) in taxes {
            let sum = |slips: [&Value; 2]| slips.map(|it| amount(it, "taxes", line));
            let [early, rest] = sum([&early, &regular]);
            assert!(early > 0 && rest > 0, "{country} {line}");
            assert_eq!(early + rest, sum([&usual, &late]).iter().sum::<i64>(), "{country} {line}");
        }
        caller.audit();
    }
}

#[test]
fn a_bonus_after_leaving_is_taxed_on_top_of_the_last_pay() {
    let (caller, company, person) = hired("ZA", "2026-03-01", 6_000_000);
    caller.pay_monthly(&company);
    let end = json!({
        "reason": "Left", "last_working_day": "2026-03-31", "final_pay": {"mode": "next_run"},
    });
    caller.post(&format!("/api/business/employees/{person}/terminate"), &end).expect(200);
    slip(&caller, &person, "2026-03");
    let paid = extra(&caller, &company, MAY, &bonus(&person, 6_000_000));
    assert_eq!(amount(&paid, "taxes", "paye"), 2_340_000, "{paid}");
    caller.audit();
}

/// The last regular pay may be of the history, and of an earlier tax year.
#[test]
fn a_bonus_after_the_history_is_taxed_on_top_of_its_last_pay() {
    let (caller, company, _) = hired("CA", "2026-01-01", 600_000);
    caller.pay_monthly(&company);
    let person = caller.payable(&company).remove(0);
    away(&caller, &person, ["2026-01-01", "2026-01-31"]);
    let paid = extra(&caller, &company, ("2026-01", "2026-01-30"), &bonus(&person, 500_000));
    // At least the lowest rates of the federation and of Ontario, less the credits for contributions.
    assert!(amount(&paid, "taxes", "federal_tax") > 60_000, "{paid}");
    assert!(amount(&paid, "taxes", "ontario_tax") > 20_000, "{paid}");
    caller.audit();
}
