//! The page's files, which are part of the program.

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};

/// One file of the page.
struct Asset {
    /// Its path, from the root on.
    path: &'static str,
    content_type: &'static str,
    plain: Body,
    /// The same, compressed; none where the page was not built.
    gzip: Option<Body>,
}

/// A file's content in one encoding.
struct Body {
    /// Changes with the content, in quotes as the header has it.
    tag: &'static str,
    bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Serves a file of the page. Only what was built in can be had, whatever the
/// path says.
pub(super) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = match uri.path() {
        "/" => "/index.html",
        path => path,
    };
    let Some(asset) = ASSETS.iter().find(|asset| asset.path == path) else {
        return (StatusCode::NOT_FOUND, "there is nothing here\n").into_response();
    };
    if method != Method::GET && method != Method::HEAD {
        let allow = [(header::ALLOW, "GET, HEAD")];
        return (StatusCode::METHOD_NOT_ALLOWED, allow, "use GET\n").into_response();
    }
    let gzip = asset.gzip.as_ref().filter(|_| takes_gzip(&headers));
    let body = gzip.unwrap_or(&asset.plain);
    let fixed = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::ETAG, body.tag),
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "Accept-Encoding"),
    ];
    let known = headers.get(header::IF_NONE_MATCH);
    if known.map(HeaderValue::as_bytes) == Some(body.tag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, fixed).into_response();
    }
    match gzip {
        Some(_) => (fixed, [(header::CONTENT_ENCODING, "gzip")], body.bytes).into_response(),
        None => (fixed, body.bytes).into_response(),
    }
}

/// Whether a client says that it can take what is compressed.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let said = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut lists = said.filter_map(|value| value.to_str().ok());
    lists.any(|list| list.split(',').any(is_gzip))
}

/// `gzip`, unless its weight is zero (RFC 9110, 12.5.3).
fn is_gzip(entry: &str) -> bool {
    let mut parts = entry.split(';').map(str::trim);
    let is_named = parts
        .next()
        .is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
    let mut weights = parts.filter_map(|part| part.strip_prefix("q="));
    is_named && weights.all(|weight| !weight.trim_end_matches(['0', '.']).is_empty())
}

#[cfg(test)]
mod tests {
    use super::{ASSETS, is_gzip};

    #[test]
    fn only_those_who_say_so_take_gzip() {
        for said in ["gzip", " GZIP ", "gzip;q=0.5", "gzip; q=1", "gzip;q=0.001"] {
            assert!(is_gzip(said), "{said}");
        }
        for said in ["", "br", "gzipped", "gzip;q=0", "gzip; q=0.000", "*"] {
            assert!(!is_gzip(said), "{said}");
        }
    }

    #[test]
    fn there_is_always_a_page() {
        let index = ASSETS.iter().find(|asset| asset.path == "/index.html");
        let index = index.expect("built in");
        assert!(index.content_type.starts_with("text/html"));
        assert!(!index.plain.bytes.is_empty());
    }
}
