//! Starting children: what they get, and how their failures and ends are told.

use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use glass_model::WaitStatus;
use glass_spawn::tree::Manner;
use glass_spawn::{GATE_FD, KeeperEvent, SpawnError, Stage};
use rustix::fs::{Mode, OFlags};

use crate::fixture::{
    Home, PATIENCE, all_of, end, failure, launch, living_below, pipe, read_all, read_line, until,
};

#[tokio::test]
async fn ends_are_reported_as_the_kernel_says_them() {
    let mut home = Home::new().await;
    let cases = [
        ("exit 0", WaitStatus::Exited(0)),
        ("exit 7", WaitStatus::Exited(7)),
        ("kill -9 $$", WaitStatus::Signaled(9)),
        ("kill -TERM $$", WaitStatus::Signaled(15)),
    ];
    for (script, expected) in cases {
        let (launched, _) = home.bash(script).await;
        assert_eq!(home.exit_of(&launched).await, expected, "{script}");
        assert_eq!(
            home.next_event().await,
            KeeperEvent::Emptied { id: launched.id }
        );
        home.keeper.forget(launched.id).await.expect("forgotten");
    }
    assert!(home.keeper.list().await.expect("a list").is_empty());
}

#[tokio::test]
async fn a_tree_is_not_empty_while_anything_of_it_lives() {
    let mut home = Home::new().await;
    let (gate, _open) = pipe();
    let mut ask = launch(&["/bin/bash", "-c", "(setsid cat <&5 &); exit 3"]);
    ask.child_fds.push((5, gate.into()));
    let launched = home.keeper.spawn(ask).await.expect("it starts");
    assert_eq!(home.exit_of(&launched).await, WaitStatus::Exited(3));
    assert_eq!(living_below(&launched).len(), 1);
    let info = &home.keeper.list().await.expect("a list")[0];
    assert_eq!(
        (info.status, info.emptied),
        (Some(WaitStatus::Exited(3)), false)
    );
    drop(_open);
    home.emptied(&launched).await;
}

#[tokio::test]
async fn a_gated_child_begins_with_a_byte_and_keeps_no_gate() {
    let mut home = Home::new().await;
    let (output, child_output) = pipe();
    let (gate, open) = std::io::pipe().expect("a pipe");
    let script = "echo $$; for i in {0..300}; do [ -e /proc/$$/fd/$i ] && echo $i; done; :";
    let mut ask = launch(&["/bin/bash", "-c", script]);
    ask.child_fds.push((1, child_output));
    ask.child_fds.push((GATE_FD, gate.into()));
    let launched = home.keeper.spawn(ask).await.expect("it is ready");
    // It has not become the shell, however long it takes.
    let program = std::fs::read_link(format!("/proc/{}/exe", launched.child.pid));
    assert!(!program.expect("it lives").ends_with("bash"));
    std::io::Write::write_all(&mut &open, b"\n").expect("it waits");
    let text = read_all(output).await;
    assert_eq!(text, format!("{}\n0\n1\n2\n", launched.child.pid));
    assert_eq!(home.exit_of(&launched).await, WaitStatus::Exited(0));
}

#[tokio::test]
async fn a_gated_child_ends_when_nobody_can_let_it_through() {
    let mut home = Home::new().await;
    let (output, child_output) = pipe();
    let (gate, open) = std::io::pipe().expect("a pipe");
    let mut ask = launch(&["/bin/echo", "too early"]);
    ask.child_fds.push((1, child_output));
    ask.child_fds.push((GATE_FD, gate.into()));
    let launched = home.keeper.spawn(ask).await.expect("it is ready");
    drop(open);
    assert_eq!(home.exit_of(&launched).await, WaitStatus::Exited(127));
    assert_eq!(read_all(output).await, "");
}

#[tokio::test]
async fn a_program_that_is_missing_behind_the_gate_says_so_and_ends() {
    let mut home = Home::new().await;
    let (output, child_output) = pipe();
    let (gate, open) = std::io::pipe().expect("a pipe");
    let mut ask = launch(&["/no/such/program"]);
    ask.child_fds.push((2, child_output));
    ask.child_fds.push((GATE_FD, gate.into()));
    let launched = home.keeper.spawn(ask).await.expect("it is ready");
    std::io::Write::write_all(&mut &open, b"\n").expect("it waits");
    assert_eq!(home.exit_of(&launched).await, WaitStatus::Exited(126));
    assert!(read_all(output).await.contains("cannot be executed"));
}

#[tokio::test]
async fn a_child_has_its_descriptors_and_no_others() {
    let home = Home::new().await;
    let script = "echo seven >&7; echo two >&2; \
        for i in $(seq 0 300); do [ -e /proc/$$/fd/$i ] && printf '%s ' $i; done; \
        readlink /proc/$$/fd/0";
    let (out, out_end) = pipe();
    let (seven, seven_end) = pipe();
    let (two, two_end) = pipe();
    let mut ask = launch(&["/bin/bash", "-c", script]);
    // 200 is above what the keeper itself has open.
    let spare: OwnedFd = pipe().0.into();
    ask.child_fds = vec![(7, seven_end), (1, out_end), (200, spare), (2, two_end)];
    home.keeper.spawn(ask).await.expect("it starts");
    assert_eq!(read_all(out).await, "0 1 2 7 200 /dev/null\n");
    assert_eq!(read_all(seven).await, "seven\n");
    assert_eq!(read_all(two).await, "two\n");
}

#[tokio::test]
async fn descriptors_find_their_places_however_they_overlap() {
    let home = Home::new().await;
    let mut ask = launch(&["/bin/bash", "-c", "for i in {3..90}; do echo $i >&$i; done"]);
    let mut ends = Vec::new();
    for target in (3..=90).rev() {
        let (read, write) = pipe();
        ask.child_fds.push((target, write));
        ends.push((target, read));
    }
    home.keeper.spawn(ask).await.expect("it starts");
    for (target, read) in ends {
        assert_eq!(read_all(read).await, format!("{target}\n"));
    }
}

#[tokio::test]
async fn a_child_begins_with_a_clean_slate() {
    let home = Home::new().await;
    let script = "grep -E '^Sig(Blk|Ign)' /proc/self/status; ulimit -Sn; \
        cut -d' ' -f6 /proc/self/stat; echo $$; cat /proc/self/oom_score_adj; pwd; env | sort";
    let mut ask = launch(&["/bin/bash", "-c", script]);
    let (out, out_end) = pipe();
    ask.child_fds.push((1, out_end));
    ask.plan.cwd = b"/tmp".to_vec();
    ask.plan.env.push(b"ODD.NAME=\xff x".to_vec());
    home.keeper.spawn(ask).await.expect("it starts");
    let mut out = out;
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut out, &mut text).expect("output");
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    for (line, name) in lines.iter().zip(["SigBlk", "SigIgn"]) {
        assert_eq!(*line, format!("{name}:\t0000000000000000"), "{text}");
    }
    let soft = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    assert_eq!(lines[2], soft.expect("a limit").to_string());
    assert_eq!(lines[3], lines[4], "the child leads a session");
    assert_eq!(lines[5], "0");
    assert_eq!(lines[6], "/tmp");
    assert!(
        text.contains("ODD.NAME=\u{fffd} x") && !text.contains("CARGO"),
        "{text}"
    );
}

#[tokio::test]
async fn a_launch_that_cannot_begin_says_at_which_step_and_why() {
    let home = Home::new().await;
    let plain = home.path("plain");
    std::fs::write(&plain, "no program").expect("written");
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o644)).expect("set");
    let plain = plain.to_str().expect("text").to_owned();
    let check = async |cwd: &str, program: &str, expected: (Stage, &str, i32)| {
        let mut ask = launch(&[program]);
        ask.plan.cwd = cwd.as_bytes().to_vec();
        let error = failure(home.keeper.spawn(ask).await);
        let SpawnError::Failed {
            stage,
            path,
            source,
        } = &error
        else {
            panic!("{error}");
        };
        let path = path.to_str().expect("text");
        assert_eq!(
            (*stage, path, source.raw_os_error().unwrap_or(0)),
            expected,
            "{error}"
        );
    };
    check(
        "/no/such",
        "/bin/true",
        (Stage::Directory, "/no/such", libc_errno::ENOENT),
    )
    .await;
    check(
        "/etc/passwd",
        "/bin/true",
        (Stage::Directory, "/etc/passwd", 20),
    )
    .await;
    check(
        "/",
        "/no/such",
        (Stage::Execute, "/no/such", libc_errno::ENOENT),
    )
    .await;
    check("/", &plain, (Stage::Execute, &plain, 13)).await;
    check("/", "/etc", (Stage::Execute, "/etc", 13)).await;
    assert!(home.keeper.list().await.expect("a list").is_empty());
}

mod libc_errno {
    pub const ENOENT: i32 = 2;
}

#[tokio::test]
async fn a_launch_that_makes_no_sense_is_refused() {
    let home = Home::new().await;
    let refused = async |change: &dyn Fn(&mut glass_spawn::Launch)| {
        let mut ask = launch(&["/bin/true"]);
        change(&mut ask);
        let error = failure(home.keeper.spawn(ask).await);
        assert!(matches!(error, SpawnError::Refused { .. }), "{error}");
    };
    refused(&|l| l.plan.program = b"true".to_vec()).await;
    refused(&|l| l.plan.program = b"/bin/\0true".to_vec()).await;
    refused(&|l| l.plan.argv.clear()).await;
    refused(&|l| l.plan.env.push(b"A=\0".to_vec())).await;
    refused(&|l| l.plan.cwd = b"here".to_vec()).await;
    refused(&|l| l.tag = vec![0; 5000]).await;
    refused(&|l| l.child_fds.push((-2, pipe().1))).await;
    refused(&|l| l.child_fds.push((100_000, pipe().1))).await;
    refused(&|l| l.child_fds = vec![(4, pipe().1), (4, pipe().1)]).await;
    refused(&|l| l.held = (0..200).map(|i| (i.to_string(), pipe().1)).collect()).await;
    refused(&|l| l.held = vec![("x".repeat(65), pipe().1)]).await;
    let (_, out) = home.bash("echo still here").await;
    assert_eq!(read_all(out).await, "still here\n");
}

#[tokio::test]
async fn a_large_environment_arrives() {
    let home = Home::new().await;
    let mut ask = launch(&["/bin/bash", "-c", "echo ${#A0} ${#A9} $#", "x"]);
    for i in 0..10 {
        ask.plan
            .env
            .push(format!("A{i}={}", "v".repeat(100_000)).into_bytes());
    }
    ask.plan
        .argv
        .extend((0..2000).map(|i| i.to_string().into_bytes()));
    let (out, out_end) = pipe();
    ask.child_fds.push((1, out_end));
    home.keeper.spawn(ask).await.expect("it starts");
    assert_eq!(read_all(out).await, "100000 100000 2000\n");
}

#[tokio::test]
async fn many_launches_at_once_are_not_mixed_up() {
    let mut home = Home::new().await;
    let mut tasks = Vec::new();
    for i in 0..100 {
        let keeper = home.keeper.clone();
        tasks.push(tokio::spawn(async move {
            let (out, out_end) = pipe();
            let mut ask = launch(&["/bin/sh", "-c", &format!("echo {i}; exit {i}")]);
            ask.child_fds.push((1, out_end));
            ask.tag = vec![i];
            let launched = keeper.spawn(ask).await.expect("it starts");
            (launched, read_all(out).await, i)
        }));
    }
    for task in tasks {
        let (launched, output, i) = task.await.expect("no panic");
        assert_eq!(output, format!("{i}\n"));
        let listed = home.keeper.list().await.expect("a list");
        let info = listed
            .iter()
            .find(|info| info.id == launched.id)
            .expect("listed");
        assert_eq!((info.tag.clone(), info.child), (vec![i], launched.child));
    }
    let mut emptied = 0;
    while emptied < 100 {
        emptied += u32::from(matches!(
            home.next_event().await,
            KeeperEvent::Emptied { .. }
        ));
    }
    for info in home.keeper.list().await.expect("a list") {
        assert_eq!(info.status, Some(WaitStatus::Exited(info.tag[0].into())));
    }
}

/// A file system whose server never answers: whoever enters it hangs.
struct DeadDisk {
    at: std::path::PathBuf,
    _server: OwnedFd,
}

impl DeadDisk {
    fn mount(at: std::path::PathBuf) -> Option<DeadDisk> {
        use std::os::fd::AsRawFd;
        std::fs::create_dir(&at).ok()?;
        let server = rustix::fs::open("/dev/fuse", OFlags::RDWR, Mode::empty()).ok()?;
        let fd = server.as_raw_fd();
        let options = format!("fd={fd},rootmode=40000,user_id=0,group_id=0");
        let options = std::ffi::CString::new(options).ok()?;
        let flags = rustix::mount::MountFlags::empty();
        rustix::mount::mount("fuse", &at, "fuse", flags, options.as_c_str()).ok()?;
        Some(DeadDisk {
            at,
            _server: server,
        })
    }
}

impl Drop for DeadDisk {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.at, rustix::mount::UnmountFlags::DETACH);
    }
}

#[tokio::test]
async fn a_directory_that_hangs_holds_up_nobody_else() {
    let mut home = Home::new().await;
    // Without the rights to mount there is nothing that hangs for sure.
    let Some(disk) = DeadDisk::mount(home.path("dead")) else {
        return;
    };
    let mut ask = launch(&["/bin/sh", "-c", "echo never"]);
    ask.plan.cwd = disk.at.to_str().expect("text").as_bytes().to_vec();
    let (held, held_end) = pipe();
    ask.held.push(("mine".into(), held_end));
    let keeper = home.keeper.clone();
    let hanging = tokio::spawn(async move { keeper.spawn(ask).await });
    for _ in 0..5 {
        let (launched, out) = home.bash("echo alive").await;
        assert_eq!(read_all(out).await, "alive\n");
        assert_eq!(home.exit_of(&launched).await, WaitStatus::Exited(0));
    }
    assert!(!hanging.is_finished());
    // Listed with its child, and what it holds closes with its record alone.
    let listed = home.keeper.list().await.expect("a list");
    let info = listed
        .iter()
        .find(|info| !info.labels.is_empty())
        .expect("listed");
    home.keeper.forget(info.id).await.expect("forgotten");
    assert_eq!(read_all(held).await, "");
    hanging.abort();
    info.child.kill().expect("killed");
    until("its end", || !info.reaper.is_alive()).await;
}

#[tokio::test]
async fn a_launch_that_nobody_waits_for_any_more_is_ended() {
    let home = Home::new().await;
    let (out, out_end) = pipe();
    let mut ask = launch(&["/bin/sh", "-c", "sleep 1000 & sleep 1000"]);
    ask.child_fds.push((1, out_end));
    let spawning = home.keeper.spawn(ask);
    // Polled once, so that the request is on its way, and dropped.
    let polled = tokio::time::timeout(Duration::ZERO, spawning).await;
    if let Ok(launched) = polled {
        // It was faster than the drop: then it is the caller's to end.
        let launched = launched.expect("it starts");
        end(all_of(&launched, Manner::Kill)).await.expect("ended");
        home.keeper.forget(launched.id).await.expect("forgotten");
    }
    assert_eq!(read_all(out).await, "");
    let deadline = Instant::now() + PATIENCE;
    while !home.keeper.list().await.expect("a list").is_empty() {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_launch_that_cannot_be_tried_leaves_no_cgroup() {
    let home = Home::new().await;
    let name = |what: &str| format!("glass-test-{what}-{}", std::process::id());
    let mut ask = launch(&["/bin/sleep", "1000"]);
    ask.plan.cgroup = name("tried");
    let launched = home.keeper.spawn(ask).await.expect("it starts");
    let group = launched.cgroup.clone();
    end(all_of(&launched, Manner::Kill)).await.expect("ended");
    let Some(group) = group else {
        // There are none here, so none can be left.
        return;
    };
    let mut ask = launch(&["/bin/sleep", "a\0b"]);
    ask.plan.cgroup = name("untried");
    failure(home.keeper.spawn(ask).await);
    assert!(!group.with_file_name(name("untried")).exists());
    until("the removal of the cgroup", || !group.exists()).await;
}

#[tokio::test]
async fn a_child_starts_in_its_cgroup_where_there_are_any() {
    let mut home = Home::new().await;
    let name = format!("glass-test-{}", home.keeper.pid());
    let mut ask = launch(&["/bin/bash", "-c", "cat /proc/self/cgroup; exec sleep 1000"]);
    ask.plan.cgroup = name.clone();
    let (out, out_end) = pipe();
    ask.child_fds.push((1, out_end));
    let launched = home
        .keeper
        .spawn(ask)
        .await
        .expect("it starts, with or without");
    let Some(path) = launched.cgroup.clone() else {
        return;
    };
    assert_eq!(path.file_name().and_then(|n| n.to_str()), Some(&*name));
    let mut line = read_line(&out).await;
    while !line.starts_with("0::") {
        line = read_line(&out).await;
    }
    assert!(line.ends_with(&name), "{line}");
    end(all_of(&launched, Manner::Kill)).await.expect("ended");
    assert_eq!(home.exit_of(&launched).await, WaitStatus::Signaled(9));
    home.emptied(&launched).await;
    until("the removal of the cgroup", || !path.exists()).await;

    let mut ask = launch(&["/bin/true"]);
    ask.plan.cgroup = "../escape".into();
    assert_eq!(
        home.keeper.spawn(ask).await.expect("it starts").cgroup,
        None
    );
}
