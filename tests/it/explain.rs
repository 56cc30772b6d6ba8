//! The parts of amounts: they sum to the amount, and each has a rule.

use serde_json::{Value, json};

use crate::harness::world::{id, number};
use crate::harness::{Caller, command, finish};

fn explained(caller: &Caller, id: &str, pointer: &str) -> Value {
    caller.get(&format!("/_sandbox/explain/{id}?pointer={pointer}")).data()
}

/// Asserts that the parts sum to the amount of the resource, and that each of them is named.
fn check(explained: &Value, amount: i64) {
    assert_eq!(number(&explained["amount"]), amount, "{explained}");
    let parts = explained["parts"].as_array().unwrap();
    let sum: i64 = parts.iter().map(|part| number(&part["amount"])).sum();
    assert_eq!(sum, amount, "{explained}");
    assert!(parts.iter().all(|part| part["label"] != "other"), "{explained}");
}

/// All amounts of a resource that can be explained.
fn pointers(resource: &Value) -> Vec<String> {
    let members = |at: &str| {
        let members = resource.pointer(at).and_then(Value::as_object).into_iter().flatten();
        members.map(|(name, _)| format!("{at}/{name}")).collect::<Vec<_>>()
    };
    let lines = |list: &str| {
        let count = resource[list].as_array().map_or(0, Vec::len);
        (0..count).map(|place| format!("/{list}/{place}/amount")).collect::<Vec<_>>()
    };
    let plain = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    match resource["object"].as_str().unwrap() {
        "payslip" => {
            let lists = ["earnings", "taxes", "contributions", "employer_contributions"];
            let mut all = plain(&["/net", "/gross", "/employer_cost", "/taxable"]);
            all.extend(lists.iter().flat_map(|list| lines(list)));
            all.extend(members("/ytd"));
            all
        }
        "wallet" => plain(&["/available", "/pending", "/reserved", "/escrow"]),
        "ledger_account" => plain(&["/balance"]),
        "invoice" => plain(&["/total", "/net_total", "/tax_total"]),
        "payroll_run" => members("/totals"),
        "loan" => plain(&["/balances/principal_outstanding"]),
        _ => plain(&["/score"]),
    }
}

/// Ten thousand amounts, chosen by a fixed sequence among all that can be explained: of pay, of balances, of invoices, runs, loans and scores.
#[test]
fn the_parts_of_ten_thousand_amounts_sum_to_them() {
    let caller = Caller::instant();
    for event in [
        "credit_score.completed",
        "trust_score.completed",
        "insurance_risk_score.completed",
        "readiness_assessment.completed",
        "loan.repayment_received",
    ] {
        caller.post("/_sandbox/trigger", &json!({"type": event})).expect(200);
    }
    caller.run_payroll(&caller.company(0), "2026-01");
    let mut kinds: Vec<Vec<Value>> = Vec::new();
    for path in [
        "business/payslips",
        "payments/wallets",
        "payments/invoices",
        "business/payroll-runs",
        "capital/loans",
        "capital/credit-scores",
        "identity/trust-scores",
        "capital/insurance-risk-scores",
        "capital/readiness-assessments",
    ] {
        kinds.push(caller.all(&format!("/api/{path}")));
    }
    let companies = caller.all("/api/business/companies");
    let accounts = companies.iter().flat_map(|company| {
        caller.all(&format!("/api/business/ledger-accounts?company_id={}", id(company)))
    });
    kinds.push(accounts.collect());
    assert!(kinds[0].len() > 500, "{} payslips", kinds[0].len());
    assert!(kinds.iter().all(|kind| !kind.is_empty()));
    let (mut state, mut rules, mut checked) = (0x9E37_79B9_7F4A_7C15_u64, 0, 0);
    while checked < 10_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = usize::try_from(state >> 33).unwrap();
        // Two thirds of the amounts are of pay.
        let kind = if draw % 3 > 0 { &kinds[0] } else { &kinds[draw / 3 % kinds.len()] };
        let resource = &kind[draw / 31 % kind.len()];
        let pointers = pointers(resource);
        let Some(pointer) = pointers.get(draw / 7 % pointers.len().max(1)) else { continue };
        let Some(amount) = resource.pointer(pointer).and_then(Value::as_i64) else { continue };
        let explained = explained(&caller, id(resource), pointer);
        check(&explained, amount);
        let parts = explained["parts"].as_array().unwrap();
        rules += parts.iter().filter(|part| part["rule"].is_object()).count();
        checked += 1;
    }
    assert!(rules > 2_000, "{rules} rules");
}

#[test]
fn a_line_of_pay_names_its_rate_base_and_sources() {
    let caller = Caller::instant();
    let path =
        format!("/api/business/payslips?employee_id={}", caller.payable(&caller.company(0))[0]);
    let payslip = caller.get(&path).data()[0].clone();
    let explained = explained(&caller, id(&payslip), "/contributions/0/amount");
    let rule = &explained["parts"][0]["rule"];
    assert_eq!((&rule["line"], &rule["rate"]), (&json!("pension"), &json!("0.08")), "{explained}");
    assert_eq!(rule["base"], "pensionable");
    let eight_percent = number(&rule["base_amount"]) * 8 / 100;
    assert!((number(&explained["amount"]) - eight_percent).abs() <= 1, "{explained}");
    assert!(!rule["sources"].as_array().unwrap().is_empty());
    let tax = self::explained(&caller, id(&payslip), "/taxes/0/amount");
    let steps = tax["parts"][0]["rule"]["steps"].as_array().unwrap().clone();
    assert!(steps.iter().any(|step| step.get("bands").is_some()), "{tax}");
}

#[test]
fn balances_have_their_entries_and_scores_their_factors() {
    let caller = Caller::instant();
    for wallet in caller.all("/api/payments/wallets") {
        check(&explained(&caller, id(&wallet), "/available"), number(&wallet["available"]));
    }
    for event in [
        "credit_score.completed",
        "trust_score.completed",
        "insurance_risk_score.completed",
        "readiness_assessment.completed",
    ] {
        caller.post("/_sandbox/trigger", &json!({"type": event})).expect(200);
    }
    for path in [
        "capital/credit-scores",
        "identity/trust-scores",
        "capital/insurance-risk-scores",
        "capital/readiness-assessments",
    ] {
        let score = caller.all(&format!("/api/{path}")).remove(0);
        check(&explained(&caller, id(&score), "/score"), number(&score["score"]));
    }
    let company = caller.company(0);
    caller.get(&format!("/_sandbox/explain/{company}")).refused(422, "validation_failed");
    caller.get("/_sandbox/explain/psl_0000000000000").refused(404, "resource_not_found");
    caller.get("/_sandbox/explain/nothing").refused(404, "resource_not_found");
}

#[test]
fn a_refusal_of_a_kind_without_amounts_lists_the_kinds_with_amounts() {
    let caller = Caller::instant();
    let employee = caller.get("/api/business/employees?per_page=1").data()[0].clone();
    let path = format!("/_sandbox/explain/{}", id(&employee));
    let problem = caller.get(&path).refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["pointer"], "/id");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("(employee) has no amount that can be explained"), "{detail}");
    assert!(detail.contains("payslips, wallets, ledger accounts"), "{detail}");
}

#[test]
fn the_command_prints_the_parts() {
    let caller = Caller::instant();
    let payslip = caller.get("/api/business/payslips?per_page=1").data()[0].clone();
    let port = caller.port().to_string();
    let arguments = ["explain", id(&payslip), "--port", &port, "--api-key", caller.key()];
    let output = finish(&mut command(&arguments));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let first = format!("{} /net: {} ", id(&payslip), payslip["net"]);
    assert!(text.starts_with(&first) && text.lines().count() > 3, "{text}");
    let output = finish(command(&arguments).args(["--pointer", "/nothing"]));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("/nothing"));
}
