//! `GET /_sandbox/metrics`: counts of the process for Prometheus, in the `OpenMetrics` text format.
//!
//! A request costs three relaxed additions. The text is written when it is read.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use crate::api::host::Process;
use crate::io::handler::RequestHandler;
use crate::io::resident;
use crate::tester::outbox::delivery::{Answered, Unanswered};
use crate::value::ErrorCode;

/// The path of the metrics.
pub(crate) const PATH: &str = "/_sandbox/metrics";

/// The label of a request that reached no operation: its path is unknown, or its key or a header was refused.
const NO_OPERATION: &str = "none";

/// The statuses with a count of their own; the last count is that of all others.
const STATUSES: [u16; 26] = [
    200, 201, 202, 204, 304, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 412, 413, 415, 421,
    422, 429, 431, 500, 501, 503, 504,
];

/// The upper ends of the latency buckets.
const BUCKETS: [Duration; 12] = [
    Duration::from_micros(50),
    Duration::from_micros(100),
    Duration::from_micros(250),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_millis(5),
    Duration::from_millis(25),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
];

/// The result of an attempt to deliver a webhook.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AttemptEnd {
    /// The receiver returned a 2xx status.
    Delivered,
    /// The receiver returned another status.
    Refused,
    /// There was no complete answer in time.
    TimedOut,
    /// There was no connection, or it ended early.
    Unreachable,
}

impl AttemptEnd {
    pub(crate) fn of(result: &Result<Answered, Unanswered>) -> Self {
        match result {
            Ok(answered) if (200..300).contains(&answered.status) => Self::Delivered,
            Ok(_) => Self::Refused,
            Err(unanswered) if unanswered.timed_out => Self::TimedOut,
            Err(_) => Self::Unreachable,
        }
    }
}

const ATTEMPT_ENDS: [(AttemptEnd, &str); 4] = [
    (AttemptEnd::Delivered, "delivered"),
    (AttemptEnd::Refused, "refused"),
    (AttemptEnd::TimedOut, "timed_out"),
    (AttemptEnd::Unreachable, "unreachable"),
];

/// The counts of one operation.
#[derive(Debug, Default)]
struct Counts {
    by_status: [AtomicU64; STATUSES.len() + 1],
    by_latency: [AtomicU64; BUCKETS.len() + 1],
    nanoseconds: AtomicU64,
}

/// The counts of a server.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// The names of the operations, in the order of their places.
    names: Vec<String>,
    /// One for each operation, and one for requests that reached none.
    counts: Vec<Counts>,
    attempts: [AtomicU64; ATTEMPT_ENDS.len()],
}

impl Metrics {
    pub(crate) fn new(names: Vec<String>) -> Self {
        let counts = (0..=names.len()).map(|_| Counts::default()).collect();
        Self { names, counts, attempts: Default::default() }
    }

    /// The name of the operation in that place.
    #[cfg(feature = "otel")]
    pub(crate) fn name(&self, place: Option<usize>) -> &str {
        place.and_then(|place| self.names.get(place)).map_or(NO_OPERATION, String::as_str)
    }

    /// Counts a request of the operation in that place.
    pub(crate) fn count(&self, place: Option<usize>, status: StatusCode, took: Duration) {
        let place = place.unwrap_or(self.names.len());
        let Some(counts) = self.counts.get(place) else { return };
        let status = STATUSES.iter().position(|known| *known == status.as_u16());
        counts.by_status[status.unwrap_or(STATUSES.len())].fetch_add(1, Ordering::Relaxed);
        let bucket = BUCKETS.partition_point(|end| *end < took);
        counts.by_latency[bucket].fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        counts.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Counts an attempt to deliver a webhook.
    pub(crate) fn count_attempt(&self, end: AttemptEnd) {
        self.attempts[end as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The reply to a request of the path of the metrics.
    pub(crate) fn answer<A: RequestHandler>(&self, engine: &A, head: &Parts) -> Response<Bytes> {
        if head.method != Method::GET {
            let detail = "this path allows only GET";
            let mut refusal = engine.refuse(Some(head), ErrorCode::MethodNotAllowed, detail);
            refusal.headers_mut().insert(ALLOW, GET);
            return refusal;
        }
        let process = engine.process().ok_or(ErrorCode::RouteNotFound);
        let reply = process.and_then(|process| self.reply(&process));
        reply.unwrap_or_else(|code| engine.refuse(Some(head), code, "there are no metrics"))
    }

    /// The reply with all counts.
    fn reply(&self, process: &Process) -> Result<Response<Bytes>, ErrorCode> {
        let mut body = String::new();
        let mut registry = Registry::default();
        let scrape = Scrape { metrics: self.snapshot(), process: process.clone() };
        registry.register_collector(Box::new(scrape));
        text::encode(&mut body, &registry).map_err(|_| ErrorCode::InternalError)?;
        let mut response = Response::new(Bytes::from(body));
        response.headers_mut().insert(CONTENT_TYPE, OPEN_METRICS);
        response.headers_mut().insert(CACHE_CONTROL, NO_STORE);
        Ok(response)
    }

    fn snapshot(&self) -> Snapshot {
        let names = self.names.iter().map(String::as_str).chain([NO_OPERATION]);
        let rows = names.zip(&self.counts).filter_map(|(name, counts)| {
            let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
            let by_status: Vec<u64> = counts.by_status.iter().map(load).collect();
            by_status.iter().any(|count| *count > 0).then(|| OperationCounts {
                name: name.to_owned(),
                by_status,
                by_latency: counts.by_latency.iter().map(load).collect(),
                total: Duration::from_nanos(load(&counts.nanoseconds)),
            })
        });
        let attempts = self.attempts.iter().map(|count| count.load(Ordering::Relaxed));
        Snapshot { operations: rows.collect(), attempts: attempts.collect() }
    }
}

const GET: HeaderValue = HeaderValue::from_static("GET, HEAD");
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// The counts at one time.
#[derive(Debug)]
struct Snapshot {
    operations: Vec<OperationCounts>,
    attempts: Vec<u64>,
}

#[derive(Debug)]
struct OperationCounts {
    name: String,
    by_status: Vec<u64>,
    by_latency: Vec<u64>,
    total: Duration,
}

#[derive(Debug)]
struct Scrape {
    metrics: Snapshot,
    process: Process,
}

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.requests(&mut encoder)?;
        self.latencies(&mut encoder)?;
        self.attempts(&mut encoder)?;
        self.gauges(&mut encoder)
    }
}

impl Scrape {
    fn requests(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Requests by operation and status";
        let mut family =
            encoder.encode_descriptor("sandbox_requests", help, None, MetricType::Counter)?;
        for row in &self.metrics.operations {
            for (place, count) in row.by_status.iter().enumerate().filter(|(_, count)| **count > 0)
            {
                let status = STATUSES.get(place).map_or("other".to_owned(), u16::to_string);
                let labels = [("operation", row.name.as_str()), ("status", status.as_str())];
                counter(&mut family, &labels, *count)?;
            }
        }
        Ok(())
    }

    fn latencies(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Time from the headers of a request to its reply, with injected delays";
        let mut family = encoder.encode_descriptor(
            "sandbox_request",
            help,
            Some(&Unit::Seconds),
            MetricType::Histogram,
        )?;
        for row in &self.metrics.operations {
            let ends = BUCKETS.iter().map(Duration::as_secs_f64).chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = ends.zip(row.by_latency.iter().copied()).collect();
            let count = row.by_latency.iter().sum();
            let labels = [("operation", row.name.as_str())];
            let mut metric = family.encode_family(&labels)?;
            metric.encode_histogram::<NoLabelSet>(
                row.total.as_secs_f64(),
                count,
                &buckets,
                None,
            )?;
        }
        Ok(())
    }

    fn attempts(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Attempts to deliver webhooks by outcome";
        let mut family = encoder.encode_descriptor(
            "sandbox_webhook_attempts",
            help,
            None,
            MetricType::Counter,
        )?;
        for ((_, name), count) in ATTEMPT_ENDS.iter().zip(&self.metrics.attempts) {
            counter(&mut family, &[("outcome", *name)], *count)?;
        }
        Ok(())
    }

    fn gauges(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let bytes = resident::bytes()
            .map(|bytes| ("sandbox_resident_bytes", "Memory of the process", bytes));
        let stored = self.process.stored.iter().flat_map(|stored| {
            [
                ("sandbox_journal_inputs", "Stored inputs", stored.inputs),
                ("sandbox_journal_worlds", "Worlds with stored inputs", stored.worlds),
                (
                    "sandbox_journal_writable",
                    "1 if inputs can be stored now",
                    stored.writable.into(),
                ),
                (
                    "sandbox_journal_to_replay",
                    "Inputs of the worlds that are being replayed",
                    stored.to_replay,
                ),
                (
                    "sandbox_journal_replayed",
                    "Inputs of these worlds that were replayed so far",
                    stored.replayed,
                ),
            ]
        });
        let worlds = ("sandbox_worlds_resident", "Worlds in memory", self.process.worlds);
        for (name, help, value) in [worlds].into_iter().chain(bytes).chain(stored) {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            metric.encode_gauge(&value)?;
        }
        for figure in &self.process.figures {
            let (name, help) = (figure.name, figure.help);
            if figure.is_count {
                let kind = MetricType::Counter;
                let mut metric = encoder.encode_descriptor(name, help, None, kind)?;
                metric.encode_counter::<NoLabelSet, u64, u64>(&figure.value, None)?;
            } else {
                let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
                metric.encode_gauge(&figure.value)?;
            }
        }
        Ok(())
    }
}

fn counter<const N: usize>(
    family: &mut MetricEncoder<'_>,
    labels: &[(&str, &str); N],
    count: u64,
) -> fmt::Result {
    family.encode_family(labels)?.encode_counter::<NoLabelSet, u64, u64>(&count, None)
}
