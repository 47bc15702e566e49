//! The page's files, which are part of the program.

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};

/// One file of the page.
struct Asset {
    /// Its path, from the root on.
    path: &'static str,
    content_type: &'static str,
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
    let fixed = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::ETAG, asset.tag),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    let known = headers.get(header::IF_NONE_MATCH);
    if known.map(HeaderValue::as_bytes) == Some(asset.tag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, fixed).into_response();
    }
    (fixed, asset.bytes).into_response()
}

#[cfg(test)]
mod tests {
    use super::ASSETS;

    #[test]
    fn there_is_always_a_page() {
        let index = ASSETS.iter().find(|asset| asset.path == "/index.html");
        let index = index.expect("built in");
        assert!(index.content_type.starts_with("text/html"));
        assert!(!index.bytes.is_empty());
    }
}
