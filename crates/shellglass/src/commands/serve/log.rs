//! The daemon's log, on standard error: for people, or as JSON.
//!
//! What is logged is chosen so that it can be shown: ids, numbers and errors, and
//! no text of a command. Libraries that would log what they carry are kept quiet.

use crate::config::{DaemonSettings, LogFormat};
use crate::error::{Failure, Kind};
use crate::ink::Ink;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

/// Libraries through which requests pass. At *debug* or *trace* some of them log
/// headers and messages, tokens and commands among them; so no filter of ours
/// lets them say more than this.
const CARRIERS: [&str; 9] = [
    "axum",
    "h2",
    "hyper",
    "hyper_util",
    "rmcp",
    "rustls",
    "tonic",
    "tower",
    "tungstenite",
];

/// Logs from now on what the filter lets through.
pub(super) fn start(settings: &DaemonSettings) -> Result<(), Failure> {
    let filter = filter(&settings.log).map_err(|error| {
        Failure::new(
            Kind::Failed,
            format!("`daemon.log` is not a log filter: {error}"),
        )
        .hint("use a level (error, warn, info, debug, trace) or \"info,glass_session=debug\"")
    })?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // It would say so on the same standard error, and a daemon whose disk is
        // full would panic with the first thing that it wants to log.
        .log_internal_errors(false)
        .with_ansi(Ink::of(&std::io::stderr()).is_coloured());
    let started = match settings.log_format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().with_ansi(false).try_init(),
    };
    started.map_err(|error| Failure::new(Kind::Broken, format!("no log can be kept: {error}")))
}

/// The filter, in which carriers say no more than warnings, whoever asks.
fn filter(text: &str) -> Result<EnvFilter, ParseError> {
    let mut words: Vec<String> = Vec::new();
    for word in text
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
    {
        let target = word.split(['=', '[', ':']).next().unwrap_or_default();
        if !CARRIERS.contains(&target) {
            words.push(word.to_owned());
        }
    }
    let is_off = words.iter().any(|word| word.eq_ignore_ascii_case("off"));
    if !is_off {
        words.extend(CARRIERS.iter().map(|name| format!("{name}=warn")));
    }
    EnvFilter::try_new(words.join(","))
}

#[cfg(test)]
mod tests {
    use super::filter;

    #[test]
    fn no_filter_lets_carriers_tell_what_they_carry() {
        for text in [
            "trace",
            "trace,rmcp=trace",
            "debug,h2::codec=trace, hyper[x]=trace",
        ] {
            let shown = filter(text).expect("a filter").to_string();
            for part in shown.split(',') {
                let is_carrier = ["rmcp", "h2", "hyper"]
                    .iter()
                    .any(|name| part.starts_with(name));
                assert!(!is_carrier || part.ends_with("=warn"), "{shown}");
            }
        }
        assert!(filter("info,glass_session=debug").is_ok());
        assert!(filter("glass_session=loud").is_err());
    }
}
