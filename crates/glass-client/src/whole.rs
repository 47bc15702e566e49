//! Calls that leave in one piece.
//!
//! HTTP/2 sends the head of a call before its message is asked for. Each of the two
//! would wake the daemon, and the first would find nothing to do. So a head waits until
//! everybody else had their turn once, which is when the message comes.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes before what a frame carries.
const FRAME_HEAD_BYTES: usize = 9;

/// The type of a frame with the head of a call.
const HEADERS: u8 = 0x1;

/// The flag of a frame after which nothing of a call follows.
const END_STREAM: u8 = 0x1;

/// A way to the daemon on which heads wait for messages.
#[derive(Debug)]
pub(crate) struct Whole<S> {
    stream: S,
    /// Whether what is to be written next has waited.
    has_waited: bool,
}

impl<S> Whole<S> {
    pub(crate) fn new(stream: S) -> Whole<S> {
        Whole {
            stream,
            has_waited: false,
        }
    }

    /// Whether what is to be written should wait for more.
    fn waits(&mut self, bytes: &[u8], cx: &Context<'_>) -> bool {
        self.has_waited = !self.has_waited && is_lone_head(bytes);
        if self.has_waited {
            cx.waker().wake_by_ref();
        }
        self.has_waited
    }
}

/// Whether this is the head of a call whose message is still to come.
fn is_lone_head(bytes: &[u8]) -> bool {
    let Some(([high, middle, low, kind, flags, ..], carried)) =
        bytes.split_first_chunk::<FRAME_HEAD_BYTES>()
    else {
        return false;
    };
    let length = u32::from_be_bytes([0, *high, *middle, *low]);
    *kind == HEADERS && flags & END_STREAM == 0 && usize::try_from(length) == Ok(carried.len())
}

impl<S: AsyncRead + Unpin> AsyncRead for Whole<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Whole<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        if self.waits(bytes, cx) {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        // What comes in pieces has its message with it.
        let alone: &[u8] = match pieces {
            [bytes] => bytes,
            _ => &[],
        };
        if self.waits(alone, cx) {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::{END_STREAM, HEADERS, Whole};
    use std::io::IoSlice;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use tokio::io::AsyncWrite as _;

    const END_HEADERS: u8 = 0x4;
    const DATA: u8 = 0x0;

    fn frame(kind: u8, flags: u8, carried: &[u8]) -> Vec<u8> {
        let length = u8::try_from(carried.len()).expect("it is short");
        let mut bytes = vec![0, 0, length, kind, flags, 0, 0, 0, 1];
        bytes.extend_from_slice(carried);
        bytes
    }

    /// How many turns pass before these bytes are written, each time they are.
    fn turns(writes: &[&[u8]]) -> Vec<usize> {
        let mut whole = pin!(Whole::new(Vec::new()));
        let mut cx = Context::from_waker(Waker::noop());
        let mut waits = |bytes: &[u8]| {
            (0..9)
                .find(|turn| match turn % 2 {
                    0 => whole.as_mut().poll_write(&mut cx, bytes).is_ready(),
                    _ => {
                        let pieces = [IoSlice::new(bytes)];
                        whole
                            .as_mut()
                            .poll_write_vectored(&mut cx, &pieces)
                            .is_ready()
                    }
                })
                .expect("it is written")
        };
        writes.iter().map(|bytes| waits(bytes)).collect()
    }

    #[test]
    fn a_head_waits_one_turn_for_its_message_and_nothing_else_waits() {
        let head = frame(HEADERS, END_HEADERS, b"call");
        let message = frame(DATA, END_STREAM, b"message");
        let without = frame(HEADERS, END_HEADERS | END_STREAM, b"call");
        let both = [head.clone(), message.clone()].concat();
        let half = &head[..head.len() - 1];
        assert_eq!(turns(&[&head, &message, &head, &head]), [1, 0, 1, 1]);
        assert_eq!(turns(&[&both, &without, half, b"", &head[..8]]), [0; 5]);
    }

    #[test]
    fn what_comes_in_pieces_is_written_at_once() {
        let mut whole = pin!(Whole::new(Vec::new()));
        let mut cx = Context::from_waker(Waker::noop());
        let (head, message) = (frame(HEADERS, 0, b"call"), frame(DATA, 0, b"message"));
        let pieces = [IoSlice::new(&head), IoSlice::new(&message)];
        let written = whole.as_mut().poll_write_vectored(&mut cx, &pieces);
        assert!(matches!(written, Poll::Ready(Ok(_))));
    }
}
