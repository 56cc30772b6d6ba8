//! Totals that an employee brings into the tax year: on the forms of this employer, or of others.

use serde_json::{Value, json};

use super::{DOCUMENTS, amount, of, off_cycle, payslips, world};
use crate::harness::Caller;
use crate::harness::world::{id, number};

/// A verified employee of the company with totals of the tax year.
fn hired(caller: &Caller, company: &str, more: &Value) -> String {
    let mut body = json!({
        "company_id": company, "name": "Ada Obi", "role": "Clerk", "department": "Finance",
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let person = caller.post("/api/business/employees", &body).made();
    let path = format!("/api/business/employees/{}/verify-payroll", id(&person));
    caller.post(&path, &json!({})).expect(202);
    let path = format!("/api/business/employees/{}/activate", id(&person));
    caller.post(&path, &json!({})).expect(200);
    caller.advance(&json!({"by": "2d"}));
    id(&person).to_owned()
}

fn bonus(caller: &Caller, company: &str, person: &str, amount: i64) {
    let line = json!({"id": "bonus", "label": "Bonus", "amount": amount, "type": "bonus"});
    off_cycle(caller, company, "2026-01", &json!({"employee_id": person, "earnings": [line]}));
    caller.advance(&json!({"by": "30d"}));
}

/// IRS, General Instructions for Forms W-2 and W-3: the boxes have all wages of the year from this employer. 26 USC 3121(a)(1): the base of
/// 184,500 in 2026 is that of each employer, so totals that count towards it are of this one.
#[test]
fn a_w2_has_the_totals_that_a_year_began_with() {
    let caller = world(&[]);
    let company = caller.company(2);
    let totals = json!({
        "gross": 18_400_000, "fica_wages": 18_400_000, "income_tax_wages": 18_400_000,
        "social_security": 1_140_800, "federal_income_tax": 3_000_000,
    });
    let person = hired(
        &caller,
        &company,
        &json!({
            "start_date": "2026-01-01", "tax_id": "801234567",
            "compensation": {"amount": 909_091, "currency": "USD", "interval": "month"},
            "payment_method": {"type": "bank", "bank_code": "021000021", "account_number": "123456789"},
            "year_to_date": {"tax_year_start": "2026-01-01", "totals": totals},
        }),
    );
    bonus(&caller, &company, &person, 909_091);
    let w2 = of(&caller, "W-2", &company, "2026", Some(&person)).data();
    assert_eq!(amount(&w2, "1"), 19_309_091);
    assert_eq!(amount(&w2, "2"), 3_000_000 + 200_000, "22 % of the bonus");
    assert_eq!(amount(&w2, "3"), 18_450_000);
    assert_eq!(amount(&w2, "4"), 1_143_900, "6.2 % of 184,500");
    assert_eq!(amount(&w2, "5"), 19_309_091);
}

/// Canada Pension Plan, s. 8(1), and Employment Insurance Act, s. 82: each employer deducts contributions up to the
/// limits of the year. Deductions by earlier employers do not count. The T4 has the amounts of this employer.
#[test]
fn a_canadian_employer_takes_contributions_that_an_earlier_one_took() {
    let caller = world(&[]);
    let company = caller.company(5);
    let known = caller.payable(&company).remove(0);
    let known = caller.get(&format!("/api/business/employees/{known}")).data();
    let method = &known["payment_method"];
    let totals = json!({
        "gross": 9_000_000, "income": 9_000_000, "pensionable": 9_000_000, "cpp": 423_045,
        "cpp2": 41_600, "ei": 112_307,
    });
    let person = hired(
        &caller,
        &company,
        &json!({
            "start_date": "2026-01-01", "tax_id": known["tax_id"],
            "compensation": {"amount": 600_000, "currency": "CAD", "interval": "month"},
            "payment_method": {
                "type": "bank", "bank_code": method["bank_code"],
                "account_number": method["account_number"],
            },
            "year_to_date": {"tax_year_start": "2026-01-01", "totals": totals},
        }),
    );
    bonus(&caller, &company, &person, 600_000);
    let path = format!("/api/business/payslips?employee_id={person}");
    let slip = caller.all(&path).remove(0);
    let taken = slip["contributions"].as_array().unwrap().iter();
    let taken: Vec<&str> = taken.map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(taken, ["cpp", "ei"]);
    let t4 = of(&caller, "T4", &company, "2026", Some(&person)).data();
    assert_eq!((amount(&t4, "24"), amount(&t4, "26")), (600_000, 600_000));
}

/// A British employee with these tax attributes and totals of the tax year.
fn british(
    caller: &Caller,
    company: &str,
    start: &str,
    [attributes, totals]: &[Value; 2],
) -> String {
    let more = json!({
        "start_date": start, "tax_id": "MW123456A", "tax_attributes": attributes,
        "compensation": {"amount": 300_000, "currency": "GBP", "interval": "month"},
        "payment_method": {"type": "bank", "bank_code": "200000", "account_number": "55779911"},
        "year_to_date": {"tax_year_start": "2025-04-06", "totals": totals},
    });
    hired(caller, company, &more)
}

/// HMRC manual NIM10002: pay by different employers is not added together. Earlier pay of this employment counts towards the thresholds of the year.
#[test]
fn national_insurance_of_a_director_leaves_out_earlier_employers() {
    let caller = world(&[]);
    let company = caller.company(1);
    // 8 % of 40,000 - 12,570, and 15 % of 40,000 - 5,000
    let totals = json!({
        "gross": 4_000_000, "income_tax": 800_000,
        "national_insurance": 219_440, "national_insurance_employer": 525_000,
    });
    // 15 % of 9,000 - 5,000; else 8 % and 15 % of 9,000
    for (start, taken) in [("2026-01-01", [0, 60_000]), ("2024-03-04", [72_000, 135_000])] {
        let attributes = json!({"director": "annual", "tax_code": "BR", "tax_basis": "w1m1"});
        let person = british(&caller, &company, start, &[attributes, totals.clone()]);
        bonus(&caller, &company, &person, 900_000);
        let slip = caller.all(&format!("/api/business/payslips?employee_id={person}")).remove(0);
        let line = |list: &str, id: &str| {
            let lines = slip[list].as_array().unwrap();
            lines.iter().find(|it| it["id"] == id).map_or(0, |it| number(&it["amount"]))
        };
        let employer = line("employer_contributions", "national_insurance_employer");
        assert_eq!([line("contributions", "national_insurance"), employer], taken, "{start}");
        // Income tax counts all pay of the year.
        assert_eq!(number(&slip["ytd"]["taxable_pay"]), 4_900_000, "{start}");
    }
}

/// HMRC, P60 (Single sheet): pay in previous employments is that of the P45. An employment that had begun before the employee was recorded here has
/// its own earlier pay. Guidance on RTI data items: pay and tax to date on an FPS are those of this employment.
#[test]
fn a_p60_and_an_fps_tell_earlier_pay_of_this_employment_from_that_of_others() {
    let caller = world(&[]);
    let company = caller.company(1);
    let (nothing, totals) = ((0, 0), (2_000_000, 300_000));
    let rows = [("2026-01-01", totals, nothing), ("2024-03-04", nothing, totals)];
    for (start, before, here) in rows {
        let attributes = json!({"tax_code": "BR", "tax_basis": "w1m1"});
        let totals = json!({"gross": 2_000_000, "income_tax": 300_000});
        let person = british(&caller, &company, start, &[attributes, totals]);
        caller.advance(&json!({"by": "5d"}));
        bonus(&caller, &company, &person, 100_000);
        let p60 = of(&caller, "P60", &company, "2025", Some(&person)).data();
        let boxes = |pay, tax| (amount(&p60, pay), amount(&p60, tax));
        assert_eq!(boxes("Previous pay", "Previous tax"), before, "{start}");
        assert_eq!(boxes("Pay", "Tax"), (here.0 + 100_000, here.1 + 20_000), "{start}");
        assert_eq!(boxes("Total pay", "Total tax"), (2_100_000, 320_000), "{start}");
        let slip = payslips(&caller, &person, "2026").remove(0);
        let fps = of(&caller, "FPS", &company, slip["pay_date"].as_str().unwrap(), None).data();
        let mut rows = fps["rows"].as_array().unwrap().iter();
        let row = rows.find(|row| row["employee_id"] == *person).unwrap();
        let to_date = (amount(row, "Taxable pay to date"), amount(row, "Tax to date"));
        assert_eq!(to_date, (here.0 + 100_000, here.1 + 20_000), "{start}");
    }
}

/// HMRC, P60 (Single sheet): pay of this employment before the history is no pay of a previous one. SARS, IRP5, code 3210: the periods worked. The
/// tax years of both countries began before the history.
#[test]
fn certificates_of_a_tax_year_have_the_pay_before_the_history() {
    let caller = world(&[]);
    let mut whole = 0;
    for (place, form, begins) in [(1, "P60", "2024-04-06"), (4, "IRP5", "2024-03-01")] {
        let company = caller.company(place);
        let list = format!("{DOCUMENTS}?company_id={company}&form={form}&period=2024");
        for entry in caller.all(&list) {
            let person = entry["employee_id"].as_str().unwrap();
            let document = of(&caller, form, &company, "2024", Some(person)).data();
            let months = number(&entry["payslip_count"]);
            assert_eq!(document["payslip_count"], months);
            let employee = caller.get(&format!("/api/business/employees/{person}")).data();
            let is_whole = employee["start_date"].as_str().unwrap() <= begins;
            whole += i64::from(is_whole);
            assert_eq!(months == 12, is_whole, "{document}");
            if form == "P60" {
                let previous = ["Previous pay", "Previous tax"].map(|it| amount(&document, it));
                assert_eq!(previous, [0, 0]);
                assert_eq!(amount(&document, "Pay"), amount(&document, "Total pay"));
                continue;
            }
            assert_eq!(amount(&document, "3210"), months);
            let slips = caller.all(&format!("/api/business/payslips?employee_id={person}"));
            let february = slips.iter().find(|it| it["period"] == "2025-02").unwrap();
            assert_eq!(amount(&document, "3699"), number(&february["ytd"]["gross"]));
        }
    }
    assert!(whole > 30, "{whole}");
    // The reconciliation adds up the certificates. Returns of months before the history do not exist.
    let company = caller.company(4);
    let total = of(&caller, "EMP501", &company, "2024", None).data();
    let list = format!("{DOCUMENTS}?company_id={company}&form=IRP5&period=2024");
    let certificates = caller.all(&list).into_iter().map(|entry| {
        let person = entry["employee_id"].as_str().unwrap();
        amount(&of(&caller, "IRP5", &company, "2024", Some(person)).data(), "4102")
    });
    assert_eq!(certificates.sum::<i64>(), amount(&total, "4102"));
    of(&caller, "EMP201", &company, "2024-12", None).refused(422, "validation_failed");
}

/// An employee since 2024 who was recorded with totals of the tax year that began on that day.
fn recorded_late(
    caller: &Caller,
    company: &str,
    (currency, year): (&str, &str),
    totals: &Value,
) -> String {
    let known = caller.payable(company).remove(0);
    let known = caller.get(&format!("/api/business/employees/{known}")).data();
    let method = &known["payment_method"];
    let more = json!({
        "start_date": "2024-03-04", "tax_id": known["tax_id"],
        "compensation": {"amount": 600_000, "currency": currency, "interval": "month"},
        "payment_method": {
            "type": "bank", "bank_code": method["bank_code"],
            "account_number": method["account_number"],
        },
        "year_to_date": {"tax_year_start": year, "totals": totals},
    });
    hired(caller, company, &more)
}

/// CRA, RC4120; SARS, BRS for PAYE: one slip has all pay of the year by one employer. The employment began before the employee was recorded here, so the
/// imported totals are of this employer. The totals on the last payslip contain them.
#[test]
fn slips_of_other_countries_have_the_imported_totals_of_this_employment() {
    let caller = world(&[]);
    let rows = [
        (
            5,
            "T4",
            "2026-01-01",
            "CAD",
            json!({"gross": 1_600_000, "cpp": 90_000, "ei": 26_080, "federal_tax": 200_000}),
            vec![
                ("14", "gross"),
                ("16", "cpp"),
                ("18", "ei"),
                ("24", "gross"),
                ("26", "pensionable"),
            ],
        ),
        (
            4,
            "IRP5",
            "2025-03-01",
            "ZAR",
            json!({"gross": 12_000_000, "paye": 2_800_000, "uif": 35_424}),
            vec![("3699", "gross"), ("4102", "paye")],
        ),
        (
            3,
            "P9A",
            "2026-01-01",
            "KES",
            json!({"gross": 30_000_000, "paye": 6_000_000}),
            vec![("Total L", "paye")],
        ),
        (
            0,
            "H1",
            "2026-01-01",
            "NGN",
            json!({"gross": 160_000_000, "paye": 20_000_000}),
            vec![("Gross", "gross"), ("Tax", "paye")],
        ),
    ];
    for (place, form, year, currency, totals, boxes) in rows {
        let company = caller.company(place);
        let person = recorded_late(&caller, &company, (currency, year), &totals);
        bonus(&caller, &company, &person, 600_000);
        let slip = caller.all(&format!("/api/business/payslips?employee_id={person}")).remove(0);
        let period = &year[..4];
        let document = match form {
            "H1" => {
                let document = of(&caller, form, &company, period, None).data();
                let rows = document["rows"].as_array().unwrap();
                rows.iter().find(|row| row["employee_id"] == *person).unwrap().clone()
            }
            _ => of(&caller, form, &company, period, Some(&person)).data(),
        };
        for (name, total) in boxes {
            let expected = number(&slip["ytd"][total]);
            assert!(
                expected > 0 && expected >= totals[total].as_i64().unwrap_or_default(),
                "{slip}"
            );
            assert_eq!(amount(&document, name), expected, "{form} {name}");
        }
    }
}
