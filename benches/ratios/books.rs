//! Reports and scores: over books with many entries, and the first one of a company that was not read before.

use std::time::Instant;

use crate::bench::{Bench, median, micros, ok};
use crate::child::Child;
use crate::load::{self, CONNECTIONS};
use crate::requests::{self, KEY};

const ENTRIES: u64 = 100_000;
pub(crate) const JOURNAL: &str = "/api/business/journal-entries";
const SCORES: &str = "/api/capital/credit-scores";

/// Each report once in each round, for new days, over entries of two currencies on days of a year.
pub(crate) fn reports(bench: &mut Bench) -> Result<String, String> {
    let sandbox = bench.sandbox(false)?;
    let company = companies(&sandbox)?.swap_remove(0);
    grow(bench, &sandbox, &company)?;
    let names = ["profit-and-loss", "balance-sheet", "cash-flow", "trial-balance"];
    let mut told = Vec::new();
    for name in names {
        let mut times = Vec::new();
        for day in 1..=28 {
            let path = format!(
                "/api/business/reports/{name}?company_id={company}&{}",
                match name {
                    "balance-sheet" | "trial-balance" => format!("as_of=2025-12-{day:02}"),
                    _ => format!("from=2025-01-01&to=2025-12-{day:02}"),
                }
            );
            let started = Instant::now();
            ok(sandbox.get(&path, KEY)?)?;
            times.push(micros(started.elapsed()));
        }
        told.push(format!("{name} {} us", median(times)));
    }
    Ok(told.join(", "))
}

/// Gives a company 100,000 entries, of two currencies on days of a year.
fn grow(bench: &mut Bench, sandbox: &Child, company: &str) -> Result<(), String> {
    for month in 1..=12 {
        for (day, currency) in [("05", "NGN"), ("19", "GBP")] {
            let body = format!(
                r#"{{"company_id":"{company}","effective_on":"2025-{month:02}-{day}","memo":"Bench #","lines":[
                {{"account":"rent","direction":"debit","amount":1000,"currency":"{currency}"}},
                {{"account":"refunds_payable","direction":"credit","amount":1000,"currency":"{currency}"}}]}}"#
            );
            let write = requests::post(JOURNAL, body);
            let first = bench.next;
            bench.next += ENTRIES / 24;
            let round = load::run(sandbox.address, CONNECTIONS, ENTRIES / 24, first, &write);
            if let Some(status) = round.map_err(|error| error.to_string())?.refused {
                return Err(format!("refused with {status}"));
            }
        }
    }
    Ok(())
}

/// Credit scores of a company with this many entries, each requested and then read when it is ready, on
/// passing days.
pub(crate) fn credit_score(bench: &mut Bench) -> Result<String, String> {
    let sandbox = bench.sandbox(false)?;
    let company = companies(&sandbox)?.swap_remove(0);
    grow(bench, &sandbox, &company)?;
    let mut times = Vec::new();
    for _ in 0..28 {
        let body = format!(r#"{{"company_id":"{company}"}}"#);
        let started = Instant::now();
        let made = ok(sandbox.post(SCORES, KEY, &body)?)?.strings("id");
        let path = format!("{SCORES}/{}", made.first().ok_or("no score was made")?);
        let status = ok(sandbox.get(&path, KEY)?)?.strings("status");
        times.push(micros(started.elapsed()));
        if status.first().map(String::as_str) != Some("completed") {
            return Err(format!("no score: {status:?}"));
        }
        ok(sandbox.post("/_sandbox/clock/advance", KEY, r#"{"by":"1d"}"#)?)?;
    }
    let worst = times.iter().max().copied().unwrap_or_default();
    Ok(format!("{} us, {worst} us at worst", median(times)))
}

/// The first report of each company of a fresh world; its year of history is grown first.
pub(crate) fn first_report(bench: &mut Bench) -> Result<String, String> {
    let mut times = Vec::new();
    for _ in 0..bench.rounds {
        let sandbox = bench.sandbox(false)?;
        for company in companies(&sandbox)? {
            let days = "from=2025-01-01&to=2025-12-31";
            let path = format!("/api/business/reports/profit-and-loss?company_id={company}&{days}");
            let started = Instant::now();
            ok(sandbox.get(&path, KEY)?)?;
            times.push(micros(started.elapsed()));
        }
    }
    let worst = times.iter().max().copied().unwrap_or_default();
    Ok(format!("{} us, {worst} us at worst", median(times)))
}

/// Ids of the companies of a fresh world.
pub(crate) fn companies(sandbox: &Child) -> Result<Vec<String>, String> {
    let ids = ok(sandbox.get("/api/business/companies", KEY)?)?.strings("id");
    Ok(ids.into_iter().filter(|id| id.starts_with("com_")).collect())
}
