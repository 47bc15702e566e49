//! Messages as lines. The SDK's own transport leaves a line that it cannot read
//! without an answer, or answers without the request's id; whoever asked would
//! wait for ever. Here every line that is not a message gets an error, with its
//! id where it has one, and the next line is read.

use crate::commands::lines::{LineReader, Read};
use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, watch};

/// Longest line that is read, in bytes. A command has at most 4 MiB, and JSON
/// can write each of its bytes in six.
const LINE_BYTES_MAX: usize = 32 << 20;

/// Messages over a pair of byte streams.
pub(super) struct Lines<R, W> {
    input: LineReader<R>,
    output: Arc<Mutex<Option<W>>>,
    /// Says when the client has closed its end.
    closed: watch::Sender<bool>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Lines<R, W> {
    pub(super) fn new(input: R, output: W, closed: watch::Sender<bool>) -> Lines<R, W> {
        Lines {
            input: LineReader::new(input, LINE_BYTES_MAX),
            output: Arc::new(Mutex::new(Some(output))),
            closed,
        }
    }
}

/// What a line says.
enum Said {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// Nothing that wants an answer.
    Nothing,
    Mistake(ErrorData, Option<RequestId>),
}

fn parse(line: &[u8]) -> Said {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Said::Nothing;
    }
    match serde_json::from_slice(line) {
        Ok(message) => Said::Message(Box::new(message)),
        Err(error) => mistake(line, &error),
    }
}

/// Why a line is no message. It is read again as mere JSON, to find out whom
/// to answer.
fn mistake(line: &[u8], error: &serde_json::Error) -> Said {
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        let error = ErrorData::parse_error(format!("this line is not JSON: {error}"), None);
        return Said::Mistake(error, None);
    };
    let id = value.get("id").cloned();
    let id = id.and_then(|id| serde_json::from_value(id).ok());
    let method = value.get("method").and_then(Value::as_str);
    match (method, id) {
        // A notification wants no answer, known or not.
        (Some(_), None) if value.get("id").is_none() => Said::Nothing,
        (Some(method), Some(id)) => {
            let message = format!("the parameters of {method} are not as they must be");
            Said::Mistake(ErrorData::invalid_params(message, None), Some(id))
        }
        (_, id) => {
            let message = "this is not a JSON-RPC 2.0 message: it needs jsonrpc, id and method";
            Said::Mistake(ErrorData::invalid_request(message, None), id)
        }
    }
}

/// Writes one message as one line.
async fn write<W: AsyncWrite + Unpin>(
    output: &Mutex<Option<W>>,
    message: &TxJsonRpcMessage<RoleServer>,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    let output = output
        .as_mut()
        .ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
    output.write_all(&line).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move { write(&output, &message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let said = match self.input.read().await {
                Read::End => {
                    self.closed.send_replace(true);
                    return None;
                }
                Read::TooLong => {
                    let message = format!("a message has at most {LINE_BYTES_MAX} bytes");
                    Said::Mistake(ErrorData::invalid_request(message, None), None)
                }
                Read::Line => parse(self.input.line()),
            };
            self.input.clear();
            match said {
                Said::Message(message) => return Some(*message),
                Said::Nothing => {}
                Said::Mistake(error, id) => {
                    let answer = TxJsonRpcMessage::<RoleServer>::error(error, id);
                    // On a task of its own: this read may be given up, and half
                    // a line must not be written.
                    let output = Arc::clone(&self.output);
                    tokio::spawn(async move { write(&output, &answer).await });
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.output.lock().await.take());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE_BYTES_MAX, Lines, Said, parse};
    use rmcp::transport::Transport as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    fn check(line: &str, code: Option<i32>, has_id: bool) {
        match (parse(line.as_bytes()), code) {
            (Said::Mistake(error, id), Some(code)) => {
                assert_eq!((error.code.0, id.is_some()), (code, has_id), "{line}");
            }
            (Said::Message(_) | Said::Nothing, None) => {}
            _ => panic!("{line}"),
        }
    }

    #[test]
    fn every_line_that_is_no_message_has_its_error() {
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, None, false);
        check("", None, false);
        check("{", Some(-32700), false);
        check("\u{0}\u{7f}", Some(-32700), false);
        check("[]", Some(-32600), false);
        check("5", Some(-32600), false);
        check(r#"{"id":7}"#, Some(-32600), true);
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":5}"#;
        check(call, Some(-32602), true);
        let told = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#;
        check(told, None, false);
    }

    proptest::proptest! {
        #[test]
        fn no_line_is_without_meaning(bytes: Vec<u8>) {
            // Whatever it is, it is a message, nothing, or an error with a code.
            if let Said::Mistake(error, _) = parse(&bytes) {
                proptest::prop_assert!((-32700..=-32600).contains(&error.code.0));
            }
        }

        #[test]
        fn a_message_that_is_cut_or_changed_is_no_trap(at in 0usize..120, byte: u8) {
            let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
            let at = at.min(call.len() - 1);
            let mut changed = call.to_vec();
            changed[at] = byte;
            for line in [&changed[..], &call[..at]] {
                if let Said::Mistake(error, _) = parse(line) {
                    proptest::prop_assert!((-32700..=-32600).contains(&error.code.0));
                }
            }
        }
    }

    #[tokio::test]
    async fn a_line_without_end_is_refused_and_the_next_one_read() {
        let (mut theirs, ours) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(ours);
        let (closed, is_closed) = tokio::sync::watch::channel(false);
        let mut lines = Lines::new(input, output, closed);
        let writing = tokio::spawn(async move {
            let chunk = vec![b'x'; 1 << 20];
            for _ in 0..=LINE_BYTES_MAX >> 20 {
                theirs.write_all(&chunk).await.expect("read");
            }
            let ping = b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
            theirs.write_all(ping).await.expect("read");
            let mut said = [0; 64];
            let count = theirs.read(&mut said).await.expect("an answer");
            String::from_utf8_lossy(&said[..count]).into_owned()
        });
        assert!(lines.receive().await.is_some());
        let said = writing.await.expect("written");
        assert!(said.contains("-32600"), "{said}");
        assert!(lines.receive().await.is_none());
        assert!(*is_closed.borrow());
    }
}
