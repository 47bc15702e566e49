//! What is typed into a console: any bytes, cut anywhere, in any terminal.
#![no_main]

use glass_vt::console::{Act, Console, KeyDecoder, LINE_BYTES_MAX, Manner, Whose};
use glass_vt::mirror::MirrorEvent;
use glass_vt::screen::{Screen, ScreenSize};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, u8, &[u8])| {
    let (columns, rows, cut, bytes) = input;
    let mut whole = Vec::new();
    KeyDecoder::default().push(bytes, |key| whole.push(key));
    let mut decoder = KeyDecoder::default();
    let mut keys = Vec::new();
    let pieces = bytes.chunks(usize::from(cut).max(1));
    pieces.clone().for_each(|piece| decoder.push(piece, |key| keys.push(key)));
    assert_eq!(keys, whole, "where it is cut changes nothing");

    let size = ScreenSize {
        columns: columns.into(),
        rows: rows.into(),
    };
    let mut out = Vec::new();
    let mut console = Console::open(Manner::default(), "/w", size, &mut out);
    console.settle(&mut out);
    for piece in pieces {
        console.type_in(piece, &mut out);
        while let Some(act) = console.step(&mut out) {
            if let Act::Run(command) = act {
                assert!(!command.trim().is_empty());
                let start = MirrorEvent::CommandStart { command: &command };
                console.show(start, Whose::Ours, &mut out);
                console.show(MirrorEvent::Output { bytes: piece }, Whose::Ours, &mut out);
                console.show(MirrorEvent::Exit { code: Some(1) }, Whose::Ours, &mut out);
            }
        }
        assert!(console.line().len() <= LINE_BYTES_MAX);
    }
    let mut screen = Screen::new(size);
    screen.feed(&out);
});
