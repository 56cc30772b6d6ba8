//! `sandbox import`: a caller's own companies and people, from TOML and CSV files.

pub(super) mod files;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::api::control::import::Imported;
use crate::cli::ask::WorldOfKeyArgs;
use crate::cli::counted::counted;
use crate::cli::failure::{Failure, print};
use crate::cli::import::files::{files, load, read};
use crate::cli::world_args::WorldArgs;
use crate::scenario::import;
use crate::value::Look;
use crate::world::{Base, ClockMode, World};

/// Thousands of employees need time.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The arguments of `sandbox import`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    sandbox import --check acme.toml               explain every mistake; nothing is imported\n  \
    sandbox import acme.toml                       import into the world of a running sandbox\n  \
    sandbox --import acme.toml                     serve; every world begins with the import\n\n\
    Exit codes: 0 success, 1 a mistake or no sandbox, 2 wrong usage.")]
pub(super) struct ImportArgs {
    /// A TOML file, or a folder whose TOML files are one import
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,
    /// Explain every mistake without a running sandbox: exit code 1 if there is one
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    grown: WorldArgs,
    #[command(flatten)]
    world: WorldOfKeyArgs,
}

impl ImportArgs {
    /// A world that grows from the flags.
    fn new_world(&self) -> Result<World, Failure> {
        let base = Base::new(self.grown.seed, self.grown.shape()?);
        Ok(World::new(base.into(), ClockMode::Instant))
    }
}

/// Checks the files, or imports them into a running sandbox.
pub(super) fn run(args: &ImportArgs) -> Result<(), Failure> {
    let path = args
        .path
        .to_str()
        .ok_or_else(|| Failure::Usage(format!("{} is no name in UTF-8", args.path.display())))?;
    if args.check {
        let world = args.new_world()?;
        let (scenario, after) = load(path, &world)?;
        let created = Imported::of(&scenario.imports, &world, &after);
        return print(&format!("{path}: no mistakes; {}\n", summary(&json!(created))));
    }
    let paths = files(path).map_err(Failure::Impossible)?;
    let texts = RefCell::new(BTreeMap::new());
    let remember = |path: &str| {
        let bytes = read(path)?;
        let text = String::from_utf8(bytes.clone()).map_err(|_| "is not UTF-8".to_owned())?;
        texts.borrow_mut().insert(path.to_owned(), text);
        Ok(bytes)
    };
    let gathered = import::read_all(&paths, &remember);
    if gathered.is_wrong() {
        // Rows of companies that already exist are not tried here, because only the running sandbox has its world.
        let report = gathered.tried(&args.new_world()?, false).report(Look::Plain);
        return Err(Failure::Report(format!("{report}error: nothing was imported\n")));
    }
    let body = json!({ "paths": paths, "files": texts.into_inner() }).to_string();
    match args.world.answer(TIMEOUT, ("POST", "/_sandbox/import"), &body)? {
        Ok(created) => print(&format!("imported {}\n", summary(&created))),
        Err(detail) => Err(Failure::Report(format!("{detail}\nerror: nothing was imported\n"))),
    }
}

/// A summary of the created resources.
fn summary(created: &Value) -> String {
    let count = |one: &str, many: &str| counted(created[many].as_u64().unwrap_or(0), one, many);
    format!(
        "{}, {}, {}; {}, {}",
        count("company", "companies"),
        count("employee", "employees"),
        count("customer", "customers"),
        count("call", "calls"),
        count("event", "events"),
    )
}
