//! Output of agents' programs: any bytes, in any pieces; and the same as a
//! command line and as the end of some output.
#![no_main]

use glass_adapt::{LINE_BYTES_MAX, Sections, Tool, adapt, prompt};
use glass_model::ShellKind;
use libfuzzer_sys::fuzz_target;

fn shown(tool: Option<Tool>, bytes: &[u8], size: usize) -> Vec<u8> {
    let (mut sections, mut out) = (Sections::new(tool), Vec::new());
    for piece in bytes.chunks(size) {
        sections.push(piece, &mut out);
        assert!(sections.held_bytes() <= LINE_BYTES_MAX);
    }
    sections.finish(&mut out);
    out
}

// The first byte says whose events they are and how long the pieces are.
fuzz_target!(|input: &[u8]| {
    let [first, bytes @ ..] = input else {
        return;
    };
    let tool = match first % 3 {
        0 => None,
        1 => Some(Tool::Codex),
        _ => Some(Tool::Claude),
    };
    let whole = shown(tool, bytes, bytes.len().max(1));
    assert_eq!(shown(tool, bytes, usize::from(first / 3) + 1), whole);
    // The longest that a byte can become is a control character in words.
    assert!(whole.len() <= 8 * bytes.len() + 64, "it grows too much");

    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Some(prompt) = prompt::find(text) {
        assert!(!prompt.text.chars().any(char::is_control));
        assert!(!text.ends_with('\n'));
    }
    if let Some(adapted) = adapt(text, ShellKind::Bash) {
        let again = adapt(&adapted.command, ShellKind::Bash);
        assert!(again.is_none_or(|again| again.command == adapted.command));
    }
});
