//! `sandbox world`: prints what a seed produces.

use std::io::{self, BufWriter, Write};
use std::ops::Range;

use clap::Args;
use serde::{Serialize, Serializer};

use crate::cli::failure::Failure;
use crate::cli::world_args::WorldArgs;
use crate::model::Wire;
use crate::model::business::{Company, Employee, PaySchedule, PayrollRun};
use crate::model::payments::Wallet;
use crate::world::{Base, ClockMode, Shape, WORLD_VERSION, World, log_hashes};

/// The arguments of `sandbox world`.
#[derive(Args, Debug)]
pub(super) struct PrintWorldArgs {
    #[command(flatten)]
    world: WorldArgs,
    /// Print one hash instead of the world
    #[arg(long)]
    digest: bool,
}

/// Prints the world, or its hash.
pub(super) fn run(args: &PrintWorldArgs) -> Result<(), Failure> {
    let world =
        World::new(Base::new(args.world.seed, args.world.shape()?).into(), ClockMode::Instant);
    let mut out = BufWriter::new(io::stdout().lock());
    let printed = if args.digest {
        writeln!(out, "{}", log_hashes::of(&Grown::of(&world, SAMPLE)))
    } else {
        serde_json::to_writer_pretty(&mut out, &Grown::of(&world, u64::MAX))
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out))
    };
    printed.and_then(|()| out.flush()).or_else(|error| Failure::of_output(&error))
}

/// Maximum number of companies in the digest of a world, and of employees of each. A world follows from its seed and shape, so the digest
/// of a large world only needs a sample of it.
const SAMPLE: u64 = 64;

/// Everything in a fresh world, company by company. It is written while it is grown.
#[derive(Serialize)]
struct Grown<'a> {
    world_version: u32,
    seed: u64,
    #[serde(flatten)]
    shape: &'a Shape,
    #[serde(rename = "data")]
    companies: Each<'a, fn(&'a World, u64, u64) -> GrownCompany<'a>>,
}

impl<'a> Grown<'a> {
    /// The world with at most this number of companies, and of employees of each.
    fn of(world: &'a World, most: u64) -> Self {
        let shape = world.base().shape();
        let grow = company as fn(&'a World, u64, u64) -> _;
        let companies = Each { world, rows: 0..shape.companies, most, grow };
        Self { world_version: WORLD_VERSION, seed: world.base().seed(), shape, companies }
    }
}

#[derive(Serialize)]
struct GrownCompany<'a> {
    #[serde(flatten)]
    company: Company,
    wallet: Wallet,
    employees: Each<'a, fn(&'a World, u64, u64) -> Employee>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pay_schedule: Option<PaySchedule>,
    payroll_runs: Vec<PayrollRun>,
    journal_entries: Vec<serde_json::Value>,
}

fn company(world: &World, index: u64, most: u64) -> GrownCompany<'_> {
    const GROWN: &str = "every index below the count is grown";
    let base = world.base();
    let size = base.shape().employees_per_company;
    let wallet = world.at::<Wallet>(index).expect(GROWN);
    let employee = |world: &World, index, _| (*world.at::<Employee>(index).expect(GROWN)).clone();
    let pays = base.plan(index).pays.pays();
    let runs = pays.filter_map(|pay| world.at::<PayrollRun>(base.run(pay, index)));
    let entries = base.history_at(index);
    GrownCompany {
        company: (*world.at::<Company>(index).expect(GROWN)).clone(),
        wallet: world.with_balances(&wallet),
        employees: Each { world, rows: index * size..(index + 1) * size, most, grow: employee },
        pay_schedule: world.at::<PaySchedule>(index).map(|schedule| (*schedule).clone()),
        payroll_runs: runs.map(|run| (*run).clone()).collect(),
        journal_entries: entries
            .entries
            .iter()
            .map(|entry| serde_json::json!(entry.wire()))
            .collect(),
    }
}

/// A sequence that is grown while it is written, so that a world of ten million is never in memory as a
/// whole.
struct Each<'a, F> {
    world: &'a World,
    rows: Range<u64>,
    /// Maximum number of rows, which are evenly spread.
    most: u64,
    grow: F,
}

impl<'a, T: Serialize, F: Fn(&'a World, u64, u64) -> T> Serialize for Each<'a, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.rows.end - self.rows.start;
        let step = usize::try_from(rows.div_ceil(self.most.max(1)).max(1)).unwrap_or(usize::MAX);
        let rows = self.rows.clone().step_by(step);
        serializer.collect_seq(rows.map(|index| (self.grow)(self.world, index, self.most)))
    }
}
