//! Whole worlds: a year of payroll, snapshots and forks of a world with many changes, and worlds on disk.
//!
//! Measurements in the process use the library's methods; HTTP fills the world in both cases.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sandbox::{ClockMode, Sandbox};

use crate::bench::{Bench, hundredths, median, micros, ok};
use crate::child::{self, Child};
use crate::load::{self, CONNECTIONS, Write, number_after};
use crate::requests::{self, KEY};
use crate::rows::PAGE;

/// The minimum number of resources that differ from the grown world.
const RECORDS: u64 = 10_000;
/// The snapshots of a round; a key may have more.
const SNAPSHOTS: u64 = 50;

// A year.

/// Twelve payroll runs of each company, created on the first day. Then one call advances the clock by a year,
/// and its reply lists all events.
pub(crate) fn year_by_http(bench: &mut Bench) -> Result<String, String> {
    let program = bench.program().to_owned();
    double_years(bench, |companies| {
        let companies = companies.to_string();
        let arguments = ["--port", "0", "--quiet", "--clock", "manual"];
        let shape = ["--employees-per-company", "10", "--companies", &companies];
        let arguments: Vec<_> = arguments.iter().chain(&shape).map(ToString::to_string).collect();
        let sandbox = Child::start(&program, &arguments, PAGE)?;
        submit_runs(sandbox.address)?;
        let before = events(sandbox.address)?;
        let started = Instant::now();
        sandbox.post("/_sandbox/clock/advance", KEY, r#"{"by":"365d"}"#)?;
        let took = micros(started.elapsed());
        Ok((took, events(sandbox.address)? - before))
    })
}

/// A year through the library, which returns no list.
pub(crate) fn year_in_process(bench: &mut Bench) -> Result<String, String> {
    double_years(bench, year_of)
}

fn year_of(companies: u64) -> Result<(u64, u64), String> {
    let told = |error: sandbox::SandboxError| error.to_string();
    let shape = Sandbox::builder().companies(companies).employees_per_company(10);
    let sandbox = shape.clock(ClockMode::Manual).start().map_err(told)?;
    let address = address(&sandbox)?;
    submit_runs(address)?;
    let before = events(address)?;
    let started = Instant::now();
    sandbox.advance(KEY, "365d").map_err(told)?;
    let took = micros(started.elapsed());
    Ok((took, events(address)? - before))
}

/// A year for each doubling up to 800 companies: all events of the year, and the time of each.
pub(crate) fn years_in_process(bench: &mut Bench) -> Result<String, String> {
    let mut years = Vec::new();
    for companies in [100, 200, 400, 800] {
        let (mut times, mut happened) = (Vec::new(), 0);
        for _ in 0..bench.rounds.min(3) {
            let (took, events) = year_of(companies)?;
            times.push(took);
            happened = events;
        }
        years.push((median(times), happened));
    }
    let ratios = years.windows(2).map(|pair| hundredths(pair[1].0 * 100 / pair[0].0.max(1)));
    let each = years.iter().map(|(took, events)| hundredths(took * 100 / (*events).max(1)));
    let (ratios, each): (Vec<_>, Vec<_>) = (ratios.collect(), each.collect());
    Ok(format!("{} us an event; doubled {} x", each.join(", "), ratios.join(", ")))
}

/// Runs of 10,000, of 1,000 and of 100,000 people through the library, from the call to the last payslip.
pub(crate) fn large_run(bench: &mut Bench) -> Result<String, String> {
    let (mut large, mut small, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let (mut paid, mut grown) = (0, 0);
    for _ in 0..bench.rounds {
        let (took, _, _) = run_of(1_316)?;
        let (took_large, people, kilobytes) = run_of(13_160)?;
        small.push(took);
        large.push(took_large);
        ratios.push(took_large * 100 / took.max(1));
        (paid, grown) = (people, kilobytes.max(grown));
    }
    let (largest, most, _) = run_of(131_500)?;
    let large = median(large);
    Ok(format!(
        "{} ms for {paid} payouts, {} MB more; a tenth {} ms, so {} x; {most} payouts {} x",
        large / 1_000,
        grown / 1_024,
        median(small) / 1_000,
        hundredths(median(ratios)),
        hundredths(largest * 100 / large.max(1)),
    ))
}

/// The microseconds from the call until every employee of such a company is paid, the number of employees,
/// and the kilobytes of memory.
fn run_of(employees: u64) -> Result<(u64, u64, u64), String> {
    let told = |error: sandbox::SandboxError| error.to_string();
    let shape = Sandbox::builder().companies(1).employees_per_company(employees);
    let sandbox = shape.clock(ClockMode::Manual).start().map_err(told)?;
    let address = address(&sandbox)?;
    let companies = ok(child::get(address, "/api/business/companies", KEY)?)?;
    let company = companies.strings("id").swap_remove(0);
    let body = format!(r#"{{"company_id":"{company}","period":"2026-01"}}"#);
    let before = resident_kilobytes();
    let started = Instant::now();
    child::post(address, "/v1/payroll/run", KEY, &body)?;
    sandbox.advance(KEY, "31d").map_err(told)?;
    let took = micros(started.elapsed());
    let grown = resident_kilobytes().saturating_sub(before);
    let list = "/api/business/payslips?period=2026-01&per_page=1";
    let payslips = ok(child::get(address, list, KEY)?)?;
    let paid = number_after(payslips.body.as_bytes(), b"\"total\":").unwrap_or_default();
    Ok((took, paid, grown))
}

/// The memory of this process.
fn resident_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let digits = line.map(|line| line.trim().trim_end_matches(" kB").to_owned());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// The microseconds and events of a year, and the factor for twice as many companies.
fn double_years(
    bench: &Bench,
    year: impl Fn(u64) -> Result<(u64, u64), String>,
) -> Result<String, String> {
    let (mut once, mut twice, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut happened = 0;
    for _ in 0..bench.rounds {
        let (took, events) = year(100)?;
        let (double, _) = year(200)?;
        once.push(took);
        twice.push(double);
        ratios.push(double * 100 / took.max(1));
        happened = events;
    }
    let (single, doubled) = (median(once), median(twice));
    Ok(format!(
        "{} ms, {happened} events, {}/s; twice the companies {} ms = {} x",
        single / 1_000,
        happened * 1_000_000 / single.max(1),
        doubled / 1_000,
        hundredths(median(ratios)),
    ))
}

fn submit_runs(address: SocketAddr) -> Result<(), String> {
    for page in 1.. {
        let list = format!("/api/business/companies?per_page=100&page={page}");
        let ids = ok(child::get(address, &list, KEY)?)?.strings("id");
        let mut ids = ids.iter().filter(|id| id.starts_with("com_")).peekable();
        if ids.peek().is_none() {
            break;
        }
        for company in ids {
            for month in 1..=12 {
                let body = format!(r#"{{"company_id":"{company}","period":"2026-{month:02}"}}"#);
                child::post(address, "/v1/payroll/run", KEY, &body)?;
            }
        }
    }
    Ok(())
}

fn events(address: SocketAddr) -> Result<u64, String> {
    let events = ok(child::get(address, "/_sandbox/events?per_page=1", KEY)?)?;
    number_after(events.body.as_bytes(), b"\"total\":").ok_or_else(|| "no total".to_owned())
}

// Snapshots and forks.

/// Snapshot and fork by HTTP, each on its own connection; and the first write after them, compared with the
/// next one.
pub(crate) fn fork_by_http(bench: &mut Bench) -> Result<String, String> {
    let sandbox = bench.sandbox(false)?;
    let employee = fill(bench, sandbox.address)?;
    let mut times = [const { Vec::new() }; 4];
    for round in 0..SNAPSHOTS {
        let mut clocked = |at: usize, path: &str, body: &str| -> Result<String, String> {
            let started = Instant::now();
            let got = sandbox.post(path, KEY, body)?;
            times[at].push(micros(started.elapsed()));
            Ok(got.strings("id").first().cloned().unwrap_or_default())
        };
        let id = clocked(0, "/_sandbox/snapshots", "{}")?;
        let fork = format!("/_sandbox/snapshots/{id}/fork");
        clocked(1, &fork, &format!(r#"{{"key":"bench_fork_{round}"}}"#))?;
        clocked(2, "/api/business/employees", &employee)?;
        clocked(3, "/api/business/employees", &employee)?;
    }
    let [snapshot, fork, first, second] = times.map(median);
    Ok(format!(
        "snapshot {snapshot} us, fork {fork} us; first write after {first} us, the next {second} us"
    ))
}

/// Forks through the library.
pub(crate) fn fork_in_process(bench: &mut Bench) -> Result<String, String> {
    let told = |error: sandbox::SandboxError| error.to_string();
    let sandbox = Sandbox::builder().start().map_err(told)?;
    let address = address(&sandbox)?;
    fill(bench, address)?;
    let (mut snapshots, mut forks) = (Vec::new(), Vec::new());
    for round in 0..SNAPSHOTS {
        let started = Instant::now();
        sandbox.snapshot(KEY).map_err(told)?;
        let taken = Instant::now();
        sandbox.fork(KEY, &format!("bench_fork_{round}")).map_err(told)?;
        snapshots.push(micros(taken - started));
        forks.push(micros(taken.elapsed()));
    }
    let (snapshot, fork) = (median(snapshots), median(forks));
    Ok(format!("snapshot {snapshot} us, fork {fork} us"))
}

/// Creates the records, and returns the body of one more.
fn fill(bench: &mut Bench, address: SocketAddr) -> Result<String, String> {
    let companies =
        ok(child::get(address, "/api/business/companies?per_page=1", KEY)?)?.strings("id");
    let company = companies.first().ok_or("there is no company")?;
    let body = employee(company);
    let ask = requests::post("/api/business/employees", body.clone());
    send(bench, address, RECORDS, &ask)?;
    Ok(body)
}

fn address(sandbox: &Sandbox) -> Result<SocketAddr, String> {
    let address = sandbox.url().trim_start_matches("http://");
    address.parse().map_err(|_| format!("{address} is no address"))
}

fn employee(company: &str) -> String {
    format!(
        r#"{{"company_id":"{company}","name":"Ada Bench #","role":"Engineer","department":"Engineering","start_date":"2030-01-01"}}"#
    )
}

/// Sends this many requests, and returns the number of answers per second.
pub(crate) fn send(
    bench: &mut Bench,
    address: SocketAddr,
    count: u64,
    ask: &Write,
) -> Result<u64, String> {
    let first = bench.next;
    bench.next += count;
    let round = load::run(address, CONNECTIONS, count, first, ask);
    let round = round.map_err(|error| error.to_string())?;
    match round.refused {
        None => Ok(round.per_second()),
        Some(status) => Err(format!("refused with {status}")),
    }
}

// On disk.

/// Acknowledged writes of 64 clients to one world with a write-ahead log, compared with one without; then the
/// same with a recording.
pub(crate) fn kept(bench: &mut Bench) -> Result<String, String> {
    let folder = Folder::new("journal")?;
    let record = folder.0.join("recording");
    let journal = folder.0.join("journal");
    let start = |program: &str, flags: &[&str]| {
        let flags = ["--port", "0", "--quiet"].iter().chain(flags);
        Child::start(program, &flags.map(ToString::to_string).collect::<Vec<_>>(), PAGE)
    };
    let plain = start(bench.program(), &[])?;
    let journalled = start(bench.program(), &["--journal", text(&journal)?])?;
    let recorded = start(bench.program(), &["--record", text(&record)?])?;
    let companies = ok(plain.get("/api/business/companies?per_page=1", KEY)?)?.strings("id");
    let company = companies.first().ok_or("there is no company")?;
    let ask = requests::post("/api/business/employees", employee(company));
    let servers = [&plain, &journalled, &recorded];
    let (mut rates, mut cpus) = ([const { Vec::new() }; 3], [const { Vec::new() }; 3]);
    let writes = bench.requests / 2;
    for round in 0..=bench.rounds {
        for (place, server) in servers.iter().enumerate() {
            let cpu = server.cpu_us();
            let rate = send(bench, server.address, writes, &ask)?;
            if round > 0 {
                rates[place].push(rate);
                cpus[place].push((server.cpu_us() - cpu) * 100 / writes.max(1));
            }
        }
    }
    let ([plain, journalled, recorded], cpus) = (rates.map(median), cpus.map(median));
    let [plain_cpu, journalled_cpu, recorded_cpu] = cpus.map(hundredths);
    Ok(format!(
        "journal {journalled}/s, recording {recorded}/s, neither {plain}/s; \
         cpu {journalled_cpu}, {recorded_cpu}, {plain_cpu} us"
    ))
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| "a folder without a name in UTF-8".to_owned())
}

/// A folder on a disk, not in memory; removed on drop.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        let own = format!("ratios-{name}-{}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(own);
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The folder belongs to the benchmark, and remaining files are harmless.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
