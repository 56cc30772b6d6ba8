//! The employer's parts of deductions: a line of the employer's cost, an expense, and a payable to the third party.

use std::sync::Arc;

use serde_json::{Value, json};

use super::law::{payable_in, set_pay};
use super::{calculated, draft, edit, items, paid, verb};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::server::Server;
use crate::harness::world::{id, number};

/// A world with a company in each of three countries: US, GB, NG.
fn world() -> Caller {
    let flags = ["--companies", "3", "--employees-per-company", "10", "--countries", "US,GB,NG"];
    Caller::of(&Arc::new(Server::start(&[&flags[..], &["--clock", "manual"]].concat())))
}

fn terms(caller: &Caller, person: &str, amount: i64, currency: &str, deductions: &Value) -> Value {
    let body = json!({
        "amount": amount, "currency": currency, "interval": "month", "effective_from": "2026-01-01",
        "deductions": deductions,
    });
    let path = format!("/api/business/employees/{person}/compensation");
    caller.send(&caller.request("PUT", &path).json(&body)).data()
}

/// Terms with one of these deductions are refused with the member that is wrong, and change nothing.
fn refuses_each<const N: usize>(
    caller: &Caller,
    person: &str,
    currency: &str,
    deductions: [(Value, &str); N],
) {
    let path = format!("/api/business/employees/{person}/compensation");
    let before = caller.digest();
    for (deduction, pointer) in deductions {
        let body = json!({
            "amount": 500_000, "currency": currency, "interval": "month", "deductions": [deduction],
        });
        let refused = caller.send(&caller.request("PUT", &path).json(&body));
        let refused = refused.refused(422, "validation_failed");
        assert_eq!(pointers(&refused), [pointer], "{body}");
    }
    assert_eq!(caller.digest(), before);
}

fn run(caller: &Caller, company: &str, month: &str, person: &str) -> Value {
    let body = json!({"company_id": company, "period": month, "employee_ids": [person]});
    calculated(caller, &draft(caller, &body))
}

fn balance(caller: &Caller, company: &str, account: &str) -> i64 {
    let all = caller.all(&format!("/api/business/ledger-accounts?company_id={company}"));
    all.iter().find(|it| it["code"] == *account).map_or(0, |it| number(&it["balance"]))
}

fn payslip(caller: &Caller, run: &Value) -> Value {
    caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(run))).remove(0)
}

/// The lines of a payslip with that label.
fn lines(payslip: &Value, member: &str, label: &str) -> Vec<i64> {
    let all = payslip[member].as_array().unwrap().iter();
    all.filter(|line| line["label"] == *label).map(|line| number(&line["amount"])).collect()
}

/// 26 USC 401(k)(12)(B), a safe harbor match: all of the first 3 % of pay and half of the next 2 %. 26 USC 3121(v)(1)(A) and 402(a): it is
/// not income of the employee. IAS 19.11 and 51: a cost and a debt in the period of the work.
#[test]
fn a_match_is_a_cost_of_the_employer_and_due_to_the_plan() {
    let caller = world();
    let company = caller.company(0);
    caller.pay_monthly(&company);
    let person = caller.payable(&company).remove(0);
    let tiers = json!([{"rate_bp": 10_000, "upto_bp": 300}, {"rate_bp": 5_000, "upto_bp": 500}]);
    let plan =
        json!({"label": "Plan", "type": "401k", "amount": 20_000, "employer": {"match": tiers}});
    let alone = json!({"label": "Plan", "type": "401k", "amount": 20_000});
    terms(&caller, &person, 500_000, "USD", &json!([alone]));
    let before = items(&caller, &run(&caller, &company, "2026-01", &person)).remove(0);
    let first =
        caller.all(&format!("/api/business/payroll-runs?company_id={company}&status=calculated"));
    verb(&caller, &first[0], "cancel", &json!({})).expect(200);
    let shown = terms(&caller, &person, 500_000, "USD", &json!([plan]));
    assert_eq!(shown["compensation"]["deductions"][0]["employer"], json!({"match": tiers}));
    let calculated = run(&caller, &company, "2026-01", &person);
    let item = items(&caller, &calculated).remove(0);
    assert_eq!(item["employer_benefits"], 17_500);
    assert_eq!(
        number(&item["employer_contributions"]),
        number(&before["employer_contributions"]) + 17_500
    );
    for same in ["gross", "taxes", "employee_contributions", "deductions", "net"] {
        assert_eq!(item[same], before[same], "{same}");
    }
    let accounts = ["employer_contributions", "deductions_payable"];
    let [cost, debt] = accounts.map(|account| balance(&caller, &company, account));
    let paid = paid(&caller, &calculated);
    assert_eq!(paid["status"], "paid");
    let totals = &paid["totals"];
    let on_top = number(&totals["employer_contributions"]);
    assert_eq!(number(&totals["employer_cost"]), number(&totals["gross"]) + on_top);
    assert_eq!(balance(&caller, &company, accounts[0]) - cost, on_top);
    assert_eq!(balance(&caller, &company, accounts[1]) - debt, 20_000 + 17_500);
    let slip = payslip(&caller, &paid);
    assert_eq!(lines(&slip, "employer_contributions", "Plan (employer)"), [17_500]);
    assert_eq!(lines(&slip, "deductions", "Plan"), [20_000]);
    caller.audit();
    verb(&caller, &paid, "reverse", &json!({"reason": "Paid by mistake"})).expect(200);
    assert_eq!(balance(&caller, &company, accounts[1]), debt);
    assert_eq!(balance(&caller, &company, accounts[0]), cost);
    caller.audit();
}

/// Pensions Act 2008 (GB) s. 13 and 20(1): the employer pays at least 3 % of qualifying earnings, 520 to 4,189 a month.
#[test]
fn a_part_of_qualifying_earnings_counts_those_of_the_month_once() {
    let caller = world();
    let company = caller.company(1);
    let person = caller.payable(&company).remove(0);
    let part = json!({"rate_bp": 300, "earnings": "qualifying"});
    let plan = json!([{"label": "Pension", "type": "pension_net_pay", "amount": 12_400, "employer": part}]);
    terms(&caller, &person, 300_000, "GBP", &plan);
    let first = paid(&caller, &run(&caller, &company, "2026-01", &person));
    assert_eq!(
        lines(&payslip(&caller, &first), "employer_contributions", "Pension (employer)"),
        [7_440]
    );
    let body = json!({
        "company_id": company, "period": "2026-02", "type": "off_cycle", "employee_ids": [person],
    });
    let bonus = draft(&caller, &body);
    let item = json!({
        "employee_id": person,
        "earnings": [{"label": "Bonus", "amount": 200_000, "type": "bonus"}],
        "deductions": [{"label": "Pension", "type": "pension_net_pay", "amount": 0, "employer": part}],
    });
    let regular = paid(&caller, &run(&caller, &company, "2026-02", &person));
    assert_eq!(items(&caller, &regular)[0]["employer_benefits"], 7_440);
    edit(&caller, &bonus, &json!({"items": [item]})).expect(200);
    let bonus = items(&caller, &calculated(&caller, &bonus)).remove(0);
    assert!(number(&bonus["employer_benefits"]) > 0, "{bonus}");
    caller.audit();
}

/// Pensions Act 2008 (GB) s. 13 and 20(1): worker and employer pay at least 8 % of the qualifying earnings of the pay
/// period, 520 to 4,189 a month. This includes a bonus and pay for a part of a month.
#[test]
fn a_deduction_with_a_rate_follows_the_pay_of_the_period() {
    let caller = world();
    let company = caller.company(1);
    let person = caller.payable(&company).remove(0);
    let part = json!({"rate_bp": 300, "earnings": "qualifying"});
    let plan = json!([{
        "label": "Pension", "type": "pension_net_pay", "rate_bp": 500, "earnings": "qualifying",
        "employer": part,
    }]);
    let shown = terms(&caller, &person, 300_000, "GBP", &plan);
    let shown = &shown["compensation"]["deductions"][0];
    assert_eq!((&shown["rate_bp"], &shown["amount"]), (&json!(500), &json!(0)));
    let both = |run: &Value| {
        let slip = payslip(&caller, &paid(&caller, run));
        let own = lines(&slip, "deductions", "Pension");
        (number(&slip["gross"]), own, lines(&slip, "employer_contributions", "Pension (employer)"))
    };
    let regular = run(&caller, &company, "2026-01", &person);
    assert_eq!(regular["warnings"], Value::Null);
    assert_eq!(both(&regular), (300_000, vec![12_400], vec![7_440]));
    let body = json!({"company_id": company, "period": "2026-02", "employee_ids": [person]});
    let drafted = draft(&caller, &body);
    let bonus = json!({
        "employee_id": person,
        "earnings": [{"label": "Bonus", "amount": 100_000, "type": "bonus"}],
    });
    edit(&caller, &drafted, &json!({"items": [bonus]})).expect(200);
    let with_bonus = calculated(&caller, &drafted);
    assert_eq!(both(&with_bonus), (400_000, vec![17_400], vec![10_440]));
    // The last days of work: gross pay of a part of April is below the band.
    let path = format!("/api/business/employees/{person}/terminate");
    let last = json!({"last_working_day": "2026-04-02", "reason": "resignation"});
    caller.post(&path, &last).expect(200);
    let (gross, own, employer) = both(&run(&caller, &company, "2026-04", &person));
    assert!((1..52_000).contains(&gross), "{gross}");
    assert_eq!((own, employer), (Vec::new(), Vec::new()));
    caller.audit();
}

/// Pensions Act 2008 (GB) s. 13 and 20(1): contributions are due on the qualifying earnings of the pay period, 520 to 4,189 a month, a bonus included: 5 and
/// 3 % of 3,480 of the bonus, and of the 189 that it leaves to the regular pay.
#[test]
fn a_bonus_of_its_own_run_is_in_the_band_of_its_pay_period() {
    let caller = world();
    let company = caller.company(1);
    let person = caller.payable(&company).remove(0);
    let part = json!({"rate_bp": 300, "earnings": "qualifying"});
    let plan = json!([{
        "label": "Pension", "type": "pension_net_pay", "rate_bp": 500, "earnings": "qualifying",
        "employer": part,
    }]);
    terms(&caller, &person, 300_000, "GBP", &plan);
    let body = json!({
        "company_id": company, "period": "2026-01", "type": "off_cycle", "employee_ids": [person],
    });
    let bonus = draft(&caller, &body);
    let line = json!({"label": "Bonus", "amount": 400_000, "type": "bonus"});
    let item = json!({"employee_id": person, "earnings": [line]});
    edit(&caller, &bonus, &json!({"items": [item]})).expect(200);
    let bonus = calculated(&caller, &bonus);
    verb(&caller, &bonus, "approve", &json!({})).expect(200);
    let regular = paid(&caller, &run(&caller, &company, "2026-01", &person));
    for (run, own, employer) in [(&bonus, 17_400, 10_440), (&regular, 945, 567)] {
        let slip = payslip(&caller, run);
        assert_eq!(lines(&slip, "deductions", "Pension"), [own]);
        assert_eq!(lines(&slip, "employer_contributions", "Pension (employer)"), [employer]);
    }
    caller.audit();
}

#[test]
fn a_wrong_rate_of_a_deduction_is_refused_with_its_member() {
    let caller = world();
    let company = caller.company(1);
    let person = caller.payable(&company).remove(0);
    let rows = [
        (json!({}), "/deductions/0/amount"),
        (json!({"amount": 1, "rate_bp": 500}), "/deductions/0/amount"),
        (json!({"rate_bp": 0}), "/deductions/0/rate_bp"),
        (json!({"rate_bp": 10_001}), "/deductions/0/rate_bp"),
        (json!({"rate_bp": 500, "earnings": "none"}), "/deductions/0/earnings"),
        (json!({"amount": 500, "earnings": "qualifying"}), "/deductions/0/earnings"),
    ];
    refuses_each(
        &caller,
        &person,
        "GBP",
        rows.map(|(more, pointer)| {
            let mut deduction = json!({"label": "Pension", "type": "pension_net_pay"});
            deduction.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            (deduction, pointer)
        }),
    );
}

/// A fixed amount, such as the employer's part of a medical scheme, is a month's, ends at its limit of the year, and needs no deduction.
#[test]
fn a_fixed_part_ends_at_its_limit_of_the_year() {
    let caller = world();
    let company = caller.company(0);
    caller.pay_monthly(&company);
    let person = caller.payable(&company).remove(0);
    let part = json!({"amount": 40_000, "annual_limit": 90_000});
    let plan = json!([{"label": "Health", "timing": "post_tax", "amount": 0, "employer": part}]);
    terms(&caller, &person, 500_000, "USD", &plan);
    let parts: Vec<Value> = ["2026-01", "2026-02", "2026-03", "2026-04"]
        .iter()
        .map(|month| {
            let run = paid(&caller, &run(&caller, &company, month, &person));
            items(&caller, &run)[0]["employer_benefits"].clone()
        })
        .collect();
    assert_eq!(parts, [json!(40_000), json!(40_000), json!(10_000), Value::Null]);
    caller.audit();
}

#[test]
fn a_wrong_employer_part_is_refused_with_its_member() {
    let caller = world();
    let company = caller.company(0);
    let person = caller.payable(&company).remove(0);
    let tier = |upto_bp: i64| json!({"rate_bp": 5_000, "upto_bp": upto_bp});
    let rows = [
        (json!({}), "/deductions/0/employer"),
        (json!({"amount": 1, "rate_bp": 1}), "/deductions/0/employer"),
        (json!({"rate_bp": 0}), "/deductions/0/employer/rate_bp"),
        (json!({"amount": -1}), "/deductions/0/employer/amount"),
        (json!({"match": []}), "/deductions/0/employer/match"),
        (json!({"match": [tier(300), tier(300)]}), "/deductions/0/employer/match/1/upto_bp"),
        (json!({"match": [tier(10_001)]}), "/deductions/0/employer/match/0/upto_bp"),
        (json!({"rate_bp": 300, "earnings": "qualifying"}), "/deductions/0/employer/earnings"),
        (json!({"amount": 300, "earnings": "qualifying"}), "/deductions/0/employer/earnings"),
        (json!({"rate_bp": 300, "limit": 1}), "/deductions/0/employer/limit"),
    ];
    refuses_each(
        &caller,
        &person,
        "USD",
        rows.map(|(employer, pointer)| {
            (json!({"label": "Plan", "type": "401k", "amount": 1, "employer": employer}), pointer)
        }),
    );
}

/// Finance Act 2004, s. 193: relief is given for the paid contribution, not for the agreed one.
#[test]
fn a_pension_contribution_that_fits_in_part_lowers_taxable_pay_by_that_part() {
    let (caller, person) = payable_in("GB");
    let body = json!({"tax_attributes": {"tax_code": "BR", "tax_basis": "w1m1"}});
    caller.patch(&format!("/api/business/employees/{person}"), &body).expect(200);
    let pension = json!([
        {"id": "pension", "label": "Pension", "amount": 400_000, "type": "pension_net_pay"},
    ]);
    set_pay(&caller, &person, 400_000, &pension);
    let company = &caller.get(&format!("/api/business/employees/{person}")).data()["company_id"];
    let body = json!({"company_id": company, "period": "2026-01", "employee_ids": [person]});
    let run = paid(&caller, &calculated(&caller, &draft(&caller, &body)));
    let payslip =
        caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run))).remove(0);
    let taken = number(&payslip["deductions"][0]["amount"]);
    // 8 % of the excess over 1,048.00 is 236.16. Tax at 20 % of whole pounds is on the pay after the pension.
    let (tax, insurance) = (payslip["taxes"][0]["amount"].clone(), 23_616);
    assert_eq!(payslip["taxable"], (400_000 - taken) / 100 * 100);
    assert_eq!(tax, (400_000 - taken) / 100 * 20);
    assert_eq!((400_000 - taken - number(&tax) - insurance, &payslip["net"]), (0, &json!(0)));
    assert!(taken > 370_000, "{payslip}");
    caller.audit();
}
