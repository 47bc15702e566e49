//! What all our WebSockets share: who may open one, how many there may be, how
//! large frames are, and how long a client may stay silent or not read.

use super::Glass;
use super::pass::refusal;
use axum::body::Bytes;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use glass_session::Caller;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout};

/// The largest frame and message that a client may send, in bytes.
const RECEIVED_BYTES_MAX: usize = 64 * 1024;

/// Bytes that wait for the network, at most.
const WRITE_BUFFER_BYTES_MAX: usize = 1 << 20;

/// Time for a client to take a frame; one that does not read is let go. A laptop
/// that was closed for a minute is still there.
const SEND_DEADLINE: Duration = Duration::from_secs(300);

/// A frame that was on its way for so long was waited for: whoever takes it then
/// is there, whatever they have not said meanwhile.
const TAKEN_LATE: Duration = Duration::from_secs(1);

/// How often a client is asked whether it is there.
const PING_EVERY: Duration = Duration::from_secs(20);

/// How long a client may say nothing at all.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// The protocol that we speak; the page names it beside its key.
const PROTOCOL: &str = "shellglass";

/// The code for a message that breaks the rules.
const CLOSE_POLICY: u16 = 1008;

/// A request to become a WebSocket, or why it is none: known before it is known
/// who asks, and told only to those who may ask.
pub(super) type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

/// The client has gone, or is as good as gone.
#[derive(Debug)]
pub(super) struct Gone;

/// A socket whose client is known.
pub(super) struct Socket {
    socket: WebSocket,
    heard: Instant,
    ping: tokio::time::Interval,
    _permit: OwnedSemaphorePermit,
}

/// What a client says.
#[derive(Debug)]
pub(super) enum Said {
    Text(String),
    Bytes(Bytes),
}

/// Opens a socket for a caller who may have one.
pub(super) async fn accept<F, R>(
    glass: Arc<Glass>,
    headers: HeaderMap,
    upgrade: Upgrade,
    run: F,
) -> Response
where
    F: FnOnce(Arc<Glass>, Caller, Socket) -> R + Send + 'static,
    R: Future<Output = Result<(), Gone>> + Send,
{
    let caller = match glass.caller(&headers).await {
        Ok(caller) => caller,
        Err(refused) => return refused,
    };
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let Ok(permit) = glass.sockets.clone().try_acquire_owned() else {
        let (kind, message) = ("RESOURCE_EXHAUSTED", "too many views are open");
        let hint = "close some of them";
        return refusal(StatusCode::SERVICE_UNAVAILABLE, kind, message, hint);
    };
    upgrade
        .protocols([PROTOCOL])
        .max_frame_size(RECEIVED_BYTES_MAX)
        .max_message_size(RECEIVED_BYTES_MAX)
        .max_write_buffer_size(WRITE_BUFFER_BYTES_MAX)
        .on_upgrade(move |socket| async move {
            let socket = Socket {
                socket,
                heard: Instant::now(),
                ping: tokio::time::interval(PING_EVERY),
                _permit: permit,
            };
            // Whoever has gone needs no answer.
            drop(run(glass, caller, socket).await);
        })
}

impl Socket {
    /// Sends a control message.
    pub(super) async fn tell(&mut self, value: &Value) -> Result<(), Gone> {
        self.send(Message::text(value.to_string())).await
    }

    /// Sends bytes for a terminal.
    pub(super) async fn show(&mut self, bytes: Bytes) -> Result<(), Gone> {
        self.send(Message::Binary(bytes)).await
    }

    /// Says what is wrong and ends the conversation.
    pub(super) async fn fail(mut self, message: &str) -> Result<(), Gone> {
        let told = serde_json::json!({ "type": "error", "message": message });
        self.tell(&told).await?;
        let close = CloseFrame {
            code: CLOSE_POLICY,
            reason: "".into(),
        };
        self.send(Message::Close(Some(close))).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Gone> {
        let begun = Instant::now();
        match timeout(SEND_DEADLINE, self.socket.send(message)).await {
            Ok(Ok(())) => {
                if begun.elapsed() >= TAKEN_LATE {
                    self.heard = Instant::now();
                }
                Ok(())
            }
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }

    /// The next thing that the client says. Asks meanwhile whether it is there.
    /// Dropping the future loses nothing.
    pub(super) async fn hear(&mut self) -> Result<Said, Gone> {
        loop {
            tokio::select! {
                received = self.socket.recv() => {
                    self.heard = Instant::now();
                    match received {
                        Some(Ok(Message::Text(text))) => return Ok(Said::Text(text.to_string())),
                        Some(Ok(Message::Binary(bytes))) => return Ok(Said::Bytes(bytes)),
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                        Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(Gone),
                    }
                }
                _ = self.ping.tick() => {
                    if self.heard.elapsed() > SILENCE_MAX {
                        return Err(Gone);
                    }
                    self.send(Message::Ping(Bytes::new())).await?;
                }
            }
        }
    }
}
