//! Long commands, commands of many lines, and commands that no shell can have.

use crate::matrix::{Case, each_case};
use shellglass_tests::Daemon;
use tonic::Code;

const MIB: usize = 1 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_of_a_mebibyte_runs() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        // Sizes around what travels inline, and around a pipe's and a buffer's.
        for size in [4_000, 4_095, 4_096, 4_097, 65_536, MIB] {
            let text = "x".repeat(size);
            let command = format!("set long '{text}'; echo done");
            let result = case.session.stream(&command).await;
            let what = format!("{} {:?} {size}: {:?}", case.shell, case.mode, result.err());
            assert_eq!(
                (result.code, result.out().as_str()),
                (Some(0), "done\n"),
                "{what}"
            );
        }
        let lines = "echo line\n".repeat(MIB / 10);
        let result = case.session.stream(&lines).await;
        assert_eq!(result.code, Some(0), "{} {:?}", case.shell, case.mode);
        assert_eq!(
            result.stdout.len(),
            MIB / 10 * 5,
            "{} {:?}",
            case.shell,
            case.mode
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_here_document_arrives_whole() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        if case.shell == "fish" {
            return;
        }
        let line = "żółć 日本語 $HOME `x` \\ 'quoted' \"double\"\ttab\n";
        let text = line.repeat(MIB / line.len());
        let result = case
            .session
            .stream(&format!("cat <<'END'\n{text}END\necho after"))
            .await;
        let what = format!("{} {:?} {:?}", case.shell, case.mode, result.err());
        assert_eq!(result.code, Some(0), "{what}");
        assert!(result.out() == format!("{text}after\n"), "{what}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_of_many_lines_runs_as_one_command() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let script = match case.shell {
            "fish" => {
                "# a comment\nset total 0\n\nfor n in (seq 5)\n    set total (math $total + $n)\n\
                 end\nif test $total -eq 15\n    echo right\nend\r\necho $total"
            }
            _ => {
                "# a comment\ntotal=0\n\nfor n in 1 2 3 4 5; do\n  total=$((total + n))\ndone\n\
                 if [ $total -eq 15 ]; then\n  echo right\nfi\necho $total\n\n"
            }
        };
        let script = script.replace('\r', "");
        let result = case.session.stream(&script).await;
        let what = format!("{} {:?} {result:?}", case.shell, case.mode);
        assert_eq!(
            (result.code, result.out().as_str()),
            (Some(0), "right\n15\n"),
            "{what}"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_with_a_nul_is_refused_and_nothing_of_it_runs() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let refused = case
            .session
            .try_run(case.session.request("touch NEXT\0; true"))
            .await;
        let status = refused.expect_err("it is refused");
        assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
        assert!(status.message().contains("NUL"), "{status:?}");
        assert!(!case.dir.join("NEXT").exists());
        assert_eq!(case.session.run("echo on").await.stdout, "on\n");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_is_too_long_is_refused() {
    let daemon = Daemon::start("");
    let case = Case::make(
        &daemon,
        "bash",
        glass_proto::shellglass::v1::SessionMode::Pipe,
    )
    .await;
    let text = "x".repeat(4 * MIB + 1);
    let refused = case
        .session
        .try_run(case.session.request(&format!(": {text}")))
        .await;
    let status = refused.expect_err("it is refused");
    let expected = [
        Code::InvalidArgument,
        Code::ResourceExhausted,
        Code::OutOfRange,
    ];
    assert!(expected.contains(&status.code()), "{status:?}");
    assert_eq!(case.session.run("echo on").await.stdout, "on\n");
}
