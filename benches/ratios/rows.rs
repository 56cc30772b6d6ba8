//! The rows of the table: the request, the server, and the target.

use std::time::Instant;

use crate::bench::{Bench, hundredths, median, micros, ok};
use crate::books;
use crate::child::Child;
use crate::deliveries;
use crate::isolation;
use crate::load::{self, Write};
use crate::names;
use crate::payments;
use crate::recovery;
use crate::requests::{self, KEY};
use crate::store;
use crate::worlds;

const EMPLOYEES: &str = "/api/business/employees";
const LIST: &str = "/api/business/employees?";
pub(crate) const PAGE: &str = "/api/business/employees?page=1&per_page=25";
const FILTERED: &str = "/api/business/employees?status=on_leave&";
/// The last page of ten million people.
const LARGE_PAGES: u64 = 400_000;

/// A row: its name, its target, and its measurement.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    pub(crate) measure: Measure,
}

type Measure = fn(&mut Bench) -> Result<String, String>;

const fn row(name: &'static str, target: &'static str, measure: Measure) -> Row {
    Row { name, target, measure }
}

pub(crate) const ROWS: &[Row] = &[
    row("page fixed, 75 people", "rps >= 0.88 x", page_fixed),
    row("page random, 75 people", "rps >= 0.85 x", page_small),
    row("page fixed, 10M people", "rps >= 0.88 x", page_fixed_large),
    row("page random, 10M people", "rps >= 0.85 x", page_large),
    row("one small object", "rps >= 0.85 x", small_object),
    row("create employee", "rps >= 0.6 x bare GET", create_employee),
    row("create company", "rps >= 0.4 x bare GET", create_company),
    row("payroll of 25, fresh world", ">= 8000/s", payroll),
    row("filtered page, 10M people", "<= 10 x an unfiltered one", filtered),
    row("deliveries, one lane", ">= 0.8 x raw", deliveries::one_lane),
    row("deliveries, 8 endpoints", ">= 0.7 x raw", deliveries::eight_lanes),
    row("deliveries, 7 beside a dead one", "", deliveries::beside_a_dead_one),
    row("a year of 1,200 runs, HTTP", "double work <= 2.1 x", worlds::year_by_http),
    row("a year of 1,200 runs, library", "double work <= 2.1 x", worlds::year_in_process),
    row("years of 100 to 800 companies", "<= 12 us, <= 2.1 x", worlds::years_in_process),
    row("a run of 10,000, library", "<= 180 ms, <= 100 MB, linear", worlds::large_run),
    row("reads beside heavy calls", "p99 <= 20 ms, <= 100 ms", isolation::beside_heavy_calls),
    row("digest after a run of 10,000", "<= 1 ms", isolation::digest_of_a_large_run),
    row("fork of 10,000 records, HTTP", "both <= 1 ms", worlds::fork_by_http),
    row("fork of 10,000 records, library", "both <= 1 ms", worlds::fork_in_process),
    row("write-ahead log and recording", ">= 3000 writes/s", worlds::kept),
    row("replay of collections", "<= 30 us; 70,000 in <= 3 s", recovery::replayed),
    row("store: writes of 64 clients", ">= 0.5 x a journal", store::writes),
    row("store: reads", ">= 0.95 x no store", store::reads),
    row("store: gaps", "<= 1.5 s, <= lease + 2 s", store::gaps),
    row("reports over 100,000 entries", "<= 20 ms", books::reports),
    row("credit score over 100,000 entries", "<= 20 ms", books::credit_score),
    row("first report", "<= 5 ms", books::first_report),
    row("create payout", "rps >= 0.35 x bare GET", payments::payouts),
    row("create payout, paid at once", "", payments::paid_payouts),
    row("company of a million entries", "<= 1.5 x one of 1,000", payments::long_books),
    row("reconcile 10,000 lines", "<= 1 s, < 19.95 x for 10 x", payments::reconciled),
    row("screen 10,000, 50,000 names", "<= 5 s", names::screened),
    row("new world", "<= 50 us", new_world),
    row("start", "<= 2 x bare", start),
    row("start, dist", "<= 2 x bare", |bench| bench.shipped(start)),
    row("start, 10M people", "<= 1.5 x 75 people", start_large),
    row("idle memory", "<= 12 MB", idle_memory),
    row("idle memory, dist", "<= 10 MB", |bench| bench.shipped(idle_memory)),
    row("size of the program, dist", "<= 12 MB", |bench| bench.shipped(size)),
    row("memory", "idle <= 12 MB, after <= 2 x", memory),
    row("memory of a company", "<= 1.5 KB", memory_of_company),
    row("memory of 10,000 worlds", "<= 4 KB each", memory_of_worlds),
    row("instructions, page fixed", "<= 3.5 x", instructions_page),
    row("instructions, page random 10M", "<= 3.5 x", instructions_large),
    row("instructions, one small object", "<= 2.5 x bare hello", instructions_small),
    row("instructions, create company", "", instructions_create),
];

// Reads.

fn page_fixed(bench: &mut Bench) -> Result<String, String> {
    bench.get_against_bare(false, PAGE, &requests::get(PAGE))
}

fn page_small(bench: &mut Bench) -> Result<String, String> {
    bench.get_against_bare(false, PAGE, &requests::random_page(LIST, 3))
}

fn page_fixed_large(bench: &mut Bench) -> Result<String, String> {
    bench.get_against_bare(true, PAGE, &requests::get(PAGE))
}

fn page_large(bench: &mut Bench) -> Result<String, String> {
    bench.get_against_bare(true, PAGE, &requests::random_page(LIST, LARGE_PAGES))
}

fn small_object(bench: &mut Bench) -> Result<String, String> {
    let path = employee_path(&bench.sandbox(false)?)?;
    bench.get_against_bare(false, &path, &requests::get(&path))
}

fn filtered(bench: &mut Bench) -> Result<String, String> {
    let (one, other) = (bench.sandbox(true)?, bench.sandbox(true)?);
    let total = load::number_after(
        ok(one.get("/api/business/employees?status=on_leave&page=1&per_page=25", KEY)?)?
            .body
            .as_bytes(),
        b"\"total\":",
    );
    let total = total.filter(|total| *total > 25).ok_or("too few people are on leave to page")?;
    let pages = total.div_ceil(25);
    let (some, all) =
        (requests::random_page(FILTERED, pages), requests::random_page(LIST, LARGE_PAGES));
    Ok(format!("{}; {total} match", bench.against((&one, &some), (&other, &all))?))
}

/// The additional time for an unused key compared with a known one; one connection, one request after
/// another.
fn new_world(bench: &mut Bench) -> Result<String, String> {
    let sandbox = bench.sandbox(false)?;
    let path = employee_path(&sandbox)?.leak();
    let (fresh, known) = (requests::get_by_new_key(path, "test_n"), requests::get(path));
    let (requests, mut extra, mut fresh_us) = (bench.requests / 20, Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let mut micros_of = |ask: &Write| -> Result<u64, String> {
            let first = bench.next;
            bench.next += requests;
            let round = load::run(sandbox.address, 1, requests, first, ask);
            let round = round.map_err(|error| error.to_string())?;
            match round.refused {
                None => Ok(micros(round.took) * 100 / requests),
                Some(status) => Err(format!("refused with {status}")),
            }
        };
        let (new, old) = (micros_of(&fresh)?, micros_of(&known)?);
        fresh_us.push(new);
        extra.push(new.saturating_sub(old));
    }
    let (extra, fresh) = (hundredths(median(extra)), hundredths(median(fresh_us)));
    Ok(format!("{extra} us more than a known one ({fresh} us a request, round trip)"))
}

/// The path of one employee of the world of every key.
fn employee_path(sandbox: &Child) -> Result<String, String> {
    let ids = ok(sandbox.get(PAGE, KEY)?)?.strings("id");
    let id = ids.first().ok_or("the first page has no id")?;
    Ok(format!("{EMPLOYEES}/{id}"))
}

// Writes.

fn create_employee(bench: &mut Bench) -> Result<String, String> {
    bench.post_against_bare(|sandbox| {
        let (company, _) = company_and_period(sandbox)?;
        let body = format!(
            r#"{{"company_id":"{company}","name":"Ada Bench #","role":"Engineer","department":"Engineering","start_date":"2030-01-01"}}"#
        );
        Ok(requests::post(EMPLOYEES, body))
    })
}

fn create_company(bench: &mut Bench) -> Result<String, String> {
    bench.post_against_bare(|_| Ok(ask_for_company()))
}

fn ask_for_company() -> Write {
    let body = r#"{"legal_name":"Bench # Limited","country":"NG","currency":"NGN"}"#;
    requests::post("/api/business/companies", body.to_owned())
}

/// Every run in its own world, because an employee is paid once in a period.
fn payroll(bench: &mut Bench) -> Result<String, String> {
    bench.requests /= 8;
    let measured = bench.post_against_bare(|sandbox| {
        let (company, period) = company_and_period(sandbox)?;
        let list =
            format!("{LIST}company_id={company}&payroll_status=verified&status=active&per_page=25");
        let people = ok(sandbox.get(&list, KEY)?)?.strings("id");
        if people.is_empty() {
            return Err("no employee is payable".to_owned());
        }
        let people = people.join("\",\"");
        let body =
            format!(r#"{{"company_id":"{company}","period":"{period}","employees":["{people}"]}}"#);
        Ok(requests::post_by_new_key("/v1/payroll/run", body))
    });
    bench.requests *= 8;
    measured
}

/// The first company, and the current month of its world.
fn company_and_period(sandbox: &Child) -> Result<(String, String), String> {
    let got = ok(sandbox.get("/api/business/companies?per_page=1", KEY)?)?;
    let company = got.strings("id").first().cloned().ok_or("there is no company")?;
    let period = got.header("sandbox-time").and_then(|time| time.get(..7));
    Ok((company, period.ok_or("a reply without Sandbox-Time")?.to_owned()))
}

// Start and memory.

fn start(bench: &mut Bench) -> Result<String, String> {
    let ours = |bench: &Bench| bench.sandbox(false);
    compare_starts(bench, ours, |bench| bench.bare(6_000))
}

fn start_large(bench: &mut Bench) -> Result<String, String> {
    compare_starts(bench, |bench| bench.sandbox(true), |bench| bench.sandbox(false))
}

fn compare_starts(
    bench: &Bench,
    one: impl Fn(&Bench) -> Result<Child, String>,
    other: impl Fn(&Bench) -> Result<Child, String>,
) -> Result<String, String> {
    let (mut ones, mut others, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.rounds * 3 {
        let (one, other) = (micros(one(bench)?.first_reply), micros(other(bench)?.first_reply));
        ones.push(one);
        others.push(other);
        ratios.push(one * 100 / other.max(1));
    }
    let (one, other, ratio) = (median(ones), median(others), hundredths(median(ratios)));
    Ok(format!("exec to first reply {one} of {other} us = {ratio} x"))
}

/// The memory after the first reply.
fn idle_memory(bench: &mut Bench) -> Result<String, String> {
    let mut measured = Vec::new();
    for _ in 0..bench.rounds {
        measured.push(bench.sandbox(false)?.memory_kb());
    }
    Ok(format!("{} KB", median(measured)))
}

fn size(bench: &mut Bench) -> Result<String, String> {
    let program = std::fs::metadata(bench.program()).map_err(|error| error.to_string())?;
    Ok(format!("{} KB", program.len() / 1_024))
}

fn memory(bench: &mut Bench) -> Result<String, String> {
    let sandbox = bench.sandbox(false)?;
    let idle_kb = sandbox.memory_kb();
    let per_round = bench.requests;
    bench.requests = bench.memory_requests / 2;
    let reads = bench.round(&sandbox, &requests::random_page(LIST, 3));
    let read_kb = sandbox.memory_kb();
    let writes = bench.round(&sandbox, &ask_for_company());
    bench.requests = per_round;
    let each = bench.memory_requests / 2;
    reads?;
    let writes = match writes {
        Ok(_) => format!("{} KB after {each} more writes", sandbox.memory_kb()),
        Err(error) => format!("writes: {error}"),
    };
    Ok(format!("{idle_kb} KB idle, {read_kb} KB after {each} reads, {writes}"))
}

/// Of a created one, with its wallet, its event, and its reply for the idempotency key.
fn memory_of_company(bench: &mut Bench) -> Result<String, String> {
    let sandbox = bench.sandbox(false)?;
    let (companies, ask) = (40_000, ask_for_company());
    let per_round = std::mem::replace(&mut bench.requests, companies);
    // Connections, buffers and the request log are full before the count.
    let warm = bench.round(&sandbox, &ask);
    let before_kb = sandbox.memory_kb();
    let created = bench.round(&sandbox, &ask);
    bench.requests = per_round;
    warm?;
    created?;
    let grown_kb = sandbox.memory_kb().saturating_sub(before_kb);
    Ok(format!("{} B each ({before_kb} KB + {grown_kb} KB)", grown_kb * 1_024 / companies))
}

fn memory_of_worlds(bench: &mut Bench) -> Result<String, String> {
    let sandbox = bench.sandbox(false)?;
    let (worlds, started) = (10_000, Instant::now());
    let per_round = bench.requests;
    bench.requests = worlds;
    // Connections and buffers exist before the count.
    let warm = bench.round(&sandbox, &requests::get(PAGE));
    let before_kb = sandbox.memory_kb();
    let opened = bench.round(&sandbox, &requests::get_by_new_key(PAGE, "test_m"));
    bench.requests = per_round;
    warm?;
    opened?;
    let grown_kb = sandbox.memory_kb().saturating_sub(before_kb);
    let took = started.elapsed().as_millis();
    Ok(format!("{} B each ({before_kb} KB + {grown_kb} KB, {took} ms)", grown_kb * 1024 / worlds))
}

// Instructions.

fn instructions_page(bench: &mut Bench) -> Result<String, String> {
    bench.instructions_against_bare(false, PAGE, &requests::get(PAGE))
}

fn instructions_large(bench: &mut Bench) -> Result<String, String> {
    bench.instructions_against_bare(true, PAGE, &requests::random_page(LIST, LARGE_PAGES))
}

fn instructions_small(bench: &mut Bench) -> Result<String, String> {
    let path = employee_path(&bench.sandbox(false)?)?;
    bench.instructions_against_bare(false, &path, &requests::get(&path))
}

fn instructions_create(bench: &mut Bench) -> Result<String, String> {
    bench.instructions_against_bare(false, PAGE, &ask_for_company())
}
