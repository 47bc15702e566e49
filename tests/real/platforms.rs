//! What other systems want is known here, where it can be tested: input cut
//! anywhere, and the command line that ends a tree.

use glass_model::{Platform as _, Posix, Typed, Windows};

/// What a shell is sent for what is typed, one byte at a time.
fn sent(mut typed: Typed, keys: &str) -> String {
    let mut out = Vec::new();
    for byte in keys.bytes() {
        typed.push(&[byte], &mut out);
    }
    String::from_utf8(out).expect("text")
}

#[test]
fn a_carriage_return_brings_a_line_feed_along_to_a_shell_on_windows() {
    let keys = "dir\rcd x\r\necho é\r";
    let windows = sent(Typed::new(Windows.line_end()), keys);
    assert_eq!(windows, "dir\r\ncd x\r\necho é\r\n");
    assert_eq!(sent(Typed::new(Posix.line_end()), keys), keys);
}

#[test]
fn a_tree_on_windows_is_ended_by_taskkill_and_the_system_never() {
    let words = Windows.kill_command(4321).expect("a command");
    assert_eq!(words.join(" "), "taskkill.exe /PID 4321 /T /F");
    assert_eq!(Windows.kill_command(4), None);
    assert_eq!(Posix.kill_command(4321), None);
}
