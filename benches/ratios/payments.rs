//! Payouts, long books, and reconciled statements.

use std::time::Instant;

use crate::bench::{Bench, hundredths, median, micros, ok};
use crate::books;
use crate::child::Child;
use crate::load::{self, CONNECTIONS, Write};
use crate::requests::{self, KEY};

const PAYOUTS: &str = "/api/payments/payouts";
const STATEMENTS: &str = "/api/payments/bank-statements";
/// The number of entries of the company with short books, and of the one with long books.
const SHORT: u64 = 1_000;
const LONG: u64 = 1_000_000;
/// The timed calls in each of a round's two companies.
const TIMED: u64 = 500;

/// A company that pays: the body of its next payout, with `#` for the number.
struct Payer {
    company: String,
    wallet: String,
    payout: String,
}

impl Payer {
    /// The grown company with this number, with money and a beneficiary.
    fn of(sandbox: &Child, number: usize) -> Result<Self, String> {
        let company = books::companies(sandbox)?
            .into_iter()
            .nth(number)
            .ok_or("there are too few companies")?;
        let list = format!("/api/payments/wallets?company_id={company}");
        let wallets = ok(sandbox.get(&list, KEY)?)?;
        let first = |member: &str| {
            let found = wallets.strings(member).into_iter().next();
            found.ok_or_else(|| format!("the wallet shows no {member}"))
        };
        let (wallet, currency) = (first("id")?, first("currency")?);
        let money = format!(r#"{{"company_id":"{company}","amount":900000000000000}}"#);
        ok(sandbox.post("/_sandbox/inbound/bank_transfer", KEY, &money)?)?;
        let payee = format!(
            r#"{{"company_id":"{company}","name":"Ada Bench","type":"individual","account":{{"bank_code":"058",
            "account_number":"9999999900","country":"NG","currency":"{currency}"}}}}"#
        );
        let payee = ok(sandbox.post("/api/payments/beneficiaries", KEY, &payee)?)?;
        let payee = payee.strings("id").into_iter().next();
        let payee = payee.ok_or("the beneficiary has no id")?;
        ok(sandbox.post("/_sandbox/clock/advance", KEY, r#"{"by":"1m"}"#)?)?;
        let payout = format!(
            r#"{{"company_id":"{company}","wallet_id":"{wallet}","beneficiary_id":"{payee}","amount":100,"currency":"{currency}",
            "rail":"instant","reference":"Bench #"}}"#
        );
        Ok(Self { company, wallet, payout })
    }
}

/// One payout for each request, in a world with a manual clock: its entry and its event.
pub(crate) fn payouts(bench: &mut Bench) -> Result<String, String> {
    bench.post_with_against_bare(&["--clock", "manual"], payout)
}

/// Payouts that are completed: with an instant clock, each is sent and paid before the reply.
pub(crate) fn paid_payouts(bench: &mut Bench) -> Result<String, String> {
    bench.post_against_bare(payout)
}

fn payout(sandbox: &Child) -> Result<Write, String> {
    Ok(requests::post(PAYOUTS, Payer::of(sandbox, 0)?.payout))
}

/// A balance, a page of the statement and a payout: each from a company with a million entries and from one
/// with a thousand, in turn. A payout comes first, so that no answer is
/// cached.
pub(crate) fn long_books(bench: &mut Bench) -> Result<String, String> {
    let sandbox = bench.sandbox(false)?;
    let (short, long) = (Payer::of(&sandbox, 0)?, Payer::of(&sandbox, 1)?);
    for (payer, entries) in [(&short, SHORT), (&long, LONG)] {
        fill(bench, &sandbox, payer, entries)?;
    }
    let names = ["payout", "balance", "statement page"];
    let mut ratios = [const { Vec::new() }; 3];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..bench.rounds {
        let one = timed(bench, &sandbox, &long)?;
        let other = timed(bench, &sandbox, &short)?;
        for (place, (one, other)) in one.into_iter().zip(other).enumerate() {
            ratios[place].push(one * 100 / other.max(1));
            times[place].push(one);
        }
    }
    let told = names.iter().zip(ratios.into_iter().zip(times));
    let told = told.map(|(name, (ratios, times))| {
        let (ratio, time) = (hundredths(median(ratios)), median(times));
        format!("{name} {ratio} x ({time} us)")
    });
    Ok(told.collect::<Vec<_>>().join(", "))
}

/// Posts entries that move the wallet, until the company has this many.
fn fill(bench: &mut Bench, sandbox: &Child, payer: &Payer, entries: u64) -> Result<(), String> {
    let wallet = ok(sandbox.get(&format!("/api/payments/wallets/{}", payer.wallet), KEY)?)?;
    let currency = wallet.strings("currency").into_iter().next();
    let (company, currency) = (&payer.company, currency.ok_or("no currency")?);
    let body = format!(
        r#"{{"company_id":"{company}","effective_on":"2026-01-01","memo":"Bench #","lines":[
        {{"account":"cash_available","direction":"debit","amount":1000,"currency":"{currency}"}},
        {{"account":"owner_equity","direction":"credit","amount":1000,"currency":"{currency}"}}]}}"#
    );
    let write = requests::post(books::JOURNAL, body);
    let first = bench.next;
    bench.next += entries;
    let round = load::run(sandbox.address, CONNECTIONS, entries, first, &write);
    match round.map_err(|error| error.to_string())?.refused {
        None => Ok(()),
        Some(status) => Err(format!("refused with {status}")),
    }
}

/// The median time of a payout, a balance and the last page of the statement, in microseconds.
fn timed(bench: &mut Bench, sandbox: &Child, payer: &Payer) -> Result<[u64; 3], String> {
    let balance = format!("/api/payments/wallets/{}", payer.wallet);
    let page = format!("{balance}/transactions?page=3");
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..TIMED {
        bench.next += 1;
        let body = payer.payout.replace('#', &bench.next.to_string());
        let started = Instant::now();
        ok(sandbox.post(PAYOUTS, KEY, &body)?)?;
        times[0].push(micros(started.elapsed()));
        for (place, path) in [(1, &balance), (2, &page)] {
            let started = Instant::now();
            ok(sandbox.get(path, KEY)?)?;
            times[place].push(micros(started.elapsed()));
        }
    }
    Ok(times.map(median))
}

/// A statement from its import to the last match, of ten thousand lines and of a thousand. Each is in its own
/// world, whose company has as many movements, with the usual noise.
pub(crate) fn reconciled(bench: &mut Bench) -> Result<String, String> {
    let (mut large, mut small) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        large.push(reconciling(bench, 10_000)?);
        small.push(reconciling(bench, 1_000)?);
    }
    let (large, small) = (median(large), median(small));
    let growth = hundredths(large * 100 / small.max(1));
    Ok(format!("10,000 lines {large} us, 1,000 lines {small} us: {growth} x for 10 x"))
}

fn reconciling(bench: &mut Bench, lines: u64) -> Result<u64, String> {
    let sandbox = bench.sandbox(false)?;
    let payer = Payer::of(&sandbox, 0)?;
    // The incoming money is also a line.
    fill(bench, &sandbox, &payer, lines - 1)?;
    let body = format!(
        r#"{{"company_id":"{}","wallet_id":"{}","from":"2026-01-01","to":"2026-01-01"}}"#,
        payer.company, payer.wallet
    );
    let started = Instant::now();
    // The clock is instant: the answer comes after all effects of the import.
    let made = ok(sandbox.post(STATEMENTS, KEY, &body)?)?;
    let took = micros(started.elapsed());
    let id = made.strings("id").into_iter().next().ok_or("no id")?;
    let imported = ok(sandbox.get(&format!("{STATEMENTS}/{id}"), KEY)?)?;
    match imported.strings("status").first().map(String::as_str) {
        Some("imported") => Ok(took),
        other => Err(format!("the statement is {other:?}, not reconciled")),
    }
}
