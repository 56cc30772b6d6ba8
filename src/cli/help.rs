//! The text after the options in `--help` of each command: examples and exit codes. Commands with their own `after_help` are not in the table.

use clap::Command;

/// The exit codes of most commands.
const USUAL: &str = "0 success, 1 failure, 2 wrong usage";
const CHECKED: &str = "0 no mistake, 1 a mistake or a file that cannot be read, 2 wrong usage";
const ASKED: &str = "0 success, 1 a refusal or no sandbox, 2 wrong usage";

/// A command by its path, its examples, and its exit codes.
struct Row(&'static str, &'static [&'static str], &'static str);

const ROWS: &[Row] = &[
    Row(
        "serve",
        &[
            "sandbox serve --seed 42                      on the default port",
            "sandbox serve --clock manual --port 0        time moves when you advance it; a free port",
        ],
        USUAL,
    ),
    Row(
        "world",
        &[
            "sandbox world --seed 42                      the world as JSON",
            "sandbox world --seed 42 --digest             one hash of it",
        ],
        USUAL,
    ),
    Row(
        "openapi",
        &[
            "sandbox openapi                              the document of the product",
            "sandbox openapi --client --openapi 3.0       for client generators",
            "sandbox openapi --domain payments            one domain only",
        ],
        USUAL,
    ),
    Row(
        "contract",
        &[
            "sandbox contract                             every assumption",
            "sandbox contract --contract real.toml        every assumption, with the replacements of a file",
            "sandbox contract check real.toml             every mistake in a file",
            "sandbox contract learn real.har              what the real service does differently",
        ],
        "0 success, 1 a mistake, a difference or a failure, 2 wrong usage",
    ),
    Row("contract check", &["sandbox contract check real.toml"], CHECKED),
    Row(
        "gross-to-net",
        &[
            "sandbox gross-to-net --country GB --gross 3000.00",
            "sandbox gross-to-net --country NG --component basic=300000 --component housing=100000 --json",
            "sandbox gross-to-net --country GB --cases cases.ndjson",
        ],
        "0 success, 1 a case is refused or a file cannot be read, 2 wrong usage",
    ),
    Row(
        "replay",
        &[
            "sandbox replay run.rec                       repeat every input, and compare",
            "sandbox replay run.rec --until 40 --serve    then serve the worlds",
        ],
        "0 the same replies and digests, 1 a difference or a failure, 2 wrong usage",
    ),
    Row("bundle", &["sandbox bundle --recording run.rec --out bug.bundle"], USUAL),
    Row(
        "journal",
        &[
            "sandbox journal inspect data",
            "sandbox journal compact data",
            "sandbox journal export data --out run.rec",
        ],
        USUAL,
    ),
    Row("journal inspect", &["sandbox journal inspect data --json"], USUAL),
    Row("journal compact", &["sandbox journal compact data"], USUAL),
    Row("journal export", &["sandbox journal export data --out run.rec"], USUAL),
    Row(
        "scenario",
        &[
            "sandbox scenario list                        the shipped scenarios",
            "sandbox scenario new mine.toml               a first file",
            "sandbox scenario check mine.toml             every mistake in it",
            "sandbox scenario test mine.toml              run its steps",
        ],
        "0 success, 1 a mistake or a result that differs, 2 wrong usage",
    ),
    Row(
        "scenario list",
        &["sandbox scenario list", "sandbox scenario list --decisions --json"],
        USUAL,
    ),
    Row("scenario show", &["sandbox scenario show partial-failure"], USUAL),
    Row("scenario check", &["sandbox scenario check mine.toml"], CHECKED),
    Row(
        "scenario test",
        &[
            "sandbox scenario test mine.toml",
            "sandbox scenario test partial-failure late-return --junit report.xml",
        ],
        "0 all results are as expected, 1 a mistake or a result that differs, 2 wrong usage",
    ),
    Row("scenario schema", &["sandbox scenario schema"], USUAL),
    Row(
        "scenario new",
        &["sandbox scenario new mine.toml", "sandbox scenario new mine.toml --from late-return"],
        USUAL,
    ),
    Row(
        "healthcheck",
        &["sandbox healthcheck", "sandbox healthcheck --host 127.0.0.1 --port 8080"],
        "0 it serves requests, 1 it does not, 2 wrong usage",
    ),
    Row(
        "trigger",
        &[
            "sandbox trigger --list                       the types of events",
            "sandbox trigger payout.returned --json       with all events that led to it",
        ],
        ASKED,
    ),
    Row(
        "events",
        &[
            "sandbox events                               from the beginning",
            "sandbox events --follow --type payout.*      as they happen",
        ],
        ASKED,
    ),
    Row(
        "explain",
        &[
            "sandbox explain psl_…                            the parts of the net pay of a payslip",
            "sandbox explain psl_… --pointer /taxes/0/amount  the parts of one tax",
        ],
        ASKED,
    ),
    Row(
        "listen",
        &[
            "sandbox listen --sandbox http://127.0.0.1:4747       register, print, unregister",
            "sandbox listen --port 8080 --forward-to http://127.0.0.1:3000/hooks",
        ],
        "0 it was interrupted, or its input or output was closed, 1 failure, 2 wrong usage",
    ),
    Row(
        "webhook-test",
        &["sandbox webhook-test --target http://127.0.0.1:3000/hooks --type payout.paid"],
        "0 the receiver handled every delivery correctly, 1 a delivery handled wrongly or no receiver, 2 wrong usage",
    ),
    Row("completions", &["sandbox completions bash"], USUAL),
    Row("man", &["sandbox man man1"], USUAL),
];

/// The command with the ends of all helps.
pub(super) fn with_ends(mut command: Command) -> Command {
    for Row(path, examples, codes) in ROWS {
        let title = if examples.len() == 1 { "Example" } else { "Examples" };
        let text = format!("{title}:\n  {}\n\nExit codes: {codes}.", examples.join("\n  "));
        command = at(command, path, &text);
    }
    command
}

/// The command with this end of the help of the subcommand with this path.
fn at(command: Command, path: &str, text: &str) -> Command {
    match path.split_once(' ') {
        None => command.mut_subcommand(path, |sub| sub.after_help(text.to_owned())),
        Some((first, rest)) => command.mut_subcommand(first, |sub| at(sub, rest, text)),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    /// The help of each command, with its path.
    fn helps(command: &Command, path: &str, found: &mut Vec<(String, String)>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        found.push((path.to_owned(), help));
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            helps(sub, &format!("{path} {}", sub.get_name()), found);
        }
    }

    #[test]
    fn the_help_of_every_command_ends_with_examples_that_parse_and_with_exit_codes() {
        let command = with_ends(Cli::command());
        let mut found = Vec::new();
        helps(&command, "sandbox", &mut found);
        assert!(found.len() > 30, "{}", found.len());
        for (path, help) in found {
            assert!(
                help.contains("Example") && help.contains("\n\nExit codes: 0 "),
                "{path}: {help}"
            );
            let examples = help.lines().skip(1).take_while(|line| !line.is_empty());
            let mut of_command = 0;
            for example in examples.map(str::trim) {
                let call = example.split("  ").next().unwrap_or_default();
                of_command += usize::from(call.starts_with(&path));
                if call.contains(['\'', '"', '$', '|', '>']) {
                    continue;
                }
                let parsed = command.clone().try_get_matches_from(call.split(' '));
                assert!(parsed.is_ok(), "{call}: {:?}", parsed.err());
            }
            assert!(of_command > 0, "{path}: {help}");
        }
    }
}
