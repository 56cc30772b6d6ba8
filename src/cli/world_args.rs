//! The options from which a world is generated.

use std::str::FromStr;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, Id};

use crate::cli::failure::Failure;
use crate::cli::offered::Offered;
use crate::value::time::Timestamp;
use crate::world::Shape;

/// A port that no widely used mock server has as its default.
pub(super) const DEFAULT_PORT: u16 = 4747;

/// The seed and the shape of a world.
#[derive(Args, Clone, Debug)]
pub(super) struct WorldArgs {
    /// The seed; the same seed produces the same world
    #[arg(
        long,
        env = "SANDBOX_SEED",
        default_value_t = 42,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = seed
    )]
    pub(super) seed: u64,
    /// Companies of each world
    #[arg(
        long,
        env = "SANDBOX_COMPANIES",
        default_value_t = 3,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = companies
    )]
    companies: u64,
    /// Employees of each company
    #[arg(long, env = "SANDBOX_EMPLOYEES_PER_COMPANY", default_value_t = 25, value_name = "N", value_parser = count::<u64>)]
    employees_per_company: u64,
    /// Countries of the companies in turn, ISO 3166-1 alpha-2
    #[arg(
        long,
        env = "SANDBOX_COUNTRIES",
        default_value = "NG,GB,US,KE,ZA,CA",
        value_delimiter = ',',
        value_parser = Offered::COUNTRIES,
        hide_possible_values = true,
        value_name = "NG,GB,…"
    )]
    countries: Vec<String>,
    /// Start of the virtual time; twelve months of history come before it
    #[arg(
        long,
        env = "SANDBOX_START",
        default_value = "2026-01-01T00:00:00Z",
        value_name = "INSTANT",
        value_parser = start
    )]
    start: Timestamp,
}

/// The flags that a command line has. A flag that only a variable sets is none of them. Of the flags in a struct, this one is the first.
#[derive(Clone, Debug)]
pub(super) struct Typed(Vec<String>);

impl Args for Typed {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for Typed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_typed = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let typed = matches.ids().map(Id::as_str).filter(is_typed);
        Ok(Self(typed.map(str::to_owned).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Typed {
    pub(super) fn has(&self, field: &str) -> bool {
        self.0.iter().any(|typed| typed == field)
    }

    /// Refuses flags of a new world beside `--url`. Variables that configure a server are ignored there.
    pub(super) fn only_url(&self) -> Result<(), Failure> {
        let of_world = ["seed", "companies", "employees_per_company", "countries", "start"];
        let Some(field) = of_world.into_iter().find(|field| self.has(field)) else {
            return Ok(());
        };
        let flag = field.replace('_', "-");
        let why =
            format!("--{flag} cannot be used with --url: a running sandbox has its own world");
        Err(Failure::Usage(why))
    }
}

/// A port of the command line.
pub(super) fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("expected a port from 0 to {}", u16::MAX))
}

/// The port of `--port` or `SANDBOX_PORT`, or else of the variable `PORT`, or else the default. An empty variable counts as not set.
pub(super) fn port_or_variable(
    given: Option<u16>,
    variable: Option<String>,
) -> Result<u16, Failure> {
    let Some(text) = variable.filter(|text| given.is_none() && !text.is_empty()) else {
        return Ok(given.unwrap_or(DEFAULT_PORT));
    };
    port(&text)
        .map_err(|expected| Failure::Usage(format!("the variable PORT is {text:?}: {expected}")))
}

/// Parses the variable of a switch. Unknown words are refused, because a mistyped "false" must not turn a protection
/// off.
pub(super) fn switch(text: &str) -> Result<bool, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "y" | "yes" | "on" | "t" | "true" => Ok(true),
        "" | "0" | "n" | "no" | "off" | "f" | "false" => Ok(false),
        _ => Err("expected true or false"),
    }
}

/// A seed of the command line.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}

fn companies(text: &str) -> Result<u64, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| "a world has at least 1 company".to_owned())
}

/// A whole number from 0, the value of a flag.
pub(super) fn count<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| "expected a whole number from 0")
}

/// A start of the command line. Dates at which no world can start get the same message.
fn start(text: &str) -> Result<Timestamp, String> {
    let is_possible = |start: &Timestamp| (2001..=2098).contains(&start.date().period().year());
    let start = text.parse().ok().filter(is_possible);
    start.ok_or_else(|| {
        "expected an instant such as 2026-01-31T09:00:00Z, between 2001 and 2098".to_owned()
    })
}

impl WorldArgs {
    pub(super) fn shape(&self) -> Result<Shape, Failure> {
        let countries =
            self.countries.iter().map(|code| code.trim().to_ascii_uppercase()).collect();
        let shape = Shape {
            companies: self.companies,
            employees_per_company: self.employees_per_company,
            countries,
            start: self.start,
        };
        shape.check().map_err(Failure::Usage)?;
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_port_counts_as_not_set() {
        let port = |given, text: &str| port_or_variable(given, Some(text.to_owned())).ok();
        assert_eq!(port(None, ""), Some(DEFAULT_PORT));
        assert_eq!(
            [port(None, "80"), port(Some(1), "80"), port(Some(1), "no")],
            [80, 1, 1].map(Some)
        );
        assert_eq!(port(None, "no"), None);
        assert_eq!(port_or_variable(None, None).ok(), Some(DEFAULT_PORT));
    }
}
