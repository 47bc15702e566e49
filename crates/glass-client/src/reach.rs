//! The way to a daemon.

use crate::error::DialError;
use crate::whole::Whole;
use glass_proto::shellglass::v1::shell_exec_client::ShellExecClient;
use hyper_util::rt::TokioIo;
use std::path::Path;
use tokio::net::UnixStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

/// Largest answer, in bytes: a result carries each stream once and both
/// interleaved, each up to the threshold that the caller asked for.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// Bytes of output that may be under way to us.
const WINDOW_BYTES: u32 = 4 << 20;

/// Bytes of one HTTP/2 frame.
const FRAME_BYTES_MAX: u32 = 1 << 20;

/// The contract's client, which presents what we have.
pub type Calls = ShellExecClient<InterceptedService<Channel, Pass>>;

/// What a caller presents: a token, or nothing, where the kernel knows who calls.
#[derive(Clone, Default)]
pub struct Pass(Option<MetadataValue<Ascii>>);

impl std::fmt::Debug for Pass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "Pass(a token)",
            None => "Pass(nothing)",
        })
    }
}

impl Interceptor for Pass {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request
                .metadata_mut()
                .insert("authorization", token.clone());
        }
        Ok(request)
    }
}

/// Reaches the daemon at this socket.
pub async fn dial(socket: &Path) -> Result<Calls, DialError> {
    Ok(calls(channel(socket).await?, Pass(None)))
}

/// The way to the daemon at this socket, for clients of other services there.
pub async fn channel(socket: &Path) -> Result<Channel, DialError> {
    let place = format!("unix:{}", socket.display());
    let endpoint = Endpoint::from_shared(place.clone())
        .map_err(|source| DialError::Address { place, source })?;
    let at = socket.to_owned();
    let connector = tower::service_fn(move |_| {
        let connecting = UnixStream::connect(at.clone());
        async { Ok::<_, std::io::Error>(TokioIo::new(Whole::new(connecting.await?))) }
    });
    let channel = roomy(endpoint).connect_with_connector(connector).await;
    channel.map_err(|source| DialError::at_socket(socket.to_owned(), source))
}

/// Reaches the daemon at this address (`http://127.0.0.1:7583`) with a token.
pub async fn dial_tcp(address: &str, token: &str) -> Result<Calls, DialError> {
    let mut value: MetadataValue<Ascii> = format!("Bearer {token}")
        .parse()
        .map_err(|_| DialError::Token)?;
    value.set_sensitive(true);
    let place = address.to_owned();
    let endpoint = match Endpoint::from_shared(place.clone()) {
        Ok(endpoint) => endpoint,
        Err(source) => return Err(DialError::Address { place, source }),
    };
    let channel = roomy(endpoint).connect().await;
    let channel = channel.map_err(|source| DialError::Unreachable { place, source })?;
    Ok(calls(channel, Pass(Some(value))))
}

/// Room for floods: with the usual windows the daemon waits for us.
fn roomy(endpoint: Endpoint) -> Endpoint {
    endpoint
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .max_frame_size(FRAME_BYTES_MAX)
}

fn calls(channel: Channel, pass: Pass) -> Calls {
    ShellExecClient::with_interceptor(channel, pass).max_decoding_message_size(ANSWER_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::{dial, dial_tcp};
    use std::path::Path;

    #[tokio::test]
    async fn a_place_without_a_daemon_is_told_apart_from_a_broken_one() {
        let error = dial(Path::new("/nonexistent/daemon.sock")).await;
        assert!(error.expect_err("nobody is there").is_absent());
        let error = dial_tcp("not an address", "t").await;
        assert!(!error.expect_err("not an address").is_absent());
        let error = dial_tcp("http://127.0.0.1:1", "a\nb").await;
        let error = error.expect_err("not a token").to_string();
        assert!(!error.contains("a\nb"), "{error}");
    }
}
