//! Places that are covered while the walls around them stand.

use std::fs;
use std::path::Path;

use glass_model::{Mount, View, Walls};
use glass_spawn::{CoverError, cover};

use crate::fixture::read_line;
use crate::walls::{Ground, expecting};

/// Starts a shell that reads paths and says what each holds.
async fn reader(ground: &Ground, walls: Walls) -> Reader {
    let script = "echo up; while read -r word path; do case $word in \
        cat) cat \"$path\" 2>&1;; write) { echo x > \"$path\"; } 2>&1 && echo done;; esac; done";
    let (control, theirs) = rustix::net::socketpair(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::SEQPACKET,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )
    .expect("a pair");
    let mut launch = ground.launch(walls, script);
    let (input_end, input) = std::io::pipe().expect("a pipe");
    launch.child_fds.push((0, input_end.into()));
    launch.walls_control = Some(theirs);
    let (_launched, out) = ground.start(launch).await;
    Reader {
        control,
        input,
        out,
    }
}

struct Reader {
    control: std::os::fd::OwnedFd,
    input: std::io::PipeWriter,
    out: fs::File,
}

impl Reader {
    async fn ask(&mut self, word: &str, path: &Path) -> String {
        let line = format!("{word} {}\n", path.display());
        std::io::Write::write_all(&mut self.input, line.as_bytes()).expect("it reads");
        read_line(&self.out).await
    }

    fn cover(&self, mounts: &[Mount]) -> Result<(), CoverError> {
        use std::os::fd::AsFd;
        cover(self.control.as_fd(), mounts)
    }
}

#[tokio::test]
async fn places_are_covered_while_the_walls_stand() {
    let ground = Ground::new().await;
    let mut reader = reader(&ground, ground.walls(vec![])).await;
    let (secret, file) = (ground.path("ws/secret"), ground.path("ws/sub/file"));
    assert_eq!(reader.ask("cat", &secret).await, "original");
    assert_eq!(reader.ask("write", &file).await, "done");
    let mounts = [
        expecting(ground.mount("ws/secret", View::Hidden), &secret),
        ground.mount("ws/sub", View::ReadOnly),
    ];
    reader.cover(&mounts).expect("covered");
    assert!(
        reader
            .ask("cat", &secret)
            .await
            .ends_with("Permission denied")
    );
    assert!(
        reader
            .ask("write", &file)
            .await
            .ends_with("Read-only file system")
    );
    // As often as one likes, also with what was there before.
    reader.cover(&mounts).expect("covered again");
    assert!(
        reader
            .ask("cat", &secret)
            .await
            .ends_with("Permission denied")
    );
}

#[tokio::test]
async fn a_mask_that_the_host_undid_is_put_back() {
    let ground = Ground::new().await;
    let hidden = || ground.mount("ws/secret", View::Hidden);
    let mut reader = reader(&ground, ground.walls(vec![hidden()])).await;
    let secret = ground.path("ws/secret");
    assert!(
        reader
            .ask("cat", &secret)
            .await
            .ends_with("Permission denied")
    );
    // As an editor saves.
    fs::write(ground.path("ws/new"), "edited\n").expect("written");
    fs::rename(ground.path("ws/new"), &secret).expect("renamed");
    assert_eq!(reader.ask("cat", &secret).await, "edited");
    reader.cover(&[hidden()]).expect("covered");
    assert!(
        reader
            .ask("cat", &secret)
            .await
            .ends_with("Permission denied")
    );
}

#[tokio::test]
async fn walls_are_never_widened() {
    let ground = Ground::new().await;
    let secret = ground.mount("ws/secret", View::Hidden);
    let mut reader = reader(&ground, ground.walls(vec![secret])).await;
    for view in [
        View::Writable,
        View::Empty,
        View::Scratch { bytes_max: 1 << 20 },
        View::Other {
            source: b"/etc".to_vec(),
        },
    ] {
        let wide = reader.cover(&[ground.mount("ws/sub", view)]);
        assert!(matches!(wide, Err(CoverError::NotACover { .. })));
    }
    let missing = reader.cover(&[ground.mount("ws/missing", View::ReadOnly)]);
    match missing {
        Err(CoverError::Failed { path, source }) => {
            assert_eq!(
                Path::new(std::str::from_utf8(&path).expect("text")),
                ground.path("ws/missing")
            );
            assert_eq!(source.raw_os_error(), Some(2));
        }
        other => panic!("{other:?}"),
    }
    // Nonsense is not answered, and harms nothing.
    for nonsense in [
        &b"\xff\xff\xff"[..],
        &[7; 60_000],
        b"\x08\x01\x12\x04\x0a\x02/.",
    ] {
        rustix::net::send(&reader.control, nonsense, rustix::net::SendFlags::NOSIGNAL)
            .expect("sent");
    }
    reader
        .cover(&[ground.mount("ws/sub", View::Hidden)])
        .expect("covered");
    let file = ground.path("ws/sub/file");
    assert!(
        reader
            .ask("cat", &file)
            .await
            .ends_with("Permission denied")
    );
}

#[tokio::test]
async fn walls_that_are_gone_say_so() {
    let mut ground = Ground::new().await;
    let walls = ground.walls(vec![]);
    let (control, theirs) = rustix::net::socketpair(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::SEQPACKET,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )
    .expect("a pair");
    let mut launch = ground.launch(walls, ":");
    launch.walls_control = Some(theirs);
    let launched = ground.home.keeper.spawn(launch).await.expect("it starts");
    ground.home.emptied(&launched).await;
    let covered = cover(
        std::os::fd::AsFd::as_fd(&control),
        &[ground.mount("ws/secret", View::Hidden)],
    );
    assert!(matches!(covered, Err(CoverError::Gone(_))));
}

#[tokio::test]
async fn what_is_gone_is_hidden() {
    let ground = Ground::new().await;
    let mut reader = reader(&ground, ground.walls(vec![])).await;
    let secret = ground.path("ws/secret");
    let gone = ground.mount("ws/gone", View::Hidden);
    let hidden = ground.mount("ws/secret", View::Hidden);
    reader.cover(&[gone, hidden]).expect("covered");
    let answer = reader.ask("cat", &secret).await;
    assert!(answer.ends_with("Permission denied"), "{answer}");
}
