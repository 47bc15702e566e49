//! A screen as it was at one point of a recording, to begin there and not at
//! the recording's first byte.

use super::{Screen, ScreenSize};

/// The first line of what is saved, before the numbers.
const MAGIC: &str = "shellglass-screen 1";

/// Longest first line, in bytes.
const HEADER_BYTES_MAX: usize = 96;

/// Most bytes that are taken for a saved screen.
pub const SAVED_BYTES_MAX: usize = 64 << 20;

/// A screen at one point of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedScreen {
    /// How many bytes of the recording it shows.
    pub offset: u64,
    /// Its size.
    pub size: ScreenSize,
    /// What draws it.
    pub drawing: Vec<u8>,
}

impl SavedScreen {
    /// As bytes for a file.
    pub fn encode(&self) -> Vec<u8> {
        let ScreenSize { columns, rows } = self.size;
        let mut bytes = format!("{MAGIC} {} {columns} {rows}\n", self.offset).into_bytes();
        bytes.extend_from_slice(&self.drawing);
        bytes
    }

    /// What `encode` made; none for anything else.
    pub fn parse(bytes: &[u8]) -> Option<SavedScreen> {
        if bytes.len() > SAVED_BYTES_MAX {
            return None;
        }
        let head = &bytes[..bytes.len().min(HEADER_BYTES_MAX)];
        let end = memchr::memchr(b'\n', head)?;
        let header = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut numbers = header.strip_prefix(MAGIC)?.strip_prefix(' ')?.split(' ');
        let offset = numbers.next()?.parse().ok()?;
        let columns = numbers.next()?.parse().ok()?;
        let rows = numbers.next()?.parse().ok()?;
        numbers.next().is_none().then(|| SavedScreen {
            offset,
            size: ScreenSize { columns, rows },
            drawing: bytes[end + 1..].to_vec(),
        })
    }

    /// The screen.
    pub fn restore(&self) -> Screen {
        let mut screen = Screen::new(self.size);
        screen.feed(&self.drawing);
        // Nobody asked now.
        drop(screen.take_replies());
        screen
    }
}

#[cfg(test)]
mod tests {
    use super::{SavedScreen, Screen, ScreenSize};
    use proptest::prelude::*;

    const SIZE: ScreenSize = ScreenSize {
        columns: 20,
        rows: 5,
    };

    #[test]
    fn a_saved_screen_goes_on_as_the_screen_would() {
        let before = b"one\r\ntwo \x1b[31mred\x1b[?1049h alt\x1b[2;3H\x1b[1";
        let after = b";4Hmore\xc3";
        let mut screen = Screen::new(SIZE);
        screen.feed(before);
        let saved = SavedScreen {
            offset: before.len() as u64,
            size: SIZE,
            drawing: screen.snapshot(),
        };
        let saved = SavedScreen::parse(&saved.encode()).expect("it was just made");
        let mut restored = saved.restore();
        screen.feed(after);
        restored.feed(after);
        assert_eq!(restored.text(), screen.text());
        assert_eq!(restored.snapshot(), screen.snapshot());
    }

    #[test]
    fn what_nobody_saved_is_no_screen() {
        for bytes in [
            &b""[..],
            b"shellglass-screen 1 5 80 24",
            b"shellglass-screen 2 5 80 24\n",
            b"shellglass-screen 1 -5 80 24\n",
            b"shellglass-screen 1 5 80\n",
            b"shellglass-screen 1 5 80 24 7\n",
            b"shellglass-screen 1 5 99999 24\n",
        ] {
            assert_eq!(SavedScreen::parse(bytes), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn a_saved_screen_is_read_back(
            offset: u64, columns: u16, rows: u16, drawing: Vec<u8>,
        ) {
            let size = ScreenSize { columns, rows };
            let saved = SavedScreen { offset, size, drawing };
            prop_assert_eq!(SavedScreen::parse(&saved.encode()), Some(saved));
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes: Vec<u8>) {
            let _ = SavedScreen::parse(&bytes);
        }
    }
}
