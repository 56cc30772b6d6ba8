//! A private PostgreSQL from the installed binaries, without a service and without the rights of the system's one.
//!
//! Without the binaries, the tests of this module are skipped with a message. `SANDBOX_TEST_POSTGRES=required` makes
//! that a failure.

use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

const PASSWORD: &str = "not a secret";

/// The folder of the newest installed binaries.
fn binaries() -> Option<PathBuf> {
    if let Ok(folder) = std::env::var("SANDBOX_TEST_POSTGRES_BIN") {
        return Some(folder.into());
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<PathBuf> =
        versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
    found.retain(|folder| folder.join("initdb").is_file());
    found.sort();
    found.pop()
}

/// A server of databases.
pub(super) struct Postgres {
    folder: tempfile::TempDir,
    binaries: PathBuf,
    port: u16,
    /// A shell that ends the server when its standard input closes, so that it never outlives the tests.
    shell: Mutex<Option<Child>>,
}

impl Postgres {
    /// The server that concurrent tests share; none if PostgreSQL is not installed.
    pub(super) fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = shared.upgrade() {
            return Some(known);
        }
        let new = Arc::new(Self::start()?);
        *shared = Arc::downgrade(&new);
        Some(new)
    }

    /// A server of its own.
    pub(super) fn start() -> Option<Self> {
        let binaries = binaries();
        super::is_installed("PostgreSQL", binaries.is_some());
        let binaries = binaries?;
        let folder = tempfile::tempdir().unwrap();
        let port = super::free_port();
        let server = Self { folder, binaries, port, shell: Mutex::default() };
        if let Some((user, group)) = server.other_user() {
            chown(server.folder.path(), Some(user), Some(group)).unwrap();
        }
        std::fs::write(server.folder.path().join("password"), PASSWORD).unwrap();
        let made =
            server.run("initdb", &["--auth=scram-sha-256", "--no-sync", "--username=sandbox"]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        server.begin();
        Some(server)
    }

    /// `initdb` refuses root, so another user runs it: `postgres` if there is one.
    fn other_user(&self) -> Option<(u32, u32)> {
        if std::fs::metadata(self.folder.path()).unwrap().uid() != 0 && !is_root() {
            return None;
        }
        let id = |flag: &str| -> u32 {
            let asked = Command::new("id").args([flag, "postgres"]).output().unwrap();
            let text = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
            text.parse().unwrap_or(65_534)
        };
        Some((id("-u"), id("-g")))
    }

    /// A command as that user.
    fn command(&self, program: &str) -> Command {
        let Some((user, group)) = self.other_user() else { return Command::new(program) };
        let mut command = Command::new("setpriv");
        let (user, group) = (format!("--reuid={user}"), format!("--regid={group}"));
        command.args([&user, &group, "--clear-groups", "--", program]);
        command
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Runs one of its programs to its end.
    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let program = self.binaries.join(program);
        let mut command = self.command(program.to_str().unwrap());
        let password = format!("--pwfile={}", self.folder.path().join("password").display());
        command.arg("-D").arg(self.data()).args(arguments).arg(password);
        command.output().unwrap()
    }

    /// Starts it, and waits until it accepts connections.
    pub(super) fn begin(&self) {
        let postgres = self.binaries.join("postgres");
        let script = format!(
            "'{}' -D '{}' -p {} -k '' -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200 >'{}' 2>&1 & \
             pid=$!; echo $pid; cat >/dev/null; kill -QUIT $pid; wait",
            postgres.display(),
            self.data().display(),
            self.port,
            self.folder.path().join("log").display(),
        );
        let mut command = self.command("sh");
        command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::null());
        *self.shell.lock().unwrap() = Some(command.spawn().unwrap());
        let started = Instant::now();
        while self.try_sql("postgres", "select 1").is_err() {
            assert!(started.elapsed() < Duration::from_secs(60), "PostgreSQL does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends it at once, as a kill does.
    pub(super) fn kill(&self) {
        if let Some(mut shell) = self.shell.lock().unwrap().take() {
            drop(shell.stdin.take());
            shell.wait().unwrap();
        }
    }

    fn try_sql(&self, database: &str, sql: &str) -> Result<String, String> {
        if TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            return Err("it does not listen".to_owned());
        }
        let mut command = Command::new(self.binaries.join("psql"));
        command.args(["-X", "-q", "-t", "-A", "-d", &self.url(database), "-c", sql]);
        let done = command.stdin(Stdio::null()).output().unwrap();
        if done.status.success() {
            return Ok(String::from_utf8(done.stdout).unwrap().trim().to_owned());
        }
        Err(String::from_utf8_lossy(&done.stderr).into_owned())
    }

    fn url(&self, database: &str) -> String {
        url_as(PASSWORD, self.port, database)
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }
}

/// The address of a database, behind a port of this machine.
fn url_as(password: &str, port: u16, database: &str) -> String {
    let password = password.replace(' ', "%20");
    format!("postgres://sandbox:{password}@127.0.0.1:{port}/{database}")
}

fn is_root() -> bool {
    Path::new("/proc/self").metadata().is_ok_and(|own| own.uid() == 0)
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A database of one test.
pub(super) struct Database {
    pub(super) server: Arc<Postgres>,
    name: String,
}

impl Database {
    /// A new one in the shared server.
    pub(super) fn new() -> Option<Self> {
        Postgres::shared().map(Self::of)
    }

    /// A new database in a server.
    pub(super) fn of(server: Arc<Postgres>) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", MADE.fetch_add(1, Ordering::Relaxed));
        server.try_sql("postgres", &format!("create database {name}")).unwrap();
        Self { server, name }
    }

    pub(super) fn url(&self) -> String {
        self.server.url(&self.name)
    }

    /// The address with another name or password.
    pub(super) fn url_with(&self, password: &str, database: Option<&str>) -> String {
        url_as(password, self.server.port, database.unwrap_or(&self.name))
    }

    /// The address through another port.
    pub(super) fn url_at(&self, port: u16) -> String {
        url_as(PASSWORD, port, &self.name)
    }

    pub(super) fn sql(&self, sql: &str) -> String {
        self.server.try_sql(&self.name, sql).unwrap()
    }

    /// Makes later sessions of the database read-only or writable.
    pub(super) fn set_read_only(&self, is: &str) {
        let sql = format!("alter database {} set default_transaction_read_only = {is}", self.name);
        self.server.try_sql("postgres", &sql).unwrap();
    }
}
