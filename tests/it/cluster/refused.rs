//! A database that answers, and refuses to store: its disk is full, or it is read-only. Nothing was stored for certain.

use std::sync::Arc;
use std::time::Duration;

use crate::harness::{Caller, Server};

use super::postgres::{Database, Postgres};
use super::{company, digest, names, process, until};

/// The codes and texts of PostgreSQL itself.
const FULL: &str = "create function full_disk() returns trigger language plpgsql as \
    'begin raise exception ''could not extend file: No space left on device'' using errcode = ''53100''; end'; \
    create trigger full_disk before insert on sandbox_log for each row execute function full_disk()";
const SPACE: &str = "drop trigger full_disk on sandbox_log";

fn is_writable(caller: &Caller) -> bool {
    caller.get("/_sandbox/health").data()["journal"]["writable"] == true
}

/// Refuses writes until the database stores them again. Reads continue, and the claim stays.
fn refuses_and_recovers(database: &Database, server: Arc<Server>, recover: impl FnOnce()) {
    let caller = Caller::with_key(&server, "test_refused");
    let digest = caller.digest();
    let epoch = database.sql("select epoch from sandbox_world where inputs > 0");
    for _ in 0..3 {
        let refusal = company(&caller, "Lost Ltd");
        refusal.refused(503, "log_unavailable");
        assert_eq!(refusal.header("retry-after"), Some("1"));
        assert_eq!(caller.digest(), digest, "reads show what is stored");
        // A try each second must not report that it works again.
        std::thread::sleep(Duration::from_millis(1_200));
        assert!(!is_writable(&caller));
    }
    caller.get("/_sandbox/ready").expect(200);
    recover();
    until("the store is writable", || is_writable(&caller));
    company(&caller, "Two Ltd").expect(201);
    assert_eq!(database.sql("select epoch from sandbox_world where inputs > 0"), epoch);
    let names = names(&caller);
    assert!(names.contains(&"Two Ltd".to_owned()) && !names.contains(&"Lost Ltd".to_owned()));
    let digest = caller.digest();
    drop(caller);
    let (_, said) = Arc::into_inner(server).unwrap().stop();
    for line in ["inputs cannot be stored", "inputs can be stored again"] {
        assert_eq!(said.matches(line).count(), 1, "{said}");
    }
    let server = process(database);
    assert_eq!(super::digest(&Caller::with_key(&server, "test_refused")), digest);
}

/// A process with a lease that outlasts the test.
fn patient(database: &Database) -> Arc<Server> {
    let flags = ["--store", &database.url(), "--store-lease", "30"];
    let server = Arc::new(Server::start(&flags));
    let caller = Caller::with_key(&server, "test_refused");
    company(&caller, "One Ltd").expect(201);
    server
}

#[test]
fn a_full_disk_of_the_database_refuses_writes_until_there_is_space() {
    let Some(database) = Database::new() else { return };
    let server = patient(&database);
    database.sql(FULL);
    refuses_and_recovers(&database, server, || drop(database.sql(SPACE)));
}

#[test]
fn a_database_that_becomes_read_only_refuses_writes_and_reads_continue() {
    let Some(server) = Postgres::start() else { return };
    let database = Database::of(Arc::new(server));
    let server = patient(&database);
    let set = |is: &str| {
        database.sql(&format!("alter system set default_transaction_read_only = {is}"));
        database.sql("select pg_reload_conf()");
        until("the setting is used", || database.sql("show default_transaction_read_only") == is);
    };
    set("on");
    refuses_and_recovers(&database, server, || set("off"));
}

#[test]
fn worlds_that_cannot_be_replayed_do_not_block_others() {
    use crate::harness::receiver::Receiver;
    use serde_json::json;
    let Some(database) = Database::new() else { return };
    let receiver = Receiver::start(|_, _| crate::harness::receiver::Reaction::status(500));
    let server = process(&database);
    let caller = Caller::with_key(&server, "test_owing");
    caller.post("/_sandbox/webhook-endpoints", &json!({"url": receiver.url()})).expect(201);
    company(&caller, "One Ltd").expect(201);
    receiver.wait_for(1);
    // Their logs are missing, and their ids come first.
    database.sql(
        "insert into sandbox_world (id, epoch, next_seq, inputs, used, endpoints) \
         select decode(lpad(to_hex(number), 32, '0'), 'hex'), 1, 2, 1, true, true from generate_series(1, 250) number",
    );
    drop((caller, server)); // a kill
    let before = receiver.seen().len();
    let server = process(&database);
    until("its webhook is sent again", || receiver.seen().len() > before);
    digest(&Caller::with_key(&server, "test_owing"));
}
