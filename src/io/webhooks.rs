//! Converts the webhook options of a server into the options of the engine.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::runtime::Handle;

use crate::engine::Engine;
use crate::io::courier::Courier;
use crate::io::metrics::Metrics;
use crate::io::wal::durable::Durable;
use crate::tester::address::{Policy, Target};
use crate::tester::outbox::schedule::Retries;
use crate::tester::outbox::{Given, Settings};
use crate::tester::signature::Secret;

/// Webhooks of every world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Webhooks {
    pub(crate) retries: Retries,
    pub(crate) endpoints: Vec<Receiver>,
    /// The secret of all signatures; without it, each world derives its own.
    pub(crate) secret: Option<Secret>,
}

/// An endpoint of every world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    /// `payroll_run.*`; every event if empty.
    pub(crate) events: Vec<String>,
}

impl Webhooks {
    /// Starts the courier of a server that listens at these addresses. Must be called within its runtime. An
    /// error is for the operator.
    pub(crate) fn open(
        &self,
        engine: &Engine,
        addresses: &[SocketAddr],
        durable: Option<Durable>,
        metrics: Arc<Metrics>,
    ) -> Result<(), String> {
        let policy = Policy {
            private: addresses.iter().all(|address| address.ip().is_loopback()),
            own: addresses.to_vec(),
        };
        let trusting = Policy { private: true, ..policy.clone() };
        let given = |receiver: &Receiver| {
            let target = Target::parse(&receiver.url, &trusting)
                .map_err(|error| format!("--webhook {}: {error}", receiver.url))?;
            Ok(Given { target, events: receiver.events.clone(), secret: self.secret.clone() })
        };
        let given = self.endpoints.iter().map(given);
        let settings = Settings {
            retries: self.retries,
            policy: policy.clone(),
            given: given.collect::<Result<_, String>>()?,
        };
        let courier = Courier::new(Handle::current(), policy, durable, metrics);
        engine.start_deliveries(settings, Arc::new(courier));
        Ok(())
    }
}
