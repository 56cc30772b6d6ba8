//! The webhook flags of a server.

use std::str::FromStr;

use clap::{Args, ValueEnum};

use crate::api::control::webhooks::check_filter;
use crate::cli::failure::Failure;
use crate::cli::world_args::Typed;
use crate::io::webhooks::{Receiver, Webhooks};
use crate::tester::outbox::schedule::Retries;
use crate::tester::signature::Secret;

/// Webhook endpoints of every world.
#[derive(Args, Debug)]
pub(super) struct WebhookArgs {
    #[command(flatten)]
    typed: Typed,
    /// Send the webhooks of every world to this URL; repeatable (in the variable, separated by spaces). Events follow after `=`; default: all events. Example:
    /// `http://127.0.0.1:8080/hooks=payroll_run.*,payout.paid`
    #[arg(long, env = "SANDBOX_WEBHOOK", value_delimiter = ' ', value_name = "URL[=EVENT,…]")]
    webhook: Vec<Given>,
    /// The secret that signs these webhooks, `whsec_…`; needs --webhook [default: each world derives one from its seed]
    #[arg(long, env = "SANDBOX_WEBHOOK_SECRET", hide_env_values = true, value_name = "SECRET")]
    webhook_secret: Option<String>,
    /// Clock of the retries. virtual: the clock of the world; compressed: wall clock, all retries within 77 s; real: wall clock, within 76 hours;
    /// auto: virtual with a manual clock, otherwise compressed
    #[arg(long, env = "SANDBOX_WEBHOOK_RETRIES", default_value = "auto", value_name = "SCHEDULE")]
    webhook_retries: Schedule,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Schedule {
    Auto,
    Virtual,
    Compressed,
    Real,
}

/// `URL` or `URL=filter,filter`.
#[derive(Clone, Debug)]
struct Given(Receiver);

impl FromStr for Given {
    type Err = String;

    /// Takes the text after the last `=` as filters if it looks like filters, because a URL may contain `=`,
    /// too.
    fn from_str(text: &str) -> Result<Self, String> {
        let is_filter = |text: &str| text == "*" || text.contains('.') && !text.contains('/');
        let (url, events) = match text.rsplit_once('=') {
            Some((url, filters)) if filters.split(',').all(is_filter) => (url, filters),
            _ => (text, ""),
        };
        if url.contains(",http://") || url.contains(",https://") {
            return Err("separate several URLs by spaces, or repeat --webhook".to_owned());
        }
        let events: Vec<String> =
            events.split(',').filter(|filter| !filter.is_empty()).map(str::to_owned).collect();
        for filter in &events {
            check_filter(filter)?;
        }
        Ok(Self(Receiver { url: url.to_owned(), events }))
    }
}

impl WebhookArgs {
    /// The endpoints, secret and schedule of the flags. The message about an invalid secret does not repeat
    /// it. A secret of the variable alone is no mistake, because `sandbox listen` uses the same variable.
    pub(super) fn read(&self) -> Result<Webhooks, Failure> {
        let secret = self.webhook_secret.as_deref().map(Secret::parse);
        let secret = secret
            .transpose()
            .map_err(|expected| Failure::Usage(format!("--webhook-secret: {expected}")))?;
        if self.webhook.is_empty() && self.typed.has("webhook_secret") {
            let why = "--webhook-secret needs a --webhook: an endpoint that a call creates has its own secret";
            return Err(Failure::Usage(why.to_owned()));
        }
        let endpoints = self.webhook.iter().map(|given| given.0.clone());
        Ok(Webhooks {
            retries: match self.webhook_retries {
                Schedule::Auto => Retries::Auto,
                Schedule::Virtual => Retries::Virtual,
                Schedule::Compressed => Retries::Compressed,
                Schedule::Real => Retries::Real,
            },
            endpoints: endpoints.collect(),
            secret,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_follow_the_last_equals_sign_and_a_url_may_have_its_own() {
        let read = |text: &str| text.parse::<Given>().map(|given| given.0);
        let receiver = |url: &str, events: &[&str]| {
            Ok(Receiver {
                url: url.to_owned(),
                events: events.iter().map(|&event| event.to_owned()).collect(),
            })
        };
        assert_eq!(read("http://h/p"), receiver("http://h/p", &[]));
        let two = read("http://h/p=payroll_run.*,payout.paid");
        assert_eq!(two, receiver("http://h/p", &["payroll_run.*", "payout.paid"]));
        assert_eq!(read("http://h/?token=abc"), receiver("http://h/?token=abc", &[]));
        assert_eq!(read("http://h/?token=abc=*"), receiver("http://h/?token=abc", &["*"]));
        assert!(read("http://h/=payrol.run").unwrap_err().contains("payroll_run"));
    }
}
