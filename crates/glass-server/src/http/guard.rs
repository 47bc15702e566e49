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
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::{Service, ServiceExt as _};

/// How we are called.
pub(super) struct Addresses {
    hosts: Vec<String>,
    policy: HeaderValue,
    port: u16,
}

impl Addresses {
    /// The names under which a loopback address is reached.
    pub(super) fn of(address: SocketAddr) -> Addresses {
        let port = address.port();
        let hosts = vec![address.to_string(), format!("localhost:{port}")];
        let sockets: Vec<String> = hosts.iter().map(|host| format!("ws://{host}")).collect();
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
            policy: HeaderValue::from_str(&policy).expect("addresses are plain text"),
            port,
        }
    }

    /// The port, by which pages of several daemons are told apart.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    fn has_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    fn has_origin(&self, origin: &str) -> bool {
        origin
            .strip_prefix("http://")
            .is_some_and(|host| self.has_host(host))
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
        self.foreign_origin(headers)
    }

    fn foreign_origin(&self, headers: &HeaderMap) -> Option<&'static str> {
        let is_ours = |origin: &HeaderValue| origin.to_str().is_ok_and(|it| self.has_origin(it));
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
        if let Some(why) = self.glass.addresses.foreign_origin(headers) {
            let refused = (StatusCode::FORBIDDEN, format!("{why}\n")).into_response();
            return Box::pin(std::future::ready(Ok(refused)));
        }
        Box::pin(self.grpc.clone().oneshot(request))
    }
}

#[cfg(test)]
mod tests {
    use super::Addresses;
    use axum::http::{HeaderMap, header};

    fn passes(authority: Option<&str>, hosts: &[&str], origin: Option<&str>) -> bool {
        let addresses = Addresses::of("127.0.0.1:7583".parse().expect("an address"));
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
}
