//! Checks after a drill: of the worlds, live and replayed, of the webhooks and of the log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::harness::receiver::Receiver;
use crate::harness::{Caller, Server};

use super::{Drill, PROCESSES, WORLDS, key, text};

/// Instead of the digest of a world that cannot be replayed.
const REFUSED: &str = "refused";

/// The faults of which a drill without the fence must find at least one.
pub(super) const WITHOUT_FENCE: [&str; 5] =
    ["is lost", "twice", "was stale", "two entries", "a world cannot be read: 500"];

/// Lets the database note over which port each process renews its lease.
pub(super) const NOTE_OWNERS: &str = "create table drill_node (id bytea primary key, port int); \
    create function drill_note() returns trigger language plpgsql as \
    'begin insert into drill_node values (new.id, inet_client_port()) on conflict (id) do update set port = excluded.port; return new; end'; \
    create trigger drill_note after insert or update on sandbox_node for each row execute function drill_note()";

impl Drill {
    /// The processes that serve the worlds.
    fn owners(&self) -> Vec<Option<usize>> {
        let ports: BTreeMap<u16, usize> = (0..PROCESSES)
            .flat_map(|number| self.cuts[number].used().into_iter().map(move |port| (port, number)))
            .collect();
        let owner = |world| {
            let found = self.database.sql(&format!(
                "select n.port from sandbox_world w join drill_node n on n.id = w.owner \
                 where w.id = (select world from sandbox_log where frames like '%Drill {world} 0 Ltd%' limit 1)"
            ));
            ports.get(&found.parse().ok()?).copied()
        };
        (0..WORLDS).map(owner).collect()
    }

    /// Compares the replies to clients with the worlds, live and replayed, and with the log.
    pub(super) fn check(&self, receiver: &Receiver) {
        let owners = self.owners();
        let servers = std::mem::take(&mut *self.servers.lock().unwrap());
        for server in &servers {
            self.count(server);
        }
        let live = self.digests(|world| &servers[owners[world].unwrap_or(world % PROCESSES)]);
        let asked = owners.iter().flatten().count();
        assert!(asked > WORLDS / 2 || !self.is_fenced, "only {asked} worlds have an owner");
        drop(servers); // a kill
        let server = self.process(0);
        let replayed = self.digests(|_| &server);
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
            let told_ids = told.ids.lock().unwrap();
            let distinct: BTreeSet<&String> = told_ids.values().collect();
            if distinct.len() != told_ids.len() {
                self.wrong("an acknowledged write is lost: a later one has its id".to_owned());
            }
            if !distinct.is_subset(&once) {
                self.wrong("an acknowledged write is lost".to_owned());
            }
            if created.len() as u64 > told.asked.load(Ordering::SeqCst) {
                self.wrong("a write happened twice".to_owned());
            }
            if caller.get("/_sandbox/ledger/check").json()["data"]["ok"] != true {
                self.wrong("the books of a world are wrong".to_owned());
            }
        }
        self.check_webhooks(receiver, &events);
        self.check_log();
    }

    /// Each event is delivered, and no other.
    fn check_webhooks(&self, receiver: &Receiver, events: &BTreeSet<String>) {
        let started = Instant::now();
        loop {
            let seen = receiver.seen();
            let sent: BTreeSet<String> =
                seen.iter().map(|one| one.header("webhook-id").to_owned()).collect();
            if sent.is_superset(events) {
                if sent.len() > events.len() {
                    self.wrong("a webhook has an event that is not in the log".to_owned());
                }
                break;
            }
            if started.elapsed() > Duration::from_secs(30) {
                self.wrong("a webhook was never sent".to_owned());
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The log has each sequence number once, without gaps.
    fn check_log(&self) {
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
    fn digests<'a>(&self, server: impl Fn(usize) -> &'a Arc<Server>) -> Vec<String> {
        let digest = |world| {
            let caller = Caller::with_key(server(world), &key(world));
            let started = Instant::now();
            loop {
                let answer = caller.get("/_sandbox/info");
                // While no process serves the world, the process is described without it.
                let digest = text(&answer.json()["data"]["world"]["digest"]);
                if answer.status == 200 && !digest.is_empty() {
                    return digest;
                }
                if !matches!(answer.status, 200 | 503)
                    || started.elapsed() > Duration::from_secs(30)
                {
                    self.wrong(format!("a world cannot be read: {}", answer.status));
                    return REFUSED.to_owned();
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        };
        (0..WORLDS).map(digest).collect()
    }
}
