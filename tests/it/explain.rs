//! The parts of amounts: they sum to the amount, and a rule says each of them.

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

/// Ten thousand amounts of payslips, chosen by a fixed sequence among all payslips of three countries.
#[test]
fn the_parts_of_ten_thousand_amounts_of_pay_sum_to_them() {
    let caller = Caller::instant();
    let payslips = caller.all("/api/business/payslips");
    assert!(payslips.len() > 500, "{} payslips", payslips.len());
    let (mut state, mut rules) = (0x9E37_79B9_7F4A_7C15_u64, 0);
    for _ in 0..10_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = usize::try_from(state >> 33).unwrap();
        let payslip = &payslips[draw % payslips.len()];
        let lists = ["earnings", "taxes", "contributions", "employer_contributions"];
        let list = lists[draw / 7 % lists.len()];
        let lines = payslip[list].as_array().unwrap().len();
        let pointer = match draw / 31 % 4 {
            0 => "/net".to_owned(),
            1 => "/gross".to_owned(),
            2 => "/employer_cost".to_owned(),
            _ => format!("/{list}/{}/amount", draw / 131 % lines.max(1)),
        };
        let Some(amount) = payslip.pointer(&pointer) else { continue };
        let explained = explained(&caller, id(payslip), &pointer);
        check(&explained, number(amount));
        rules += explained["parts"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|it| it["rule"].is_object())
            .count();
    }
    assert!(rules > 10_000, "{rules} rules");
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
