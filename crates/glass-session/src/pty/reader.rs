//! Reading a terminal, in turns.

use super::flood::{CALM, Flood, Found};
use std::os::fd::OwnedFd;
use std::time::Instant;
use tokio::io::unix::AsyncFd;

/// Bytes that are read before others get their turn; what a crash between
/// reading and recording can lose.
pub(super) const TURN_BYTES_MAX: usize = 64 * 1024;

/// Bytes that one read asks for.
const READ_BYTES: usize = 16 * 1024;

/// So many bytes without a pause are a flood.
const FLOOD_BYTES: usize = 256 * 1024;

/// What a turn of reading found, beside bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// More may come.
    Open,
    /// No process has the terminal open now.
    Deserted,
}

/// Who reads a terminal.
#[derive(Default)]
pub(super) struct Reader {
    /// Takes a flood while there is one.
    flood: Option<Flood>,
    /// Bytes that have come without a pause, and when the last did.
    came: Option<(usize, Instant)>,
}

impl Reader {
    /// Reads what is there, up to a turn's worth, as soon as something is, into a
    /// buffer that is empty.
    pub(super) async fn turn(
        &mut self,
        terminal: &AsyncFd<OwnedFd>,
        buffer: &mut Vec<u8>,
    ) -> Reading {
        if let Some(flood) = &self.flood {
            let found = flood.take(buffer).await;
            if found == Found::Over {
                self.flood = None;
            }
            if !buffer.is_empty() {
                return Reading::Open;
            }
        }
        let reading = read(terminal, buffer).await;
        if self.is_flooded(buffer.len()) {
            // Without a thread it goes on as before.
            self.flood = Flood::begin(terminal.get_ref()).ok();
        }
        reading
    }

    /// Whether bytes were taken from the terminal that no turn has given out.
    pub(super) fn is_ahead(&self) -> bool {
        self.flood.is_some()
    }

    /// Appends what was taken from the terminal and no turn has given out.
    pub(super) fn stop(&mut self, buffer: &mut Vec<u8>) {
        if let Some(flood) = self.flood.take() {
            flood.stop(buffer);
        }
    }

    fn is_flooded(&mut self, bytes: usize) -> bool {
        let now = Instant::now();
        let before = self
            .came
            .filter(|(_, last)| now.duration_since(*last) < CALM);
        let bytes = bytes + before.map_or(0, |(bytes, _)| bytes);
        let is_flooded = bytes >= FLOOD_BYTES;
        self.came = (!is_flooded).then_some((bytes, now));
        is_flooded
    }
}

async fn read(terminal: &AsyncFd<OwnedFd>, buffer: &mut Vec<u8>) -> Reading {
    loop {
        let Ok(mut guard) = terminal.readable().await else {
            return Reading::Deserted;
        };
        // From here on nothing waits, so nothing that was read is lost when
        // this future is dropped.
        while buffer.len() < TURN_BYTES_MAX {
            let read = guard.try_io(|fd| {
                let start = buffer.len();
                buffer.resize(start + READ_BYTES, 0);
                let read = rustix::io::retry_on_intr(|| {
                    rustix::io::read(fd.get_ref(), &mut buffer[start..])
                });
                buffer.truncate(start + read.unwrap_or(0));
                Ok(read?)
            });
            match read {
                Ok(Ok(1..)) => {}
                // Linux says EIO when the last program has closed it.
                Ok(Ok(0) | Err(_)) => return Reading::Deserted,
                Err(_would_block) => break,
            }
        }
        if !buffer.is_empty() {
            return Reading::Open;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use super::{CALM, FLOOD_BYTES, Reader, Reading};
    use rustix::termios::OptionalActions;
    use std::fs::File;
    use std::io::Write as _;
    use std::os::fd::OwnedFd;
    use std::time::Duration;
    use tokio::io::unix::AsyncFd;
    use tokio::time::timeout;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A terminal that changes nothing of what is written, and its other end.
    fn terminal() -> (AsyncFd<OwnedFd>, File) {
        let pair = glass_spawn::terminal::open(80, 24).unwrap();
        let mut modes = rustix::termios::tcgetattr(&pair.slave).unwrap();
        modes.make_raw();
        rustix::termios::tcsetattr(&pair.slave, OptionalActions::Now, &modes).unwrap();
        let master = glass_spawn::async_fd(pair.master).unwrap();
        (master, pair.slave.into())
    }

    /// Bytes of which no two pieces are alike.
    fn pattern(length: usize) -> Vec<u8> {
        let numbers = (0_u32..).flat_map(u32::to_be_bytes);
        numbers.take(length).collect()
    }

    fn write(mut slave: File, bytes: Vec<u8>) -> std::thread::JoinHandle<File> {
        std::thread::spawn(move || {
            slave.write_all(&bytes).unwrap();
            slave
        })
    }

    async fn read(reader: &mut Reader, terminal: &AsyncFd<OwnedFd>) -> (Reading, Vec<u8>) {
        let mut buffer = Vec::new();
        let turn = timeout(PATIENCE, reader.turn(terminal, &mut buffer));
        (turn.await.unwrap(), buffer)
    }

    #[tokio::test]
    async fn a_flood_comes_whole_and_in_order_and_ends() {
        let (terminal, slave) = terminal();
        let mut reader = Reader::default();
        let sent = pattern(8 * FLOOD_BYTES);
        let writer = write(slave, sent.clone());
        let (mut got, mut was_ahead) = (Vec::new(), false);
        while got.len() < sent.len() {
            let (reading, bytes) = read(&mut reader, &terminal).await;
            assert_eq!(reading, Reading::Open);
            got.extend(bytes);
            was_ahead |= reader.is_ahead();
        }
        assert!(got == sent && was_ahead);
        tokio::time::sleep(4 * CALM).await;
        let slave = write(writer.join().unwrap(), b"calm".to_vec());
        assert_eq!(read(&mut reader, &terminal).await.1, b"calm");
        assert!(!reader.is_ahead());
        drop(slave.join().unwrap());
        let (reading, rest) = read(&mut reader, &terminal).await;
        assert_eq!((reading, rest.len()), (Reading::Deserted, 0));
    }

    #[tokio::test]
    async fn a_flood_that_is_not_read_waits_and_is_given_out_when_it_is_stopped() {
        let (terminal, slave) = terminal();
        let mut reader = Reader::default();
        let sent = pattern(8 * FLOOD_BYTES);
        let writer = write(slave, sent.clone());
        let mut got = Vec::new();
        while !reader.is_ahead() {
            got.extend(read(&mut reader, &terminal).await.1);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        let before = got.len();
        reader.stop(&mut got);
        let held = got.len() - before;
        assert!((1..=super::TURN_BYTES_MAX).contains(&held), "{held}");
        while got.len() < sent.len() {
            got.extend(read(&mut reader, &terminal).await.1);
        }
        assert!(got == sent);
        writer.join().unwrap();
    }
}
