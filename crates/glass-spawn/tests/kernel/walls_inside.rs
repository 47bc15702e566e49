//! Walls, seen from inside by those who mean no harm.

use glass_model::View;

use crate::walls::{Ground, mount};

#[tokio::test]
async fn ordinary_work_goes_on_behind_walls() {
    let mut ground = Ground::new().await;
    for (script, expected) in [
        (
            "echo x > sub/new && cat sub/new && rm sub/new && echo ok",
            "x\nok\n",
        ),
        ("echo to-stderr > /dev/stderr", "to-stderr\n"),
        ("cat <(echo through) /dev/fd/3 3<<<here", "through\nhere\n"),
        (
            "mv sub/file file && mv file sub/file && echo moved",
            "moved\n",
        ),
        (
            "echo data > /dev/null; head -c4 /dev/zero | wc -c; head -c2 /dev/urandom | wc -c",
            "4\n2\n",
        ),
        ("sleep 100 & kill %1; wait %1; echo $?", "143\n"),
        (
            "python3 -c 'import pty,os; print(os.ttyname(pty.openpty()[1]))'",
            "/dev/pts/0\n",
        ),
        (
            "python3 -c 'import multiprocessing as m; p=m.Pool(2); print(p.map(abs,[-1]))'",
            "[1]\n",
        ),
        (
            "python3 -c 'import socket; s=socket.socket(1); s.bind(\"s\"); s.listen(); \
            socket.socket(1).connect(\"s\"); print(1)'",
            "1\n",
        ),
        ("ps -e -o pid= | wc -l", "4\n"),
        ("id -un", &format!("{}\n", user_name())),
        ("mkfifo p; echo through > p & cat p", "through\n"),
        ("chmod 700 sub && stat -c %a sub", "700\n"),
        ("ulimit -n 100 && ulimit -n", "100\n"),
    ] {
        let walls = ground.walls(vec![]);
        let (text, _) = ground.run(walls, script).await;
        assert_eq!(text, expected, "{script}");
    }
}

fn user_name() -> String {
    let output = std::process::Command::new("id")
        .arg("-un")
        .output()
        .expect("id");
    String::from_utf8(output.stdout)
        .expect("text")
        .trim()
        .to_owned()
}

#[tokio::test]
async fn places_look_as_planned() {
    let mut ground = Ground::new().await;
    let scratch = View::Scratch { bytes_max: 1 << 20 };
    let other = View::Other {
        source: ground.path("ws/sub").into_os_string().into_encoded_bytes(),
    };
    let mut walls = ground.walls(vec![
        mount(std::path::Path::new("/tmp"), scratch),
        ground.mount("out", View::Hidden),
        ground.mount("out/canary", View::ReadOnly),
    ]);
    walls
        .mounts
        .push(mount(std::path::Path::new("/tmp/a/deep/place"), other));
    walls
        .mounts
        .push(mount(std::path::Path::new("/mnt"), View::Empty));
    let deep = ground.path("out/canary");
    for (script, expected) in [
        ("echo x > /tmp/y && ls /tmp | xargs", "a y\n".to_owned()),
        (
            "head -c2M /dev/zero > /tmp/big && echo fits",
            "head: error writing 'standard output': \
            No space left on device\n"
                .to_owned(),
        ),
        (
            "cat /tmp/a/deep/place/file; echo y > /tmp/a/deep/place/new && cat sub/new",
            "original\ny\n".to_owned(),
        ),
        (
            "ls $ROOT/out",
            format!(
                "ls: cannot open directory '{}': Permission denied\n",
                ground.path("out").display()
            ),
        ),
        (&*format!("cat {}", deep.display()), "original\n".to_owned()),
        (
            "ls -A /mnt | wc -l; touch /mnt/x",
            "0\ntouch: cannot touch '/mnt/x': \
            Read-only file system\n"
                .to_owned(),
        ),
        ("stat -c %a /tmp", "1777\n".to_owned()),
    ] {
        let (text, _) = ground.run(walls.clone(), script).await;
        assert_eq!(text, expected, "{script}");
    }
    assert!(!std::path::Path::new("/tmp/y").exists());
}
