//! Tax documents are added up from payslips: their boxes, periods, refusals and PDF form.

mod agreement;
mod contractors;
mod openings;
mod parts_of_year;
mod periods;
mod refusals;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::http::Answer;
use crate::harness::server::Server;
use crate::harness::world::{id, number};
use std::sync::Arc;

const DOCUMENTS: &str = "/api/business/tax-documents";

/// A world with one company in each of six countries.
fn world(flags: &[&str]) -> Caller {
    let mut all = vec!["--companies", "6", "--employees-per-company", "25"];
    all.extend(["--countries", "NG,GB,US,KE,ZA,CA"]);
    all.extend(flags);
    Caller::of(&Arc::new(Server::start(&all)))
}

fn of(caller: &Caller, form: &str, company: &str, period: &str, employee: Option<&str>) -> Answer {
    let employee = employee.map(|it| format!("&employee_id={it}")).unwrap_or_default();
    caller.get(&format!("{DOCUMENTS}/{form}?company_id={company}&period={period}{employee}"))
}

/// The content of a box: an amount, a count or a text.
#[track_caller]
fn in_box<'a>(boxes: &'a Value, name: &str) -> &'a Value {
    let found = boxes.as_array().unwrap().iter().find(|it| it["box"] == *name);
    let found = found.unwrap_or_else(|| panic!("no box {name} in {boxes}"));
    let content = ["amount", "count", "text"].iter().find_map(|member| found.get(*member));
    content.unwrap_or(&Value::Null)
}

#[track_caller]
fn amount(document: &Value, name: &str) -> i64 {
    number(in_box(&document["boxes"], name))
}

/// Pays one employee outside the regular runs.
#[track_caller]
fn off_cycle(caller: &Caller, company: &str, month: &str, item: &Value) {
    let draft = json!({
        "company_id": company, "type": "off_cycle", "period": month,
        "employee_ids": [item["employee_id"]],
    });
    let run = caller.post("/api/business/payroll-runs", &draft).expect(201)["data"].take();
    let path = format!("/api/business/payroll-runs/{}", id(&run));
    caller.patch(&path, &json!({"items": [item]})).expect(200);
    caller.post(&format!("{path}/calculate"), &json!({})).expect(202);
    caller.post(&format!("{path}/approve"), &json!({})).expect(200);
}

/// The payslips of an employee, by a filter.
fn payslips(caller: &Caller, employee: &str, within: &str) -> Vec<Value> {
    let all = caller.all(&format!("/api/business/payslips?sort=created_at&employee_id={employee}"));
    let paid = |it: &Value| it["pay_date"].as_str().unwrap().starts_with(within);
    all.into_iter().filter(|it| paid(it) && it["status"] != "voided").collect()
}

/// The sum of a line over payslips.
fn line(payslips: &[Value], id: &str) -> i64 {
    let members = ["taxes", "contributions", "employer_contributions"];
    let lines = payslips.iter().flat_map(|it| members.map(|member| it[member].clone()));
    let lines = lines.flat_map(|lines| lines.as_array().unwrap().clone());
    lines.filter(|line| line["id"] == *id).map(|line| number(&line["amount"])).sum()
}

fn sum(payslips: &[Value], member: &str) -> i64 {
    payslips.iter().map(|it| number(&it[member])).sum()
}

/// IRS, General Instructions for Forms W-2 and W-3: boxes 1 to 6 of the year; 26 USC 3121(a)(1): box 3 ends at 176,100 USD in 2025.
#[test]
fn a_w2_adds_up_the_payslips_of_the_calendar_year() {
    let caller = world(&[]);
    let company = caller.company(2);
    let mut above = 0;
    for employee in caller.payable(&company) {
        let w2 = of(&caller, "W-2", &company, "2025", Some(&employee)).data();
        assert_eq!(w2["starts_on"], "2025-01-01");
        assert_eq!((&w2["ends_on"], &w2["complete"]), (&json!("2025-12-31"), &json!(true)));
        let paid = payslips(&caller, &employee, "2025");
        assert_eq!(w2["payslip_count"], paid.len());
        let gross = sum(&paid, "gross");
        assert_eq!(amount(&w2, "1"), gross);
        let supplemental = ["", "_high"]
            .map(|more| line(&paid, &format!("federal_income_tax_supplemental{more}")));
        let withheld = line(&paid, "federal_income_tax") + supplemental.iter().sum::<i64>();
        assert_eq!(amount(&w2, "2"), withheld);
        assert_eq!(amount(&w2, "3"), gross.min(17_610_000));
        assert_eq!(amount(&w2, "4"), line(&paid, "social_security"));
        assert_eq!(amount(&w2, "5"), gross);
        assert_eq!(amount(&w2, "6"), line(&paid, "medicare") + line(&paid, "additional_medicare"));
        above += usize::from(gross > 17_610_000);
        let shown = caller.get(&format!("/api/business/employees/{employee}")).data();
        assert_eq!(*in_box(&w2["boxes"], "a"), shown["tax_id"]);
        assert_eq!(*in_box(&w2["boxes"], "e"), shown["name"]);
    }
    assert!(above < caller.payable(&company).len());
}

/// A bonus, a 401(k) deferral and a section 125 election: 26 USC 401(k), 125 and 3121(a)(5)(G). Box 12 code D and code W.
#[test]
fn a_w2_shows_what_each_deduction_lowers() {
    let caller = world(&[]);
    let company = caller.company(2);
    let employee = caller.payable(&company).remove(0);
    let item = json!({
        "employee_id": employee,
        "earnings": [{"id": "bonus", "label": "Bonus", "amount": 1_000_000, "type": "bonus"}],
        "deductions": [
            {"id": "deferral", "label": "401(k)", "amount": 100_000, "type": "401k"},
            {"id": "hsa", "label": "HSA", "amount": 50_000, "type": "hsa_s125"},
        ],
    });
    off_cycle(&caller, &company, "2026-01", &item);
    let w2 = of(&caller, "W-2", &company, "2026", Some(&employee)).data();
    assert_eq!(w2["complete"], false);
    assert_eq!(amount(&w2, "1"), 850_000);
    let why = "26 CFR 31.3402(g)-1, 26 USC 402(e)(3): 22 % of the wages that the bonus leaves";
    assert_eq!(amount(&w2, "2"), 850_000 * 22 / 100, "{why}");
    assert_eq!(amount(&w2, "3"), 950_000);
    assert_eq!(amount(&w2, "4"), 58_900);
    assert_eq!(amount(&w2, "5"), 950_000);
    assert_eq!(amount(&w2, "12 D"), 100_000);
    assert_eq!(amount(&w2, "12 W"), 50_000);
}

/// HMRC: a P60 is for the tax year from 6 April to 5 April. CRA guide RC4120: box 26 ends at the maximum. SARS: 4149 is the total of 4102, 4141
/// and 4142. KRA, form P9A: a row for each month.
#[test]
fn each_country_has_its_certificate_for_employees() {
    let caller = world(&[]);
    for company in 0..6 {
        caller.run_payroll(&caller.company(company), "2026-01");
    }
    let one = |number| {
        let company = caller.company(number);
        let employee = caller.payable(&company).remove(0);
        (company, employee)
    };
    let (company, employee) = one(1);
    let p60 = of(&caller, "P60", &company, "2025", Some(&employee)).data();
    assert_eq!((&p60["starts_on"], &p60["ends_on"]), (&json!("2025-04-06"), &json!("2026-04-05")));
    let all = caller.all(&format!("/api/business/payslips?employee_id={employee}"));
    let of_year: Vec<Value> =
        all.into_iter().filter(|it| it["pay_date"].as_str().unwrap() >= "2025-04-06").collect();
    assert_eq!(p60["payslip_count"], of_year.len());
    // Pay for tax: contributions to a pension under a net pay arrangement are taken first (Finance Act 2004, section 193).
    let pensions = of_year.iter().flat_map(|it| it["deductions"].as_array().unwrap());
    let pensions: i64 = pensions.map(|line| number(&line["amount"])).sum();
    assert_eq!(amount(&p60, "Pay"), sum(&of_year, "gross") - pensions);
    assert_eq!(amount(&p60, "Tax"), line(&of_year, "income_tax"));
    assert_eq!(amount(&p60, "Total tax"), line(&of_year, "income_tax"));
    assert_eq!(amount(&p60, "Previous tax"), 0);
    assert_eq!(in_box(&p60["boxes"], "Final tax code"), "1257L");

    let (company, employee) = one(5);
    let t4 = of(&caller, "T4", &company, "2025", Some(&employee)).data();
    let paid = payslips(&caller, &employee, "2025");
    assert_eq!(amount(&t4, "14"), sum(&paid, "gross"));
    assert_eq!(amount(&t4, "26"), sum(&paid, "gross").min(8_500_000));
    assert_eq!(amount(&t4, "24"), sum(&paid, "gross").min(6_890_000));
    assert_eq!(amount(&t4, "22"), line(&paid, "federal_tax") + line(&paid, "ontario_tax"));

    let (company, employee) = one(4);
    let irp5 = of(&caller, "IRP5", &company, "2025", Some(&employee)).data();
    assert_eq!(
        (&irp5["starts_on"], &irp5["ends_on"]),
        (&json!("2025-03-01"), &json!("2026-02-28"))
    );
    assert_eq!(in_box(&irp5["boxes"], "2025"), "2026", "the year in which the year ends");
    assert_eq!(amount(&irp5, "3601") + amount(&irp5, "3605"), amount(&irp5, "3699"));
    let total = ["4102", "4141", "4142"].map(|code| amount(&irp5, code)).iter().sum::<i64>();
    assert_eq!(amount(&irp5, "4149"), total);

    let (company, employee) = one(3);
    let p9a = of(&caller, "P9A", &company, "2025", Some(&employee)).data();
    let rows = p9a["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    assert_eq!(rows[11]["period"], "2025-12");
    let taxes: i64 = rows.iter().map(|row| number(in_box(&row["boxes"], "L"))).sum();
    assert_eq!(amount(&p9a, "Total L"), taxes);
}

/// HMRC, form P45: boxes 4 and 6 to 8, for an employee whose employment has ended.
#[test]
fn a_p45_exists_when_the_employment_has_ended() {
    let caller = world(&[]);
    let company = caller.company(1);
    let employee = caller.payable(&company).remove(0);
    let path = format!("{DOCUMENTS}/P45?company_id={company}&employee_id={employee}");
    let refused = caller.get(&path).refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/employee_id");
    assert_eq!(refused["errors"][0]["code"], "still_employed");
    let target = format!("/api/business/employees/{employee}/terminate");
    let body = json!({"last_working_day": "2025-12-31", "reason": "New job", "final_pay": {"mode": "none"}});
    assert!(caller.post(&target, &body).status < 300);
    let p45 = caller.get(&path).data();
    assert_eq!(p45["period"], "2025-12-31");
    assert_eq!(in_box(&p45["boxes"], "4"), "2025-12-31");
    assert_eq!(in_box(&p45["boxes"], "6"), "1257L");
    let last = payslips(&caller, &employee, "2025").pop().unwrap();
    assert_eq!(amount(&p45, "7 tax"), number(&last["ytd"]["income_tax"]));
    assert_eq!(in_box(&p45["boxes"], "7 month"), "9", "December is tax month 9");
    let gone = of(&caller, "P60", &company, "2025", Some(&employee));
    let refused = gone.refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["code"], "employment_ended");
}

/// HMRC, notes on form P45: box 7 stays blank where the code is on week 1 or month 1.
#[test]
fn a_p45_has_no_totals_to_date_for_a_code_on_month_1() {
    let caller = world(&[]);
    let company = caller.company(1);
    let employee = caller.payable(&company).remove(0);
    let path = format!("/api/business/employees/{employee}");
    let basis = json!([{"effective_from": "2026-01-01", "tax_basis": "w1m1"}]);
    caller.patch(&path, &json!({"tax_attributes": basis})).expect(200);
    caller.run_payroll(&company, "2026-01");
    let last = json!({"last_working_day": "2026-01-31", "reason": "New job", "final_pay": {"mode": "none"}});
    assert!(caller.post(&format!("{path}/terminate"), &last).status < 300);
    caller.advance(&json!({"to": "2026-02-02T00:00:00Z"}));
    let form = format!("{DOCUMENTS}/P45?company_id={company}&employee_id={employee}");
    let boxes = caller.get(&form).data()["boxes"].take();
    assert_eq!(in_box(&boxes, "6 basis"), "w1m1");
    for blank in ["7 month", "7 pay", "7 tax"] {
        assert_eq!(in_box(&boxes, blank), &Value::Null, "{blank}");
    }
    assert!(number(in_box(&boxes, "8 pay")) > 0);
}

#[test]
fn an_employee_receives_the_document_as_a_page_to_print() {
    let caller = world(&[]);
    let forms = [(2, "W-2"), (1, "P60"), (5, "T4"), (4, "IRP5"), (3, "P9A")];
    for (number, form) in forms {
        let company = caller.company(number);
        let employee = caller.payable(&company).remove(0);
        let path =
            format!("{DOCUMENTS}/{form}?company_id={company}&period=2025&employee_id={employee}");
        let page = caller.request("GET", &path).header("Accept", "application/pdf");
        let page = page.send(caller.port());
        assert_eq!(page.status, 200, "{form}");
        assert_eq!(page.header("content-type"), Some("application/pdf"));
        assert!(page.body.starts_with(b"%PDF-") && page.body.len() > 2_000);
        let file = page.header("content-disposition").unwrap();
        assert!(file.contains(&format!("{form}-2025-{employee}")), "{file}");
    }
}

#[test]
fn every_listed_tax_document_can_be_read() {
    let caller = world(&[]);
    let company = caller.company(2);
    let all = caller.all(&format!("{DOCUMENTS}?company_id={company}"));
    let of_form = |form: &str| all.iter().filter(|it| it["form"] == *form).count();
    assert_eq!((of_form("940"), of_form("941")), (1, 4));
    assert!(of_form("W-2") >= caller.payable(&company).len());
    assert_eq!(of_form("P60"), 0);
    for entry in all.iter().step_by(5) {
        let period = entry["period"].as_str().unwrap();
        let read = of(
            &caller,
            entry["form"].as_str().unwrap(),
            &company,
            period,
            entry["employee_id"].as_str(),
        );
        let read = read.data();
        for member in entry.as_object().unwrap().keys() {
            assert_eq!(read[member], entry[member], "{member}");
        }
    }
    let quarter = caller.all(&format!("{DOCUMENTS}?company_id={company}&form=941&period=2025-Q2"));
    assert_eq!(quarter.len(), 1);
    assert_eq!(quarter[0]["starts_on"], "2025-04-01");
    let employee = caller.payable(&company).remove(0);
    let own = caller.all(&format!("{DOCUMENTS}?company_id={company}&employee_id={employee}"));
    assert!(own.iter().all(|it| it["employee_id"] == *employee) && own.len() == 1);
}
