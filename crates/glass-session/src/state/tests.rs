//! The session's decisions, as text.

use super::{Effect, Held, Input, RoomId, State};
use glass_model::{AbortReason, Mode, ShellId, Startup, WaitStatus};
use std::fmt::Write as _;

/// Feeds `inputs` to a session and compares the effects, one line an input.
fn check(mode: Mode, auto: bool, inputs: &[Input], expected: &str) {
    let mut state = State::new(mode, auto, Startup::Login);
    let mut seen = String::new();
    for input in inputs {
        // Waiting goes without saying.
        let effects: Vec<String> = state
            .step(input.clone())
            .iter()
            .filter(|effect| !matches!(effect, Effect::Attend(_)))
            .map(short)
            .collect();
        writeln!(seen, "{}", effects.join(", ")).expect("writing to a string cannot fail");
    }
    let expected: Vec<&str> = expected.lines().map(str::trim).skip(1).collect();
    assert_eq!(
        seen.trim_end().lines().collect::<Vec<_>>(),
        expected,
        "\n{seen}"
    );
}

/// An effect in few words.
fn short(effect: &Effect) -> String {
    match effect {
        Effect::StartShell(ROOM, startup) => format!("start {startup:?}"),
        Effect::StartShell(room, startup) => format!("start {startup:?} in {}", room.0),
        Effect::Attend(room) => format!("attend {}", room.0),
        Effect::Begin(id, way) => format!("begin {id} {way:?}"),
        Effect::EndCommand(id, way) => format!("end {id} {way:?}"),
        Effect::EndSession => "end session".to_owned(),
        Effect::BecomeLine => "become line".to_owned(),
        Effect::Remark(status, _) => format!("remark {status}"),
        Effect::Close => "close".to_owned(),
        Effect::Finish(id, outcome) => {
            let mut text = format!("finish {id}");
            if let Some(code) = outcome.code {
                text += &format!(" code {code}");
            }
            if let Some(reason) = outcome.abort {
                text += &format!(" abort {reason:?}");
            }
            if outcome.spawn_error.is_some() {
                text += " never ran";
            }
            if outcome.details.shell_replaced {
                text += " replaced";
            }
            text
        }
    }
}

/// The room of commands with ordinary rights.
const ROOM: RoomId = RoomId(0);

fn id(n: u32) -> ShellId {
    ShellId(n)
}

#[test]
fn commands_run_one_after_the_other() {
    check(
        Mode::Pipe,
        true,
        &[
            Input::Submit(id(1), ROOM, Held::No),
            Input::Submit(id(2), ROOM, Held::No),
            Input::ShellReady(ROOM),
            Input::Began,
            Input::Done(3),
            Input::Done(0),
        ],
        "
        start Login

        begin 1 Warm

        finish 1 code 3, begin 2 Warm
        finish 2 code 0",
    );
}

#[test]
fn a_command_whose_shell_died_unread_is_offered_again_and_then_runs_in_line_mode() {
    check(
        Mode::Pipe,
        true,
        &[
            Input::Submit(id(1), ROOM, Held::No),
            Input::ShellReady(ROOM),
            Input::ShellExited(ROOM, WaitStatus::Signaled(9)),
            Input::ShellReady(ROOM),
            Input::ShellExited(ROOM, WaitStatus::Signaled(9)),
        ],
        "
        start Login
        begin 1 Warm
        start Login
        begin 1 Warm
        become line, remark fallback, begin 1 Line",
    );
}

#[test]
fn a_command_that_began_is_never_begun_again() {
    check(
        Mode::Pipe,
        true,
        &[
            Input::Submit(id(1), ROOM, Held::No),
            Input::ShellReady(ROOM),
            Input::Began,
            Input::ShellExited(ROOM, WaitStatus::Exited(3)),
            Input::ShellExited(ROOM, WaitStatus::Exited(3)),
        ],
        "
        start Login
        begin 1 Warm

        finish 1 code 3 replaced, start Login
        remark fallback, start Nothing",
    );
}

#[test]
fn a_cancelled_command_finishes_once_when_nothing_of_it_is_left() {
    check(
        Mode::Pipe,
        true,
        &[
            Input::Submit(id(1), ROOM, Held::No),
            Input::ShellReady(ROOM),
            Input::Began,
            Input::Abort(None, AbortReason::User),
            Input::Abort(None, AbortReason::Timeout),
            Input::ShellExited(ROOM, WaitStatus::Signaled(9)),
            Input::TreeEnded,
        ],
        "
        start Login
        begin 1 Warm

        end 1 Warm


        finish 1 abort User replaced, start Login",
    );
}

#[test]
fn a_command_that_ended_before_the_signal_keeps_its_code() {
    check(
        Mode::Pipe,
        true,
        &[
            Input::Submit(id(1), ROOM, Held::No),
            Input::ShellReady(ROOM),
            Input::Began,
            Input::Abort(Some(id(1)), AbortReason::User),
            Input::Done(7),
            Input::TreeEnded,
        ],
        "
        start Login
        begin 1 Warm

        end 1 Warm

        finish 1 code 7 replaced, start Login",
    );
}

#[test]
fn disposing_aborts_what_waits_and_what_runs() {
    check(
        Mode::Line,
        false,
        &[
            Input::Submit(id(1), ROOM, Held::No),
            Input::Submit(id(2), ROOM, Held::No),
            Input::Dispose,
            Input::Dispose,
            Input::Submit(id(3), ROOM, Held::No),
            Input::TreeEnded,
        ],
        "
        begin 1 Line

        finish 2 abort User, end session

        finish 3 abort User
        finish 1 abort User, close",
    );
}

#[test]
fn a_pipe_session_whose_shell_never_starts_says_so() {
    check(
        Mode::Pipe,
        false,
        &[
            Input::Submit(id(1), ROOM, Held::No),
            Input::ShellFailed(ROOM, "slow".into()),
            Input::ShellFailed(ROOM, "slow".into()),
        ],
        "
        start Login
        remark fallback, start Nothing
        finish 1 never ran",
    );
}

proptest::proptest! {
    /// Whatever happens in whatever order, nothing is finished twice, and what
    /// has begun is never begun again.
    #[test]
    fn every_execution_is_finished_at_most_once(
        script in proptest::collection::vec((0u8..12, 0u32..2), 0..60),
        auto in proptest::bool::ANY,
    ) {
        use std::collections::HashSet;
        let mut state = State::new(Mode::Pipe, auto, Startup::Rc);
        let mut next = 1;
        let mut finished = HashSet::new();
        let mut begun = HashSet::new();
        let mut current = None;
        for (what, room) in script {
            let room = RoomId(room);
            let input = match what {
                0 | 1 => { next += 1; Input::Submit(id(next), room, Held::No) }
                2 => Input::ShellReady(room),
                3 => Input::ShellFailed(room, "x".into()),
                4 => { if let Some(id) = current { begun.insert(id); } Input::Began }
                5 => Input::Done(1),
                6 => Input::ShellExited(room, WaitStatus::Unknown),
                7 => Input::Abort(None, AbortReason::User),
                8 => Input::TreeEnded,
                10 => Input::RoomRefused(room, "x".into()),
                9 => Input::CannotRun("x".into()),
                _ => Input::LineExited(WaitStatus::Exited(0)),
            };
            for effect in state.step(input) {
                match effect {
                    Effect::Finish(id, _) => proptest::prop_assert!(finished.insert(id)),
                    Effect::Begin(id, _) => {
                        proptest::prop_assert!(!begun.contains(&id));
                    }
                    _ => {}
                }
            }
            current = state.current();
        }
    }
}

#[test]
fn commands_with_other_rights_have_a_shell_of_their_own() {
    let other = RoomId(1);
    check(
        Mode::Pipe,
        true,
        &[
            Input::Submit(id(1), ROOM, Held::No),
            Input::Submit(id(2), other, Held::No),
            Input::Submit(id(3), ROOM, Held::No),
            Input::ShellReady(ROOM),
            Input::Done(0),
            Input::ShellReady(other),
            Input::Done(0),
            Input::ShellExited(other, WaitStatus::Exited(0)),
            Input::Done(0),
        ],
        "
        start Login


        begin 1 Warm
        finish 1 code 0, start Login in 1
        begin 2 Warm
        finish 2 code 0, begin 3 Warm

        finish 3 code 0",
    );
}
