//! Says the daemon's numbers in the words of OTLP.

use super::messages::{
    CUMULATIVE, Data, ExportRequest, Gauge, Histogram, KeyValue, Metric, NumberPoint, Resource,
    ResourceMetrics, Scope, ScopeMetrics, SpreadPoint, Sum,
};
use glass_session::{Family, Level, Value};

/// Since when is counted, and when it was looked, in nanoseconds of Unix time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub begun: u64,
    pub now: u64,
}

/// Everything, as one request.
pub(super) fn request(families: &[Family], levels: &[Level], span: Span) -> ExportRequest {
    let counted = families.iter().map(|family| metric(family, span));
    let levels = levels.iter().map(|level| gauge(level, span));
    let metrics = levels.chain(counted).collect();
    let version = env!("CARGO_PKG_VERSION");
    let scope = Scope {
        name: "shellglass".to_owned(),
        version: version.to_owned(),
    };
    let resource = Resource {
        attributes: vec![
            KeyValue::new("service.name", "shellglass"),
            KeyValue::new("service.version", version),
        ],
    };
    let scope_metrics = vec![ScopeMetrics {
        scope: Some(scope),
        metrics,
    }];
    ExportRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource),
            scope_metrics,
        }],
    }
}

fn gauge(level: &Level, span: Span) -> Metric {
    let point = NumberPoint {
        start_time_unix_nano: 0,
        time_unix_nano: span.now,
        as_int: i64::try_from(level.value).ok(),
        attributes: Vec::new(),
    };
    Metric {
        name: format!("shellglass.{}", level.name),
        description: level.help.to_owned(),
        unit: String::new(),
        data: Some(Data::Gauge(Gauge {
            data_points: vec![point],
        })),
    }
}

fn metric(family: &Family, span: Span) -> Metric {
    // What Prometheus has in a name, OTLP has beside it.
    let name = family.name.trim_end_matches("_total");
    let (name, unit) = match name.strip_suffix("_seconds") {
        Some(name) => (name, "s"),
        None if name.ends_with("_bytes") => (name, "By"),
        None => (name, ""),
    };
    let mut counts = Vec::new();
    let mut spreads = Vec::new();
    for (label, value) in &family.samples {
        let attributes = label.iter().map(|(key, value)| KeyValue::new(key, value));
        let attributes = attributes.collect();
        match value {
            Value::Count(count) => counts.push(NumberPoint {
                start_time_unix_nano: span.begun,
                time_unix_nano: span.now,
                as_int: i64::try_from(*count).ok(),
                attributes,
            }),
            Value::Spread {
                buckets,
                count,
                sum,
            } => spreads.push(SpreadPoint {
                start_time_unix_nano: span.begun,
                time_unix_nano: span.now,
                count: *count,
                sum: Some(*sum),
                bucket_counts: apart(buckets, *count),
                explicit_bounds: buckets.iter().map(|(bound, _)| *bound).collect(),
                attributes,
            }),
        }
    }
    let data = if spreads.is_empty() {
        Data::Sum(Sum {
            data_points: counts,
            aggregation_temporality: CUMULATIVE,
            is_monotonic: true,
        })
    } else {
        Data::Histogram(Histogram {
            data_points: spreads,
            aggregation_temporality: CUMULATIVE,
        })
    };
    Metric {
        name: format!("shellglass.{name}"),
        description: family.help.to_owned(),
        unit: unit.to_owned(),
        data: Some(data),
    }
}

/// Each bucket for itself, and one for what is above all bounds; ours count
/// everything below their bound.
fn apart(buckets: &[(f64, u64)], count: u64) -> Vec<u64> {
    let mut below = 0;
    let all = buckets.iter().map(|(_, upto)| *upto).chain([count]);
    all.map(|upto| {
        let within = upto.saturating_sub(below);
        below = upto;
        within
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Span = Span { begun: 1, now: 2 };

    #[test]
    fn buckets_are_told_apart_and_add_up() {
        let counts = apart(&[(0.001, 2), (0.01, 3), (0.1, 3)], 6);
        assert_eq!(counts, [2, 1, 0, 3]);
        assert_eq!(apart(&[], 4), [4]);
    }

    #[test]
    fn names_have_no_unit_in_them() {
        let named = |name| {
            let samples = vec![(None, Value::Count(1))];
            let help = "";
            let family = Family {
                name,
                help,
                samples,
            };
            let metric = metric(&family, SPAN);
            (metric.name, metric.unit)
        };
        let is = |name: &str, unit: &str| (format!("shellglass.{name}"), unit.to_owned());
        assert_eq!(named("sessions_total"), is("sessions", ""));
        assert_eq!(named("output_bytes_total"), is("output_bytes", "By"));
        assert_eq!(named("execution_wait_seconds"), is("execution_wait", "s"));
    }
}
