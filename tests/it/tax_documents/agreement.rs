//! Documents, payslips and tax liabilities agree: after random runs, the documents of the employees add up to those of the employer.

use serde_json::{Value, json};

use super::{amount, in_box, line, of, off_cycle, payslips, world};
use crate::harness::Caller;
use crate::harness::world::{id, number};

/// A number below `most`, from a printed seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % most
    }
}

/// Pays the company for three months: regular runs of random employees, and random bonuses. Some runs are reversed.
fn pay(caller: &Caller, company: &str, chance: &mut Chance) {
    for month in ["2026-01", "2026-02", "2026-03"] {
        let people = caller.payable(company);
        let mut chosen: Vec<&String> = people.iter().filter(|_| chance.below(3) > 0).collect();
        chosen.extend(people.first().filter(|it| !chosen.contains(it)));
        let body = json!({"company_id": company, "period": month, "employees": chosen});
        let run = caller.post("/v1/payroll/run", &body).expect(201)["data"].take();
        if chance.below(4) == 0 {
            let target = format!("/api/business/payroll-runs/{}/reverse", id(&run));
            let reverse = json!({"reason": "Wrong month", "employee_ids": [chosen[0]]});
            caller.post(&target, &reverse).expect(200);
        }
        let employee = &people[usize::try_from(chance.below(people.len() as u64)).unwrap()];
        let earnings = json!([{
            "id": "bonus", "label": "Bonus", "amount": 1 + chance.below(900_000), "type": "bonus",
        }]);
        off_cycle(caller, company, month, &json!({"employee_id": employee, "earnings": earnings}));
    }
}

/// The company's liabilities to an authority with a form since the world's start, without void ones.
fn owed(caller: &Caller, company: &str, authority: &str, form: &str) -> i64 {
    let path = format!(
        "/api/business/tax-liabilities?company_id={company}&authority={authority}&form={form}"
    );
    let rows = caller.all(&path);
    let rows = rows.iter().filter(|row| row["status"] != "void");
    rows.map(|row| number(&row["amount"])).sum()
}

fn documents(caller: &Caller, form: &str, company: &str, period: &str) -> Vec<Value> {
    let path = format!("{}?company_id={company}&form={form}&period={period}", super::DOCUMENTS);
    let read =
        |entry: &Value| of(caller, form, company, period, entry["employee_id"].as_str()).data();
    caller.all(&path).iter().map(read).collect()
}

fn total(documents: &[Value], name: &str) -> i64 {
    documents.iter().map(|it| amount(it, name)).sum()
}

/// IRS, Instructions for Form 941: the amounts of the four quarters equal those of Form W-3, which are the sums of Forms W-2.
#[test]
fn the_w2s_of_a_year_add_up_to_the_941s_and_to_the_liabilities() {
    for seed in 1..=3 {
        println!("seed {seed}");
        let caller = world(&[]);
        let company = caller.company(2);
        pay(&caller, &company, &mut Chance(seed));
        let w2s = documents(&caller, "W-2", &company, "2026");
        let returns = documents(&caller, "941", &company, "2026-Q1");
        assert_eq!((returns.len(), w2s.is_empty()), (1, false));
        for (of_employees, of_employer) in
            [("1", "2"), ("2", "3"), ("3", "5a column 1"), ("5", "5c column 1")]
        {
            assert_eq!(total(&w2s, of_employees), total(&returns, of_employer), "{of_employees}");
        }
        assert_eq!(total(&returns, "6"), owed(&caller, &company, "IRS", "941"));
        let months = returns[0]["rows"].as_array().unwrap().iter();
        let months: i64 = months.map(|row| number(in_box(&row["boxes"], "16"))).sum();
        assert_eq!(months, total(&returns, "6"));
        let yearly = documents(&caller, "940", &company, "2026");
        assert_eq!(total(&yearly, "12"), owed(&caller, &company, "IRS", "940"));
        let people = caller.payable(&company);
        let paid: Vec<Value> = people.iter().flat_map(|it| payslips(&caller, it, "2026")).collect();
        let withheld =
            line(&paid, "federal_income_tax") + line(&paid, "federal_income_tax_supplemental");
        assert_eq!(total(&w2s, "2"), withheld);
        caller.audit();
    }
}

/// The monthly returns of a tax year, the certificates of its employees and the liabilities declare the same tax. SARS: EMP501 reconciles
/// EMP201 with IRP5. CRA: the T4 summary equals the remittances. KRA: P9A and P10. HMRC: P60 and FPS.
#[test]
fn certificates_add_up_to_the_returns_and_to_the_liabilities_in_each_country() {
    let caller = world(&[]);
    let mut chance = Chance(7);
    // Company, authority, form of the liabilities, employer's return with its total, its periods.
    let rows = [
        (5, "CRA", "PD7A", "PD7A", "Total", ["2026-01", "2026-02", "2026-03"]),
        (4, "SARS", "EMP201", "EMP201", "Total", ["2026-01", "2026-02", "2026-03"]),
        (3, "KRA", "P10", "P10", "Total", ["2026-01", "2026-02", "2026-03"]),
        (1, "HMRC", "EPS", "EPS", "Total", ["2026-01", "2026-02", "2026-03"]),
    ];
    for (number, authority, of_payment, form, total_box, periods) in rows {
        let company = caller.company(number);
        pay(&caller, &company, &mut chance);
        let returns: Vec<Value> =
            periods.iter().flat_map(|it| documents(&caller, form, &company, it)).collect();
        assert_eq!(
            total(&returns, total_box),
            owed(&caller, &company, authority, of_payment),
            "{form}"
        );
    }
    let nigerian = caller.company(0);
    pay(&caller, &nigerian, &mut chance);
    let declaration = documents(&caller, "H1", &nigerian, "2026");
    let owing = owed(&caller, &nigerian, "SIRS", "PAYE%20monthly%20schedule");
    assert_eq!(total(&declaration, "Tax"), owing);

    let sum = |form: &str, company: usize, name: &str, period: &str| {
        total(&documents(&caller, form, &caller.company(company), period), name)
    };
    assert_eq!(sum("T4", 5, "22", "2026"), {
        let months = ["2026-01", "2026-02", "2026-03"];
        months.map(|month| sum("PD7A", 5, "Tax", month)).iter().sum::<i64>()
    });
    for year in ["2025", "2026"] {
        assert_eq!(sum("IRP5", 4, "4149", year), sum("EMP501", 4, "4149", year), "{year}");
    }
    assert_eq!(sum("P9A", 3, "Total L", "2026"), {
        let months = ["2026-01", "2026-02", "2026-03"];
        months.map(|month| sum("P10", 3, "PAYE", month)).iter().sum::<i64>()
    });
    assert_eq!(sum("P9A", 3, "Total L", "2025"), {
        let months = (1..=12).map(|month| format!("2025-{month:02}"));
        months.map(|month| sum("P10", 3, "PAYE", &month)).sum::<i64>()
    });
    let british = caller.company(1);
    let entries = |form: &str| {
        let path = format!("{}?company_id={british}&form={form}", super::DOCUMENTS);
        let mut entries = caller.all(&path);
        entries.retain(|it| it["ends_on"].as_str().unwrap() <= "2026-04-05");
        entries.retain(|it| it["starts_on"].as_str().unwrap() >= "2025-04-06");
        entries
    };
    let total_of = |form: &str, name: &str| -> i64 {
        let read = |it: &Value| {
            let period = it["period"].as_str().unwrap();
            amount(&of(&caller, form, &british, period, it["employee_id"].as_str()).data(), name)
        };
        entries(form).iter().map(read).sum()
    };
    // Employees who have left have a P45 and no P60.
    let certified = total_of("P60", "Tax") + total_of("P45", "8 tax");
    assert_eq!(certified, total_of("FPS", "Income tax"));
}
