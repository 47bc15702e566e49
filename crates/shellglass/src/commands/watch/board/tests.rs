use super::{Act, Board, Key};
use glass_proto::shellglass::v1::{Approval, Overview, Session, WatchedSession};
use std::time::{Duration, Instant};

fn overview(sessions: &[&str], approvals: &[&str]) -> Overview {
    let session = |id: &&str| WatchedSession {
        session: Some(Session {
            session_id: (*id).to_owned(),
            running: true,
            ..Session::default()
        }),
        ..WatchedSession::default()
    };
    let approval = |id: &&str| Approval {
        approval_id: (*id).to_owned(),
        ..Approval::default()
    };
    Overview {
        sessions: sessions.iter().map(session).collect(),
        approvals: approvals.iter().map(approval).collect(),
        ..Overview::default()
    }
}

fn board(sessions: &[&str], approvals: &[&str]) -> Board {
    let mut board = Board::default();
    board.take(overview(sessions, approvals), Instant::now());
    board
}

fn answer(approval: &str, approve: bool) -> Option<Act> {
    let approval = approval.to_owned();
    Some(Act::Answer { approval, approve })
}

#[test]
fn the_selection_stays_with_its_session() {
    let mut board = board(&["a", "b", "c"], &[]);
    board.press(Key::Down);
    assert_eq!(board.position(), Some(1));
    board.take(overview(&["b", "c"], &[]), Instant::now());
    assert_eq!(board.position(), Some(0));
    board.press(Key::Last);
    board.press(Key::Down);
    let session = "c".to_owned();
    let write = false;
    assert_eq!(board.press(Key::Enter), Some(Act::Open { session, write }));
    board.take(overview(&[], &[]), Instant::now());
    assert_eq!(board.press(Key::Enter), None);
    assert_eq!(board.press(Key::Up), None);
}

#[test]
fn an_answer_is_for_what_was_seen_to_its_end() {
    let mut board = board(&["a"], &["ask-1", "ask-2"]);
    board.drew(3);
    assert_eq!(board.press(Key::Char('a')), None);
    assert_eq!(board.press(Key::Char('y')), None, "it goes on");
    board.press(Key::PageDown);
    board.drew(0);
    assert_eq!(board.press(Key::Char('a')), None);
    assert_eq!(board.press(Key::Char('y')), answer("ask-1", true));
    assert_eq!(board.press(Key::Char('y')), None, "once");
    board.press(Key::Tab);
    assert_eq!(board.press(Key::Char('a')), None);
    assert_eq!(board.press(Key::Char('y')), None, "another is another");
    board.press(Key::Char('r'));
    assert_eq!(board.press(Key::Char('y')), answer("ask-2", false));
}

#[test]
fn a_question_that_slips_into_the_place_of_another_is_not_answered() {
    let mut board = board(&["a"], &["ask-1"]);
    board.drew(0);
    board.press(Key::Char('a'));
    board.take(overview(&["a"], &["ask-2"]), Instant::now());
    assert_eq!(board.press(Key::Char('y')), None);
    // One that comes before it does not move it.
    board.drew(0);
    board.press(Key::Char('a'));
    board.take(overview(&["a"], &["ask-0", "ask-2"]), Instant::now());
    assert_eq!(board.press(Key::Char('y')), answer("ask-2", true));
}

#[test]
fn any_other_key_takes_a_question_back() {
    let mut board = board(&["a"], &[]);
    assert_eq!(board.press(Key::Char('c')), None);
    assert_eq!(
        board.press(Key::Char('q')),
        None,
        "only the question is left"
    );
    assert_eq!(board.press(Key::Char('y')), None);
    board.press(Key::Char('c'));
    let session = "a".to_owned();
    assert_eq!(board.press(Key::Char('y')), Some(Act::Cancel { session }));
    board.press(Key::Char('c'));
    board.lose();
    assert_eq!(board.press(Key::Char('y')), None);
    assert_eq!(board.press(Key::Interrupt), Some(Act::Quit));
}

#[test]
fn rates_are_those_of_the_last_seconds() {
    let mut board = Board::default();
    let begin = Instant::now();
    for second in 0..20_u64 {
        let now = Overview {
            commands_total: second * 2,
            output_bytes_total: second * 1000,
            ..Overview::default()
        };
        board.take(now, begin + Duration::from_secs(second));
    }
    assert!((board.rates().commands - 2.0).abs() < 0.1);
    assert!((board.rates().bytes - 1000.0).abs() < 50.0);
    for second in 20..30_u64 {
        board.sample(begin + Duration::from_secs(second));
    }
    assert!(board.rates().commands.abs() < f64::EPSILON);
    // A daemon that counts anew has done nothing that is less than nothing.
    board.take(Overview::default(), begin + Duration::from_secs(31));
    assert!(board.rates().commands.abs() < f64::EPSILON);
}
