//! One key's heavy calls beside the reads of another key, and the digest after a large run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::bench::{Bench, median, micros, ok};
use crate::books::companies;
use crate::child::Child;
use crate::requests::KEY;

/// The key of the reads.
const OTHER: &str = "test_other";
/// Their path.
const PAGE_OF_ONE: &str = "/api/business/employees?per_page=1";
const PEOPLE: [&str; 4] = ["--companies", "10", "--employees-per-company", "10000"];

fn start(bench: &Bench) -> Result<Child, String> {
    let arguments = ["--seed", "42", "--port", "0", "--quiet"].iter().chain(&PEOPLE);
    let arguments: Vec<String> = arguments.map(|argument| (*argument).to_owned()).collect();
    Child::start(bench.program(), &arguments, PAGE_OF_ONE)
}

/// Reads of one key while another key runs a payroll of 10,000 people, reads its fingerprint, and sorts 100,000 people.
pub(crate) fn beside_heavy_calls(bench: &mut Bench) -> Result<String, String> {
    let (mut heavy, mut p99, mut worst) = (0, Vec::new(), 0);
    for _ in 0..bench.rounds {
        let sandbox = start(bench)?;
        let company = companies(&sandbox)?.swap_remove(0);
        let ended = AtomicBool::new(false);
        let (took, mut reads) = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut reads = Vec::new();
                while !ended.load(Ordering::Relaxed) {
                    let started = Instant::now();
                    ok(sandbox.get(PAGE_OF_ONE, OTHER)?)?;
                    reads.push(micros(started.elapsed()));
                }
                Ok::<_, String>(reads)
            });
            let started = Instant::now();
            let done = heavy_calls(&sandbox, &company);
            ended.store(true, Ordering::Relaxed);
            let reads = reader.join().map_err(|_| "the reader failed".to_owned())??;
            done.map(|()| (micros(started.elapsed()), reads))
        })?;
        reads.sort_unstable();
        heavy = heavy.max(took);
        p99.push(reads.get(reads.len() * 99 / 100).copied().unwrap_or_default());
        worst = worst.max(reads.last().copied().unwrap_or_default());
    }
    Ok(format!("p99 {} us, {worst} us at worst, beside calls of {heavy} us", median(p99)))
}

fn heavy_calls(sandbox: &Child, company: &str) -> Result<(), String> {
    let body = format!(r#"{{"company_id":"{company}","period":"2026-01"}}"#);
    ok(sandbox.post("/v1/payroll/run", KEY, &body)?)?;
    ok(sandbox.get("/_sandbox/fingerprint", KEY)?)?;
    ok(sandbox.get("/api/business/employees?sort=name", KEY)?)?;
    ok(sandbox.get("/_sandbox/ledger/check", KEY)?)?;
    Ok(())
}

/// The fingerprint and the process information after a payroll run of 10,000 people.
pub(crate) fn digest_of_a_large_run(bench: &mut Bench) -> Result<String, String> {
    let (mut first, mut info) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let sandbox = start(bench)?;
        let company = companies(&sandbox)?.swap_remove(0);
        let body = format!(r#"{{"company_id":"{company}","period":"2026-01"}}"#);
        ok(sandbox.post("/v1/payroll/run", KEY, &body)?)?;
        for (path, times) in [("/_sandbox/fingerprint", &mut first), ("/_sandbox/info", &mut info)]
        {
            let started = Instant::now();
            ok(sandbox.get(path, KEY)?)?;
            times.push(micros(started.elapsed()));
        }
    }
    Ok(format!("fingerprint {} us, info {} us", median(first), median(info)))
}
