//! An authority with several forms: each declares its own taxes.

use serde_json::{Value, json};

use super::{FILINGS, owed, submit};
use crate::harness::Caller;
use crate::harness::world::{id, number};

fn of_form(caller: &Caller, company: &str, form: &str) -> Vec<Value> {
    caller.all(&format!("/api/business/tax-liabilities?company_id={company}&form={form}"))
}

fn sum(rows: &[Value]) -> i64 {
    rows.iter().map(|row| number(&row["amount"])).sum()
}

/// 26 CFR 31.6011(a)-3: FUTA is reported on Form 940; Form 941 has income tax, Social Security and Medicare (26 CFR 31.6011(a)-1). 26 CFR
/// 31.6302(c)-3: FUTA is deposited by the quarter.
#[test]
fn unemployment_tax_is_declared_on_form_940_and_not_on_form_941() {
    let caller = Caller::instant();
    let company = caller.company(2);
    let before = owed(&caller, &company, "tax_payable:IRS");
    for month in ["2026-01", "2026-02"] {
        caller.run_payroll(&company, month);
    }
    let (monthly, yearly) = (of_form(&caller, &company, "941"), of_form(&caller, &company, "940"));
    assert_eq!((monthly.len(), yearly.len()), (2, 2));
    assert!(yearly.iter().all(|row| row["authority"] == "IRS" && row["due_on"] == "2026-04-30"));
    assert_eq!(
        owed(&caller, &company, "tax_payable:IRS") - before,
        sum(&monthly) + sum(&yearly),
        "one account holds the liabilities of both forms"
    );
    let mut body = json!({
        "company_id": company, "tax_type": "IRS", "period": "2026-01", "jurisdiction": "US",
    });
    let refused = {
        let mut wrong = body.clone();
        wrong["form"] = "W-2".into();
        caller.post(FILINGS, &wrong).refused(422, "validation_failed")
    };
    assert_eq!(refused["errors"][0]["pointer"], "/form");
    assert_eq!(refused["errors"][0]["code"], "nothing_owed");
    assert!(refused["detail"].as_str().unwrap().contains("940, 941"), "{refused}");

    let first = caller.post(FILINGS, &body).expect(201)["data"].take();
    assert_eq!((&first["form"], &first["period"]), (&json!("941"), &json!("2026-01")));
    assert_eq!(first["amount"], monthly[0]["amount"]);
    body["form"] = "940".into();
    let quarter = caller.post(FILINGS, &body).expect(201)["data"].take();
    assert_eq!((&quarter["form"], &quarter["period"]), (&json!("940"), &json!("2026-03")));
    assert_eq!(number(&quarter["amount"]), sum(&yearly), "both months of the quarter");
    for filing in [&first, &quarter] {
        submit(&caller, filing).expect(202);
    }
    let filed = of_form(&caller, &company, "940");
    assert!(filed.iter().all(|row| row["status"] == "paid"));
    assert!(filed.iter().all(|row| row["tax_filing_id"] == *id(&quarter)));
    caller.audit();
}

/// 26 CFR 31.6302(c)-3(a)(2): FUTA tax of at most 500 USD is carried to the next quarter, and is due together with the tax of that quarter.
#[test]
fn a_small_unemployment_tax_is_carried_to_the_next_quarter() {
    let owed = |caller: &Caller, company: &str| {
        let rows = of_form(caller, company, "940");
        let states = rows.iter().map(|row| json!([row["status"], row["due_on"]]));
        (sum(&rows), states.collect::<Vec<_>>())
    };
    let pay = |months: &[&str], until: &str| {
        let caller = Caller::manual();
        let company = caller.company(2);
        for month in months {
            caller.run_payroll(&company, month);
        }
        caller.advance(&json!({"to": until}));
        (caller, company)
    };

    let (caller, company) = pay(&["2026-01"], "2026-05-02T00:00:00Z");
    let (amount, states) = owed(&caller, &company);
    assert!(amount <= 50_000, "{amount}");
    assert_eq!(states, [json!(["accrued", "2026-07-31"])]);
    caller.run_payroll(&company, "2026-05");
    caller.advance(&json!({"to": "2026-07-31T12:00:00Z"}));
    let (amount, states) = owed(&caller, &company);
    assert!(amount > 50_000, "{amount}");
    assert_eq!(states, vec![json!(["due", "2026-07-31"]); 2], "both quarters together");

    let (caller, company) = pay(&["2026-01", "2026-02"], "2026-05-02T00:00:00Z");
    let (amount, states) = owed(&caller, &company);
    assert!(amount > 50_000, "{amount}");
    assert_eq!(states, vec![json!(["late", "2026-04-30"]); 2]);

    let (caller, company) = pay(&["2026-01"], "2027-02-03T00:00:00Z");
    let (_, states) = owed(&caller, &company);
    assert_eq!(states[0], json!(["late", "2027-02-01"]), "nothing is carried past the year");
}

/// Without `form`, each call declares the next form of the authority.
#[test]
fn an_authority_is_filed_form_by_form() {
    let caller = Caller::instant();
    let company = caller.company(2);
    caller.run_payroll(&company, "2026-01");
    let body = json!({
        "company_id": company, "tax_type": "IRS", "period": "2026-01", "jurisdiction": "US",
    });
    for form in ["941", "940"] {
        assert_eq!(caller.post(FILINGS, &body).expect(201)["data"]["form"], form);
    }
    let refused = caller.post(FILINGS, &body).refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["code"], "nothing_owed");
}
