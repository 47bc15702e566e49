//! Who may reach the page: this machine, others over TLS, or, for whoever says it
//! twice, others without.

use super::plan::absolute;
use crate::cli::Serve;
use crate::config::{DaemonSettings, Listen};
use crate::error::{Failure, Kind, with_causes};
use glass_server::{Exposure, Tls};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Puts the flags on top of the settings.
pub(super) fn put_flags(given: &Serve, settings: &mut DaemonSettings) -> Result<(), Failure> {
    let text = |path: &Path| -> Result<String, Failure> {
        let path: PathBuf = absolute(path)?;
        path.into_os_string().into_string().map_err(|path| {
            let message = format!("{} is not a path that can be used", path.display());
            Failure::new(Kind::Usage, message)
        })
    };
    if let (Some(certificate), Some(key)) = (&given.tls_certificate, &given.tls_key) {
        settings.tls_certificate = text(certificate)?;
        settings.tls_key = text(key)?;
    }
    if let Some(address) = given.listen_without_tls {
        settings.listen_without_tls = address.to_string();
    }
    Ok(())
}

/// The same flags for the process in the background.
pub(super) fn arguments(given: &Serve) -> Result<Vec<OsString>, Failure> {
    let mut arguments: Vec<OsString> = Vec::new();
    let files = [
        ("--tls-certificate", &given.tls_certificate),
        ("--tls-key", &given.tls_key),
    ];
    for (flag, file) in files {
        if let Some(file) = file {
            arguments.extend([flag.into(), absolute(file)?.into()]);
        }
    }
    if let Some(address) = given.listen_without_tls {
        let address = address.to_string();
        arguments.extend(["--listen-without-tls".into(), address.into()]);
    }
    Ok(arguments)
}

/// Refuses what would let others read along, unless that was said twice.
pub(crate) fn check(settings: &DaemonSettings) -> Result<(), Failure> {
    let refused = |message: String, hint: String| Failure::new(Kind::Usage, message).hint(hint);
    if settings.tls_certificate.is_empty() != settings.tls_key.is_empty() {
        let message = "a certificate needs its key, and a key its certificate";
        let hint = "give both `daemon.tls_certificate` and `daemon.tls_key`";
        return Err(refused(message.to_owned(), hint.to_owned()));
    }
    let Listen::On(address) = settings.listen else {
        return Ok(());
    };
    let is_safe = address.ip().is_loopback() || !settings.tls_certificate.is_empty();
    if is_safe || settings.listen_without_tls == address.to_string() {
        return Ok(());
    }
    let message = format!(
        "{address} can be reached from other machines, and without TLS whoever is on the way \
         reads the token and everything else"
    );
    let hint = format!(
        "give --tls-certificate and --tls-key, or listen on 127.0.0.1 and use a tunnel; to serve \
         it so all the same, say the address again: --listen-without-tls {address}"
    );
    Err(refused(message, hint))
}

/// What the server is told.
pub(crate) fn of(settings: &DaemonSettings) -> Result<Exposure, Failure> {
    if !settings.tls_certificate.is_empty() {
        let (certificate, key) = (&settings.tls_certificate, &settings.tls_key);
        let tls = Tls::load(Path::new(certificate), Path::new(key)).map_err(|error| {
            Failure::new(Kind::Failed, with_causes(&error))
                .hint("both are PEM files: a certificate with its chain, and its private key")
        })?;
        return Ok(Exposure::Tls(tls));
    }
    let is_told_twice = match settings.listen {
        Listen::On(address) => settings.listen_without_tls == address.to_string(),
        Listen::Auto | Listen::Nowhere => false,
    };
    Ok(match is_told_twice {
        true => Exposure::Plain,
        false => Exposure::Loopback,
    })
}

#[cfg(test)]
mod tests {
    use super::{check, of};
    use crate::config::DaemonSettings;
    use glass_server::Exposure;

    fn settings(listen: &str, without: &str, certificate: &str) -> DaemonSettings {
        DaemonSettings {
            listen: listen.parse().expect("an address"),
            listen_without_tls: without.to_owned(),
            tls_certificate: certificate.to_owned(),
            tls_key: certificate.to_owned(),
            ..DaemonSettings::default()
        }
    }

    #[test]
    fn other_machines_need_tls_or_somebody_who_says_it_twice() {
        for (listen, without, certificate, passes) in [
            ("auto", "", "", true),
            ("none", "", "", true),
            ("127.0.0.1:80", "", "", true),
            ("[::1]:80", "", "", true),
            ("0.0.0.0:80", "", "", false),
            ("[::]:80", "", "", false),
            ("192.0.2.1:80", "192.0.2.1:81", "", false),
            ("192.0.2.1:80", "0.0.0.0:80", "", false),
            ("192.0.2.1:80", "192.0.2.1:80", "", true),
            ("0.0.0.0:80", "", "/c.pem", true),
        ] {
            let settings = settings(listen, without, certificate);
            assert_eq!(check(&settings).is_ok(), passes, "{listen} {without}");
        }
    }

    #[test]
    fn what_was_not_said_twice_is_for_this_machine() {
        let exposed = of(&settings("127.0.0.1:80", "0.0.0.0:80", ""));
        assert!(matches!(exposed, Ok(Exposure::Loopback)));
        let plain = of(&settings("0.0.0.0:80", "0.0.0.0:80", ""));
        assert!(matches!(plain, Ok(Exposure::Plain)));
        assert!(of(&settings("0.0.0.0:80", "", "/none/there.pem")).is_err());
    }
}
