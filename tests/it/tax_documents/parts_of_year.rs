//! Forms whose figures depend on a part of the year: an exemption, a letter, the days of a pay period.

use serde_json::{Value, json};

use super::{amount, in_box, line, of, off_cycle, payslips, sum, world};
use crate::harness::Caller;
use crate::harness::world::number;

fn set(caller: &Caller, employee: &str, values: &Value) {
    let path = format!("/api/business/employees/{employee}");
    caller.patch(&path, &json!({"tax_attributes": [values]})).expect(200);
}

/// CRA guide RC4120, boxes 24, 26 and 28: an employee who is exempt for the whole year has no insurable and no pensionable earnings.
#[test]
fn a_t4_of_an_exempt_employee_has_no_insurable_earnings() {
    let caller = world(&[]);
    let company = caller.company(5);
    let employee = caller.payable(&company).remove(0);
    let exempt = json!({"effective_from": "2026-01-01", "cpp_exempt": true, "ei_exempt": true});
    set(&caller, &employee, &exempt);
    caller.run_payroll(&company, "2026-01");
    let boxes = |year: &str| of(&caller, "T4", &company, year, Some(&employee)).data();
    let now = boxes("2026");
    assert!(amount(&now, "14") > 0);
    assert_eq!(["16", "18", "24", "26"].map(|name| amount(&now, name)), [0; 4]);
    assert_eq!(["28 CPP/QPP", "28 EI"].map(|name| in_box(&now["boxes"], name)), ["X"; 2]);
    let before = boxes("2025");
    assert!(amount(&before, "24") > 0 && amount(&before, "26") > 0);
    assert_eq!(in_box(&before["boxes"], "28 EI"), &Value::Null);
}

/// HMRC, Guidance on RTI data items 79 to 86C, and form P60: each National Insurance letter of the year has its own figures.
#[test]
fn each_letter_of_national_insurance_has_its_own_figures() {
    let caller = world(&[]);
    let company = caller.company(1);
    let employee = caller.payable(&company).remove(0);
    set(&caller, &employee, &json!({"effective_from": "2026-01-01", "ni_category": "C"}));
    caller.run_payroll(&company, "2026-01");
    let now = payslips(&caller, &employee, "2026").remove(0);
    let all = payslips(&caller, &employee, "2025");
    let year: Vec<Value> =
        all.into_iter().filter(|it| it["pay_date"].as_str().unwrap() >= "2025-04-06").collect();
    let (pay, earlier) = (number(&now["gross"]), sum(&year, "gross"));
    let taken = line(&year, "national_insurance");
    let by_employer = line(&year, "national_insurance_employer");
    assert!(taken > 0 && by_employer > 0);

    let fps = of(&caller, "FPS", &company, now["pay_date"].as_str().unwrap(), None).data();
    let rows = fps["rows"].as_array().unwrap();
    let rows: Vec<&Value> = rows.iter().filter(|row| row["employee_id"] == *employee).collect();
    assert_eq!(rows.len(), 2);
    let names = [
        "Gross earnings for NICs",
        "Gross earnings for NICs to date",
        "Employee contributions",
        "Employee contributions to date",
        "Employer contributions",
        "Employer contributions to date",
    ];
    let figures = |row: &Value| {
        let letter = in_box(&row["boxes"], "NI category letter").as_str().unwrap().to_owned();
        (letter, names.map(|name| number(in_box(&row["boxes"], name))))
    };
    // Letter C: no contributions of the employee, and 15 % above 417 a month of the employer.
    let of_now = line(std::slice::from_ref(&now), "national_insurance_employer");
    assert_eq!(figures(rows[0]), ("C".to_owned(), [pay, pay, 0, 0, of_now, of_now]));
    let before = [0, earlier, 0, taken, 0, by_employer];
    assert_eq!(figures(rows[1]), ("A".to_owned(), before));
    let has_tax =
        |row: &Value| row["boxes"].as_array().unwrap().iter().any(|it| it["box"] == "Tax to date");
    assert!(has_tax(rows[0]) && !has_tax(rows[1]));

    let p60 = of(&caller, "P60", &company, "2025", Some(&employee)).data();
    let rows = p60["rows"].as_array().unwrap().iter().map(|row| {
        let text = in_box(&row["boxes"], "NI letter").as_str().unwrap().to_owned();
        (text, number(in_box(&row["boxes"], "1e")))
    });
    assert_eq!(rows.collect::<Vec<_>>(), [("A".to_owned(), taken), ("C".to_owned(), 0)]);
}

/// 26 USC 106(d) and 6051(a)(11): code W has the employer's contribution and the employee's election.
#[test]
fn code_w_of_a_w2_has_both_parts() {
    let caller = world(&[]);
    let company = caller.company(2);
    let employee = caller.payable(&company).remove(0);
    let item = json!({
        "employee_id": employee,
        "earnings": [{"id": "bonus", "label": "Bonus", "amount": 2_000_000, "type": "bonus"}],
        "deductions": [{
            "id": "hsa", "label": "HSA", "amount": 50_000, "type": "hsa_s125", "employer": {"amount": 40_000},
        }],
    });
    off_cycle(&caller, &company, "2026-01", &item);
    let w2 = of(&caller, "W-2", &company, "2026", Some(&employee)).data();
    assert_eq!((amount(&w2, "12 W"), amount(&w2, "3")), (90_000, 1_950_000));
    // 26 USC 223(b)(2)(B) for 2026: 8,750.00 of both parts
    let mut more = item;
    more["deductions"][0]["amount"] = json!(700_000);
    more["deductions"][0]["employer"]["amount"] = json!(200_000);
    off_cycle(&caller, &company, "2026-01", &more);
    let w2 = of(&caller, "W-2", &company, "2026", Some(&employee)).data();
    assert_eq!((amount(&w2, "12 W"), amount(&w2, "3")), (875_000, 3_250_000));
}

/// IRS, Instructions for Form 941, line 1: the pay period that includes 12 March, 12 June, 12 September, 12 December.
#[test]
fn line_1_of_form_941_counts_the_pay_period_of_the_12th() {
    let caller = world(&[]);
    let company = caller.company(2);
    let mut differs = 0;
    for (quarter, twelfth) in
        [("Q1", "2025-03-12"), ("Q2", "2025-06-12"), ("Q3", "2025-09-12"), ("Q4", "2025-12-12")]
    {
        let form = of(&caller, "941", &company, &format!("2025-{quarter}"), None).data();
        let path = format!("/api/business/payslips?company_id={company}");
        let people = |contains: &dyn Fn(&Value) -> bool| {
            let all = caller.all(&path).into_iter().filter(|it| contains(it));
            let people = all.map(|it| it["employee_id"].as_str().unwrap().to_owned());
            let people: std::collections::BTreeSet<_> = people.collect();
            i64::try_from(people.len()).unwrap()
        };
        let on = people(&|it| {
            let day = |end: &str| it["pay_period"][end].as_str().unwrap().to_owned();
            day("start").as_str() <= twelfth && twelfth <= day("end").as_str()
        });
        assert_eq!(number(in_box(&form["boxes"], "1")), on, "{quarter}");
        let (first, last) =
            (form["starts_on"].as_str().unwrap(), form["ends_on"].as_str().unwrap());
        let paid = people(&|it| (first..=last).contains(&it["pay_date"].as_str().unwrap()));
        differs += i64::from(paid != on);
    }
    assert!(differs > 0, "someone joined after the 12th, or left before it");
}

/// CRA, form PD7A: the number of employees in the last pay period.
#[test]
fn a_pd7a_counts_the_last_pay_period() {
    let caller = world(&[]);
    let company = caller.company(5);
    let people = caller.payable(&company);
    for (person, month) in
        [(&people[0], "2025-12"), (&people[1], "2026-01"), (&people[2], "2026-01")]
    {
        let item = json!({
            "employee_id": person,
            "earnings": [{"id": "bonus", "label": "Bonus", "amount": 100_000, "type": "bonus"}],
        });
        off_cycle(&caller, &company, month, &item);
    }
    let list =
        caller.all(&format!("{}?company_id={company}&form=PD7A&period=2026-01", super::DOCUMENTS));
    assert_eq!(list[0]["payslip_count"], 3);
    let form = of(&caller, "PD7A", &company, "2026-01", None).data();
    assert_eq!(number(in_box(&form["boxes"], "Employees")), 2);
}

/// HMRC, Guidance on RTI data items: pay after statutory deductions is pay less income tax, National Insurance and student loans.
#[test]
fn pay_after_statutory_deductions_is_not_net_pay() {
    let caller = world(&[]);
    let company = caller.company(1);
    let employee = caller.payable(&company).remove(0);
    set(&caller, &employee, &json!({"effective_from": "2026-01-01", "student_loan": "plan1"}));
    let deduction = |kind: &str, amount: i64| json!({"id": kind, "label": kind, "amount": amount, "type": kind});
    let item = json!({
        "employee_id": employee,
        "earnings": [
            {"id": "bonus", "label": "Bonus", "amount": 900_000, "type": "bonus"},
            {"id": "car", "label": "Car", "amount": 20_000, "type": "benefit_in_kind"},
        ],
        "deductions": [
            deduction("pension_net_pay", 20_000), deduction("salary_sacrifice", 30_000),
            deduction("union_dues", 1_500), deduction("loan_repayment", 10_000),
        ],
        "reimbursements": [{"id": "travel", "label": "Travel", "amount": 7_777}],
    });
    off_cycle(&caller, &company, "2026-01", &item);
    caller.advance(&json!({"by": "30d"}));
    let slip = payslips(&caller, &employee, "2026").remove(0);
    let fps = of(&caller, "FPS", &company, slip["pay_date"].as_str().unwrap(), None).data();
    let mut rows = fps["rows"].as_array().unwrap().iter();
    let row = rows.find(|row| row["employee_id"] == *employee).unwrap();
    let taken = ["income_tax", "national_insurance", "student_loan"]
        .map(|id| line(std::slice::from_ref(&slip), id));
    assert!(taken.iter().all(|amount| *amount > 0), "{slip}");
    let pay = 900_000 + 20_000 - 30_000;
    let after = pay - taken.iter().sum::<i64>();
    assert_eq!(amount(row, "Pay after statutory deductions"), after);
}

/// KRA, form P10: total gross pay contains the benefits that are not paid in cash, for each employee and in total.
#[test]
fn the_gross_pay_of_a_p10_contains_benefits_in_kind() {
    let caller = world(&[]);
    let company = caller.company(3);
    let employee = caller.payable(&company).remove(0);
    let earning = |kind: &str, amount: i64| json!({"label": kind, "amount": amount, "type": kind});
    let earnings = [earning("overtime", 10_000_000), earning("benefit_in_kind", 2_000_000)];
    let item = json!({"employee_id": employee, "earnings": earnings});
    off_cycle(&caller, &company, "2026-01", &item);
    let form = of(&caller, "P10", &company, "2026-01", None).data();
    assert_eq!(amount(&form, "Gross pay"), 12_000_000);
    assert_eq!(number(in_box(&form["rows"][0]["boxes"], "Gross pay")), 12_000_000);
}
