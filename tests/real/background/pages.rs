//! The terminals folder.

use super::Behind;
use crate::redaction::projections::{TOKEN, TOKEN_SHOWN};
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::agent::v1::sandbox_policy::Type;
use glass_proto::agent::v1::write_shell_stdin_result::Result as Written;
use glass_proto::shellglass::v1::{CreateSessionRequest, Session, SessionMode};
use shellglass_tests::calls::success;
use shellglass_tests::{TestSession, eventually};
use std::path::{Path, PathBuf};

/// What a page has at most: its text, its first lines, and the lines around
/// commands.
const PAGE_BYTES_MAX: usize = 300 * 1024;

fn page_of(session: &Session) -> PathBuf {
    assert!(!session.terminal_file.is_empty(), "{session:?}");
    PathBuf::from(&session.terminal_file)
}

/// A page as it is now; one that is not there yet has nothing.
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

async fn until(path: &Path, what: &str, holds: impl Fn(&str) -> bool) -> String {
    eventually(&format!("{what} in {}", path.display()), || {
        holds(&read(path))
    })
    .await;
    read(path)
}

/// The value of a field in the first lines.
fn field<'a>(page: &'a str, name: &str) -> &'a str {
    let (top, _) = page.split_once("\n---\n").expect("a page has a top");
    let line = top.lines().find_map(|line| line.strip_prefix(name));
    line.expect("a page has all fields").trim()
}

#[tokio::test]
async fn a_page_shows_what_runs_and_what_ran() {
    let behind = Behind::start("").await;
    let session = &behind.session;
    let path = page_of(&session.shown().await);
    let idle = until(&path, "a page", |page| !page.is_empty()).await;
    assert_eq!(field(&idle, "status: "), "idle");
    assert_eq!(field(&idle, "directory: "), behind.dir().to_str().unwrap());
    session.run("printf 'a\\rb\\033[31mc\\n'; (exit 3)").await;
    let page = until(&path, "the end", |page| page.contains("[exit 3]")).await;
    let text = "$ printf 'a\\rb\\033[31mc\\n'; (exit 3)\nbc\n[exit 3]\n";
    assert!(page.ends_with(text), "{page}");
    assert_eq!(field(&page, "status: "), "exited");
    assert_eq!(field(&page, "exit: "), "3");
    let (id, stream) = session.begin("echo $$; cd /; sleep 1000").await;
    let page = until(&path, "the running command", |page| {
        page.contains("status: running") && page.contains("sleep 1000\n")
    })
    .await;
    let pid = field(&page, "pid: ").to_owned();
    until(&path, "its output", |page| {
        page.ends_with(&format!("\n{pid}\n"))
    })
    .await;
    assert!(session.cancel(Some(id)).await);
    drop(stream);
    until(&path, "how it was ended", |page| {
        page.contains("status: exited")
    })
    .await;
    // One page for each session, and gone with it.
    session.dispose().await;
    let folder = path.parent().unwrap();
    eventually("the page is gone", || !path.exists() && !folder.exists()).await;
}

#[tokio::test]
async fn a_page_is_whole_at_any_moment_and_bounded() {
    let behind = Behind::start("").await;
    let session = &behind.session;
    let path = page_of(&session.shown().await);
    until(&path, "a page", |page| !page.is_empty()).await;
    let (_, stream) = session
        .begin("i=0; while :; do echo \"line $((i++)) x\"; done")
        .await;
    let mut longest = 0;
    eventually("much was written", || {
        let page = read(&path);
        let (_, text) = page.split_once("\n---\n").expect("a whole page");
        assert!(page.len() <= PAGE_BYTES_MAX, "{}", page.len());
        for line in text.lines().filter(|line| !line.starts_with(['$', '['])) {
            assert!(
                line.starts_with("line ") && line.ends_with(" x"),
                "{line:?}"
            );
        }
        longest = longest.max(page.len());
        page.contains("[... what was written first is not on this page, length=")
    })
    .await;
    assert!(longest > 100 * 1024, "{longest}");
    assert!(session.cancel(None).await);
    drop(stream);
}

#[tokio::test]
async fn the_answer_to_what_is_typed_begins_where_the_page_ended() {
    let behind = Behind::start("").await;
    let command = "printf 'name? '; read x; echo \"hello $x\"; read x; exit 5";
    let id = behind.spawn(command).await;
    behind.until_written(id, "name? ").await;
    let path = page_of(&behind.listed().await[0]);
    let written = match behind.write(id, "Ada\n").await {
        Written::Success(success) => success,
        Written::Error(error) => panic!("not written: {error:?}"),
    };
    assert_eq!(written.output_offset_before_input_written, 6);
    let at = written.terminal_file_length_before_input_written as usize;
    let page = until(&path, "the answer", |page| page.contains("hello Ada")).await;
    assert_eq!(&page[at..], "hello Ada\n", "{page}");
    assert_eq!(field(&page, "command: "), command);
    assert_eq!(field(&page, "status: "), "running");
    behind.wrote(id, "\n").await;
    assert_eq!(behind.ended(id).await, Some(5));
    // How a background command ended is to be read when it is over.
    let page = until(&path, "its end", |page| page.contains("status: exited")).await;
    assert_eq!(field(&page, "exit: "), "5");
    assert_eq!(&page[at..], "hello Ada\n", "{page}");
}

#[tokio::test]
async fn a_page_has_no_secrets() {
    let behind = Behind::start("").await;
    let session = &behind.session;
    let path = page_of(&session.shown().await);
    session.run(&format!("echo start {TOKEN} end")).await;
    let page = until(&path, "the end", |page| page.contains("[exit 0]")).await;
    assert!(!page.contains(TOKEN), "{page}");
    assert!(
        page.contains(&format!("start {TOKEN_SHOWN} end\n")),
        "{page}"
    );
}

#[tokio::test]
async fn a_page_is_there_again_after_a_crash() {
    let mut behind = Behind::start("").await;
    behind.session.run("echo before").await;
    let path = page_of(&behind.session.shown().await);
    let other = path
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("not-a-session");
    std::fs::create_dir(&other).unwrap();
    behind.daemon.kill();
    drop(std::fs::remove_file(&path));
    behind.restart().await;
    behind.session.run("echo after").await;
    let page = until(&path, "what came after", |page| page.contains("\nafter\n")).await;
    assert!(page.contains("$ echo before\nbefore\n[exit 0]\n"), "{page}");
    assert!(!other.exists());
}

#[tokio::test]
async fn a_command_behind_walls_sees_its_own_page_and_cannot_change_it() {
    let behind = Behind::start("").await;
    behind.session.run("echo mine").await;
    let other = page_of(&behind.session.shown().await);
    let request = CreateSessionRequest {
        shell: "bash".to_owned(),
        mode: SessionMode::Pipe.into(),
        startup: "none".to_owned(),
        working_directory: behind.dir().to_string_lossy().into_owned(),
        sandbox_policy: Some(SandboxPolicy {
            r#type: Type::WorkspaceReadwrite.into(),
            network_access: Some(false),
            ..SandboxPolicy::default()
        }),
        ..CreateSessionRequest::default()
    };
    let walled = TestSession::create(&behind.daemon, request).await;
    let result = walled.result(walled.request("echo first")).await;
    let folder = result.terminals_folder.clone().expect("there is one");
    success(result);
    let own = page_of(&walled.shown().await);
    assert!(own.starts_with(&folder), "{folder} {}", own.display());
    assert!(!own.starts_with(behind.daemon.home().join("data")));
    until(&own, "the first command", |page| page.contains("\nfirst\n")).await;
    let (own, other) = (own.display(), other.display());
    let seen = walled.run(&format!("cat '{own}'")).await;
    assert!(seen.stdout.contains("$ echo first\nfirst\n"), "{seen:?}");
    let hidden = walled.run(&format!("cat '{other}'")).await;
    assert!(
        hidden.stdout.is_empty() && hidden.code != Some(0),
        "{hidden:?}"
    );
    let change =
        format!("echo x > '{own}'; rm -f '{own}'; mv '{own}' away; touch \"$(dirname '{own}')/x\"");
    walled.run(&change).await;
    let after = walled
        .run(&format!("cat '{own}'; ls -A \"$(dirname '{own}')\""))
        .await;
    assert!(after.stdout.contains("$ echo first\nfirst\n"), "{after:?}");
    assert!(after.stdout.ends_with("\npage.txt\n"), "{after:?}");
}
