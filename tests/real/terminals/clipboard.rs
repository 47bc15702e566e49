//! What a program wants on the clipboard reaches who types into its terminal, and
//! nobody who only watches: an agent would choose what a person pastes.

use super::tty::Tty;
use super::viewer::{Viewer, open, terminal};
use glass_proto::shellglass::v1::{AttachOpen, SessionMode, View};
use shellglass_tests::{Daemon, TestSession};

/// Puts a text on the clipboard, plainly and behind controls that terminals ignore.
const ATTACKS: &str = "printf '\\033]52;c;aGk=\\007<1>\\033\\000]52;c;aGk=\\007<2>'; \
    printf '\\033]5\\0002;c;aGk=\\007<3>\\033]052;c;aGk=\\033\\\\<4>'; echo ov''er";

/// What is left where all of that is left out, before the end of the line.
const HARMLESS: &str = "<1><2><3><4>over";

/// Whether something is left that a terminal could take for a clipboard's.
fn clips(shown: &str) -> bool {
    let plain: String = shown.chars().filter(|it| !matches!(it, '\0')).collect();
    plain.contains("\x1b]52;") || plain.contains("\x1b]052;")
}

#[tokio::test]
async fn who_only_watches_is_put_nothing_on_the_clipboard() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        session.run(ATTACKS).await;
        let console = AttachOpen {
            view: View::Console.into(),
            ..open(&session)
        };
        for (name, view) in [("mirror", open(&session)), ("console", console)] {
            let mut viewer = Viewer::open(&session.client, view.clone()).await;
            viewer.until(HARMLESS).await;
            assert!(!clips(&viewer.text()), "{name}: {:?}", viewer.text());
            // A client that asks the person is given it.
            let asking = AttachOpen {
                clipboard: true,
                ..view
            };
            let mut asking = Viewer::open(&session.client, asking).await;
            asking.until("<4>over").await;
            assert!(clips(&asking.text()), "{name}: {:?}", asking.text());
        }
    }
}

#[tokio::test]
async fn a_terminal_copies_for_who_types_into_it_and_for_nobody_else() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut typing = Viewer::open(&session.client, open(&session)).await;
    let watching = AttachOpen {
        read_only: true,
        ..open(&session)
    };
    let mut watching = Viewer::open(&session.client, watching).await;
    let mut outside = Tty::start(&daemon, &["attach", &session.id]);
    typing.until(">").await;
    watching.ready().await;
    outside.until(">");
    typing.type_in(&format!("{ATTACKS}\r")).await;
    typing.until("over\r\n").await;
    assert!(clips(&typing.text()), "{:?}", typing.text());
    watching.until(HARMLESS).await;
    assert!(!clips(&watching.text()), "{:?}", watching.text());
    outside.until(HARMLESS);
    assert!(!clips(&outside.text()), "{:?}", outside.text());
    outside.type_in("\x1d");
    assert_eq!(outside.wait(), 0);
}
