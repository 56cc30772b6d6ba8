//! `sandbox gross-to-net`: prints one payslip as a table or JSON, or answers cases as NDJSON.
//!
//! May import the model. Deliberately absent: payroll rules, which are data and `model::payroll`; the clock,
//! so that a result
//! does not depend on the day.

mod case;
mod deductions;
mod money;
mod outcome;
mod payslip;
mod region;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use jiff::civil::Date;

use self::outcome::split;
pub use self::outcome::{CasesOutcome, Error};
use crate::cli::offered::Offered;
use crate::model::growth::countries;
use crate::model::payroll::{
    Component, Match, Pack, PayError, PayInput, PayPeriod, YearToDate, library,
};

/// Calculates net pay from gross pay by the law of a country.
///
/// Amounts on the command line are in major units, with at most the decimals of the currency (3000.00).
/// Inputs are whole
/// numbers of the pack (money in minor units). Files and cases are in minor units.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Args {
    /// Country (ISO 3166-1 alpha-2); selects its current tax tables (a "pack"), or with --date the tables in force on that day
    #[arg(long, value_parser = Offered::COUNTRIES, hide_possible_values = true)]
    country: Option<String>,
    /// Code of a pack, such as GB-2025
    #[arg(long, conflicts_with = "country")]
    pack: Option<String>,
    /// Pay date (2026-06-30); selects the tax year and, without --number, the number of the period
    #[arg(long, value_parser = day)]
    date: Option<Date>,
    /// Gross pay of the period, in major units, as component `basic`
    #[arg(long, conflicts_with = "component", allow_negative_numbers = true)]
    gross: Option<String>,
    /// A part of gross pay, such as `housing=500.00`; repeatable
    #[arg(long, value_name = "NAME=AMOUNT")]
    component: Vec<String>,
    /// An attribute of the employee, such as `tax_code=BR`; repeatable. `state=NY` adds the lines of that state,
    /// `state.allowances=2` is an attribute of the state's tax tables
    #[arg(long, value_name = "NAME=VALUE")]
    attr: Vec<String>,
    /// Another number, such as `annual_rent=60000000` (money in minor units); repeatable. `earning.bonus=50000` is paid on top of the gross pay,
    /// `deduction.401k=20000` is taken from it
    #[arg(long, value_name = "NAME=NUMBER")]
    input: Vec<String>,
    /// monthly, semimonthly, biweekly, fourweekly or weekly; default: the first one of the pack
    #[arg(long)]
    period: Option<PayPeriod>,
    /// Number of the pay period in the tax year, from 1
    #[arg(long)]
    number: Option<u32>,
    /// File with the totals before this pay: a JSON object that maps each base and line to its minor units, as `ytd` in the output of --json
    #[arg(long, value_name = "FILE")]
    ytd: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Read cases as NDJSON from a file (`-` for standard input), and print one JSON line for each case. A case is
    /// `{"pack": "GB", "gross": 300000}` with amounts in minor units; `period`, `k` (the number of the period), `attrs`, `inputs` and `ytd`
    /// are optional. --pack or --country sets the pack of cases without `pack`
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "date", "gross", "component", "attr", "input", "period", "number", "ytd", "json"
        ]
    )]
    cases: Option<PathBuf>,
}

/// A day of the command line.
fn day(text: &str) -> Result<Date, &'static str> {
    text.parse().map_err(|_| "expected a day such as 2026-06-30")
}

/// Runs the subcommand. Only `--cases -` reads `input`.
pub fn run(
    args: &Args,
    input: impl BufRead,
    mut output: impl Write,
) -> Result<CasesOutcome, Error> {
    let Some(path) = &args.cases else {
        payslip(args, &mut output)?;
        output.flush()?;
        return Ok(CasesOutcome::Computed);
    };
    let default = args.pack.as_deref().or(args.country.as_deref());
    if path.as_os_str() == "-" {
        return case::answer_all(default, input, output);
    }
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    case::answer_all(default, io::BufReader::new(file), output)
}

fn unreadable(path: &std::path::Path, error: &io::Error) -> Error {
    Error::Io(io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

fn payslip(args: &Args, output: &mut impl Write) -> Result<(), Error> {
    let (pack, fit) = choose_pack(args)?;
    let period = args.period.unwrap_or(pack.periods[0]);
    let number = match (args.number, args.date) {
        (Some(number), _) => number,
        (None, Some(date)) => pack.period_number(period, date),
        (None, None) => 1,
    };
    let mut earnings = earnings(args, pack)?;
    let attributes = region::Attributes::read(pack, &args.attr)?;
    let mut profile = pack.profile(attributes.national.iter().copied())?;
    for pair in &args.input {
        let (name, value) = split(pair)?;
        let number = value.parse().map_err(|_| {
            Error::Usage(format!("input `{pair}`: must be a whole number (money in minor units)"))
        })?;
        match name.strip_prefix("earning.") {
            Some(component) => earnings.push((component.to_owned(), number)),
            None => profile.inputs[pack.input(name)?] = number,
        }
    }
    may_add(pack, &earnings)?;
    let ytd = read_ytd(args, pack)?;
    let resolved: Vec<(Component, i64)> =
        earnings.iter().map(|(name, amount)| (pack.component(name), *amount)).collect();
    let pay = pack.evaluate(&PayInput {
        period,
        number,
        attributes: profile.attributes,
        inputs: &profile.inputs,
        on: args.date,
        earnings: &resolved,
        ytd: &ytd,
    })?;
    let (of_pack, when) = ((pack, &profile), (period, args.date));
    let region = region::Region::of(of_pack, &attributes, when, (&earnings, number))?;
    let left = pay.net - region.as_ref().map_or(0, region::Region::withheld);
    let taken = deductions::sum(pack, &profile, left).map_err(Error::Usage)?;
    let slip = payslip::Slip {
        pack,
        fit,
        period,
        number,
        earnings: &earnings,
        pay: &pay,
        before: &ytd,
        deductions: deductions::of(pack, &profile).collect(),
        net: left - taken,
        region: region.as_ref(),
    };
    if args.json { slip.write_json(output) } else { slip.write_table(output) }
}

fn choose_pack(args: &Args) -> Result<(&'static Pack, Match), Error> {
    let packs = library();
    if let Some(code) = &args.pack {
        let pack = packs.pack(code).ok_or_else(|| PayError::UnknownPack(code.clone()))?;
        return Ok((pack, pack.fit(args.date.unwrap_or(pack.effective_from))));
    }
    let Some(country) = args.country.as_deref().map(str::to_ascii_uppercase) else {
        return Err(Error::Usage("give --country CODE, --pack CODE or --cases FILE".to_owned()));
    };
    if country.len() != 2 || !country.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(Error::Usage(format!(
            "`{country}` is not a country: give two letters, such as GB"
        )));
    }
    if packs.pack(&country).is_none() && !countries::is_known(&country) {
        let known = countries::codes().collect::<Vec<_>>().join(", ");
        let why = format!("there is no country {country:?}; the countries are {known}");
        return Err(Error::Usage(why));
    }
    // Without a date, the current pack of a country is the one whose code is the country.
    let date = match (args.date, packs.pack(&country)) {
        (Some(date), _) => date,
        (None, Some(pack)) => pack.effective_from,
        (None, None) => Date::ZERO,
    };
    let found = packs.in_force(&country, date);
    Ok((found.pack, found.fit))
}

/// Components in the order given, in minor units.
fn earnings(args: &Args, pack: &Pack) -> Result<Vec<(String, i64)>, Error> {
    let minor = |text: &str| money::parse(text, pack.minor_digits).map_err(Error::Usage);
    match &args.gross {
        Some(gross) => Ok(vec![("basic".to_owned(), minor(gross)?)]),
        None if args.component.is_empty() => Err(Error::Usage(
            "give --gross AMOUNT, or --component NAME=AMOUNT for each part".to_owned(),
        )),
        None => {
            let part = |pair: &String| {
                let (name, amount) = split(pair)?;
                Ok((name.to_owned(), minor(amount)?))
            };
            args.component.iter().map(part).collect()
        }
    }
}

/// Refuses earnings whose sum is too large.
fn may_add(pack: &Pack, earnings: &[(String, i64)]) -> Result<(), Error> {
    let sum: i128 = earnings.iter().map(|(_, amount)| i128::from(*amount)).sum();
    if sum > i128::from(money::MOST) {
        let why = money::too_large("the sum of --component", pack.minor_digits);
        return Err(Error::Usage(why));
    }
    Ok(())
}

fn read_ytd(args: &Args, pack: &Pack) -> Result<YearToDate, Error> {
    let Some(path) = &args.ytd else {
        return Ok(YearToDate::start());
    };
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    let totals: BTreeMap<String, i64> = serde_json::from_str(&text).map_err(|error| {
        Error::Usage(format!(
            "{}: must be a JSON object of whole minor units by name: {error}",
            path.display()
        ))
    })?;
    Ok(YearToDate::from_names(pack, &totals)?)
}
