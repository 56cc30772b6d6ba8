//! The kill drill: processes are killed, stopped, cut off and ended while clients write, and nothing acknowledged may be lost, doubled or
//! shown late. The same drill without the fence must find faults.
//!
//! `SANDBOX_TEST_DRILL=SECONDS` sets the length, `SANDBOX_TEST_DRILL_SEED` the order of the faults, and `SANDBOX_TEST_DRILL_FAULTS` the least
//! number of faults.

mod checked;
mod figures;

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::http::read_answer;
use crate::harness::receiver::Receiver;
use crate::harness::server::{command, own_command};
use crate::harness::{Answer, Caller, Request, Server};

use super::cut::Cut;
use super::postgres::{Database, Postgres};
use super::{Dice, signal};

const PROCESSES: usize = 3;
const CLIENTS: usize = 6;
const WORLDS: usize = 18;
const LEASE: Duration = Duration::from_secs(1);
/// A client waits this long for an answer, less than a process is stopped.
const TIMEOUT: Duration = Duration::from_secs(1);
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

/// The replies of a world to clients.
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
    /// The counts of all processes, including ended ones.
    figures: Mutex<BTreeMap<String, u64>>,
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
            figures: Mutex::default(),
        };
        let servers = (0..PROCESSES).map(|number| drill.process(number)).collect();
        *drill.servers.lock().unwrap() = servers;
        drill.database.sql(checked::NOTE_OWNERS);
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
        let mut command = if self.is_fenced { command(&flags) } else { own_command(&flags) };
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
            TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), TIMEOUT).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).ok()?;
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
        let mut attempt: usize = 0;
        loop {
            match self.send(&request, world, attempt.div_ceil(2), dice) {
                Some(answer) if answer.status == 201 => {
                    let id = answer.json()["data"]["id"].as_str().unwrap().to_owned();
                    self.told[world].ids.lock().unwrap().insert(number, id);
                    self.kept_answers.fetch_add(u64::from(attempt > 0), Ordering::SeqCst);
                    return true;
                }
                Some(answer) if answer.status != 503 && answer.status != 409 => {
                    self.wrong(format!("a write was answered {}", answer.status));
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
            _ => self.wrong(format!("a read was answered {}", answer.status)),
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

    fn fault(&self, fault: Fault, number: usize, is_short: bool) {
        *self.happened.lock().unwrap().entry(fault).or_default() += 1;
        let long = LEASE + Duration::from_millis(1_200);
        let server = Arc::clone(&self.servers.lock().unwrap()[number]);
        match fault {
            Fault::Kill => {
                self.count(&server);
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
                // After a short interruption, the bytes arrive while the process still waits and another process has
                // taken the world.
                let short = LEASE + Duration::from_millis(700);
                self.cuts[number].hold(true);
                std::thread::sleep(if is_short { short } else { long });
                self.cuts[number].hold(false);
            }
            Fault::End => {
                self.count(&server);
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

    /// Makes faults for this time, in an order from a seed: every kind in turn, at a process that the seed chooses. On a slow machine it takes
    /// up to twice the time, until there were enough.
    fn run(&self, time: Duration, least: u64, seed: u64) {
        let mut dice = Dice(seed);
        std::thread::scope(|scope| {
            for number in 0..CLIENTS {
                scope.spawn(move || self.client(number, seed));
            }
            let started = Instant::now();
            let (first, mut made) = (dice.below(FAULTS.len()), 0_usize);
            let is_due = |made: usize| {
                let elapsed = started.elapsed();
                elapsed < time || ((made as u64) < least && elapsed < 2 * time)
            };
            while is_due(made) {
                let kind = FAULTS[(first + made) % FAULTS.len()];
                let is_short = (made / FAULTS.len()).is_multiple_of(2);
                self.fault(kind, dice.below(PROCESSES), is_short);
                made += 1;
                std::thread::sleep(Duration::from_millis(300));
            }
            self.is_over.store(true, Ordering::SeqCst);
        });
    }
}

fn key(world: usize) -> String {
    format!("test_drill_{world}")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Runs a drill. Returns the faults.
fn drill(is_fenced: bool, seconds: u64, least: u64) -> Option<BTreeSet<String>> {
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
    drill.run(Duration::from_secs(seconds), least, seed);
    drill.check(&receiver);
    let acknowledged: usize = drill.told.iter().map(|told| told.ids.lock().unwrap().len()).sum();
    let happened = drill.happened.lock().unwrap().clone();
    let found = drill.found.lock().unwrap().clone();
    let figures = drill.figures.lock().unwrap().clone();
    println!(
        "seed {seed}, {seconds} s, fenced {is_fenced}: {happened:?}, acknowledged {acknowledged}, repeated {}, {figures:?}, \
         deliveries {}; found {found:?}",
        drill.kept_answers.load(Ordering::SeqCst),
        receiver.seen().len(),
    );
    let faults: u64 = happened.values().sum();
    assert!(faults >= least, "only {faults} faults happened");
    assert!(acknowledged > WORLDS, "there was no load: {acknowledged}");
    if seconds >= 20 {
        assert!(FAULTS.iter().all(|fault| happened.contains_key(fault)), "{happened:?}");
    }
    if is_fenced && seconds >= 60 {
        let is_missing = |name: &&&str| figures.get(**name).is_none_or(|count| *count == 0);
        let missing: Vec<_> = figures::COUNTED.iter().filter(is_missing).collect();
        assert!(missing.is_empty(), "these never happened: {missing:?}");
    }
    Some(found)
}

#[test]
fn nothing_is_lost_under_faults() {
    let least = variable("SANDBOX_TEST_DRILL_FAULTS", FAULTS.len() as u64);
    let Some(found) = drill(true, variable("SANDBOX_TEST_DRILL", 20), least) else {
        return;
    };
    assert!(found.is_empty(), "{found:?}");
}

/// The control run. Only a build with debug assertions can run without the fence.
#[test]
fn without_the_fence_the_drill_fails() {
    let Some(found) = drill(false, variable("SANDBOX_TEST_DRILL", 20).min(60), 1) else { return };
    let is_expected = |what: &String| checked::WITHOUT_FENCE.iter().any(|one| what.contains(one));
    assert!(found.iter().any(is_expected), "without the fence, the drill finds only {found:?}");
}
