//! A server as a child process: started, called, measured from outside, ended.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child as Process, Command, Stdio};
use std::time::{Duration, Instant};

use crate::load::number_after;

/// A running server, killed on drop.
pub(crate) struct Child {
    process: Process,
    pub(crate) address: SocketAddr,
    /// The time from exec to the first complete reply.
    pub(crate) first_reply: Duration,
}

/// A complete reply.
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Got {
    /// The value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The string values of a member, in order, at any depth.
    pub(crate) fn strings(&self, member: &str) -> Vec<String> {
        let key = format!("\"{member}\":\"");
        let parts = self.body.split(&key).skip(1);
        parts.filter_map(|part| part.split('"').next()).map(ToOwned::to_owned).collect()
    }
}

impl Child {
    /// Starts a program that prints `listening on http://ADDRESS`, and reads `path` from it once.
    pub(crate) fn start(program: &str, arguments: &[String], path: &str) -> Result<Self, String> {
        let started = Instant::now();
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| format!("{program}: {error}"))?;
        let address = match ready_line(&mut process) {
            Ok(address) => address,
            Err(error) => {
                // The process is useless without an address. An error means that it has already ended.
                let _ = process.kill();
                let _ = process.wait();
                return Err(format!("{program} {arguments:?}: {error}"));
            }
        };
        let mut child = Self { process, address, first_reply: Duration::ZERO };
        child.get(path, "test_key")?;
        child.first_reply = started.elapsed();
        Ok(child)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// One request on its own connection.
    pub(crate) fn get(&self, path: &str, key: &str) -> Result<Got, String> {
        get(self.address, path, key)
    }

    /// One POST of JSON, which must be accepted.
    pub(crate) fn post(&self, path: &str, key: &str, body: &str) -> Result<Got, String> {
        post(self.address, path, key, body)
    }

    /// The microseconds of CPU time of all its threads so far.
    pub(crate) fn cpu_us(&self) -> u64 {
        let tasks = format!("/proc/{}/task", self.pid());
        let tasks = std::fs::read_dir(tasks).into_iter().flatten().flatten();
        let nanos = tasks.filter_map(|task| {
            let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        });
        nanos.sum::<u64>() / 1_000
    }

    /// The kilobytes of memory that it uses.
    pub(crate) fn memory_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid()));
        status.ok().and_then(|text| number_after(text.as_bytes(), b"VmRSS:")).unwrap_or_default()
    }

    /// Ends the program, and copies its standard error to this process's.
    pub(crate) fn end(mut self) {
        // `kill` replaces a crate for one signal: it is on every machine that has /proc.
        let _ = Command::new("kill").arg(self.pid().to_string()).status();
        let _ = self.process.wait();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One request on its own connection.
pub(crate) fn get(address: SocketAddr, path: &str, key: &str) -> Result<Got, String> {
    ask(
        address,
        path,
        &format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
        ),
    )
}

/// One POST of JSON, which must be accepted.
pub(crate) fn post(address: SocketAddr, path: &str, key: &str, body: &str) -> Result<Got, String> {
    let got = ask(
        address,
        path,
        &format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ),
    )?;
    if (200..300).contains(&got.status) {
        Ok(got)
    } else {
        Err(format!("POST {path}: {} {}", got.status, got.body))
    }
}

fn ask(address: SocketAddr, path: &str, head: &str) -> Result<Got, String> {
    let fault = |error: std::io::Error| format!("{path}: {error}");
    let mut stream = TcpStream::connect(address).map_err(fault)?;
    stream.write_all(head.as_bytes()).map_err(fault)?;
    let mut whole = String::new();
    stream.read_to_string(&mut whole).map_err(fault)?;
    let (head, body) = whole.split_once("\r\n\r\n").ok_or_else(|| format!("{path}: no reply"))?;
    let status = head.get(9..12).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| format!("{path}: no status in {head:?}"))?;
    Ok(Got { status, head: head.to_owned(), body: body.to_owned() })
}

fn ready_line(process: &mut Process) -> Result<SocketAddr, String> {
    let out = process.stdout.take().ok_or("it has no output")?;
    let mut lines = BufReader::new(out).lines();
    let line = lines
        .by_ref()
        .map_while(Result::ok)
        .find(|line| line.contains("listening on http://"))
        .ok_or("it ended without a ready line")?;
    let address = line.split("http://").nth(1).unwrap_or_default().trim_end_matches('/');
    // A program that prints more must not stop at a closed pipe.
    std::thread::spawn(move || lines.for_each(drop));
    address.parse().map_err(|error| format!("{line:?}: {error}"))
}
