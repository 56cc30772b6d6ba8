//! Worlds in PostgreSQL: writes compared with a folder on the same disk, reads compared with no store, and how long a world is not served
//! when its process ends. Needs the programs of PostgreSQL (Debian: postgresql).

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child as Process, Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::{Bench, Comparison, median, micros, ok};
use crate::child::Child;
use crate::load::Write;
use crate::requests::{self, KEY};
use crate::rows::PAGE;
use crate::worlds::Folder;

/// The seconds of a lease.
const LEASE: &str = "2";

/// A server of databases of this program alone, which is stopped on drop.
struct Postgres {
    process: Process,
    port: u16,
    _folder: Folder,
}

impl Postgres {
    fn start() -> Result<Self, String> {
        let binaries = binaries().ok_or("PostgreSQL is not installed")?;
        let folder = Folder::new("postgres")?;
        let told = |error: std::io::Error| error.to_string();
        // Another user needs access to the folder, because initdb refuses to run as root.
        let listener = TcpListener::bind("127.0.0.1:0").map_err(told)?;
        let port = listener.local_addr().map_err(told)?.port();
        drop(listener);
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| is_root(&own));
        let command = |program: &str| {
            let program = binaries.join(program);
            if !is_root {
                return Command::new(program);
            }
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]);
            command.arg(program);
            command
        };
        if is_root {
            Command::new("chown").arg("postgres:").arg(&folder.0).status().map_err(told)?;
        }
        let data = folder.0.join("data");
        let mut initdb = command("initdb");
        let made =
            initdb.arg("-D").arg(&data).args(["--auth=trust", "--username=sandbox"]).output();
        let made = made.map_err(told)?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into_owned());
        }
        let mut postgres = command("postgres");
        postgres.arg("-D").arg(&data).args(["-p", &port.to_string(), "-k", ""]);
        postgres.args(["-c", "listen_addresses=127.0.0.1"]);
        let process = postgres.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(told)?;
        let started = Self { process, port, _folder: folder };
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                std::thread::sleep(Duration::from_millis(500));
                return Ok(started);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err("PostgreSQL does not start".to_owned())
    }

    fn sandbox(&self, program: &str) -> Result<Child, String> {
        let url = format!("postgres://sandbox@127.0.0.1:{}/postgres", self.port);
        start(program, &["--store", &url, "--store-lease", LEASE])
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Its immediate end; the folder is deleted anyway.
        let _ = Command::new("kill").args(["-QUIT", &self.process.id().to_string()]).status();
        let _ = self.process.wait();
    }
}

#[cfg(unix)]
fn is_root(own: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(own) == 0
}

#[cfg(not(unix))]
fn is_root(_: &std::fs::Metadata) -> bool {
    false
}

/// The folder of the newest installed programs.
fn binaries() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<PathBuf> =
        versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
    found.retain(|folder| folder.join("initdb").is_file());
    found.sort();
    found.pop()
}

fn start(program: &str, flags: &[&str]) -> Result<Child, String> {
    let flags = ["--port", "0", "--quiet"].iter().chain(flags);
    Child::start(program, &flags.map(ToString::to_string).collect::<Vec<_>>(), PAGE)
}

/// Acknowledged writes of 64 clients, compared with `--journal`.
pub(crate) fn writes(bench: &mut Bench) -> Result<String, String> {
    let postgres = Postgres::start()?;
    let folder = Folder::new("beside-store")?;
    let journal = folder.0.display().to_string();
    let (store, file) =
        (postgres.sandbox(bench.program())?, start(bench.program(), &["--journal", &journal])?);
    let ask = employee(&store)?;
    let requests = bench.requests;
    bench.requests /= 4;
    let compared = bench.against((&store, &ask), (&file, &ask));
    bench.requests = requests;
    compared.map(|compared: Comparison| compared.to_string())
}

/// Reads of a world that the process serves, compared with the same without a store.
pub(crate) fn reads(bench: &mut Bench) -> Result<String, String> {
    let postgres = Postgres::start()?;
    let (store, plain) = (postgres.sandbox(bench.program())?, start(bench.program(), &[])?);
    let ask = requests::get(PAGE);
    Ok(bench.against((&store, &ask), (&plain, &ask))?.to_string())
}

fn employee(sandbox: &Child) -> Result<Write, String> {
    let companies = ok(sandbox.get("/api/business/companies?per_page=1", KEY)?)?.strings("id");
    let company = companies.first().ok_or("there is no company")?;
    let body = format!(
        r#"{{"company_id":"{company}","name":"Ada Bench #","role":"Engineer","department":"Engineering","start_date":"2030-01-01"}}"#
    );
    Ok(requests::post("/api/business/employees", body))
}

/// The longest time between two acknowledged writes of a world while its process ends. The client repeats a refused
/// write at the other process.
pub(crate) fn gaps(bench: &mut Bench) -> Result<String, String> {
    let postgres = Postgres::start()?;
    let (mut told, mut killed) = (Vec::new(), Vec::new());
    let mut here = postgres.sandbox(bench.program())?;
    for _ in 0..bench.rounds.max(5) {
        for (times, signal) in [(&mut told, "-TERM"), (&mut killed, "-KILL")] {
            let there = postgres.sandbox(bench.program())?;
            let ask = employee(&here)?;
            times.push(gap(bench, &here, &there, signal, &ask)?);
            here = there;
        }
    }
    let worst = |times: &[u64]| times.iter().max().copied().unwrap_or_default() / 1_000;
    let (told_worst, killed_worst) = (worst(&told), worst(&killed));
    let (told, killed) = (median(told) / 1_000, median(killed) / 1_000);
    Ok(format!(
        "SIGTERM {told} ms, at most {told_worst}; kill -9 {killed} ms, at most {killed_worst} (lease {LEASE} s)"
    ))
}

fn gap(
    bench: &mut Bench,
    here: &Child,
    there: &Child,
    signal: &str,
    ask: &Write,
) -> Result<u64, String> {
    let (mut at, other) = (here.address, there.address);
    let (started, mut last, mut longest) = (Instant::now(), Instant::now(), Duration::ZERO);
    let mut is_sent = false;
    while started.elapsed() < Duration::from_secs(6) {
        if !is_sent && started.elapsed() > Duration::from_secs(1) {
            is_sent = true;
            let sent = Command::new("kill").args([signal, &here.pid().to_string()]).status();
            sent.map_err(|error| error.to_string())?;
        }
        if is_acknowledged(at, bench.next, ask) {
            (longest, last) = (longest.max(last.elapsed()), Instant::now());
            bench.next += 1;
        } else if is_sent {
            at = other;
            std::thread::sleep(Duration::from_millis(20));
        } else {
            return Err("a write was refused before the end of a process".to_owned());
        }
    }
    if last.elapsed() > Duration::from_secs(2) {
        return Err("the world is not served any more".to_owned());
    }
    Ok(micros(longest))
}

fn is_acknowledged(address: SocketAddr, number: u64, ask: &Write) -> bool {
    use std::io::Read as _;
    let Ok(mut stream) = TcpStream::connect(address) else { return false };
    let patience = stream.set_read_timeout(Some(Duration::from_secs(3)));
    let mut request = Vec::new();
    ask(number, &mut request);
    let mut status = [0; 12];
    patience.is_ok()
        && stream.write_all(&request).is_ok()
        && stream.read_exact(&mut status).is_ok()
        && status.ends_with(b"201")
}
