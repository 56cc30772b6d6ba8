//! Properties of credit scores in any world: two worlds of one seed make the same generated calls except for
//! one difference, and the test compares their
//! scores on the way.
//!
//! `SANDBOX_TEST_SEQUENCES=SEED:COUNT` generates other sequences of calls.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{factor, score};
use crate::harness::world::{id, number};
use crate::harness::{Caller, Server};
use crate::walk::Chance;

/// The seeds of the worlds, and the number of sequences in each.
const WORLDS: [(u64, usize); 3] = [(1, 3), (7, 3), (2_026, 3)];
/// The days on which two worlds are compared.
const DAYS: [&str; 6] =
    ["2026-02-05", "2026-02-13", "2026-02-27", "2026-03-24", "2026-05-05", "2026-08-10"];

/// Every sequence: two equal worlds, a company, and the random numbers of the sequence.
fn sequences(run: impl Fn([&Caller; 2], &str, &str, &mut Chance)) {
    let wanted = std::env::var("SANDBOX_TEST_SEQUENCES").ok();
    let wanted = wanted.map(|text| {
        let (seed, count) = text.split_once(':').expect("SEED:COUNT");
        vec![(seed.parse().expect("a seed"), count.parse().expect("a count"))]
    });
    for (seed, count) in wanted.unwrap_or_else(|| WORLDS.to_vec()) {
        let server = Arc::new(Server::start(&["--seed", &seed.to_string()]));
        for sequence in 0..count {
            let twins = [Caller::of(&server), Caller::of(&server)];
            let company =
                twins[0].get("/api/business/companies").expect(200)["data"][sequence % 3].take();
            let mut chance = Chance(seed ^ (sequence as u64) << 32);
            println!("seed {seed}, sequence {sequence}");
            run(twins.each_ref(), id(&company), company["currency"].as_str().unwrap(), &mut chance);
        }
    }
}

fn to(caller: &Caller, day: &str) {
    caller.advance(&json!({"to": format!("{day}T12:00:00Z")}));
}

/// An amount of any size up to ten billion.
fn some_amount(chance: &mut Chance) -> i64 {
    let size = 10_usize.pow(u32::try_from(chance.below(11)).unwrap());
    i64::try_from(chance.below(size) + 1).unwrap()
}

/// A customer pays, on a past day or today.
fn earn(caller: &Caller, company: &str, currency: &str, amount: i64, on: Option<&str>) {
    let Some(day) = on else {
        let body = json!({"company_id": company, "amount": amount, "from": "customer"});
        caller.post("/_sandbox/inbound/bank_transfer", &body).expect(200);
        return;
    };
    let line = |account, direction| json!({"account": account, "direction": direction, "amount": amount, "currency": currency});
    let lines = [line("accounts_receivable", "debit"), line("sales", "credit")];
    let body = json!({"company_id": company, "effective_on": day, "memo": "Found", "lines": lines});
    caller.post("/api/business/journal-entries", &body).expect(201);
}

/// Files all liabilities of the company.
fn file(caller: &Caller, company: &str) {
    for owed in caller.all(&format!("/api/business/tax-liabilities?company_id={company}")) {
        if owed["status"] == "paid" || !owed["tax_filing_id"].is_null() {
            continue;
        }
        let body = json!({"company_id": company, "tax_type": owed["authority"], "period": owed["period"], "jurisdiction": owed["jurisdiction"]});
        let filing = caller.post("/api/business/tax-filings", &body);
        if filing.status == 201 {
            let filing = filing.expect(201);
            let path = format!("/api/business/tax-filings/{}/submit", id(&filing["data"]));
            caller.post(&path, &json!({"declaration": "Ada"}));
        }
    }
}

/// Both scores; the first must not be the lower one.
#[track_caller]
fn held(twins: [&Caller; 2], company: &str, about: &str) -> [Value; 2] {
    let scores = twins.map(|caller| score(caller, company));
    let [better, worse] = scores.each_ref().map(|score| number(&score["score"]));
    assert!(worse <= better, "{about}: {worse} beside {better}: {} {}", scores[0], scores[1]);
    scores
}

#[test]
fn paying_payroll_late_never_raises_the_score() {
    sequences(|twins, company, currency, chance| {
        let [prompt, tardy] = twins;
        let files = chance.once_in(2);
        // The funding fails, or the payroll runs on a later day, or not at all.
        let (no_money, paid_on) = (chance.once_in(2), chance.below(DAYS.len()));
        let never = chance.once_in(4);
        let month = |period: &str| json!({"company_id": company, "period": period});
        prompt.run_payroll(company, "2026-01");
        let run = no_money.then(|| {
            let request = tardy.request("POST", "/v1/payroll/run");
            let request = request.header("Sandbox-Scenario", "payroll_run.fund=insufficient_funds");
            let run = tardy.send(&request.json(&month("2026-01"))).expect(201);
            id(&run["data"]).to_owned()
        });
        let mut later = Vec::new();
        for (place, day) in DAYS.into_iter().enumerate() {
            let (amount, sells) = (some_amount(chance), chance.once_in(2));
            for caller in twins {
                to(caller, day);
                if sells {
                    earn(caller, company, currency, amount, None);
                }
            }
            if place == paid_on && !never {
                match &run {
                    Some(run) => {
                        let path = format!("/api/business/payroll-runs/{run}/retry-funding");
                        tardy.post(&path, &json!({})).expect(200);
                    }
                    None => drop(tardy.run_payroll(company, "2026-01")),
                }
            }
            if files {
                for caller in twins {
                    file(caller, company);
                }
            }
            let [one, other] = held(twins, company, day);
            later.push(factor(&other, "payroll_late").0 - factor(&one, "payroll_late").0);
            let next = &day[..7];
            if place < 4 && place != 1 && chance.once_in(2) {
                for caller in twins {
                    caller.post("/v1/payroll/run", &month(next));
                }
            }
        }
        assert!(later.iter().all(|more| *more >= 1), "it is late for good: {later:?}");
    });
}

#[test]
fn more_revenue_never_lowers_the_score() {
    sequences(|twins, company, currency, chance| {
        let [rich, poor] = twins;
        let past = ["2025-02-03", "2025-06-30", "2025-10-03", "2025-12-24"];
        for day in DAYS {
            let (amount, pays) = (some_amount(chance), chance.once_in(2));
            for caller in twins {
                to(caller, day);
                earn(caller, company, currency, amount, None);
                if pays {
                    let body = json!({"company_id": company, "period": &day[..7]});
                    caller.post("/v1/payroll/run", &body);
                }
            }
            let on = chance.once_in(2).then(|| *chance.pick(&past));
            let money = match chance.below(3) {
                0 if on.is_some() => "USD",
                _ => currency,
            };
            earn(rich, company, money, some_amount(chance), on);
            let [one, other] = held([rich, poor], company, day);
            for name in ["revenue_level", "revenue_trend", "profitability", "cash_buffer", "age"] {
                assert!(factor(&one, name).1 >= factor(&other, name).1, "{day} {name}");
            }
        }
    });
}

#[test]
fn calls_without_credit_relevance_do_not_change_the_score() {
    sequences(|twins, company, currency, chance| {
        let [busy, quiet] = twins;
        let people = busy.all(&format!("/api/business/employees?company_id={company}"));
        let others = busy.get("/api/business/companies").expect(200)["data"].take();
        let others = others.as_array().unwrap();
        let other = others.iter().map(id).find(|one| *one != company).unwrap();
        for day in &DAYS[..3] {
            for caller in twins {
                to(caller, day);
                caller
                    .post("/v1/payroll/run", &json!({"company_id": company, "period": &day[..7]}));
            }
            for _ in 0..6 {
                let person = format!("/api/business/employees/{}", id(chance.pick(&people)));
                let company = format!("/api/business/companies/{company}");
                let name = format!("Renamed {}", chance.below(1_000));
                match chance.below(6) {
                    0 => busy.patch(&person, &json!({"name": name})),
                    1 => busy.patch(&person, &json!({"role": name, "department": "Elsewhere"})),
                    2 => busy.patch(&person, &json!({"metadata": {"seen": name}})),
                    3 => busy.patch(&company, &json!({"metadata": {"a": name}})),
                    4 => busy.patch(&company, &json!({"contact": {"email": "new@example.com"}})),
                    _ => {
                        let body =
                            json!({"company_id": other, "amount": 1_000_000, "from": "customer"});
                        busy.post("/_sandbox/inbound/bank_transfer", &body)
                    }
                }
                .expect(200);
            }
            score(busy, other);
            let [one, same] = [busy, quiet].map(|caller| score(caller, company));
            let told = |score: &Value| {
                let factors = score["factors"].as_array().unwrap().clone();
                let bare = factors.into_iter().map(|mut factor| {
                    // Evidence names runs, and their ids depend on the number of runs before them.
                    factor["evidence"] = Value::Null;
                    factor
                });
                bare.collect::<Vec<_>>()
            };
            assert_eq!(told(&one), told(&same), "{day} {currency}");
        }
    });
}
