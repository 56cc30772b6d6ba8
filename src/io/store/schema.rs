//! The tables of a store, and how a process joins it.
//!
//! A row of the log is never changed. A world's row has the process that serves it (`owner`, `epoch`) and the end of
//! its log (`next_seq`). An input is added only if all three are as expected.

use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;

use crate::engine::recording::Header;
use crate::io::store::connection::{Connection, Fault, shown};

/// The code of a database that refuses writes.
const READ_ONLY: &str = "25006";
/// The version of the tables.
const FORMAT: i32 = 1;

const TABLES: &str = "
create table if not exists sandbox_cluster (one bool primary key default true check (one), format int not null, \
    header text not null, speed bigint not null, born timestamptz not null default clock_timestamp());
create table if not exists sandbox_node (id bytea primary key, version text not null, lease_until timestamptz not null);
create table if not exists sandbox_world (id bytea primary key, owner bytea, epoch bigint not null, wanted bool not null default false, \
    next_seq bigint not null default 1, first_seq bigint not null default 1, inputs bigint not null default 0, \
    forked bool not null default false, used bool not null default false, quiet bool not null default false, \
    endpoints bool not null default false, progress text not null default '{}') with (fillfactor = 50);
create index if not exists sandbox_world_wanted on sandbox_world (owner) where wanted;
create index if not exists sandbox_world_owing on sandbox_world (owner) where endpoints and not quiet;
create table if not exists sandbox_log (world bytea not null, seq bigint not null, epoch bigint not null, n int not null, \
    frames bytea not null, primary key (world, seq));
create table if not exists sandbox_origin (target bytea not null, life bigint not null, place int not null, world bytea not null, \
    first_seq bigint not null, last_seq bigint not null, primary key (target, life, place));
";

/// The first processes of a new store create the tables one after another.
const LOCK: &str = "begin; select pg_advisory_xact_lock(7236837266)";

/// A store that this process has joined.
pub(crate) struct Joined {
    pub(crate) config: Config,
    /// The worlds of the store.
    pub(crate) header: Header,
    /// The speed of its wall clock.
    pub(crate) speed: u32,
    /// The age of the store, by the clock of the database.
    pub(crate) age: Duration,
    pub(crate) worlds: u64,
}

/// Reads the address of a store.
///
/// # Errors
/// What is wrong with it, without repeating it, because it may contain a password.
pub(crate) fn address(text: &str) -> Result<Config, String> {
    let expected = "--store: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE";
    if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
        return Err(expected.to_owned());
    }
    let mut config = Config::from_str(text).map_err(|error| format!("{expected}: {error}"))?;
    config.application_name("sandbox").keepalives_idle(Duration::from_secs(5));
    config.tcp_user_timeout(Duration::from_secs(5));
    Ok(config)
}

/// Opens a store, and creates it if the database has none. `header` and `speed` describe the worlds of a new one.
///
/// # Errors
/// A text for the person who starts the server.
pub(crate) fn join(config: Config, header: &Header, speed: u32) -> Result<Joined, String> {
    let name = shown(&config);
    let failed = |fault: Fault| format!("the store in {name} cannot be used: {}", advice(&fault));
    let mut connection = Connection::open(&config).map_err(failed)?;
    check_writable(&mut connection).map_err(failed)?;
    create(&mut connection).map_err(failed)?;
    let format = connection.query("select format from sandbox_cluster", &[]).map_err(failed)?;
    if let Some(format) = format.first().map(|row| row.get::<_, i32>(0))
        && format != FORMAT
    {
        return Err(format!(
            "the store in {name} has tables of version {format}, and sandbox {} uses version {FORMAT}: use the version that made it, or \
             another database",
            env!("CARGO_PKG_VERSION")
        ));
    }
    let text = serde_json::to_string(header).map_err(|error| error.to_string())?;
    let insert = "insert into sandbox_cluster (format, header, speed) values ($1, $2, $3) on conflict do nothing";
    connection.query(insert, &[&FORMAT, &text, &i64::from(speed)]).map_err(failed)?;
    let select = "select header, speed, (extract(epoch from clock_timestamp() - born) * 1000)::bigint, \
                  (select count(*) from sandbox_world where inputs > 0 or forked) from sandbox_cluster";
    let rows = connection.query(select, &[]).map_err(failed)?;
    let row = rows.first().ok_or_else(|| failed(Fault::new("it is empty")))?;
    let header: Header = serde_json::from_str(row.get(0))
        .map_err(|error| failed(Fault::new(format!("its header is damaged: {error}"))))?;
    header.check().map_err(|why| format!("the store in {name} cannot be used: {why}"))?;
    Ok(Joined {
        config,
        header,
        speed: u32::try_from(row.get::<_, i64>(1)).unwrap_or(1),
        age: Duration::from_millis(u64::try_from(row.get::<_, i64>(2)).unwrap_or(0)),
        worlds: u64::try_from(row.get::<_, i64>(3)).unwrap_or(0),
    })
}

fn check_writable(connection: &mut Connection) -> Result<(), Fault> {
    let sql =
        "select pg_is_in_recovery() or current_setting('default_transaction_read_only')::bool";
    let rows = connection.query(sql, &[])?;
    if rows.first().is_some_and(|row| row.get(0)) {
        let code = Some(READ_ONLY.to_owned());
        return Err(Fault { code, ..Fault::new("it accepts no writes") });
    }
    Ok(())
}

/// The tables that are missing, and the number of the others.
const MISSING: &str = "select coalesce(string_agg(name, ', ') filter (where to_regclass(name) is null), ''), count(to_regclass(name)) \
    from unnest(array['sandbox_cluster', 'sandbox_node', 'sandbox_world', 'sandbox_log', 'sandbox_origin']) name";

/// Creates the tables. Without the right to create tables, existing ones can be used.
fn create(connection: &mut Connection) -> Result<(), Fault> {
    let rows = connection.query(MISSING, &[])?;
    let found = rows.first().map(|row| (row.get::<_, String>(0), row.get::<_, i64>(1)));
    let (missing, others) = found.unwrap_or_default();
    if missing.is_empty() {
        return Ok(());
    }
    if others > 0 {
        return Err(Fault::new(format!(
            "these tables are missing: {missing}; restore the database from a backup, or use another one"
        )));
    }
    connection.execute(&format!("{LOCK}; {TABLES} commit"))
}

/// What to do about a fault.
fn advice(fault: &Fault) -> String {
    let advice = match fault.code.as_deref() {
        Some("28P01" | "28000") => ": check the user and the password in --store",
        Some("3D000") => ": create the database first",
        Some("42501") => ": the user needs the right to create and write tables in its schema",
        Some(READ_ONLY) => {
            ": the database is read-only; if it is a standby, name its primary server"
        }
        Some("53100") => ": the disk of the database is full",
        Some("53300") => ": the database has no free connection; a process needs up to 10",
        None if fault.is_unconnected => " (is PostgreSQL running there?)",
        _ => "",
    };
    format!("{fault}{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_credentials() {
        let config = address("postgres://ada:secret@db:5433/worlds").expect("an address");
        assert_eq!(shown(&config), "database \"worlds\" at db:5433");
        for wrong in ["", "mysql://db/worlds", "postgres://ada:secret@db:x/worlds"] {
            let why = address(wrong).expect_err("it is no address");
            assert!(why.contains("--store: expected") && !why.contains("secret"), "{why}");
        }
    }
}
