//! OpenTelemetry, with the Cargo feature `otel`: one span for each request, below the span of the
//! caller's `traceparent`. The spans are sent to a collector by OTLP over plain HTTP. Nothing is
//! sent unless a variable names the collector. A span contains no key, no query and no body.

use std::future::Future;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HeaderExtractor, HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use crate::io::log::{AccessLogLine, shown_path};

/// The collector; the variables of the OpenTelemetry specification.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
/// The longest wait for the collector.
const TIMEOUT: Duration = Duration::from_secs(5);

static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// Sends spans until it is dropped, and then the last ones.
#[derive(Debug)]
pub(crate) struct Telemetry(Option<SdkTracerProvider>);

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.as_ref().map(SdkTracerProvider::shutdown) {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }
}

/// Starts to send spans, if a variable names the collector.
///
/// # Errors
/// A text for the person who starts the server.
pub(crate) fn start() -> Result<Telemetry, String> {
    let given = |name: &str| std::env::var(name).ok().filter(|url| !url.is_empty());
    let mut found = ENDPOINTS.into_iter().filter_map(|name| Some((name, given(name)?)));
    let Some((name, url)) = found.next() else { return Ok(Telemetry(None)) };
    if !url.starts_with("http://") {
        return Err(format!("{name}: expected http://HOST:PORT of a collector; there is no TLS"));
    }
    let exporter = SpanExporter::builder().with_http().with_http_client(Client);
    let exporter = exporter.with_protocol(Protocol::HttpBinary).build();
    let exporter = exporter.map_err(|error| format!("{name}: {error}"))?;
    let service = std::env::var("OTEL_SERVICE_NAME").unwrap_or_else(|_| "sandbox".to_owned());
    let resource = Resource::builder().with_service_name(service).build();
    let provider =
        SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build();
    let _ = TRACER.set(provider.tracer("sandbox")); // a second server of the process uses the first
    Ok(Telemetry(Some(provider)))
}

/// Adds the span of a request that was answered.
pub(crate) fn request<B>(
    head: &Parts,
    operation: &str,
    response: &Response<B>,
    line: &AccessLogLine,
) {
    let Some(tracer) = TRACER.get() else { return };
    let (status, end) = (response.status(), SystemTime::now());
    let parent = HeaderExtractor(&head.headers);
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &parent);
    let attributes = [
        KeyValue::new("http.request.method", head.method.as_str().to_owned()),
        KeyValue::new("url.path", shown_path(head)),
        KeyValue::new("http.response.status_code", i64::from(status.as_u16())),
        KeyValue::new("sandbox.operation", operation.to_owned()),
    ];
    let span = tracer.span_builder(format!("{} {operation}", head.method));
    let span = span.with_kind(SpanKind::Server).with_start_time(end - line.elapsed());
    let mut span = tracer.build_with_context(span.with_attributes(attributes), &parent);
    if status.is_server_error() {
        span.set_status(Status::error(""));
    }
    span.end_with_timestamp(end);
}

/// A client for one request at a time, on the thread of the exporter.
#[derive(Debug)]
struct Client;

impl HttpClient for Client {
    fn send_bytes<'here, 'answer>(
        &'here self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'answer>>
    where
        'here: 'answer,
        Self: 'answer,
    {
        Box::pin(async move { send(&request).map_err(HttpError::from) })
    }
}

fn send(request: &Request<Bytes>) -> io::Result<Response<Bytes>> {
    let uri = request.uri();
    let host = uri.host().unwrap_or_default();
    let address = (host.trim_matches(['[', ']']), uri.port_u16().unwrap_or(80));
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let target = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let (body, length) = (request.body(), request.body().len());
    let mut bytes = format!(
        "POST {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n"
    )
    .into_bytes();
    for (name, value) in request.headers() {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    stream.write_all(&bytes)?;
    let mut start = [0; 12]; // HTTP/1.1 200; the rest of the reply is not needed
    stream.read_exact(&mut start)?;
    let status = StatusCode::from_bytes(&start[9..]).map_err(io::Error::other)?;
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    Ok(response)
}
