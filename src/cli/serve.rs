//! `sandbox [serve]`: the server.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::runtime::Runtime;

use crate::cli::contract_file::ServedContractArgs;
use crate::cli::failure::Failure;
use crate::cli::persist::{Persist, PersistArgs};
use crate::cli::port_file;
use crate::cli::room::{self, RoomArgs};
use crate::cli::scripts::{ScriptArgs, Scripts};
use crate::cli::webhooks::WebhookArgs;
use crate::cli::world_args::{self, WorldArgs};
use crate::engine::contract::Overlay;
use crate::engine::recording::Header;
use crate::engine::{Config, Engine, KeySpace, is_usable_key};
use crate::io::cors::Cors;
use crate::io::limits::Limits;
use crate::io::listen::BindError;
use crate::io::log::Format;
use crate::io::metrics::Metrics;
use crate::io::server::{Bound, Server, ServerConfig};
use crate::io::wal::durable::Durable;
use crate::io::{log, pace, signal};
use crate::model::business::Company;
use crate::render::pages;
use crate::scenario;
use crate::tester::request_log::DEFAULT_MOST;
use crate::value::long_work;
use crate::world::{ClockMode, Grow, MAX_EVENTS};

/// The most companies that the banner lists.
const SHOWN_COMPANIES: u64 = 5;

/// The arguments of the server.
#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    world: WorldArgs,
    /// Port to listen on, 0 for a free one [default: 4747; also the variable PORT]
    #[arg(long, short, env = "SANDBOX_PORT", value_name = "P", value_parser = world_args::port)]
    port: Option<u16>,
    /// Address or name to listen on [default: `127.0.0.1` and `::1`]
    #[arg(long, env = "SANDBOX_HOST")]
    host: Option<String>,
    /// How time passes: instant, manual, or real[:SPEED] by the wall clock
    #[arg(long, env = "SANDBOX_CLOCK", default_value = "instant", value_name = "CLOCK")]
    clock: Clock,
    /// The only API keys to accept; repeatable. Without it, any test key opens a world
    #[arg(
        long,
        env = "SANDBOX_API_KEY",
        value_delimiter = ',',
        hide_env_values = true,
        value_name = "KEY"
    )]
    api_key: Vec<String>,
    /// A team and its secret; repeatable. The keys of the team are SECRET.anything, and other keys are refused
    #[arg(
        long,
        env = "SANDBOX_KEY_SPACE",
        value_delimiter = ',',
        hide_env_values = true,
        value_name = "NAME=SECRET"
    )]
    key_space: Vec<String>,
    #[command(flatten)]
    contract: ServedContractArgs,
    /// Worlds that can be open at the same time
    #[arg(long, env = "SANDBOX_MAX_WORLDS", default_value_t = 100_000, value_name = "N", value_parser = world_args::count::<usize>)]
    max_worlds: usize,
    /// Events that each world keeps, 0.3 to 0.9 KB each. The oldest events are dropped; journal entries are never dropped. 0 keeps all events
    #[arg(
        long,
        env = "SANDBOX_MAX_EVENTS",
        default_value_t = MAX_EVENTS,
        value_name = "N",
        value_parser = world_args::count::<u64>
    )]
    max_events: u64,
    /// Requests that the request log of each world keeps for `GET /_sandbox/requests`; 0 for none
    #[arg(
        long,
        env = "SANDBOX_MAX_REQUESTS",
        default_value_t = DEFAULT_MOST,
        value_name = "N",
        value_parser = world_args::count::<usize>
    )]
    max_requests: usize,
    /// Form of the log lines on stderr: for people or for programs
    #[arg(long, env = "SANDBOX_LOG", default_value = "human", value_name = "human|json")]
    log: Format,
    /// What to log: `debug`, or `sandbox::request=debug` for one line for each request [default: warnings]
    #[arg(long, env = "SANDBOX_LOG_FILTER", value_name = "FILTER")]
    log_filter: Option<String>,
    /// Write the port to this file once the server listens
    #[arg(long, env = "SANDBOX_PORT_FILE", value_name = "FILE")]
    port_file: Option<PathBuf>,
    /// Print only the ready line
    #[arg(long, short, env = "SANDBOX_QUIET", value_parser = world_args::switch)]
    quiet: bool,
    /// Stop when the standard input closes, so that the server ends together with the program that started it
    #[arg(long, env = "SANDBOX_EXIT_WITH_STDIN", value_parser = world_args::switch)]
    exit_with_stdin: bool,
    /// A further host name to accept; repeatable
    #[arg(long, env = "SANDBOX_ALLOWED_HOST", value_delimiter = ',', value_name = "NAME")]
    allowed_host: Vec<String>,
    /// An origin whose pages may read replies; repeatable
    #[arg(long, env = "SANDBOX_CORS_ORIGIN", value_delimiter = ',', value_name = "ORIGIN")]
    cors_origin: Vec<String>,
    /// Token that control routes require, in the header Sandbox-Admin-Token
    #[arg(long, env = "SANDBOX_ADMIN_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    admin_token: Option<String>,
    /// Let other machines call the control routes without a token
    #[arg(long, env = "SANDBOX_INSECURE_NO_AUTH", value_parser = world_args::switch)]
    insecure_no_auth: bool,
    #[command(flatten)]
    webhooks: WebhookArgs,
    #[command(flatten)]
    room: RoomArgs,
    #[command(flatten)]
    persist: PersistArgs,
    #[command(flatten)]
    scripts: ScriptArgs,
}

/// `instant`, `manual` or `real[:SPEED]`.
#[derive(Clone, Copy, Debug)]
struct Clock {
    mode: ClockMode,
    /// Virtual seconds for each second of the wall clock.
    speed: u32,
}

impl FromStr for Clock {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str =
            "expected instant, manual, real or real:SPEED with a speed from 1 to 1000000";
        let plain = |mode| Ok(Self { mode, speed: 1 });
        match text.split_once(':') {
            None if text == "instant" => plain(ClockMode::Instant),
            None if text == "manual" => plain(ClockMode::Manual),
            None if text == "real" => plain(ClockMode::Real),
            Some(("real", speed)) => {
                let speed = speed
                    .parse()
                    .ok()
                    .filter(|speed| (1..=1_000_000).contains(speed))
                    .ok_or(EXPECTED)?;
                Ok(Self { mode: ClockMode::Real, speed })
            }
            _ => Err(EXPECTED),
        }
    }
}

/// Serves until a signal arrives or, with the flag, until the standard input closes.
pub(super) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let _logging = log::init(args.log, args.log_filter.as_deref()).map_err(Failure::Usage)?;
    let contract = args.contract.overlay()?;
    check_keys(args, &contract)?;
    args.room.check()?;
    let mut config = Config {
        seed: args.world.seed,
        shape: args.world.shape()?,
        mode: args.clock.mode,
        api_keys: args.api_key.clone(),
        contract,
        max_worlds: args.max_worlds,
        max_events: (args.max_events > 0).then_some(args.max_events),
        pages: pages::page,
        scenarios: Vec::new(),
        library: scenario::LIBRARY,
        recorder: None,
    };
    let mut scripts = args.scripts.read()?;
    scripts.apply(&mut config)?;
    let persist = Persist::open(&args.persist, &mut config, &scripts.started, args.clock.speed)?;
    let engine = Engine::new(config)
        .with_max_requests(args.max_requests)
        .with_started(scripts.started.clone())
        .with_most(args.room.quota.unwrap_or_default().most)
        .with_key_spaces(KeySpace::list(&args.key_space).map_err(Failure::Usage)?);
    let engine = Arc::new(engine);
    let runtime = runtime()?;
    let entered = runtime.enter();
    signal::survive_file_limit();
    let persisting = persist.start(&engine)?;
    drop(entered);
    if !args.quiet {
        let _ = io::stderr().write_all(persisting.banner.as_bytes()); // as the banner
    }
    let served = listen(args, runtime, &engine, persisting.durable.clone(), Some(scripts));
    served.and(persisting.finish(&engine))
}

/// Serves the worlds of a replayed recording on this port. `key` is that of its world, if it is not `test_key`.
pub(super) fn serve_replayed(
    port: u16,
    header: &Header,
    (engine, key): (Arc<Engine>, Option<&str>),
) -> Result<(), Failure> {
    /// The flags of a server, with their defaults and variables.
    #[derive(clap::Parser)]
    struct Flags {
        #[command(flatten)]
        serve: ServeArgs,
    }
    let port = port.to_string();
    let flags = ["sandbox", "--port", &port, "--clock", header.clock.name()];
    let flags = flags.into_iter().chain(key.into_iter().flat_map(|key| ["--api-key", key]));
    let flags = <Flags as clap::Parser>::try_parse_from(flags).map_err(Failure::impossible)?;
    let (form, filter) = (flags.serve.log, flags.serve.log_filter.as_deref());
    let _logging = log::init(form, filter).map_err(Failure::Usage)?;
    listen(&flags.serve, runtime()?, &engine, None, None)
}

fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // One for each long calculation, and some for files and names.
        .max_blocking_threads(long_work::MOST + 64)
        .build()
        .map_err(Failure::impossible)
}

fn listen(
    args: &ServeArgs,
    runtime: Runtime,
    engine: &Arc<Engine>,
    durable: Option<Durable>,
    scripts: Option<Scripts>,
) -> Result<(), Failure> {
    let server = ServerConfig {
        host: args.host.clone(),
        port: world_args::port_or_variable(args.port, std::env::var("PORT").ok())?,
        base_path: engine.base_path().to_owned(),
        allowed_hosts: args.allowed_host.clone(),
        cors_origins: args.cors_origin.clone(),
        exposed_headers: engine.exposed_headers(),
        admin_token: args.admin_token.clone(),
        insecure_no_auth: args.insecure_no_auth,
        durable,
        limits: Limits::of_process(),
        quota: args.room.quota.and_then(|quota| quota.rate),
        metrics: Arc::new(Metrics::new(engine.operation_ids())),
    };
    runtime.block_on(serve(args, &server, Arc::clone(engine), scripts))
}

/// Refuses a key that no request can send: such a server would refuse every request. The message does not
/// repeat the key.
fn check_keys(args: &ServeArgs, contract: &Overlay) -> Result<(), Failure> {
    let refuse_live = contract.auth.refuse_live;
    if !args.api_key.iter().all(|key| is_usable_key(key, refuse_live)) {
        let rule = "an --api-key must have 1 to 255 visible ASCII characters and must not look like a live key";
        return Err(Failure::Usage(rule.to_owned()));
    }
    let is_token = |token: &String| {
        (1..=255).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic())
    };
    if !args.admin_token.as_ref().is_none_or(is_token) {
        let rule = "an --admin-token must have 1 to 255 visible ASCII characters; without the flag, there is no token";
        return Err(Failure::Usage(rule.to_owned()));
    }
    if let Some(wrong) = args.cors_origin.iter().find(|origin| !Cors::is_origin(origin)) {
        return Err(Failure::Usage(format!(
            "--cors-origin {wrong:?}: expected an origin such as http://localhost:3000, or * for all"
        )));
    }
    if args.max_worlds == 0 {
        return Err(Failure::Usage("--max-worlds must be at least 1".to_owned()));
    }
    Ok(())
}

async fn serve(
    args: &ServeArgs,
    server: &ServerConfig,
    engine: Arc<Engine>,
    scripts: Option<Scripts>,
) -> Result<(), Failure> {
    let shutdown = signal::shutdown(args.exit_with_stdin).map_err(Failure::impossible)?;
    if let Some(file) = &args.port_file {
        port_file::clear(file);
    }
    let bound = Server::bind(server, Arc::clone(&engine)).await.map_err(|error| match error {
        BindError::Exposed(_) | BindError::NoHost(_) => Failure::Usage(error.to_string()),
        other => Failure::impossible(other),
    })?;
    let webhooks = args.webhooks.read()?;
    let (durable, metrics) = (server.durable.clone(), Arc::clone(&server.metrics));
    webhooks.open(&engine, bound.addresses(), durable, metrics).map_err(Failure::Usage)?;
    let keeper = server.durable.is_some().then(|| tokio::spawn(room::keep(Arc::clone(&engine))));
    announce(args, &bound, &engine)?;
    let sweeper = args.room.clone().sweep(Arc::clone(&engine), server.durable.is_some());
    let sweeper = tokio::spawn(sweeper);
    let watched = scripts.filter(Scripts::is_watching);
    let reader = watched.map(|scripts| tokio::spawn(scripts.follow(Arc::clone(&engine))));
    let is_real = engine.mode() == ClockMode::Real;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let ending = Arc::clone(&engine);
    let pacer = is_real.then(|| {
        let (speed, mut wall) = (args.clock.speed, Duration::ZERO);
        tokio::spawn(pace::pace(
            pace::TICK,
            move |elapsed| {
                wall += elapsed;
                engine.tick(wall, speed);
            },
            async {
                let _ = stopped.await; // an error also means that the server has ended
            },
        ))
    });
    bound.serve(room::leave_after(shutdown, &ending)).await;
    drop(stop);
    ending.end();
    sweeper.abort();
    for task in [keeper, reader].into_iter().flatten() {
        task.abort();
    }
    if let Some(pacer) = pacer {
        pacer.await.map_err(Failure::impossible)?;
    }
    Ok(())
}

/// Writes the banner to stderr, then the port file, and last the ready line, because its reader may connect
/// at once.
fn announce(args: &ServeArgs, bound: &Bound<Engine>, engine: &Engine) -> Result<(), Failure> {
    let url = bound.url();
    if let Some(file) = &args.port_file {
        let port = bound.addresses().first().map_or(0, SocketAddr::port);
        port_file::write(file, port)?;
    }
    if !args.quiet {
        // The server also runs if stderr is closed.
        let _ = io::stderr().write_all(banner(args, &url, engine).as_bytes());
    }
    let mut out = io::stdout().lock();
    writeln!(out, "listening on {url}")
        .and_then(|()| out.flush())
        .or_else(|error| Failure::of_output(&error))
}

fn banner(args: &ServeArgs, url: &str, engine: &Engine) -> String {
    let base = engine.base();
    // Configured keys are secrets, also here. Only double quotes let the shell replace a variable.
    let (quote, shown) = if !args.api_key.is_empty() {
        ('"', "$SANDBOX_API_KEY")
    } else if !args.key_space.is_empty() {
        ('"', "SECRET.test")
    } else if engine.is_closed() {
        ('"', "KEY")
    } else {
        ('\'', "test_key")
    };
    let mut text =
        format!("sandbox {}: seed {}, {url}\n\n", env!("CARGO_PKG_VERSION"), base.seed());
    let _ = writeln!(
        text,
        "  curl -H {quote}Authorization: Bearer {shown}{quote} '{url}/api/business/employees?per_page=3'\n"
    );
    let companies = base.shape().companies;
    for company in
        (0..companies.min(SHOWN_COMPANIES)).filter_map(|index| Company::grow(base, index))
    {
        let _ = writeln!(
            text,
            "  {}  {} ({}, {})",
            company.id,
            company.legal_name,
            company.country,
            company.industry.as_deref().unwrap_or("")
        );
    }
    if companies > SHOWN_COMPANIES {
        let _ = writeln!(text, "  … and {} more", companies - SHOWN_COMPANIES);
    }
    let _ = writeln!(
        text,
        "\n  dashboard {url}/   docs {url}/docs   document {url}/openapi.json   clock {}\n",
        engine.mode().name()
    );
    text
}
