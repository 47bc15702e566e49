//! The text format of Prometheus.

use glass_session::{Family, Value};
use std::fmt::Write as _;

/// A page of numbers.
#[derive(Default)]
pub(super) struct Page(String);

impl Page {
    /// Which program this is.
    pub(super) fn version(&mut self, version: &str) {
        self.head("build_info", "The program.", "gauge");
        self.line(&format!("shellglass_build_info{{version=\"{version}\"}} 1"));
    }

    /// What goes up and down.
    pub(super) fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, help, "gauge");
        self.line(&format!("shellglass_{name} {value}"));
    }

    /// What was counted or measured.
    pub(super) fn family(&mut self, family: &Family) {
        let is_spread = |(_, value): &(_, Value)| matches!(value, Value::Spread { .. });
        let kind = match family.samples.iter().any(is_spread) {
            true => "histogram",
            false => "counter",
        };
        self.head(family.name, family.help, kind);
        for (label, value) in &family.samples {
            let labels = label.map_or_else(String::new, |(name, value)| {
                format!("{{{name}=\"{value}\"}}")
            });
            let name = family.name;
            match value {
                Value::Count(count) => self.line(&format!("shellglass_{name}{labels} {count}")),
                Value::Spread {
                    buckets,
                    count,
                    sum,
                } => self.spread(name, buckets, *count, *sum),
            }
        }
    }

    fn spread(&mut self, name: &str, buckets: &[(f64, u64)], count: u64, sum: f64) {
        for (bound, below) in buckets {
            self.line(&format!(
                "shellglass_{name}_bucket{{le=\"{bound}\"}} {below}"
            ));
        }
        self.line(&format!("shellglass_{name}_bucket{{le=\"+Inf\"}} {count}"));
        self.line(&format!("shellglass_{name}_sum {sum}"));
        self.line(&format!("shellglass_{name}_count {count}"));
    }

    fn head(&mut self, name: &str, help: &str, kind: &str) {
        self.line(&format!("# HELP shellglass_{name} {help}"));
        self.line(&format!("# TYPE shellglass_{name} {kind}"));
    }

    fn line(&mut self, line: &str) {
        writeln!(self.0, "{line}").expect("a String takes everything");
    }

    pub(super) fn text(self) -> String {
        self.0
    }
}

/// What the kernel says of this process; what it does not say is left out.
pub(super) fn process(page: &mut Page) {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split(' ')
        .nth(1)
        .and_then(|it| it.parse::<u64>().ok());
    if let Some(pages) = pages {
        let bytes = pages.saturating_mul(rustix::param::page_size() as u64);
        page.gauge(
            "resident_memory_bytes",
            "Memory of the daemon, without its shells.",
            bytes,
        );
    }
    if let Ok(entries) = std::fs::read_dir("/proc/self/fd") {
        let open = entries.count() as u64;
        page.gauge("open_descriptors", "Open descriptors of the daemon.", open);
    }
}

#[cfg(test)]
mod tests {
    use super::Page;
    use glass_session::{Family, Value};

    #[test]
    fn a_page_is_what_prometheus_reads() {
        let mut page = Page::default();
        page.gauge("sessions", "Some.", 2);
        page.family(&Family {
            name: "ended_total",
            help: "Over.",
            samples: vec![(Some(("outcome", "success")), Value::Count(3))],
        });
        page.family(&Family {
            name: "took_seconds",
            help: "Time.",
            samples: vec![(
                None,
                Value::Spread {
                    buckets: vec![(0.001, 1), (0.5, 2)],
                    count: 3,
                    sum: 1.25,
                },
            )],
        });
        let expected = "\
# HELP shellglass_sessions Some.
# TYPE shellglass_sessions gauge
shellglass_sessions 2
# HELP shellglass_ended_total Over.
# TYPE shellglass_ended_total counter
shellglass_ended_total{outcome=\"success\"} 3
# HELP shellglass_took_seconds Time.
# TYPE shellglass_took_seconds histogram
shellglass_took_seconds_bucket{le=\"0.001\"} 1
shellglass_took_seconds_bucket{le=\"0.5\"} 2
shellglass_took_seconds_bucket{le=\"+Inf\"} 3
shellglass_took_seconds_sum 1.25
shellglass_took_seconds_count 3
";
        assert_eq!(page.text(), expected);
    }
}
