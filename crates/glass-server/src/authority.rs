//! Makes the `:authority` of Unix clients one that HTTP allows.
//!
//! gRPC's C core (Python, Ruby, PHP, C++) and Java send the socket's path as
//! the authority of a Unix connection, `tmp%2Fx.sock` or `/tmp/x.sock`. No host
//! is called that, and our HTTP/2 library answers with a protocol error.
//! Nobody reads the authority here, so its odd characters are replaced in place,
//! as the bytes come in: lengths stay, and with them the frames and the tables
//! of both sides' header compression.
//!
//! Sans-IO and bounded: a few integers of state. What is not understood is left
//! as it is, and the library says what it thinks of it.

/// Bytes that open an HTTP/2 connection.
const PREFACE_BYTES: u32 = 24;

/// Bytes of a frame's header.
const FRAME_HEADER_BYTES: usize = 9;

const HEADERS: u8 = 0x1;
const CONTINUATION: u8 = 0x9;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// Bytes of the priority in a HEADERS frame.
const PRIORITY_BYTES: u32 = 5;

/// The field's name, and its place in the static table.
const AUTHORITY: &[u8] = b":authority";
const AUTHORITY_INDEX: u32 = 1;

/// Watches one connection's incoming bytes.
#[derive(Debug)]
pub(crate) struct AuthorityFilter {
    place: Place,
    field: Field,
}

/// Where in the sequence of frames we are.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// So many bytes that are none of our business.
    Skip(u32),
    FrameHeader {
        seen: usize,
        bytes: [u8; FRAME_HEADER_BYTES],
    },
    /// The length of the padding, then so many bytes to skip, then `block`
    /// bytes of header block from which the padding is still to be taken.
    PadLength { skip: u32, block: u32 },
    /// Bytes before the header block.
    Before { skip: u32, block: u32, padding: u32 },
    /// The header block, and the padding behind it.
    Block { left: u32, padding: u32 },
}

/// Where in a header block we are. It goes on over CONTINUATION frames.
#[derive(Clone, Copy, Debug)]
enum Field {
    /// At the first byte of a field.
    Start,
    /// In an integer with more bytes.
    Integer { value: u32, shift: u32, then: Then },
    /// At the first byte of a string.
    StringStart(Part),
    /// In a string.
    Text { left: u32, part: Part },
}

/// What an integer was.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// A whole field, or a table size.
    Field,
    /// The index of a name.
    Name,
    /// The length of a string.
    Length { part: Part, is_coded: bool },
}

/// Which string of a field.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Its name, which has been that of the authority for so many bytes; none
    /// if it is another's.
    Name { alike: Option<usize> },
    /// Its value.
    Value(Mend),
}

/// What to do with a value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mend {
    No,
    Yes,
}

impl AuthorityFilter {
    /// For a connection that has just been accepted.
    pub(crate) fn new() -> AuthorityFilter {
        AuthorityFilter {
            place: Place::Skip(PREFACE_BYTES),
            field: Field::Start,
        }
    }

    /// Takes the next bytes of the connection and mends them.
    pub(crate) fn pass(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            let taken = self.step(bytes);
            bytes = &mut bytes[taken..];
        }
    }

    /// Takes at least one byte.
    fn step(&mut self, bytes: &mut [u8]) -> usize {
        match self.place {
            Place::Skip(left) => {
                let taken = within(bytes, left);
                self.place = skip(left - count(taken));
                taken
            }
            Place::FrameHeader {
                seen,
                bytes: mut header,
            } => {
                header[seen] = bytes[0];
                self.place = if seen + 1 == FRAME_HEADER_BYTES {
                    payload(header)
                } else {
                    Place::FrameHeader {
                        seen: seen + 1,
                        bytes: header,
                    }
                };
                1
            }
            Place::PadLength { skip, block } => {
                let padding = u32::from(bytes[0]).min(block);
                self.place = before(skip, block - padding, padding);
                1
            }
            Place::Before {
                skip,
                block,
                padding,
            } => {
                let taken = within(bytes, skip);
                self.place = before(skip - count(taken), block, padding);
                taken
            }
            Place::Block { left, padding } => {
                let taken = within(bytes, left);
                for byte in &mut bytes[..taken] {
                    *byte = self.field_byte(*byte);
                }
                self.place = before(0, left - count(taken), padding);
                taken
            }
        }
    }

    /// One byte of a header block, as it is to be passed on.
    fn field_byte(&mut self, byte: u8) -> u8 {
        match self.field {
            Field::Start => self.field = first(byte),
            Field::Integer { value, shift, then } => {
                // An integer that large is refused by the library, whatever it
                // is; here it must only not overflow.
                let part = u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
                let value = value.saturating_add(part);
                self.field = if byte & 0x80 == 0 {
                    after_integer(value, then)
                } else {
                    Field::Integer {
                        value,
                        shift: (shift + 7).min(32),
                        then,
                    }
                };
            }
            Field::StringStart(part) => {
                let then = Then::Length {
                    part,
                    is_coded: byte & 0x80 != 0,
                };
                self.field = integer(byte, 7, then);
            }
            Field::Text {
                left,
                part: Part::Name { alike },
            } => {
                let alike = alike
                    .filter(|at| AUTHORITY.get(*at) == Some(&byte))
                    .map(|at| at + 1);
                self.field = text(left - 1, Part::Name { alike });
            }
            Field::Text {
                left,
                part: Part::Value(mend),
            } => {
                self.field = text(left - 1, Part::Value(mend));
                return if mend == Mend::Yes {
                    host_byte(byte)
                } else {
                    byte
                };
            }
        }
        byte
    }
}

/// How many of these bytes, at most `left`, can be taken.
fn within(bytes: &[u8], left: u32) -> usize {
    bytes.len().min(left as usize)
}

fn count(taken: usize) -> u32 {
    u32::try_from(taken).expect("no more than was left, which is a u32")
}

fn skip(left: u32) -> Place {
    match left {
        0 => Place::FrameHeader {
            seen: 0,
            bytes: [0; FRAME_HEADER_BYTES],
        },
        left => Place::Skip(left),
    }
}

fn before(bytes: u32, block: u32, padding: u32) -> Place {
    match (bytes, block) {
        (0, 0) => skip(padding),
        (0, left) => Place::Block { left, padding },
        (bytes, block) => Place::Before {
            skip: bytes,
            block,
            padding,
        },
    }
}

/// What follows a frame's header.
fn payload(header: [u8; FRAME_HEADER_BYTES]) -> Place {
    let [high, middle, low, kind, flags, ..] = header;
    let length = u32::from_be_bytes([0, high, middle, low]);
    match kind {
        CONTINUATION => before(0, length, 0),
        HEADERS => {
            let padded = u32::from(flags & PADDED != 0);
            let priority = if flags & PRIORITY != 0 {
                PRIORITY_BYTES
            } else {
                0
            };
            let Some(block) = length.checked_sub(padded + priority) else {
                return skip(length);
            };
            match padded {
                0 => before(priority, block, 0),
                _ => Place::PadLength {
                    skip: priority,
                    block,
                },
            }
        }
        _ => skip(length),
    }
}

/// The first byte of a field says what kind it is.
fn first(byte: u8) -> Field {
    match byte {
        0x80.. => integer(byte, 7, Then::Field),
        0x40.. => integer(byte, 6, Then::Name),
        0x20.. => integer(byte, 5, Then::Field),
        _ => integer(byte, 4, Then::Name),
    }
}

/// An integer that begins in the low bits of this byte.
fn integer(byte: u8, bits: u32, then: Then) -> Field {
    let most = (1_u32 << bits) - 1;
    match u32::from(byte) & most {
        value if value == most => Field::Integer {
            value,
            shift: 0,
            then,
        },
        value => after_integer(value, then),
    }
}

fn after_integer(value: u32, then: Then) -> Field {
    match then {
        Then::Field => Field::Start,
        Then::Name if value == 0 => Field::StringStart(Part::Name { alike: Some(0) }),
        Then::Name if value == AUTHORITY_INDEX => Field::StringStart(Part::Value(Mend::Yes)),
        Then::Name => Field::StringStart(Part::Value(Mend::No)),
        // A Huffman code cannot be mended in place. Nobody sends paths in one:
        // those who do code send `localhost`.
        Then::Length {
            part: Part::Name { .. },
            is_coded: true,
        } => text(value, Part::Name { alike: None }),
        Then::Length {
            part: Part::Value(_),
            is_coded: true,
        } => text(value, Part::Value(Mend::No)),
        Then::Length {
            part,
            is_coded: false,
        } => text(value, part),
    }
}

/// The byte, if a host's name and port may have it.
fn host_byte(byte: u8) -> u8 {
    match byte {
        b'.' | b'-' | b'_' | b':' | b'[' | b']' => byte,
        byte if byte.is_ascii_alphanumeric() => byte,
        _ => b'-',
    }
}

fn text(left: u32, part: Part) -> Field {
    match (left, part) {
        (0, Part::Name { alike: Some(at) }) if at == AUTHORITY.len() => {
            Field::StringStart(Part::Value(Mend::Yes))
        }
        (0, Part::Name { .. }) => Field::StringStart(Part::Value(Mend::No)),
        (0, Part::Value(_)) => Field::Start,
        (left, part) => Field::Text { left, part },
    }
}

#[cfg(test)]
mod tests {
    use super::{AuthorityFilter, CONTINUATION, HEADERS, PADDED, PRIORITY};
    use proptest::prelude::*;

    const DATA: u8 = 0;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
        let mut bytes = vec![length[1], length[2], length[3], kind, flags, 0, 0, 0, 1];
        bytes.extend_from_slice(payload);
        bytes
    }

    /// `:method POST`, a new name with a value, `:authority` as given, a table
    /// size, and an indexed field.
    fn block(authority: &str, name: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x83, 0x40, 2, b'/', b'%', 2, b'%', b'/'];
        bytes.extend_from_slice(name);
        let length = authority.len();
        if length < 127 {
            bytes.push(u8::try_from(length).expect("short"));
        } else {
            bytes.push(127);
            bytes.push(u8::try_from(length - 127).expect("below 128 more"));
        }
        bytes.extend_from_slice(authority.as_bytes());
        bytes.extend_from_slice(&[0x3f, 0xe1, 0x1f, 0xbe]);
        bytes
    }

    fn connection(frames: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        bytes.extend(frames.concat());
        bytes
    }

    fn passed(bytes: &[u8], chunk: usize) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let mut filter = AuthorityFilter::new();
        for piece in bytes.chunks_mut(chunk.max(1)) {
            filter.pass(piece);
        }
        bytes
    }

    fn check(given: &str, expected: &str) {
        // By its place in the static table, indexed or not, and by its name.
        for name in [&b"\x41"[..], b"\x01", b"\x11", b"\x40\x0a:authority"] {
            check_named(name, given, expected);
        }
        check_named(b"\x40\x0b:authority2", given, given);
        check_named(b"\x40\x09:authorit", given, given);
        check_named(b"\x44", given, given);
    }

    fn check_named(name: &[u8], given: &str, expected: &str) {
        for around in [
            |block: Vec<u8>| vec![frame(HEADERS, 4, &block)],
            split,
            padded,
        ] {
            let bytes = connection(&around(block(given, name)));
            let wanted = connection(&around(block(expected, name)));
            for chunk in [1, 2, 7, 4096] {
                assert_eq!(
                    passed(&bytes, chunk),
                    wanted,
                    "{given} in pieces of {chunk}"
                );
            }
        }
    }

    fn split(block: Vec<u8>) -> Vec<Vec<u8>> {
        let (a, b) = block.split_at(block.len() / 2);
        vec![
            frame(HEADERS, 0, a),
            frame(CONTINUATION, 4, b),
            frame(DATA, 0, b"A\x01%"),
        ]
    }

    fn padded(block: Vec<u8>) -> Vec<Vec<u8>> {
        let mut payload = vec![3, 0x41, 1, b'%', 0, 0];
        payload.extend(block);
        payload.extend([0x41, 1, b'%']);
        vec![
            frame(HEADERS, PADDED | PRIORITY | 4, &payload),
            frame(6, 0, &[0x41; 8]),
        ]
    }

    #[test]
    fn a_path_becomes_a_host() {
        check("tmp%2Fx_y.sock", "tmp-2Fx_y.sock");
        check("/tmp/x.sock", "-tmp-x.sock");
        let long = format!("/{}", "a/".repeat(70));
        check(&long, &long.replace('/', "-"));
    }

    #[test]
    fn a_host_stays() {
        for host in ["localhost", "127.0.0.1:7583", "[::1]:80", ""] {
            check(host, host);
        }
    }

    #[test]
    fn the_same_field_in_a_body_stays() {
        let bytes = connection(&[frame(DATA, 0, &block("%2Fx", b"\x41"))]);
        assert_eq!(passed(&bytes, 3), bytes);
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_pass_alike(
            bytes in proptest::collection::vec(any::<u8>(), 0..400), chunk in 1_usize..40,
        ) {
            let whole = passed(&bytes, bytes.len());
            prop_assert_eq!(&passed(&bytes, chunk), &whole);
            prop_assert_eq!(whole.len(), bytes.len());
        }
    }
}
