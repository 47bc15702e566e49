//! A warm shell gives what a shell of its own would: thousands of mixed
//! commands, made from a seed, each compared with `SHELL -c` on the bytes of
//! both streams and on the exit code.

mod commands;
mod reference;

use commands::{Kind, Sample};
use glass_proto::shellglass::v1::SessionMode;
use reference::{Reference, References, normal};
use shellglass_tests::{Daemon, Streamed, TestSession};

/// Mismatches that are shown before the rest is only counted.
const SHOWN_MAX: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_thousand_commands_in_bash_are_those_of_bash() {
    compare("bash", &commands::bash(5_000, 0x5eed_0001)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_commands_in_zsh_are_those_of_zsh() {
    compare("zsh", &commands::zsh(500, 0x5eed_0002)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_commands_in_fish_are_those_of_fish() {
    compare("fish", &commands::fish(500, 0x5eed_0003)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_commands_in_dash_are_those_of_dash() {
    compare("dash", &commands::dash(500, 0x5eed_0004)).await;
}

async fn compare(shell: &str, samples: &[Sample]) {
    let daemon = Daemon::start("");
    let references = References::begin(daemon.home(), shell, samples);
    let session = TestSession::with(&daemon, shell, SessionMode::Pipe).await;
    let there = daemon.home().join("warm");
    std::fs::create_dir(&there).unwrap();
    let moved = session.run(&format!("cd '{}'", there.display())).await;
    assert_eq!(moved.code, Some(0));

    let mut wrong = Vec::new();
    for (sample, reference) in samples.iter().zip(references) {
        let got = session.stream(&sample.command).await;
        if sample.kind == Kind::Late {
            // Its background job may write after its end, and only there.
            let late = String::from_utf8(reference.stdout.clone()).unwrap();
            session.expect_output(got.shell_id, &late).await;
        }
        wrong.extend(difference(shell, sample, &reference, &got));
    }
    let shown: Vec<&String> = wrong.iter().take(SHOWN_MAX).collect();
    let (count, of) = (wrong.len(), samples.len());
    assert!(wrong.is_empty(), "{count} of {of} differ:\n{shown:#?}");
}

/// What differs between a command in a warm shell and in its own.
fn difference(
    shell: &str,
    sample: &Sample,
    expected: &Reference,
    got: &Streamed,
) -> Option<String> {
    let replaced = sample.kind == Kind::Ends;
    let same = got.ends == 1
        && !got.aborted
        && got.shell_replaced == replaced
        && got.code == Some(expected.code)
        && (sample.kind == Kind::Late || got.stdout == expected.stdout)
        && normal(shell, &got.stderr) == normal(shell, &expected.stderr);
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.chars().take(300).collect::<String>()
    };
    (!same).then(|| {
        format!(
            "{:?}: expected {} {:?} {:?} replaced={replaced}, got {:?} {:?} {:?} replaced={}, \
             ends={} spawn_error={:?}",
            sample.command,
            expected.code,
            text(&expected.stdout),
            text(&expected.stderr),
            got.code,
            text(&got.stdout),
            text(&got.stderr),
            got.shell_replaced,
            got.ends,
            got.spawn_error,
        )
    })
}
