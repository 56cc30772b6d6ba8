//! The binary under test as a child process. It is killed when its last test ends, and ends by itself when the test
//! process ends. The second is needed because a server in a `static`, or of a killed process, is never dropped.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The binary with these arguments, without the environment variables of the person who runs the tests.
/// `SANDBOX_TEST_SERVER` names another build of the binary.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let other = std::env::var("SANDBOX_TEST_SERVER");
    command_of(other.as_deref().unwrap_or(OWN), arguments)
}

/// The build that belongs to the tests.
const OWN: &str = env!("CARGO_BIN_EXE_sandbox");

/// The binary of the test build, which has debug assertions.
pub(crate) fn own_command(arguments: &[&str]) -> Command {
    command_of(OWN, arguments)
}

fn command_of(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name == "PORT" || name.starts_with("SANDBOX_") {
            command.env_remove(name);
        }
    }
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Makes a server end when this process ends, however it ends.
pub(crate) fn ending_with_us(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::piped()).env("SANDBOX_EXIT_WITH_STDIN", "1")
}

/// Runs a command to its end. A command that serves instead is killed and fails the test.
pub(crate) fn finish(command: &mut Command) -> Output {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut printed = Vec::new();
    let mut first = String::new();
    stdout.read_line(&mut first).expect("stdout is text");
    if port_of(&first).is_some() {
        let _ = child.kill();
        let _ = child.wait();
        panic!("{command:?} serves");
    }
    printed.extend_from_slice(first.as_bytes());
    stdout.read_to_end(&mut printed).expect("stdout is read");
    let mut output = child.wait_with_output().expect("the child is awaited");
    output.stdout = printed;
    output
}

/// A running sandbox.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    ready: String,
    port: u16,
}

impl Server {
    /// Starts a server with `--port 0 --quiet` and these flags, and returns when it listens.
    pub(crate) fn start(flags: &[&str]) -> Self {
        Self::spawn(command(&["--port", "0", "--quiet"]).args(flags))
    }

    /// Starts a prepared command and waits for its ready line.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = ending_with_us(command)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut ready = String::new();
        stdout.read_line(&mut ready).expect("stdout is text");
        let Some(port) = port_of(&ready) else {
            let ended = child.wait_with_output().expect("the child can be awaited");
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            panic!("no ready line but {ready:?}; stderr: {said}");
        };
        Self { child, stdout, ready, port }
    }

    /// Starts a prepared command that prints other lines before its ready line.
    pub(crate) fn spawn_after(command: &mut Command) -> Self {
        let mut child = ending_with_us(command)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut server = Self { child, stdout, ready: String::new(), port: 0 };
        while server.port == 0 {
            server.ready.clear();
            let read = server.stdout.read_line(&mut server.ready);
            let read = read.expect("stdout is text");
            assert!(read > 0, "{command:?} ended without a ready line");
            server.port = port_of(&server.ready).unwrap_or_default();
        }
        server
    }

    /// Ends the server as Ctrl-C does, and waits for its end.
    pub(crate) fn end(self) {
        self.interrupt();
        self.ended();
    }

    /// Ends the server; returns its stdout after the ready line, and its stderr.
    pub(crate) fn end_and_read(mut self) -> (String, String) {
        self.interrupt();
        let ended = self.child.wait().expect("the child can be awaited");
        assert!(ended.success(), "{ended}");
        self.stop()
    }

    fn interrupt(&self) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.expect("kill is a program").success());
    }

    /// Waits for the end of a server that has received the signal.
    pub(crate) fn ended(mut self) {
        let ended = self.child.wait().expect("the child can be awaited");
        assert!(ended.success(), "{ended}");
    }

    /// The server of instant worlds of seed 42. Concurrent tests share it, each with its own key.
    pub(crate) fn instant() -> Arc<Self> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        Self::shared(&SHARED, &["--seed", "42"])
    }

    /// The server of manual worlds of seed 42, shared in the same way.
    pub(crate) fn manual() -> Arc<Self> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        Self::shared(&SHARED, &["--seed", "42", "--clock", "manual"])
    }

    fn shared(slot: &Mutex<Weak<Self>>, flags: &[&str]) -> Arc<Self> {
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Self::start(flags));
            *slot = Arc::downgrade(&server);
            server
        })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The line with its address.
    pub(crate) fn ready_line(&self) -> &str {
        &self.ready
    }

    /// Kills the server and returns its stdout after the ready line, and its stderr.
    pub(crate) fn stop(mut self) -> (String, String) {
        self.child.kill().expect("the child can be killed");
        let (mut out, mut err) = (String::new(), String::new());
        self.stdout.read_to_string(&mut out).expect("text");
        let mut stderr = self.child.stderr.take().expect("stderr is piped");
        stderr.read_to_string(&mut err).expect("text");
        (out, err)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already. In both cases it must not outlive the test or stay a zombie.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The port of `listening on http://HOST:PORT`.
fn port_of(ready: &str) -> Option<u16> {
    let address = ready.trim_end().strip_prefix("listening on http://")?;
    let (authority, _base_path) = address.split_once('/').unwrap_or((address, ""));
    authority.rsplit_once(':')?.1.parse().ok()
}
