//! Replay of a write-ahead log after a restart.

use std::path::Path;

use crate::bench::{Bench, hundredths, median, micros, ok};
use crate::child::Child;
use crate::requests::{self, KEY};
use crate::rows::PAGE;
use crate::worlds::{Folder, send};

/// Collections in the log, of one world.
const COLLECTIONS: u64 = 70_000;
/// The number of collections with `--quick`.
const FEW_COLLECTIONS: u64 = 9_000;
/// The most inputs of a world without a checkpoint, which would shorten the replay.
const WITHOUT_CHECKPOINT: u64 = 10_000;

/// The time from the start of the program to the first reply of a world with many collections in its log, and the CPU
/// time of each input.
pub(crate) fn replayed(bench: &mut Bench) -> Result<String, String> {
    let count = if bench.is_quick() { FEW_COLLECTIONS } else { COLLECTIONS };
    let (mut took, mut each) = (Vec::new(), Vec::new());
    for round in 0..bench.rounds.min(3) {
        let folder = Folder::new(&format!("replay-{round}"))?;
        let empty = started(bench, &folder.0.join("empty"))?;
        let journal = folder.0.join("journal");
        let sandbox = started(bench, &journal)?;
        fill(bench, &sandbox, count)?;
        sandbox.end();
        // A checkpoint is a cache of the log; without it the world is replayed.
        let checkpoints = journal.join("checkpoints");
        if count >= WITHOUT_CHECKPOINT && checkpoints.exists() {
            std::fs::remove_dir_all(checkpoints).map_err(|error| error.to_string())?;
        }
        let again = started(bench, &journal)?;
        took.push(micros(again.first_reply.saturating_sub(empty.first_reply)));
        each.push(again.cpu_us().saturating_sub(empty.cpu_us()) * 100 / count);
    }
    let (took, each) = (median(took), hundredths(median(each)));
    Ok(format!("{count} inputs in {} s, cpu {each} us an input", hundredths(took / 10_000)))
}

fn started(bench: &Bench, journal: &Path) -> Result<Child, String> {
    let journal = journal.to_str().ok_or("a folder without a name in UTF-8")?;
    let flags = ["--port", "0", "--quiet", "--journal", journal];
    Child::start(bench.program(), &flags.map(ToOwned::to_owned), PAGE)
}

fn fill(bench: &mut Bench, sandbox: &Child, count: u64) -> Result<(), String> {
    let companies = ok(sandbox.get("/api/business/companies?per_page=1", KEY)?)?.strings("id");
    let company = companies.first().ok_or("there is no company")?;
    let body = format!(
        r#"{{"company_id":"{company}","amount":10000,"currency":"NGN","method":"card","payer":{{"name":"Chidi Eze"}},"reference":"sale-#"}}"#
    );
    let ask = requests::post("/api/payments/collections", body);
    send(bench, sandbox.address, count, &ask).map(drop)
}
