//! Names: subjects that are screened against a long list.

use std::rc::Rc;

use crate::bench::{Bench, hundredths, median, micros, ok};
use crate::child::Child;
use crate::load::{self, CONNECTIONS, Write, number_after};
use crate::requests::{self, KEY};

const LISTED: u64 = 50_000;
const SCREENED: u64 = 10_000;
/// One of this many subjects has a name on the list.
const ONE_OF: u64 = 100;
const ONSETS: &[&str] = &[
    "b", "br", "d", "dr", "f", "g", "gl", "gr", "h", "k", "kr", "l", "m", "n", "p", "pr", "r", "s",
    "sk", "t", "v", "z",
];
const RIMES: &[&str] = &[
    "a", "ak", "am", "ar", "eg", "el", "en", "ist", "im", "ok", "ol", "on", "or", "ul", "un", "ur",
];

/// Every subject of a world once, in one round, against the added list entries.
pub(crate) fn screened(bench: &mut Bench) -> Result<String, String> {
    let (mut times, mut alerts) = (Vec::new(), 0);
    for _ in 0..bench.rounds.min(3) {
        let sandbox = bench.sandbox(false)?;
        let add = |number| {
            let name = name(number);
            format!(r#"{{"list":"watchlist","name":"{name}"}}"#)
        };
        send(bench, &sandbox, LISTED, "/_sandbox/inbound/watchlist_hit", add)?;
        let register = |number| {
            let listed = number % ONE_OF == 0;
            let whole = name(if listed { number } else { LISTED + number });
            let (first, last) = whole.split_once(' ').unwrap_or_default();
            format!(
                r#"{{"type":"person","name":{{"first":"{first}","last":"{last}"}},"country":"NG"}}"#
            )
        };
        send(bench, &sandbox, SCREENED, SUBJECTS, register)?;
        let ids = subjects(&sandbox)?;
        let screen = move |number| {
            let place = usize::try_from(number).unwrap_or_default();
            format!(r#"{{"subject_id":"{}"}}"#, ids[place])
        };
        // The clock is instant: the first screenings are complete before the last answer.
        times.push(send(bench, &sandbox, SCREENED, "/api/identity/aml-screenings", screen)?);
        let found = ok(sandbox.get("/api/identity/aml-alerts?per_page=1", KEY)?)?;
        alerts = number_after(found.body.as_bytes(), b"\"total\":").unwrap_or_default();
        if alerts < SCREENED / ONE_OF {
            return Err(format!("{alerts} alerts, of {} at least", SCREENED / ONE_OF));
        }
    }
    let took = median(times);
    Ok(format!("{} s, {alerts} found", hundredths(took / 10_000)))
}

const SUBJECTS: &str = "/api/identity/subjects";

/// Sends this many bodies, numbered from 0, and returns the microseconds.
fn send(
    bench: &mut Bench,
    sandbox: &Child,
    count: u64,
    path: &'static str,
    body: impl Fn(u64) -> String + 'static,
) -> Result<u64, String> {
    let first = bench.next;
    bench.next += count;
    let write: Write = Rc::new(move |number, out| {
        requests::post_to(out, path, KEY, number, &body(number - first));
    });
    let round = load::run(sandbox.address, CONNECTIONS, count, first, &write);
    let round = round.map_err(|error| error.to_string())?;
    match round.refused {
        None => Ok(micros(round.took)),
        Some(status) => Err(format!("{path} refused with {status}")),
    }
}

fn subjects(sandbox: &Child) -> Result<Vec<String>, String> {
    let mut ids = Vec::new();
    for page in 1..=SCREENED / 100 {
        let page = ok(sandbox.get(&format!("{SUBJECTS}?page={page}&per_page=100"), KEY)?)?;
        ids.extend(page.strings("id"));
    }
    Ok(ids)
}

/// An invented name of two words: one of many millions.
fn name(number: u64) -> String {
    let mut bits = requests::mix(number);
    let mut word = |syllables| -> String {
        let mut pick = |of: &[&'static str]| {
            let count = u64::try_from(of.len()).unwrap_or(1);
            let place = usize::try_from(bits % count).unwrap_or_default();
            bits /= count;
            of[place]
        };
        (0..syllables).flat_map(|_| [pick(ONSETS), pick(RIMES)]).collect()
    };
    format!("{} {}", word(2), word(3))
}
