//! The kill drill: processes are killed, stopped, cut off and ended while clients write, and nothing acknowledged may be lost, doubled or
//! shown late. The same drill without the fence must find faults.
//!
//! `SANDBOX_TEST_DRILL=SECONDS` sets the length, `SANDBOX_TEST_DRILL_SEED` the order of the faults.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::http::read_answer;
use crate::harness::receiver::Receiver;
use crate::harness::server::command;
use crate::harness::{Answer, Caller, Request, Server};

use super::cut::Cut;
use super::postgres::{Database, Postgres};
use super::{Dice, signal};

const PROCESSES: usize = 3;
const CLIENTS: usize = 6;
const WORLDS: usize = 18;
const LEASE: Duration = Duration::from_secs(1);
/// A client waits this long for an answer, less than a process is stopped.
const PATIENCE: Duration = Duration::from_secs(1);
/// The companies of a new world.
const GROWN: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Kill,
    Stop,
    Cut,
    End,
    Database,
}

const FAULTS: [Fault; 5] = [Fault::Kill, Fault::Stop, Fault::Cut, Fault::End, Fault::Database];

/// What clients were told of a world.
#[derive(Default)]
struct Told {
    /// The writes that were sent at least once.
    asked: AtomicU64,
    /// The ids of the companies whose writes were acknowledged, by their number.
    ids: Mutex<BTreeMap<u64, String>>,
}

struct Drill {
    database: Database,
    is_fenced: bool,
    servers: Mutex<Vec<Arc<Server>>>,
    cuts: Vec<Cut>,
    told: Vec<Told>,
    found: Mutex<BTreeSet<String>>,
    happened: Mutex<BTreeMap<Fault, u64>>,
    is_over: AtomicBool,
    kept_answers: AtomicU64,
}

impl Drill {
    fn start(is_fenced: bool) -> Option<Self> {
        let database = Database::of(Arc::new(Postgres::start()?));
        let cuts = (0..PROCESSES).map(|_| Cut::before(database.server.port())).collect();
        let drill = Self {
            database,
            is_fenced,
            servers: Mutex::default(),
            cuts,
            told: (0..WORLDS).map(|_| Told::default()).collect(),
            found: Mutex::default(),
            happened: Mutex::default(),
            is_over: AtomicBool::new(false),
            kept_answers: AtomicU64::new(0),
        };
        let servers = (0..PROCESSES).map(|number| drill.process(number)).collect();
        *drill.servers.lock().unwrap() = servers;
        if !is_fenced {
            drill.database.sql("alter table sandbox_log drop constraint sandbox_log_pkey");
        }
        Some(drill)
    }

    fn process(&self, number: usize) -> Arc<Server> {
        let url = self.database.url_at(self.cuts[number].port());
        let lease = LEASE.as_secs().to_string();
        let flags =
            ["--port", "0", "--quiet", "--store", url.as_str(), "--store-lease", lease.as_str()];
        let mut command = command(&flags);
        if !self.is_fenced {
            command.env("SANDBOX_TEST_UNFENCED", "1");
        }
        Arc::new(Server::spawn(&mut command))
    }

    fn wrong(&self, what: String) {
        self.found.lock().unwrap().insert(what);
    }

    fn port(&self, number: usize) -> u16 {
        self.servers.lock().unwrap()[number].port()
    }

    /// Sends a request to the process of its world, or to another one, as a proxy does when a process does not answer.
    fn send(
        &self,
        request: &Request,
        world: usize,
        attempt: usize,
        dice: &mut Dice,
    ) -> Option<Answer> {
        let strays = usize::from(dice.below(10) == 0);
        let port = self.port((world + attempt + strays) % PROCESSES);
        let mut stream =
            TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), PATIENCE).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        std::io::Write::write_all(&mut stream, &request.wire()).ok()?;
        read_answer(&mut stream, false).ok()
    }

    /// Repeats a write until it is acknowledged.
    fn write(&self, world: usize, number: u64, dice: &mut Dice) -> bool {
        let name = format!("Drill {world} {number} Ltd");
        let body = json!({"legal_name": name, "country": "GB", "currency": "GBP"});
        let request = Request::new("POST", "/api/business/companies")
            .key(&key(world))
            .header("Idempotency-Key", &format!("drill-{world}-{number}"))
            .json(&body);
        self.told[world].asked.fetch_max(number + 1, Ordering::SeqCst);
        let started = Instant::now();
        let mut attempt = 0;
        loop {
            match self.send(&request, world, attempt / 2, dice) {
                Some(answer) if answer.status == 201 => {
                    let id = answer.json()["data"]["id"].as_str().unwrap().to_owned();
                    self.told[world].ids.lock().unwrap().insert(number, id);
                    self.kept_answers.fetch_add(u64::from(attempt > 0), Ordering::SeqCst);
                    return true;
                }
                Some(answer) if answer.status != 503 && answer.status != 409 => {
                    self.wrong(format!("a write was answered {}", answer.text()));
                    return false;
                }
                _ => {}
            }
            if started.elapsed() > Duration::from_secs(40) {
                self.wrong("a write was never answered".to_owned());
                return false;
            }
            attempt += 1;
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A read shows everything that was acknowledged before it was sent.
    fn read(&self, world: usize, dice: &mut Dice) {
        let least = self.told[world].ids.lock().unwrap().len() as u64;
        let request = Request::new("GET", "/api/business/companies?per_page=1").key(&key(world));
        let Some(answer) = self.send(&request, world, 0, dice) else { return };
        match answer.status {
            200 => {
                let total = answer.json()["meta"]["total"].as_u64().unwrap() - GROWN;
                let most = self.told[world].asked.load(Ordering::SeqCst);
                if total < least || total > most {
                    self.wrong("a read was stale or showed what no client wrote".to_owned());
                }
            }
            503 => {}
            _ => self.wrong(format!("a read was answered {}", answer.text())),
        }
    }

    fn client(&self, number: usize, seed: u64) {
        let mut dice = Dice(seed + number as u64);
        let mut next = 0;
        while !self.is_over.load(Ordering::SeqCst) {
            for world in (number..WORLDS).step_by(CLIENTS) {
                if !self.write(world, next, &mut dice) {
                    return;
                }
                let other = dice.below(WORLDS);
                self.read(other, &mut dice);
            }
            next += 1;
        }
    }

    fn fault(&self, fault: Fault, number: usize) {
        *self.happened.lock().unwrap().entry(fault).or_default() += 1;
        let long = LEASE + Duration::from_millis(1_200);
        let server = Arc::clone(&self.servers.lock().unwrap()[number]);
        match fault {
            Fault::Kill => {
                signal(&server, "-KILL");
                let new = self.process(number);
                self.servers.lock().unwrap()[number] = new;
            }
            Fault::Stop => {
                signal(&server, "-STOP");
                std::thread::sleep(long);
                signal(&server, "-CONT");
            }
            Fault::Cut => {
                self.cuts[number].hold(true);
                std::thread::sleep(long);
                self.cuts[number].hold(false);
            }
            Fault::End => {
                signal(&server, "-TERM");
                let new = self.process(number);
                std::thread::sleep(Duration::from_millis(500));
                self.servers.lock().unwrap()[number] = new;
                if let Some(server) = { Arc::into_inner(server) } {
                    server.ended();
                }
            }
            Fault::Database => {
                self.database.server.kill();
                self.database.server.begin();
            }
        }
    }

    /// Makes faults for this time, in an order from a seed: every kind in turn, at a process that the seed chooses.
    fn run(&self, time: Duration, seed: u64) {
        let mut dice = Dice(seed);
        std::thread::scope(|scope| {
            for number in 0..CLIENTS {
                scope.spawn(move || self.client(number, seed));
            }
            let started = Instant::now();
            let mut kind = dice.below(FAULTS.len());
            while started.elapsed() < time {
                self.fault(FAULTS[kind % FAULTS.len()], dice.below(PROCESSES));
                kind += 1;
                std::thread::sleep(Duration::from_millis(300));
            }
            self.is_over.store(true, Ordering::SeqCst);
        });
    }

    /// Compares what clients were told with the worlds, live and replayed, and with the log.
    fn check(&self, receiver: &Receiver) {
        let live = self.digests(&Arc::clone(&self.servers.lock().unwrap()[0]));
        self.servers.lock().unwrap().clear(); // a kill
        let server = self.process(0);
        let replayed = self.digests(&server);
        if live != replayed {
            self.wrong("a replayed digest differs from the live one".to_owned());
        }
        let mut events = BTreeSet::new();
        for (world, told) in self.told.iter().enumerate() {
            if replayed[world] == REFUSED {
                continue; // it is a fault already
            }
            let caller = Caller::with_key(&server, &key(world));
            let happened = caller.all("/_sandbox/events?type=company.created");
            let created: Vec<String> =
                happened.iter().map(|event| text(&event["data"]["object"]["id"])).collect();
            events.extend(happened.iter().map(|event| text(&event["id"])));
            let once: BTreeSet<&String> = created.iter().collect();
            if once.len() != created.len() {
                self.wrong("a company was created twice".to_owned());
            }
            if !told.ids.lock().unwrap().values().all(|id| once.contains(id)) {
                self.wrong("an acknowledged write is lost".to_owned());
            }
            if created.len() as u64 > told.asked.load(Ordering::SeqCst) {
                self.wrong("a write happened twice".to_owned());
            }
            if caller.get("/_sandbox/ledger/check").json()["data"]["ok"] != true {
                self.wrong("the books of a world are wrong".to_owned());
            }
        }
        let started = Instant::now();
        loop {
            let seen = receiver.seen();
            let sent: BTreeSet<String> =
                seen.iter().map(|one| one.header("webhook-id").to_owned()).collect();
            if sent.is_superset(&events) {
                if sent.len() > events.len() {
                    self.wrong("a webhook tells of an event that is not in the log".to_owned());
                }
                break;
            }
            if started.elapsed() > Duration::from_secs(30) {
                self.wrong("a webhook was never sent".to_owned());
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        for (sql, what) in [
            (
                "select count(*) from sandbox_log l where seq > 1 and not exists (select from sandbox_log p \
              where p.world = l.world and p.seq + p.n = l.seq)",
                "the log has a gap",
            ),
            (
                "select count(*) from (select epoch < lag(epoch) over (partition by world order by seq) as falls \
              from sandbox_log) as log where falls",
                "the number of a claim falls",
            ),
            (
                "select count(*) - count(distinct (world, seq)) from sandbox_log",
                "a place of the log has two entries",
            ),
        ] {
            if self.database.sql(sql) != "0" {
                self.wrong(what.to_owned());
            }
        }
    }

    /// The digests of all worlds, or the refusal of those that cannot be replayed.
    fn digests(&self, server: &Arc<Server>) -> Vec<String> {
        let digest = |world| {
            let caller = Caller::with_key(server, &key(world));
            let started = Instant::now();
            loop {
                let answer = caller.get("/_sandbox/info");
                if answer.status == 200 {
                    return text(&answer.json()["data"]["world"]["digest"]);
                }
                if answer.status != 503 || started.elapsed() > Duration::from_secs(30) {
                    self.wrong(format!("a world cannot be read: {}", answer.status));
                    return REFUSED.to_owned();
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        };
        (0..WORLDS).map(digest).collect()
    }
}

/// Instead of the digest of a world that cannot be replayed.
const REFUSED: &str = "refused";

fn key(world: usize) -> String {
    format!("test_drill_{world}")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Runs a drill. Returns what it found.
fn drill(is_fenced: bool, seconds: u64) -> Option<BTreeSet<String>> {
    let seed = variable("SANDBOX_TEST_DRILL_SEED", 7);
    let drill = Drill::start(is_fenced)?;
    let receiver = Receiver::taking();
    let server = Arc::clone(&drill.servers.lock().unwrap()[0]);
    for world in 0..WORLDS {
        let caller = Caller::with_key(&server, &key(world));
        let body = json!({"url": receiver.url(), "events": ["company.created"]});
        caller.post("/_sandbox/webhook-endpoints", &body).expect(201);
    }
    drop(server);
    drill.run(Duration::from_secs(seconds), seed);
    drill.check(&receiver);
    let acknowledged: usize = drill.told.iter().map(|told| told.ids.lock().unwrap().len()).sum();
    let happened = drill.happened.lock().unwrap().clone();
    let found = drill.found.lock().unwrap().clone();
    let claims = drill.database.sql("select sum(epoch) from sandbox_world");
    println!(
        "seed {seed}, {seconds} s, fenced {is_fenced}: {happened:?}, acknowledged {acknowledged}, repeated {}, claims {claims}, \
         deliveries {}; found {found:?}",
        drill.kept_answers.load(Ordering::SeqCst),
        receiver.seen().len(),
    );
    for fault in FAULTS {
        assert!(happened.contains_key(&fault) || seconds < 20, "{fault:?} did not happen");
    }
    assert!(acknowledged > WORLDS, "there was no load: {acknowledged}");
    Some(found)
}

#[test]
fn nothing_is_lost_under_faults() {
    let Some(found) = drill(true, variable("SANDBOX_TEST_DRILL", 20)) else { return };
    assert!(found.is_empty(), "{found:?}");
}

/// The control run.
#[test]
fn without_the_fence_the_drill_fails() {
    let Some(found) = drill(false, variable("SANDBOX_TEST_DRILL", 20).min(60)) else { return };
    assert!(!found.is_empty(), "the drill finds nothing without the fence");
}
