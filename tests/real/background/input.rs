//! What is written reaches the command, and what a terminal would do is done.

use super::{Behind, exit};
use glass_proto::shellglass::v1::WaitRequest;
use shellglass_tests::{eventually, processes};

#[tokio::test]
async fn cat_gives_back_what_is_written_until_its_input_ends() {
    let behind = Behind::start("").await;
    let id = behind.spawn("cat; echo over").await;
    assert_eq!(behind.wrote(id, "one\n").await, 0);
    behind.until_written(id, "one\n").await;
    assert_eq!(behind.wrote(id, "two\nthree").await, 4);
    behind.until_written(id, "three").await;
    assert_eq!(behind.wrote(id, "\u{4}").await, 13);
    assert_eq!(behind.ended(id).await, Some(0));
    assert_eq!(behind.output(id).await, "one\ntwo\nthreeover\n");
}

#[tokio::test]
async fn a_loop_of_reads_is_answered_line_by_line() {
    let behind = Behind::start("").await;
    let command = "while read -r line; do echo \"got $line\"; done; echo none left; exit 3";
    let id = behind.spawn(command).await;
    for line in ["a", "b c", "ü"] {
        behind.wrote(id, &format!("{line}\n")).await;
        behind.until_written(id, &format!("got {line}\n")).await;
    }
    behind.wrote(id, "\u{4}").await;
    assert_eq!(behind.ended(id).await, Some(3));
    assert_eq!(
        behind.output(id).await,
        "got a\ngot b c\ngot ü\nnone left\n"
    );
}

#[tokio::test]
async fn an_interpreter_is_used_by_its_prompt() {
    let behind = Behind::start("").await;
    let id = behind.spawn("python3 -i -q -u 2>&1").await;
    let prompt = |offset| WaitRequest {
        pattern: ">>> $".to_owned(),
        offset: Some(offset),
        ..exit(id)
    };
    let ready = behind.wait(prompt(0)).await;
    assert_eq!(ready.reason, "pattern", "{ready:?}");
    let before = behind.wrote(id, "print(6 * 7)\n").await;
    let answered = WaitRequest {
        pattern: r"^42\n>>> $".to_owned(),
        ..prompt(before)
    };
    assert_eq!(behind.wait(answered).await.reason, "pattern");
    behind.wrote(id, "import sys; sys.exit(5)\n").await;
    assert_eq!(behind.ended(id).await, Some(5));
}

#[tokio::test]
async fn control_c_interrupts_what_runs_and_the_shell_goes_on_as_it_wants() {
    let behind = Behind::start("").await;
    let command = "trap 'echo caught' INT; echo up; sleep 1000.4711; echo \"sleep $?\"; cat";
    let id = behind.spawn(command).await;
    behind.until_written(id, "up\n").await;
    let sleeps = || {
        let all = processes().into_iter();
        all.filter(|(_, line)| line.starts_with("sleep 1000.4711"))
            .count()
    };
    eventually("it sleeps", || sleeps() == 1).await;
    behind.wrote(id, "\u{3}").await;
    behind.until_written(id, "caught\nsleep 130\n").await;
    // Text before and after a key arrives in its order.
    behind.wrote(id, "after\n\u{4}").await;
    behind.ended(id).await;
    assert_eq!(behind.output(id).await, "up\ncaught\nsleep 130\nafter\n");
    assert_eq!(sleeps(), 0);
}

#[tokio::test]
async fn control_c_ends_a_command_that_does_not_mind_it() {
    let behind = Behind::start("").await;
    let id = behind.spawn("echo up; exec sleep 1000").await;
    behind.until_written(id, "up\n").await;
    behind.wrote(id, "\u{3}").await;
    assert_eq!(behind.ended(id).await, Some(130));
}

#[tokio::test]
async fn other_control_characters_are_written_as_they_are() {
    let behind = Behind::start("").await;
    let id = behind.spawn("od -An -tx1").await;
    behind.wrote(id, "\u{1}\u{1a}\u{1b}[A\r\n\u{7f}\u{4}").await;
    assert_eq!(behind.ended(id).await, Some(0));
    assert_eq!(behind.output(id).await, " 01 1a 1b 5b 41 0d 0a 7f\n");
}

#[tokio::test]
async fn more_than_a_pipe_holds_is_written_while_the_command_reads() {
    let behind = Behind::start("").await;
    let id = behind.spawn("sleep 0.3; wc -c").await;
    let text = "x".repeat(1 << 20);
    behind.wrote(id, &text).await;
    behind.wrote(id, "\u{4}").await;
    assert_eq!(behind.ended(id).await, Some(0));
    assert_eq!(behind.output(id).await.trim(), "1048576");
}
