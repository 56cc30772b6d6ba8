//! The setup of `examples/cluster`: three processes behind HAProxy, as a user starts it. Processes are killed and ended, and start again.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::http::read_answer;
use crate::harness::{Answer, Request, command};

use super::{Dice, free_port, is_installed, until};

const CLIENTS: usize = 4;
const WORLDS: usize = 12;
const TIMEOUT: Duration = Duration::from_secs(3);

/// The running setup.
struct Cluster {
    folder: tempfile::TempDir,
    /// A shell that ends it when its standard input closes, so that it never outlives the tests.
    shell: Child,
    proxy: u16,
    processes: Vec<u16>,
}

impl Cluster {
    /// None if a program is missing.
    fn start() -> Option<Self> {
        let has_proxy =
            ["/usr/sbin/haproxy", "/usr/bin/haproxy"].map(|path| Path::new(path).exists());
        if !is_installed("HAProxy", has_proxy.contains(&true)) {
            return None;
        }
        if !is_installed("PostgreSQL", Path::new("/usr/lib/postgresql").exists()) {
            return None;
        }
        let ports: Vec<u16> = (0..5).map(|_| free_port()).collect();
        let others: Vec<String> = ports[1..].iter().map(u16::to_string).collect();
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "'{}/examples/cluster/run.sh' '{}' {} & run=$!; cat >/dev/null; kill $run; wait",
            env!("CARGO_MANIFEST_DIR"),
            command(&[]).get_program().display(),
            ports[0]
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.env("CLUSTER_FOLDER", folder.path()).env("CLUSTER_PORTS", others.join(" "));
        command.env("CLUSTER_LEASE", "1");
        let mut shell = command.spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        assert!(ready.starts_with("listening on"), "{ready:?}");
        Some(Self { folder, shell, proxy: ports[0], processes: ports[2..].to_vec() })
    }

    fn pid(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(format!("{name}.pid"))).unwrap()
    }

    /// Sends a signal to a process, and waits until another one has taken its place.
    fn end(&self, name: &str, signal: &str) {
        let before = self.pid(name);
        let sent = Command::new("kill").args([signal, before.trim()]).status();
        assert!(sent.unwrap().success());
        until("the process starts again", || self.pid(name) != before);
    }

    /// Through the proxy; one in eight directly to a process, which is a wrong one in most cases.
    fn send(&self, request: &Request, dice: &mut Dice) -> Option<Answer> {
        let strays = dice.below(8) == 0;
        let direct = self.processes[dice.below(self.processes.len())];
        let port = if strays { direct } else { self.proxy };
        let address = ([127, 0, 0, 1], port).into();
        let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).ok()?;
        stream.write_all(&request.wire()).ok()?;
        read_answer(&mut stream, false).ok()
    }

    /// Repeats a request until it has this status. A proxy without a process answers 503, too.
    fn answered(&self, request: &Request, status: u16, dice: &mut Dice) -> Answer {
        let started = Instant::now();
        loop {
            match self.send(request, dice) {
                Some(answer) if answer.status == status => return answer,
                Some(answer) if ![409, 502, 503, 504].contains(&answer.status) => {
                    panic!("{request}: {} {}", answer.status, answer.text())
                }
                _ => {}
            }
            assert!(started.elapsed() < Duration::from_secs(60), "{request} was never answered");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

fn key(world: usize) -> String {
    format!("test_proxied_{world}")
}

fn create(world: usize, number: u64) -> Request {
    let name = format!("Proxied {world} {number} Ltd");
    Request::new("POST", "/api/business/companies")
        .key(&key(world))
        .header("Idempotency-Key", &format!("proxied-{world}-{number}"))
        .json(&json!({"legal_name": name, "country": "GB", "currency": "GBP"}))
}

#[test]
fn processes_behind_a_proxy_are_killed_and_nothing_is_lost() {
    let Some(cluster) = Cluster::start() else { return };
    let told: Mutex<BTreeSet<(usize, String)>> = Mutex::default();
    let (is_over, asked) = (AtomicBool::new(false), AtomicU64::new(0));
    let client = |number: usize| {
        let mut dice = Dice(number as u64);
        let mut next = 0;
        while !is_over.load(Ordering::SeqCst) {
            for world in (number..WORLDS).step_by(CLIENTS) {
                asked.fetch_add(1, Ordering::SeqCst);
                let made = cluster.answered(&create(world, next), 201, &mut dice).made();
                let id = made["id"].as_str().unwrap().to_owned();
                assert!(told.lock().unwrap().insert((world, id)), "one id came twice");
            }
            next += 1;
        }
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..CLIENTS).map(|number| scope.spawn(move || client(number))).collect();
        for (name, signal) in [
            ("sandbox1", "-KILL"),
            ("sandbox2", "-TERM"),
            ("sandbox3", "-KILL"),
            ("postgres", "-QUIT"),
            ("sandbox1", "-TERM"),
            ("haproxy", "-KILL"),
            ("sandbox2", "-KILL"),
        ] {
            std::thread::sleep(Duration::from_secs(1));
            cluster.end(name, signal);
            assert!(clients.iter().all(|client| !client.is_finished()), "after {name}");
        }
        std::thread::sleep(Duration::from_secs(1));
        is_over.store(true, Ordering::SeqCst);
    });
    let (told, mut dice) = (told.into_inner().unwrap(), Dice(99));
    assert!(told.len() > WORLDS, "there was no load: {}", told.len());
    let mut there = 0;
    for world in 0..WORLDS {
        for (_, id) in told.iter().filter(|(of, _)| *of == world) {
            let path = format!("/api/business/companies/{id}");
            cluster.answered(&Request::new("GET", &path).key(&key(world)), 200, &mut dice);
        }
        let read = |path: &str, dice: &mut Dice| {
            cluster.answered(&Request::new("GET", path).key(&key(world)), 200, dice).json()
        };
        let page = read("/_sandbox/events?type=company.created&per_page=1", &mut dice);
        there += page["meta"]["total"].as_u64().unwrap();
        let books = read("/_sandbox/ledger/check", &mut dice);
        assert_eq!(books["data"]["ok"], true, "{books}");
    }
    assert_eq!(there, told.len() as u64, "a write happened twice");
    assert_eq!(asked.into_inner(), there);
}
