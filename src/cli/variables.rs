//! Environment variables of flags: empty ones, and messages about invalid ones.

use std::env;
use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command, Error};

/// The command without environment variables that are empty, which are common in CI. Empty secrets remain and are
/// refused, because otherwise a protection would be off by mistake.
pub(super) fn without_empty(command: Command) -> Command {
    let is_empty = |name: &OsStr| env::var_os(name).is_some_and(|value| value.is_empty());
    let command = command.mut_args(|arg| {
        let is_unset = !arg.is_hide_env_values_set() && arg.get_env().is_some_and(is_empty);
        if is_unset { arg.env(None::<&'static str>) } else { arg }
    });
    command.mut_subcommands(without_empty)
}

/// Names the variable in an error about an invalid value, if the value is from the variable. The library names the flag, which the
/// caller has not given.
pub(super) fn named(mut error: Error, command: &Command, arguments: &[OsString]) -> Error {
    let (Some(ContextValue::String(flag)), Some(ContextValue::String(value))) =
        (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue))
    else {
        return error;
    };
    let is_source = |name: &&OsStr| {
        env::var_os(name).is_some_and(|text| text.to_string_lossy().contains(value.as_str()))
    };
    let name = levels(command, arguments).into_iter().find_map(|(command, own)| {
        let is_meant = |arg: &&Arg| arg.to_string() == *flag && !is_given(arg, own);
        command.get_arguments().find(is_meant)?.get_env().filter(is_source)
    });
    if let Some(name) = name {
        let shown = format!("{} (the variable of {flag})", name.to_string_lossy());
        error.insert(ContextKind::InvalidArg, ContextValue::String(shown));
    }
    error
}

/// The program and the subcommands that the arguments call, each with its own arguments. The variables of the program are
/// checked for every subcommand.
fn levels<'a>(
    mut command: &'a Command,
    arguments: &'a [OsString],
) -> Vec<(&'a Command, &'a [OsString])> {
    let mut rest = arguments.get(1..).unwrap_or_default();
    let mut levels = Vec::new();
    while let Some((first, after)) = rest.split_first() {
        let Some(subcommand) = command.find_subcommand(first) else { break };
        levels.push((command, &rest[..0]));
        (command, rest) = (subcommand, after);
    }
    levels.push((command, rest));
    levels
}

/// Whether the command line has the flag. A flag wins over its variable.
fn is_given(arg: &Arg, arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| {
        let text = argument.to_string_lossy();
        match text.strip_prefix("--") {
            Some(long) => long.split('=').next() == arg.get_long(),
            None => text.starts_with('-') && arg.get_short().is_some_and(|it| text.contains(it)),
        }
    })
}
