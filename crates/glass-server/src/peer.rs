//! A connection on the Unix socket, with what the kernel says of its other end.

use crate::authority::AuthorityFilter;
use glass_session::Outsiders;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tonic::transport::server::Connected;

/// What is known of the process at the other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerInfo {
    /// Whether it runs inside one of our sessions.
    pub(crate) inside_session: bool,
}

/// A connection whose caller is known.
pub(crate) struct Peer {
    stream: UnixStream,
    info: PeerInfo,
    authority: AuthorityFilter,
}

impl Peer {
    /// None for a process of another user. Asked once for each connection: the
    /// kernel keeps who connected, and looking up ancestors is not free.
    pub(crate) fn recognise(
        stream: UnixStream,
        outsiders: &mut Outsiders,
    ) -> io::Result<Option<Peer>> {
        let credentials = stream.peer_cred()?;
        if credentials.uid() != rustix::process::getuid().as_raw() {
            return Ok(None);
        }
        // A process whose number is not known could be anything.
        let inside_session = credentials.pid().is_none_or(|pid| outsiders.descends(pid));
        Ok(Some(Peer {
            stream,
            info: PeerInfo { inside_session },
            authority: AuthorityFilter::new(),
        }))
    }
}

impl Connected for Peer {
    type ConnectInfo = PeerInfo;

    fn connect_info(&self) -> PeerInfo {
        self.info
    }
}

impl AsyncRead for Peer {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.authority.pass(&mut buf.filled_mut()[before..]);
        polled
    }
}

impl AsyncWrite for Peer {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
