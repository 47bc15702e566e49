//! The page: its port, its certificate, its tokens, and whether it answers whom
//! it should and nobody else.

use super::check::{Check, Verdict};
use super::patient::Patient;
use super::place::Daemon;
use crate::client::{self, Context};
use crate::commands::serve::{USUAL_ADDRESS, check_exposure, exposure, read_token, token_file};
use crate::config::Listen;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Time for an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Most of an answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// What the page says of itself where the program was built without it.
const WITHOUT_PAGE: &str = "built without its page";

/// Looks at what the configuration says of the page.
pub(super) async fn settings(context: &Context, daemon: Daemon, checks: &mut Vec<Check>) {
    let settings = &context.loaded.settings.daemon;
    checks.push(
        match check_exposure(settings).and_then(|()| exposure(settings)) {
            Ok(_) if settings.tls_certificate.is_empty() => {
                Check::good("page", "certificate", "none is needed")
            }
            Ok(_) => Check::good("page", "certificate", "can be used, with its key"),
            Err(failure) => Check::failed("page", "certificate", failure),
        },
    );
    checks.push(port(settings.listen, daemon).await);
    let data = client::data_dir(&context.dirs, &context.loaded.settings);
    for role in ["person", "agent"] {
        let name = format!("token of {role}s");
        let path = token_file(&data, role);
        checks.push(match read_token(&path) {
            Ok(Some(())) => Check::good("page", name, "private"),
            Ok(None) => Check::good("page", name, "made when a daemon first starts"),
            Err(error) => {
                let fix = format!("remove {}, and a new token is made", path.display());
                Check::broken("page", name, error.to_string(), &fix)
            }
        });
    }
}

async fn port(listen: Listen, daemon: Daemon) -> Check {
    let address = match listen {
        Listen::Nowhere => return Check::good("page", "port", "none: `daemon.listen` is \"none\""),
        Listen::Auto => USUAL_ADDRESS,
        Listen::On(address) => address,
    };
    let is_ours = ask(address, "/healthz", None).await == Some((200, "ok\n".to_owned()));
    let is_free = daemon == Daemon::Absent && matches!(listen, Listen::On(_));
    if is_ours && !is_free {
        let detail = match daemon {
            Daemon::Runs => format!("a daemon answers at {address}"),
            Daemon::Absent => format!("another daemon answers at {address}; a free one is used"),
        };
        return Check::good("page", "port", detail);
    }
    if daemon == Daemon::Runs && matches!(listen, Listen::On(_)) {
        let detail = format!("the daemon listens at {address}, or with TLS");
        return Check::good("page", "port", detail);
    }
    match (TcpListener::bind(address), listen) {
        (Ok(_), _) => Check::good("page", "port", format!("{address} is free")),
        (Err(error), Listen::Auto) => Check::warning(
            "page",
            "port",
            format!("{address}: {error}"),
            "a free port is used instead, and named when the daemon starts; or set `daemon.listen`",
        ),
        (Err(error), _) => Check::broken(
            "page",
            "port",
            format!("{address}: {error}"),
            "choose another address with `daemon.listen`",
        ),
    }
}

/// Asks the page of the daemon that is examined.
pub(super) async fn answers(patient: &Patient, checks: &mut Vec<Check>) {
    let Some((address, token)) = patient.page().await else {
        let fix = "`shellglass serve` in another terminal shows what it has to say";
        return checks.push(Check::broken("page", "answers", "it is not served", fix));
    };
    let Ok(address) = address.parse::<SocketAddr>() else {
        let fix = "please report this, with the whole of what doctor says";
        return checks.push(Check::broken("page", "answers", "at no address", fix));
    };
    checks.push(match ask(address, "/", None).await {
        Some((200, text)) if text.contains(WITHOUT_PAGE) => Check::bad(
            "page",
            "answers",
            Verdict::Missing,
            "this program was built without its page",
            "`make build` builds it with one",
        ),
        Some((200, _)) => Check::good("page", "answers", "with the page"),
        other => unexpected("answers", other),
    });
    checks.push(match ask(address, "/metrics", None).await {
        Some((401, _)) => Check::good("page", "refuses strangers", "works"),
        other => unexpected("refuses strangers", other),
    });
    checks.push(match ask(address, "/metrics", Some(&token)).await {
        Some((200, _)) => Check::good("page", "knows its token", "works"),
        other => unexpected("knows its token", other),
    });
}

fn unexpected(name: &str, answer: Option<(u16, String)>) -> Check {
    let detail = match answer {
        Some((status, _)) => format!("it answered with {status}"),
        None => "it did not answer".to_owned(),
    };
    let fix = "a proxy or a packet filter on this machine may keep loopback connections from us";
    Check::broken("page", name, detail, fix)
}

/// Status and text of a page; none where nobody answers as HTTP does.
async fn ask(address: SocketAddr, path: &str, token: Option<&str>) -> Option<(u16, String)> {
    let asked = async {
        let mut stream = TcpStream::connect(address).await.ok()?;
        let pass = token.map_or_else(String::new, |it| format!("Authorization: Bearer {it}\r\n"));
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{pass}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = Vec::new();
        let mut stream = stream.take(ANSWER_BYTES_MAX);
        stream.read_to_end(&mut answer).await.ok()?;
        parse(&String::from_utf8_lossy(&answer))
    };
    tokio::time::timeout(ANSWER_WITHIN, asked).await.ok()?
}

fn parse(answer: &str) -> Option<(u16, String)> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    Some((status, body.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn what_does_not_speak_http_is_not_us() {
        let answer = "HTTP/1.1 200 OK\r\nA: b\r\n\r\nok\n";
        assert_eq!(parse(answer), Some((200, "ok\n".to_owned())));
        for other in [
            "",
            "SSH-2.0-x\r\n\r\n",
            "HTTP/1.1 2\r\n\r\n",
            "HTTP/1.1 é\r\n\r\n",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
