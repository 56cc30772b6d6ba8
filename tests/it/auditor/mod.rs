//! The independent auditor. After random walks over the product, it calculates balances, profit and loss,
//! balance sheets, liabilities and years to date from the event log and the journal. It then compares the API
//! with them.
//!
//! It shares no code with the ledger: it reads JSON, sums in 128 bits, and reports findings.
//! `SANDBOX_TEST_AUDIT=SEED:STEPS` audits another walk, and `all`
//! the twenty of 5,000 steps of `.ci/run`. An even seed uses an instant world, an odd one a manual world. The
//! seed decides
//! the calls of a walk. `SANDBOX_TEST_AUDIT_DUMP=FILE` writes the data, on one JSON line each.

mod body;
mod books;
mod kept_back;
mod known;
mod ledger;
mod life;
mod line;
mod money;
mod pay;
mod spend;
mod wages;
mod walk;

use std::sync::Arc;

use serde_json::{Value, json};

use self::books::Books;
use self::pay::Looked;
use self::walk::{Produced, Walk};
use crate::harness::{Caller, Server};

/// The default walks.
const FEW: (std::ops::RangeInclusive<u64>, u64) = (1..=4, 600);
/// The walks of `.ci/run`.
const ALL: (std::ops::RangeInclusive<u64>, u64) = (1..=20, 5_000);
/// Small companies, so that each step is fast. There are four, in different countries.
const SHAPE: [&str; 6] =
    ["--companies", "4", "--employees-per-company", "8", "--countries", "NG,GB,US,KE"];

fn audit(books: &Books) -> (Vec<String>, Looked) {
    let mut found = Vec::new();
    ledger::findings(books, &mut found);
    life::findings(books, &mut found);
    money::findings(books, &mut found);
    wages::findings(books, &mut found);
    let looked = pay::findings(books, &mut found);
    (found, looked)
}

fn server(clock: &str) -> Arc<Server> {
    let flags = [&SHAPE[..], &["--clock", clock, "--max-events", "0"]].concat();
    Arc::new(Server::start(&flags))
}

fn walked(servers: &[Arc<Server>; 2], seed: u64, steps: u64) -> (Books, Produced) {
    let caller = Caller::of(&servers[usize::from(seed % 2 == 1)]);
    let mut walk = Walk::begin(&caller, seed);
    walk.run(steps);
    let mut books = Books::read(&caller);
    (books.at_first, books.paid_in) = (walk.at_first, walk.paid_in);
    (books, walk.produced)
}

fn walks() -> Vec<(u64, u64)> {
    let of = |(seeds, steps): (std::ops::RangeInclusive<u64>, u64)| {
        seeds.map(|seed| (seed, steps)).collect()
    };
    match std::env::var("SANDBOX_TEST_AUDIT").as_deref() {
        Err(_) => of(FEW),
        Ok("all") => of(ALL),
        Ok(given) => {
            let (seed, steps) = given.split_once(':').expect("SEED:STEPS, or all");
            vec![(seed.parse().unwrap(), steps.parse().unwrap())]
        }
    }
}

/// One walk and its audit.
fn audited(servers: &[Arc<Server>; 2], seed: u64, steps: u64) -> Produced {
    let (books, produced) = walked(servers, seed, steps);
    let (found, looked) = audit(&books);
    if let Ok(path) = std::env::var("SANDBOX_TEST_AUDIT_DUMP") {
        std::fs::write(path, books.dump()).unwrap();
    }
    println!("seed {seed}: {} calls, {} events, {looked:?}", produced.calls, books.events.len());
    assert!(
        found.is_empty(),
        "SANDBOX_TEST_AUDIT={seed}:{steps}: {} findings, the first of them\n{}",
        found.len(),
        found[..found.len().min(5)].join("\n")
    );
    assert!(looked.runs > 0 && looked.payslips > 0, "the walk made no runs or payslips to check");
    produced
}

#[test]
fn the_api_agrees_with_its_log_and_journal_after_any_walk() {
    let servers = [server("instant"), server("manual")];
    let mut sum = Produced::default();
    // Instant worlds run on one thread, manual ones on another.
    let produced = std::thread::scope(|scope| {
        let threads = [0, 1].map(|rest| {
            let servers = &servers;
            scope.spawn(move || {
                let mine = walks().into_iter().filter(|(seed, _)| seed % 2 == rest);
                mine.map(|(seed, steps)| audited(servers, seed, steps)).collect::<Vec<_>>()
            })
        });
        threads.map(|thread| thread.join().expect("the walks of one clock"))
    });
    for produced in produced.into_iter().flatten() {
        sum.add(produced);
    }
    // A walk whose calls are all refused would check nothing.
    let once = std::env::var_os("SANDBOX_TEST_AUDIT").is_none();
    for name in [
        "runPayroll",
        "createTaxFiling",
        "createEmployee",
        "submitTaxFiling",
        "createPayout",
        "fundEscrow",
        "createFxTransfer",
        "createRefund",
        "chargeback",
    ] {
        assert!(!once || sum.accepted.contains_key(name), "no walk did {name}: {:?}", sum.accepted);
    }
    println!("{:#?}", sum.accepted);
}

/// The falsified figure, and the function that changes it.
type Lie = (&'static str, fn(&mut Books));

fn one_more(value: &mut Value, pointer: &str) {
    let amount = value.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}"));
    *amount = json!(amount.as_i64().expect("an amount") + 1);
}

/// A company whose reports are calculated again.
fn plain(books: &mut Books) -> &mut books::Company {
    let mut companies = books.companies.iter_mut();
    let plain = companies.find(|company| !ledger::has_foreign_entries(company));
    plain.expect("one company has a single currency")
}

const LIES: [Lie; 19] = [
    ("money without a source", |books| {
        *books.paid_in.entry("NGN".to_owned()).or_default() -= 1;
    }),
    ("a line of an entry", |books| {
        one_more(&mut books.companies[0].entries[9], "/lines/0/amount");
    }),
    ("a missing entry", |books| {
        books.companies[1].entries.pop();
    }),
    ("an account's balance", |books| {
        one_more(&mut books.companies[0].accounts[0], "/balance");
    }),
    ("profit", |books| {
        one_more(&mut plain(books).profit_and_loss[3], "/net_profit");
    }),
    ("an account of profit and loss", |books| {
        one_more(&mut plain(books).profit_and_loss[0], "/expenses/0/amount");
    }),
    ("an asset", |books| {
        one_more(&mut plain(books).balance_sheets[1], "/assets/0/amount");
    }),
    ("equity", |books| {
        one_more(&mut plain(books).balance_sheets[3], "/total_equity");
    }),
    ("a trial balance", |books| {
        one_more(&mut plain(books).trial_balances[2], "/accounts/0/debits");
    }),
    ("a wallet", |books| {
        one_more(&mut books.companies[0].wallets[0].0, "/reserved");
    }),
    ("a wallet's statement", |books| {
        one_more(&mut books.companies[0].wallets[0].1[5], "/balance_after");
    }),
    ("a liability", |books| {
        let mut companies = books.companies.iter_mut();
        let company = companies.find(|company| !company.liabilities.is_empty());
        let company = company.expect("a company has a liability");
        let open =
            company.liabilities.iter_mut().find(|liability| liability["status"] == "accrued");
        one_more(open.expect("a liability is open"), "/amount");
    }),
    ("a payslip", |books| {
        one_more(&mut books.payslips[0], "/net");
    }),
    ("every year to date", |books| {
        for payslip in &mut books.payslips {
            one_more(payslip, "/ytd/gross");
        }
    }),
    ("a run's sum", |books| {
        one_more(&mut books.runs[0].0, "/totals/taxes");
    }),
    ("wages that did not arrive", |books| {
        let mut items = books.runs.iter_mut().flat_map(|(_, items)| items);
        let grown = |item: &&mut Value| item["created_at"].as_str() < Some("2026");
        let paid = items.find(|item| item["status"] == "paid" && grown(item));
        paid.expect("the history has paid wages")["status"] = json!("failed");
    }),
    ("a missing event", |books| {
        books.events.remove(3);
    }),
    ("a status out of order", |books| {
        let history = |event: &&mut Value| event["data"]["object"]["object"] == "payroll_run";
        let event = books.events.iter_mut().find(history).expect("a run happened");
        let object = &mut event["data"]["object"];
        let wrong = json!({"status": "paid", "at": object["updated_at"]});
        object["status"] = json!("paid");
        object["status_history"].as_array_mut().expect("a list").push(wrong);
    }),
    ("the sandbox's own check", |books| {
        books.check = json!({"ok": false});
    }),
];

#[test]
fn one_figure_that_is_off_by_one_is_found_wherever_it_is() {
    let servers = [server("instant"), server("manual")];
    let (books, _) = walked(&servers, 1, 300);
    assert_eq!(audit(&books).0, [""; 0]);
    for (what, falsify) in LIES {
        let mut books = books.clone();
        falsify(&mut books);
        assert!(!audit(&books).0.is_empty(), "not noticed: {what}");
    }
}
