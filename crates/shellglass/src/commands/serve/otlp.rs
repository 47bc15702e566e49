//! Sends the daemon's numbers to an OpenTelemetry collector (OTLP over gRPC), in
//! builds with the feature `otlp`, where the standard variables name one.
//!
//! Nothing is kept for a collector that does not answer: the numbers are sums since
//! the daemon began, so the next time tells everything. Labels are the closed set
//! that `/metrics` has.

mod messages;
mod numbers;

use crate::error::{Failure, Kind, with_causes};
use glass_model::Role;
use glass_session::{Caller, Engine};
use messages::{ExportRequest, ExportResponse};
use numbers::Span;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};

/// Where the collector is, such as `http://127.0.0.1:4317`.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// How often numbers are sent, in milliseconds.
const INTERVAL: &str = "OTEL_METRIC_EXPORT_INTERVAL";

/// How often where nobody says.
const INTERVAL_MS: u64 = 60_000;

/// However often somebody wants it.
const INTERVAL_MS_MIN: u64 = 100;

/// Longest wait for a collector.
const COLLECTOR_WAIT: Duration = Duration::from_secs(10);

/// The method, as the contract names it.
const METHOD: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

/// A collector, and how often it is told.
pub(super) struct Collector {
    channel: Channel,
    pause: Duration,
}

impl Collector {
    /// The one that the environment names, if it names one. The variable is for all
    /// programs and not for us alone: one that we cannot use keeps nobody from work.
    pub(super) fn find(variable: &dyn Fn(&str) -> Option<String>) -> Option<Collector> {
        match Collector::named(variable) {
            Ok(collector) => collector,
            Err(failure) => {
                let hint = failure.hint.as_deref().unwrap_or_default();
                tracing::warn!(why = %failure.message, hint, "numbers are sent to nobody");
                None
            }
        }
    }

    fn named(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Collector>, Failure> {
        let Some(address) = variable(ENDPOINT).filter(|address| !address.is_empty()) else {
            return Ok(None);
        };
        if !address.starts_with("http://") {
            let message = format!("{ENDPOINT} does not begin with http://: {address}");
            return Err(Failure::new(Kind::Failed, message)
                .hint("name a collector on this machine, and let that one speak TLS to others"));
        }
        let endpoint = Endpoint::from_shared(address).map_err(|error| {
            let message = format!("{ENDPOINT} is no address: {}", with_causes(&error));
            Failure::new(Kind::Failed, message).hint("write it as http://127.0.0.1:4317")
        })?;
        let channel = endpoint
            .connect_timeout(COLLECTOR_WAIT)
            .timeout(COLLECTOR_WAIT)
            .connect_lazy();
        let pause = variable(INTERVAL).and_then(|text| text.trim().parse().ok());
        let pause = Duration::from_millis(pause.unwrap_or(INTERVAL_MS).max(INTERVAL_MS_MIN));
        Ok(Some(Collector { channel, pause }))
    }

    /// Tells it from now on.
    pub(super) fn follow(self, engine: &Engine) {
        tokio::spawn(send_for_ever(engine.clone(), self.channel, self.pause));
    }
}

async fn send_for_ever(engine: Engine, channel: Channel, pause: Duration) {
    let begun = now();
    let mut ticks = tokio::time::interval(pause);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut heard = true;
    loop {
        ticks.tick().await;
        let request = look(&engine, Span { begun, now: now() });
        match send(channel.clone(), request).await {
            Ok(()) => heard = true,
            // Said once, and again after it has listened meanwhile.
            Err(status) if heard => {
                tracing::warn!(code = ?status.code(), "the collector takes no numbers");
                heard = false;
            }
            Err(_) => {}
        }
    }
}

fn look(engine: &Engine, span: Span) -> ExportRequest {
    let person = Caller { role: Role::Person };
    numbers::request(&engine.figures(), &engine.levels(&person), span)
}

async fn send(channel: Channel, request: ExportRequest) -> Result<(), tonic::Status> {
    let mut client = tonic::client::Grpc::new(channel);
    let ready = client.ready().await;
    ready.map_err(|error| tonic::Status::unavailable(error.to_string()))?;
    let codec = tonic_prost::ProstCodec::<ExportRequest, ExportResponse>::default();
    let path = PathAndQuery::from_static(METHOD);
    let request = tonic::Request::new(request);
    client.unary(request, path, codec).await.map(drop)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}
