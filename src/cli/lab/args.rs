//! The flags that say which world a command is tried on.

use std::sync::Arc;

use clap::Args;

use crate::cli::ask::{SandboxArgs, in_header};
use crate::cli::failure::Failure;
use crate::cli::lab::{Growth, Site};
use crate::cli::scenario;
use crate::cli::world_args::{Typed, WorldArgs};
use crate::world::ClockMode;

/// A new world, or that of a key in a running sandbox.
#[derive(Args, Debug)]
pub(in crate::cli) struct LabArgs {
    #[command(flatten)]
    typed: Typed,
    #[command(flatten)]
    world: WorldArgs,
    /// Run on copies of the world of this key in the sandbox at --url; the world itself does not change
    #[arg(
        long = "api-key",
        visible_alias = "key",
        env = "SANDBOX_EXAM_KEY",
        hide_env_values = true,
        value_name = "KEY"
    )]
    key: Option<String>,
    /// The running sandbox, such as `http://127.0.0.1:4747`
    #[arg(long, value_name = "URL", requires = "key")]
    url: Option<String>,
    /// Token of the control routes of the running sandbox, if it has one
    #[arg(long, env = "SANDBOX_ADMIN_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    admin_token: Option<String>,
    /// Start the world with a scenario: a shipped one by name, or a file; repeatable
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "url")]
    scenario: Vec<String>,
}

impl LabArgs {
    /// The words of a command line that name the same world, except its seed and its size. A key and a token are secrets, so a word names
    /// their variables.
    pub(in crate::cli) fn again(&self) -> Vec<String> {
        let scenarios = self.scenario.iter().map(|wanted| format!("--scenario {}", word(wanted)));
        let mut words: Vec<String> = scenarios.collect();
        words.extend(self.url.as_ref().map(|url| format!("--url {}", word(url))));
        for (field, shown) in [
            ("key", "--api-key \"$SANDBOX_EXAM_KEY\""),
            ("admin_token", "--admin-token \"$SANDBOX_ADMIN_TOKEN\""),
        ] {
            if self.url.is_some() && self.typed.has(field) {
                words.push(shown.to_owned());
            }
        }
        words
    }

    /// The site of the world. A world in this process gets this clock, unless a scenario sets another.
    pub(in crate::cli) fn site(&self, clock: ClockMode) -> Result<Site, Failure> {
        if self.url.is_none() && self.typed.has("key") {
            return Err(Failure::Usage("--api-key needs --url: a new world has no key".to_owned()));
        }
        if let (Some(url), Some(key)) = (&self.url, &self.key) {
            self.typed.only_url()?;
            let sandbox = SandboxArgs::of_url("--url", url, self.admin_token.clone())?;
            return Ok(Site::Running { sandbox, key: in_header("--api-key", key)?.to_owned() });
        }
        let mut growth = Growth {
            seed: self.world.seed,
            shape: self.world.shape()?,
            clock,
            scenarios: Vec::new(),
        };
        for wanted in &self.scenario {
            growth.add(Arc::new(scenario::find(wanted)?))?;
        }
        Ok(Site::Own(growth))
    }
}

/// A word of a shell command.
pub(in crate::cli) fn word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
