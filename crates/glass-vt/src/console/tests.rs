//! The console against the screen engine: what is shown is what will run.

mod keys;

use super::{
    Act, Console, Key, KeyDecoder, LINE_BYTES_MAX, Manner, WAITING_KEYS_MAX, Whose, expand,
};
use crate::mirror::MirrorEvent;
use crate::screen::{Screen, ScreenSize};
use proptest::prelude::*;

/// A console and the terminal that shows it.
struct Desk {
    console: Console,
    screen: Screen,
    size: ScreenSize,
}

fn plain() -> Manner {
    Manner {
        template: Some("> ".to_owned()),
        dims_commands: false,
        shows_exit: true,
    }
}

impl Desk {
    fn open(columns: u16, rows: u16) -> Desk {
        let size = ScreenSize { columns, rows };
        let mut out = Vec::new();
        let mut console = Console::open(plain(), "/w", size, &mut out);
        console.settle(&mut out);
        let mut screen = Screen::new(size);
        screen.feed(&out);
        Desk {
            console,
            screen,
            size,
        }
    }

    fn keys(&mut self, keys: &str) -> Vec<Act> {
        let mut out = Vec::new();
        let mut acts = Vec::new();
        self.console.type_in(keys.as_bytes(), &mut out);
        while let Some(act) = self.console.step(&mut out) {
            acts.push(act);
        }
        self.screen.feed(&out);
        acts
    }

    fn show(&mut self, event: MirrorEvent<'_>, whose: Whose) -> Vec<Act> {
        let mut out = Vec::new();
        self.console.show(event, whose, &mut out);
        self.screen.feed(&out);
        self.keys("")
    }

    fn shown(&self) -> String {
        self.screen.text().join("\n").trim_end().to_owned()
    }

    fn cursor(&mut self) -> Vec<u8> {
        self.screen.take_replies();
        self.screen.feed(b"\x1b[6n");
        self.screen.take_replies()
    }

    fn output(&mut self, text: &str) {
        let bytes = text.as_bytes();
        self.show(MirrorEvent::Output { bytes }, Whose::Others);
    }

    fn exit(&mut self, code: i32, whose: Whose) -> Vec<Act> {
        self.show(MirrorEvent::Exit { code: Some(code) }, whose)
    }
}

const LEFT: &str = "\x1b[D";
const RIGHT: &str = "\x1b[C";
const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";

/// Types keys, and looks at the line and at its place on the screen.
fn check(keys: &str, expected: &str) {
    let mut desk = Desk::open(40, 10);
    desk.keys(keys);
    assert_eq!(desk.shown(), format!("> {expected}").trim_end(), "{keys:?}");
    assert_eq!(desk.console.line(), expected.trim_end(), "{keys:?}");
}

#[test]
fn a_line_is_edited_in_place() {
    check("echo hi", "echo hi");
    check(&format!("ab{LEFT}x"), "axb");
    check(&format!("ab{LEFT}{LEFT}{RIGHT}x"), "axb");
    check("bc\x01a\x05d", "abcd");
    check("bc\x1b[Ha\x1b[Fd", "abcd");
    check("bc\x1bOHa\x1bOFd\x1b[1~x\x1b[4~y", "xabcdy");
    check("one two\x1bbx", "one xtwo");
    check("one two\x1b[1;5D\x1b[1;3Dx\x1b[1;5Cy", "xoney two");
    check("abc\x7f\x08d", "ad");
    check(&format!("abc{LEFT}{LEFT}\x1b[3~"), "ac");
    check("one two-three\x17x", "one x");
    check("one two-three\x1b\x7fx", "one two-x");
    check("one two\x15x", "x");
    check("one two\x1bb\x0bx\x19", "one xtwo");
    check("a\tb\x1b[5~\x1b[15~c\x1b[<0;1;1M", "abc");
    check("日本\x7f語", "日語");
    check(&format!("e\u{301}x{LEFT}{LEFT}y"), "ye\u{301}x");
    check("e\u{301}x\x7f\x7fz", "z");
}

#[test]
fn lines_that_were_entered_come_back() {
    let mut desk = Desk::open(40, 20);
    for line in ["one", "two", "two"] {
        assert_eq!(desk.keys(&format!("{line}\r")), [Act::Run(line.to_owned())]);
        desk.show(MirrorEvent::CommandStart { command: line }, Whose::Ours);
        desk.exit(0, Whose::Ours);
    }
    desk.show(
        MirrorEvent::CommandStart { command: "theirs" },
        Whose::Others,
    );
    desk.exit(0, Whose::Others);
    desk.keys("draft");
    desk.keys(UP);
    assert_eq!(desk.console.line(), "theirs");
    desk.keys(&format!("{UP}{UP}{UP}"));
    assert_eq!(desk.console.line(), "one", "two is there once");
    desk.keys(&format!("{DOWN}{DOWN}{DOWN}"));
    assert_eq!(desk.console.line(), "draft");
}

#[test]
fn a_command_of_ones_own_is_shown_once() {
    let mut desk = Desk::open(40, 10);
    assert_eq!(desk.keys("ls\r"), [Act::Run("ls".to_owned())]);
    desk.show(MirrorEvent::CommandStart { command: "ls" }, Whose::Ours);
    desk.output("a\nb");
    desk.exit(3, Whose::Ours);
    assert_eq!(desk.shown(), "> ls\na\nb\n[exit 3]\n>");
    assert!(desk.console.is_at_prompt());
}

#[test]
fn what_others_run_does_not_take_a_half_written_line_away() {
    let mut desk = Desk::open(40, 12);
    desk.keys("half");
    desk.show(MirrorEvent::CommandStart { command: "make" }, Whose::Others);
    assert_eq!(desk.shown(), "> make");
    desk.keys(" a line");
    desk.output("done\n");
    assert_eq!(desk.shown(), "> make\ndone");
    desk.exit(0, Whose::Others);
    assert_eq!(desk.shown(), "> make\ndone\n> half a line");
}

#[test]
fn what_is_left_in_the_background_writes_above_the_line() {
    let mut desk = Desk::open(8, 12);
    desk.keys("half a line that wraps");
    desk.output("late");
    desk.output("er\n");
    desk.keys("!");
    assert_eq!(desk.shown(), "late\ner\n> half a\n line th\nat wraps\n!");
}

#[test]
fn keys_wait_for_the_prompt_and_ctrl_c_does_not() {
    let mut desk = Desk::open(40, 12);
    let acts = desk.keys("one\rtwo\rthr");
    assert_eq!(acts, [Act::Run("one".to_owned())]);
    desk.show(MirrorEvent::CommandStart { command: "one" }, Whose::Ours);
    assert_eq!(desk.exit(0, Whose::Ours), [Act::Run("two".to_owned())]);
    desk.show(MirrorEvent::CommandStart { command: "two" }, Whose::Ours);
    assert_eq!(desk.keys("ee\rnot this\x03"), [Act::Interrupt]);
    assert_eq!(desk.exit(130, Whose::Ours), []);
    assert_eq!(desk.console.line(), "", "what was typed before is gone");
    assert_eq!(desk.shown(), "> one\n> two\n[exit 130]\n>");
}

#[test]
fn a_line_behind_the_command_of_another_is_shown_again_when_it_begins() {
    let mut desk = Desk::open(40, 12);
    desk.keys("mine\r");
    desk.show(
        MirrorEvent::CommandStart { command: "theirs" },
        Whose::Others,
    );
    desk.exit(0, Whose::Others);
    assert!(!desk.console.is_at_prompt(), "it waits for its turn");
    desk.show(MirrorEvent::CommandStart { command: "mine" }, Whose::Ours);
    desk.exit(0, Whose::Ours);
    assert_eq!(desk.shown(), "> mine\n> theirs\n> mine\n>");
}

#[test]
fn control_keys_at_the_prompt() {
    let mut desk = Desk::open(40, 12);
    assert_eq!(desk.keys("abc\x1b[D\x03"), []);
    assert_eq!(desk.shown(), "> abc^C\n>");
    assert_eq!(desk.keys("  \rxy\x1b[D\x04"), []);
    assert_eq!(desk.console.line(), "x");
    desk.keys("\x0c");
    assert_eq!(
        desk.shown(),
        "> x",
        "the line stays when the view is cleared"
    );
    desk.keys("\x15clear\r");
    assert_eq!(desk.shown(), ">");
    assert_eq!(desk.keys("\x04"), [Act::Leave]);
    assert_eq!(Desk::open(9, 9).keys("exit\r"), [Act::Leave]);
}

#[test]
fn a_refusal_brings_the_prompt_back() {
    let mut desk = Desk::open(40, 12);
    desk.keys("rm -rf /\r");
    let mut out = Vec::new();
    desk.console.refuse("no \x1b]0;x\x07", &mut out);
    desk.screen.feed(&out);
    assert_eq!(desk.shown(), "> rm -rf /\n[no ^[]0;x^G]\n>");
}

#[test]
fn a_paste_of_several_lines_is_one_command() {
    let mut desk = Desk::open(40, 12);
    assert_eq!(
        desk.keys("\x1b[200~if true\rthen\r\n\techo \x03\x1b[A1\nfi\x1b[201~"),
        []
    );
    assert_eq!(desk.shown(), "> if true\nthen\n        echo 1\nfi");
    let acts = desk.keys("\r");
    assert_eq!(acts, [Act::Run("if true\nthen\n\techo 1\nfi".to_owned())]);
}

#[test]
fn what_nobody_would_see_is_shown() {
    let mut desk = Desk::open(60, 12);
    desk.keys("ls \u{202e}fr- mr\u{200b}\u{9b}");
    assert_eq!(desk.shown(), "> ls <202e>fr- mr<200b><9b>");
    assert_eq!(
        expand("{cwd}\\e[2J{name}\x1b[0m$ ", "/a\x1b[5m/b"),
        "/a^[[5m/b\\e[2Jb\x1b[0m$ "
    );
}

#[test]
fn a_line_that_is_too_long_or_too_high_is_bounded() {
    let mut desk = Desk::open(20, 5);
    desk.keys(&"x".repeat(LINE_BYTES_MAX + 100));
    assert_eq!(desk.console.line().len(), LINE_BYTES_MAX);
    assert_eq!(desk.screen.text().len(), 5);
    desk.keys("\x01");
    assert!(desk.screen.text()[0].starts_with("> xxx"));
}

#[test]
fn keys_that_wait_are_bounded_and_stopping_is_always_possible() {
    let mut desk = Desk::open(40, 12);
    let command = MirrorEvent::CommandStart { command: "make" };
    desk.show(command, Whose::Others);
    let mut out = Vec::new();
    for _ in 0..4 {
        let keys = "x\x03".repeat(WAITING_KEYS_MAX);
        desk.console.type_in(keys.as_bytes(), &mut out);
        assert!(desk.console.waiting.len() <= WAITING_KEYS_MAX + 1);
    }
    assert!(out.len() <= 4, "a bell for each piece that was refused");
    assert_eq!(desk.console.waiting.back(), Some(&Key::Interrupt));
}

#[test]
fn what_reads_is_fed_line_by_line() {
    let mut desk = Desk::open(40, 12);
    desk.keys("cat\r");
    desk.show(MirrorEvent::CommandStart { command: "cat" }, Whose::Ours);
    desk.console.feed(true);
    assert_eq!(desk.keys("ab\u{7f}日\u{7f}c"), []);
    assert_eq!(desk.shown(), "> cat\nac");
    assert_eq!(desk.keys("\r"), [Act::Feed("ac\n".to_owned())]);
    assert_eq!(
        desk.keys("x\x04\x04"),
        [Act::Feed("x".to_owned()), Act::EndFeed]
    );
    assert_eq!(desk.keys("\x03"), [Act::Interrupt]);
}

/// Anything that may be pressed at a prompt, and is no end of it.
fn any_keys() -> impl Strategy<Value = Vec<String>> {
    let key = prop_oneof![
        8 => "[a-z]{1,4}",
        2 => "[日本語한😀é ]{1,3}",
        1 => Just("e\u{301}".to_owned()),
        1 => Just("\u{1f469}\u{200d}\u{1f680}".to_owned()),
        1 => Just("\u{202e}\u{200b}".to_owned()),
        1 => Just("\x1b[200~a\rb\tc\x1b[201~".to_owned()),
        10 => prop::sample::select(vec![
            LEFT, RIGHT, UP, DOWN, "\x01", "\x05", "\x7f", "\x1b[3~", "\x1bb", "\x1bf", "\x17",
            "\x0b", "\x15", "\x19", "\x1bd", "\x1b\x7f", "\x0c", "\x1b[1;5D", "\x1b[1;5C",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(key, 0..25)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// However a line came to be, it looks as if it had been written at once.
    #[test]
    fn the_line_that_is_shown_is_the_line_that_runs(
        keys in any_keys(),
        columns in 4_u16..30,
        resized in 4_u16..30,
    ) {
        let mut desk = Desk::open(columns, 60);
        for key in &keys {
            prop_assert_eq!(desk.keys(key), []);
            let line = desk.console.line().to_owned();
            let (before, behind) = line.split_at(desk.console.editor.cursor());
            let mut whole = Desk::open(columns, 60);
            whole.keys(&format!("\x1b[200~{line}\x1b[201~"));
            prop_assert_eq!(desk.shown(), whole.shown(), "{:?}", line);
            // The cursor is where the rest would be written.
            if behind.is_empty() {
                let mut first = Desk::open(columns, 60);
                first.keys(&format!("\x1b[200~{before}\x1b[201~"));
                prop_assert_eq!(desk.cursor(), first.cursor(), "{:?}", line);
            }
        }
        // Without wrapping, the text is what a terminal shows of it.
        let mut wide = Desk::open(1_000, 60);
        wide.keys(&format!("\x1b[200~{}\x1b[201~", desk.console.line()));
        let mut reference = Screen::new(wide.size);
        let shown: String = desk.console.line().split('\n').map(super::width::visible)
            .collect::<Vec<_>>().join("\r\n").replace("^I", "\t");
        reference.feed(format!("> {shown}").as_bytes());
        let expected = reference.text().join("\n").trim_end().to_owned();
        prop_assert_eq!(wide.shown(), expected);
        // Another size is another place for the same line.
        let size = ScreenSize { columns: resized, rows: 60 };
        let mut out = Vec::new();
        desk.screen.resize(size);
        desk.console.resize(size, &mut out);
        desk.screen.feed(&out);
        let mut whole = Desk::open(resized, 60);
        whole.keys(&format!("\x1b[200~{}\x1b[201~", desk.console.line()));
        prop_assert!(desk.shown().ends_with(&whole.shown()), "{:?}", desk.shown());
    }

    /// Whatever is typed and happens, nothing panics and Enter runs the line.
    #[test]
    fn any_bytes_are_typed_without_harm(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..20),
        columns in 0_u16..20,
        rows in 0_u16..6,
    ) {
        let mut out = Vec::new();
        let size = ScreenSize { columns, rows };
        let mut console = Console::open(Manner::default(), "/w", size, &mut out);
        console.settle(&mut out);
        for piece in &pieces {
            console.type_in(piece, &mut out);
            while let Some(act) = console.step(&mut out) {
                if let Act::Run(command) = act {
                    prop_assert!(!command.trim().is_empty());
                    let start = MirrorEvent::CommandStart { command: &command };
                    console.show(start, Whose::Ours, &mut out);
                    console.show(MirrorEvent::Output { bytes: piece }, Whose::Ours, &mut out);
                    console.show(MirrorEvent::Exit { code: None }, Whose::Ours, &mut out);
                }
            }
        }
        Screen::new(size).feed(&out);
    }
}
