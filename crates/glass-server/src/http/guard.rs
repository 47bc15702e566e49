//! Who may talk to us at all: requests for one of our own addresses that do not
//! come from another site's page. This is what keeps a page elsewhere (also one
//! whose name was made to point here) from using a browser against us.

use super::Glass;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::{Service, ServiceExt as _};

/// How we are called.
pub(crate) struct Addresses {
    /// Names with their ports, as a browser sends them.
    hosts: Vec<String>,
    /// Whether every address of this machine is ours.
    is_any: bool,
    scheme: Scheme,
    policy: HeaderValue,
    port: u16,
}

/// What an address begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

impl Scheme {
    fn prefix(self) -> &'static str {
        match self {
            Scheme::Http => "http://",
            Scheme::Https => "https://",
        }
    }

    fn sockets(self) -> &'static str {
        match self {
            Scheme::Http => "ws://",
            Scheme::Https => "wss://",
        }
    }

    /// The port that browsers do not say.
    fn port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

impl Addresses {
    /// The names under which an address is reached, and those that it has besides.
    pub(crate) fn of(address: SocketAddr, scheme: Scheme, names: &[String]) -> Addresses {
        let port = address.port();
        let with_port = |name: &str| match name.contains(':') {
            true => name.to_owned(),
            false if port == scheme.port() => name.to_owned(),
            false => format!("{name}:{port}"),
        };
        let mut hosts: Vec<String> = names.iter().map(|name| with_port(name)).collect();
        let is_any = address.ip().is_unspecified();
        let own = match address.ip() {
            IpAddr::V6(ip) => format!("[{ip}]"),
            IpAddr::V4(ip) => ip.to_string(),
        };
        let own = if is_any { "127.0.0.1" } else { &own };
        if own.starts_with('[') {
            hosts.push(format!("{own}:{port}"));
        } else {
            hosts.push(with_port(own));
        }
        if is_any || address.ip().is_loopback() {
            hosts.push(with_port("localhost"));
        }
        // What a header cannot carry is nobody's name.
        hosts.retain(|host| {
            host.bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b';')
        });
        let socket = |host: &String| format!("{}{host}", scheme.sockets());
        let sockets: Vec<String> = hosts.iter().map(socket).collect();
        // The terminal makes its styles as it goes, so styles may be inline;
        // scripts may not.
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
             img-src 'self' data:; font-src 'self'; connect-src 'self' {}; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
            sockets.join(" ")
        );
        Addresses {
            hosts,
            is_any,
            scheme,
            policy: HeaderValue::from_str(&policy).expect("addresses are plain text"),
            port,
        }
    }

    /// The page's address, as a person opens it.
    pub(crate) fn page(&self) -> String {
        let host = self.hosts.first().map_or("", String::as_str);
        format!("{}{host}", self.scheme.prefix())
    }

    /// The port, by which pages of several daemons are told apart.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Whether what is sent to us cannot be read on the way.
    pub(super) fn is_secure(&self) -> bool {
        self.scheme == Scheme::Https
    }

    /// A name that was made to point here is not ours; a number cannot be made
    /// to, so where every address of this machine is served, all of them are.
    fn has_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host)) || self.has_number(host)
    }

    fn has_number(&self, host: &str) -> bool {
        let with_port = || host.parse::<SocketAddr>().ok();
        let is_ours = with_port().is_some_and(|address| address.port() == self.port);
        let is_bare = self.port == self.scheme.port() && host.parse::<IpAddr>().is_ok();
        self.is_any && (is_ours || is_bare)
    }

    /// Whether a page of this origin is ours. Another machine's page has a number
    /// too, so there it has to be the one that was called.
    fn has_origin(&self, origin: &str, called: Option<&str>) -> bool {
        origin
            .strip_prefix(self.scheme.prefix())
            .is_some_and(|host| {
                self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
                    || (self.has_number(host) && called == Some(host))
            })
    }

    /// Why a request is refused, if it is. `authority` is what a request of
    /// HTTP/2 has in place of the header.
    fn refusal(&self, authority: Option<&str>, headers: &HeaderMap) -> Option<&'static str> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let named = hosts.next().map(HeaderValue::to_str);
        let named_well = match (authority, named) {
            (Some(authority), None) => self.has_host(authority),
            (Some(authority), Some(Ok(host))) => self.has_host(authority) && self.has_host(host),
            (None, Some(Ok(host))) => self.has_host(host),
            (None, None) | (_, Some(Err(_))) => false,
        };
        if !named_well || hosts.next().is_some() {
            return Some("the Host is not one of this daemon's addresses");
        }
        let called = headers.get(header::HOST).and_then(|it| it.to_str().ok());
        self.foreign_origin(headers, authority.or(called))
    }

    fn foreign_origin(&self, headers: &HeaderMap, called: Option<&str>) -> Option<&'static str> {
        let is_ours =
            |origin: &HeaderValue| origin.to_str().is_ok_and(|it| self.has_origin(it, called));
        if !headers.get_all(header::ORIGIN).iter().all(is_ours) {
            return Some("the Origin is not one of this daemon's addresses");
        }
        None
    }
}

/// Lets a request through, or not, and says to browsers what the page may do.
pub(super) async fn check(
    State(glass): State<Arc<Glass>>,
    request: Request,
    next: Next,
) -> Response {
    let authority = request.uri().authority().map(|it| it.as_str().to_owned());
    let refusal = glass
        .addresses
        .refusal(authority.as_deref(), request.headers());
    let mut response = match refusal {
        Some(why) => (StatusCode::FORBIDDEN, format!("{why}\n")).into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        glass.addresses.policy.clone(),
    );
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Sends a request to gRPC or to the page, by what it says it is.
#[derive(Clone)]
pub(super) struct Switch {
    pub(super) page: Router,
    pub(super) grpc: Router,
    pub(super) glass: Arc<Glass>,
}

impl Service<Request<Body>> for Switch {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let is_grpc = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
        if !is_grpc {
            return Box::pin(self.page.clone().oneshot(request));
        }
        // Clients call the authority what they like, and each call has a token;
        // but a browser has no business here.
        let headers = request.headers();
        if let Some(why) = self.glass.addresses.foreign_origin(headers, None) {
            let refused = (StatusCode::FORBIDDEN, format!("{why}\n")).into_response();
            return Box::pin(std::future::ready(Ok(refused)));
        }
        Box::pin(self.grpc.clone().oneshot(request))
    }
}

#[cfg(test)]
mod tests {
    use super::{Addresses, Scheme};
    use axum::http::{HeaderMap, header};

    fn passes(authority: Option<&str>, hosts: &[&str], origin: Option<&str>) -> bool {
        let address = "127.0.0.1:7583".parse().expect("an address");
        let addresses = Addresses::of(address, Scheme::Http, &[]);
        pass_at(&addresses, authority, hosts, origin)
    }

    fn pass_at(
        addresses: &Addresses,
        authority: Option<&str>,
        hosts: &[&str],
        origin: Option<&str>,
    ) -> bool {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(header::HOST, host.parse().expect("a host"));
        }
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().expect("an origin"));
        }
        addresses.refusal(authority, &headers).is_none()
    }

    #[test]
    fn only_our_own_names_are_answered_to() {
        assert!(passes(None, &["127.0.0.1:7583"], None));
        assert!(passes(None, &["LOCALHOST:7583"], None));
        assert!(passes(Some("127.0.0.1:7583"), &[], None));
        for foreign in [
            "evil.example",
            "evil.example:7583",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:7583.evil.example",
            "[::1]:7583",
            "",
        ] {
            assert!(!passes(None, &[foreign], None), "{foreign}");
            assert!(
                !passes(Some(foreign), &["127.0.0.1:7583"], None),
                "{foreign}"
            );
        }
        assert!(!passes(None, &[], None));
        assert!(!passes(None, &["127.0.0.1:7583", "evil.example"], None));
    }

    #[test]
    fn only_our_own_pages_are_answered() {
        assert!(passes(
            None,
            &["localhost:7583"],
            Some("http://127.0.0.1:7583")
        ));
        for foreign in [
            "null",
            "http://evil.example",
            "https://127.0.0.1:7583",
            "http://127.0.0.1:3000",
            "http://127.0.0.1",
            "http://127.0.0.1:7583/",
        ] {
            assert!(
                !passes(None, &["localhost:7583"], Some(foreign)),
                "{foreign}"
            );
        }
    }

    #[test]
    fn beyond_loopback_numbers_and_given_names_are_ours_and_other_names_are_not() {
        let any = "0.0.0.0:7583".parse().expect("an address");
        let names = ["build.example".to_owned()];
        let addresses = Addresses::of(any, Scheme::Https, &names);
        assert_eq!(addresses.page(), "https://build.example:7583");
        let passes = |host: &str, origin: Option<&str>| pass_at(&addresses, None, &[host], origin);
        for host in [
            "build.example:7583",
            "192.0.2.7:7583",
            "localhost:7583",
            "[2001:db8::1]:7583",
        ] {
            assert!(passes(host, None), "{host}");
            assert!(passes(host, Some(&format!("https://{host}"))), "{host}");
            assert!(!passes(host, Some(&format!("http://{host}"))), "{host}");
            assert!(!passes(host, Some("https://192.0.2.66:7583")), "{host}");
        }
        for host in [
            "evil.example:7583",
            "192.0.2.7:80",
            "192.0.2.7",
            "build.example",
        ] {
            assert!(!passes(host, None), "{host}");
        }
        let usual = "192.0.2.7:443".parse().expect("an address");
        let addresses = Addresses::of(usual, Scheme::Https, &[]);
        assert_eq!(addresses.page(), "https://192.0.2.7");
        assert!(pass_at(
            &addresses,
            None,
            &["192.0.2.7"],
            Some("https://192.0.2.7")
        ));
        assert!(!pass_at(&addresses, None, &["192.0.2.8"], None));
    }
}
