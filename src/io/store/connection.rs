//! Connections to PostgreSQL, for threads that wait for their answers.
//!
//! Each connection has its own runtime, which runs only while a thread waits. No statement depends on session state,
//! so a connection pooler can be used. Deliberately absent: TLS.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::fmt;
use std::future::Future;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::Host;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row, Statement};

/// After this time without a statement, it is checked whether a connection is still open.
const IDLE: Duration = Duration::from_millis(500);
/// The time in which a closed connection is noticed.
const NOTICES: Duration = Duration::from_millis(1);
/// The longest wait for the answer of a statement. After it, nothing is known about its effect.
pub(super) const TIMEOUT: Duration = Duration::from_secs(2);
/// The longest wait for a connection.
const CONNECTS: Duration = Duration::from_secs(3);
/// The most connections that serve requests.
const MOST: usize = 8;

/// The reason why a statement was not executed.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// The text, without credentials.
    pub(crate) why: String,
    /// The code of the SQL standard, if the database answered.
    pub(crate) code: Option<String>,
    /// Whether there was no connection, so that nothing was sent.
    pub(super) is_unconnected: bool,
}

/// The classes of error codes after which the database has undone the whole statement. Left out, because the effect
/// is unknown: the end of the database (57), faults of the machine (58), and bugs (XX).
const UNDONE: [&str; 8] = ["22", "23", "25", "40", "42", "53", "54", "55"];
/// The database does not know itself whether it has undone the statement.
const UNKNOWN: &str = "40003";

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.why)
    }
}

impl Fault {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), code: None, is_unconnected: false }
    }

    /// Whether the statement certainly had no effect.
    pub(super) fn had_no_effect(&self) -> bool {
        let is_undone =
            |code: &str| UNDONE.iter().any(|class| code.starts_with(class)) && code != UNKNOWN;
        self.is_unconnected || self.code.as_deref().is_some_and(is_undone)
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(refusal) = error.as_db_error() {
            let code = refusal.code().code().to_owned();
            return Self { code: Some(code), ..Self::new(refusal.message()) };
        }
        let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
        Self::new(format!("{error}{source}"))
    }
}

/// The hosts and the database of an address, without its credentials.
pub(super) fn shown(config: &Config) -> String {
    let host = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    };
    let hosts: Vec<String> = config.get_hosts().iter().map(host).collect();
    let ports: Vec<String> = config.get_ports().iter().map(ToString::to_string).collect();
    let port = if ports.is_empty() { "5432".to_owned() } else { ports.join(",") };
    let user = config.get_user().unwrap_or_default();
    let name = config.get_dbname().unwrap_or(user);
    format!("database {name:?} at {}:{port}", hosts.join(","))
}

/// One connection.
pub(super) struct Connection {
    client: Client,
    /// The statements that it has prepared.
    prepared: BTreeMap<&'static str, Statement>,
    /// When it was last used.
    used: Instant,
    /// None only while it is dropped.
    runtime: Option<Runtime>,
}

impl Connection {
    /// Connects.
    pub(super) fn open(config: &Config) -> Result<Self, Fault> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Fault::new(error.to_string()))?;
        let connecting = async {
            let (client, connection) = config.connect(NoTls).await?;
            // The connection ends when the client is dropped. The waiting statement gets the same error.
            tokio::spawn(async move { drop(connection.await) });
            Ok(client)
        };
        match within(&runtime, CONNECTS, connecting) {
            Ok(client) => Ok(Self {
                client,
                prepared: BTreeMap::new(),
                used: Instant::now(),
                runtime: Some(runtime),
            }),
            Err(fault) => {
                runtime.shutdown_background();
                Err(Fault { is_unconnected: true, ..fault })
            }
        }
    }

    /// Whether it is still open. After an idle time, a proxy or the database may have closed it.
    pub(super) fn is_open(&self) -> bool {
        if self.used.elapsed() >= IDLE
            && let Some(runtime) = &self.runtime
        {
            runtime.block_on(async { tokio::time::sleep(NOTICES).await });
        }
        !self.client.is_closed()
    }

    /// Executes a statement.
    ///
    /// # Errors
    /// If the database refuses it, or does not answer in time. The connection must then be dropped.
    pub(super) fn query(
        &mut self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Fault> {
        let Self { client, prepared, used, runtime } = self;
        *used = Instant::now();
        let runtime = runtime.as_ref().expect("it is not being dropped");
        within(runtime, TIMEOUT, async {
            if !prepared.contains_key(sql) {
                prepared.insert(sql, client.prepare(sql).await?);
            }
            client.query(&prepared[sql], values).await
        })
    }

    /// Executes several statements without values.
    pub(super) fn execute(&mut self, sql: &str) -> Result<(), Fault> {
        self.used = Instant::now();
        let runtime = self.runtime.as_ref().expect("it is not being dropped");
        within(runtime, CONNECTS, self.client.batch_execute(sql))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn within<T>(
    runtime: &Runtime,
    patience: Duration,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, Fault> {
    let done = runtime.block_on(async { tokio::time::timeout(patience, work).await });
    match done {
        Ok(done) => done.map_err(Fault::from),
        Err(_) => Err(Fault::new(format!("no answer within {} s", patience.as_secs()))),
    }
}

/// The connections that serve requests.
pub(super) struct Pool {
    pub(super) config: Config,
    state: Mutex<Idle>,
    freed: Condvar,
}

#[derive(Default)]
struct Idle {
    connections: Vec<Connection>,
    /// The number of those in use.
    used: usize,
}

impl Pool {
    pub(super) fn new(config: Config) -> Self {
        Self { config, state: Mutex::default(), freed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, Idle> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works with a connection. The work is repeated over a new one if an old one has failed, so it must have the same effect twice.
    pub(super) fn with<T>(
        &self,
        mut work: impl FnMut(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let deadline = Instant::now() + TIMEOUT;
        let mut idle = self.state();
        while idle.used >= MOST {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Fault::new("all connections to the database are in use"));
            }
            idle = self.freed.wait_timeout(idle, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let known = idle.connections.pop();
        idle.used += 1;
        drop(idle);
        let _used = Used(self);
        if let Some(mut known) = known
            && let Ok(done) = work(&mut known)
        {
            self.state().connections.push(known);
            return Ok(done);
        }
        let mut new = Connection::open(&self.config)?;
        let done = work(&mut new)?;
        self.state().connections.push(new);
        Ok(done)
    }
}

/// A connection is in use, until this is dropped.
struct Used<'a>(&'a Pool);

impl Drop for Used<'_> {
    fn drop(&mut self) {
        self.0.state().used -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_certain_codes_say_that_a_statement_had_no_effect() {
        let fault = |code: Option<&str>| Fault { code: code.map(str::to_owned), ..Fault::new("") };
        for code in ["53100", "25006", "42P01", "23505", "40P01"] {
            assert!(fault(Some(code)).had_no_effect(), "{code}");
        }
        for code in
            [None, Some("57P01"), Some("57014"), Some("40003"), Some("58030"), Some("XX000")]
        {
            assert!(!fault(code).had_no_effect(), "{code:?}");
        }
        assert!(Fault { is_unconnected: true, ..Fault::new("refused") }.had_no_effect());
    }
}
