//! Walls, seen from inside: everything here tries to get out, and first shows
//! that without walls it would.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use glass_model::{View, WallBuild, Walls};
use glass_spawn::SpawnError;

use crate::fixture::{failure, launch, pipe, read_all};
use crate::walls::Ground;

/// What an attack does without walls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unwalled {
    /// It succeeds, so a wall is what stops it.
    Escapes,
    /// It only does for root, or not at all on this kernel.
    Unknown,
}
use Unwalled::{Escapes, Unknown};

/// Functions for scripts: `esc` says that the attack succeeded.
const PRELUDE: &str = "esc() { echo ESCAPED; }; out=$ROOT/out; canary=$out/canary; \
    call() { python3 -c 'import ctypes,sys; l=ctypes.CDLL(None,use_errno=True); \
a=[int(x,0) if x[0] in \"-0123456789\" else x.encode() for x in sys.argv[1:]]; \
r=l.syscall(*a); e=ctypes.get_errno(); sys.exit(0 if r!=-1 else e)' \"$@\"; };";

/// Runs an attack without walls, on ground of its own, and then behind walls,
/// where it must run to its end and not succeed.
async fn attack(script: &str, unwalled: Unwalled, walls: impl FnOnce(&Ground) -> Walls) {
    let script = format!("{PRELUDE} {{ {script}; }} 2>&1; echo RAN");
    if unwalled == Escapes {
        let ground = Ground::new().await;
        let mut plain = launch(&["/bin/bash", "-c", &script]);
        plain.plan.cwd = ground.path("ws").into_os_string().into_encoded_bytes();
        let root = ground.directory.path().display();
        plain.plan.env.push(format!("ROOT={root}").into_bytes());
        let (out, out_end) = pipe();
        plain.child_fds.push((1, out_end));
        ground.home.keeper.spawn(plain).await.expect("it starts");
        let text = read_all(out).await;
        assert!(text.contains("ESCAPED"), "without walls: {script}\n{text}");
    }
    let mut ground = Ground::new().await;
    let walls = walls(&ground);
    let (text, _) = ground.run(walls, &script).await;
    assert!(
        text.contains("RAN") && !text.contains("ESCAPED"),
        "{script}\n{text}"
    );
    let canary = fs::read_to_string(ground.path("out/canary"));
    assert_eq!(canary.expect("it is there"), "original\n", "{script}");
}

fn plain(ground: &Ground) -> Walls {
    ground.walls(vec![])
}

/// Places that are protected inside of the workspace.
fn carved(ground: &Ground) -> Walls {
    ground.walls(vec![
        ground.mount("ws/.git", View::ReadOnly),
        ground.mount("ws/secret", View::Hidden),
    ])
}

#[tokio::test]
async fn nothing_outside_is_written() {
    for script in [
        "echo x > $out/new && esc",
        "echo x >> $canary && esc",
        ": > $canary && [ ! -s $canary ] && esc",
        "ln -s $out link && echo x > link/new && esc",
        "mkdir $out/new && esc",
        "mkfifo $out/new && esc",
        "ln -s x $out/new && esc",
        "ln secret $out/new && esc",
        "echo y > f && mv f $out/ && esc",
        "rm -f $canary; [ -e $canary ] || esc",
        "mv $canary $out/other && esc",
        "touch -d 2001-01-01 $canary && esc",
        "chmod 000 $canary && esc",
        "truncate -s 0 $canary && esc",
        "mv $ROOT/ws $ROOT/gone && esc",
        "cd / && echo x > proc/self/root$out/new && esc",
        "echo x > /proc/$$/cwd/../out/new && esc",
        "exec 7<$canary; echo x > /proc/self/fd/7 && esc",
    ] {
        attack(script, Escapes, plain).await;
    }
}

#[tokio::test]
async fn what_is_carved_out_of_the_workspace_holds() {
    for script in [
        "echo x > .git/config && esc",
        "echo x > .git/new && esc",
        "mv .git gone && esc",
        "rm -rf .git; [ -d .git ] || esc",
        "mkdir n && call 316 -100 n -100 .git 2 && esc",
        "echo x > /proc/self/cwd/.git/config && esc",
        "echo x > /proc/self/root$PWD/.git/config && esc",
        "ln .git/config c && echo x > c && esc",
        "chmod 600 .git/config && esc",
        "cat secret && esc",
        "cp secret s && esc",
        "ln secret s && cat s && esc",
        "mv secret s && cat s && esc",
        "echo x > secret && esc",
        "rm -f secret; [ -e secret ] || esc",
        "chmod 644 secret; cat secret && esc",
        "ln -s secret s && cat s && esc",
        "cat /proc/self/cwd/secret && esc",
        "cat ../ws/secret && esc",
        "mv ../ws ../ws2; cat ../ws2/secret && esc",
    ] {
        attack(script, Escapes, carved).await;
    }
}

#[tokio::test]
async fn a_renamed_parent_takes_its_mask_along() {
    let masked = |ground: &Ground| ground.walls(vec![ground.mount("ws/sub/file", View::Hidden)]);
    attack("mv sub other; cat other/file && esc", Escapes, masked).await;
    attack(
        "rm -rf sub; mkdir sub; mv sub/file x && esc",
        Unknown,
        masked,
    )
    .await;
}

#[tokio::test]
async fn processes_outside_are_neither_seen_nor_reached() {
    for (script, unwalled) in [
        ("[ $(ls -d /proc/[0-9]* | wc -l) -gt 8 ] && esc", Escapes),
        ("head -c1 /proc/1/environ && esc", Unknown),
        ("ls -l /proc/1/fd/0 && esc", Unknown),
        ("ls /proc/1/root/ && esc", Unknown),
        ("ls /proc/1/cwd/ && esc", Unknown),
        ("head -c1 /proc/1/mem && esc", Unknown),
        ("cat /proc/1/maps && esc", Unknown),
        ("kill -9 1 && sleep 0.1 && [ ! -d /proc/1 ] && esc", Unknown),
        (
            "kill -STOP 1; sleep 0.1; grep -q '^State:.T' /proc/1/status && esc",
            Unknown,
        ),
        (
            "[ $(readlink /proc/self/ns/pid) = $(readlink /proc/1/ns/pid) ] && esc",
            Unknown,
        ),
    ] {
        attack(script, unwalled, plain).await;
    }
}

#[tokio::test]
async fn the_kernel_is_not_reached_behind_the_walls() {
    for script in [
        "{ : > /proc/sys/kernel/core_pattern; } && esc",
        "{ : > /proc/sysrq-trigger; } && esc",
        "{ exec 9<>/proc/sys/vm/drop_caches; } && esc",
        "head -c1 /proc/kcore && esc",
        "head -c1 /proc/timer_list && esc",
        "ls /sys/kernel/debug /sys/kernel/tracing && esc",
        "{ : > /sys/kernel/mm/transparent_hugepage/enabled; } && esc",
        "mknod d c 1 3 && echo x > d && esc",
        "mknod d b 254 0 && esc",
        "grep -q '^CapBnd:.*[1-9a-f]' /proc/self/status && esc",
        "grep -q '^CapEff:.*[1-9a-f]' /proc/self/status && esc",
        "grep -q '^NoNewPrivs:.*0' /proc/self/status && esc",
        "unshare -U true && esc",
        "unshare -Ur mount -t tmpfs none /mnt && esc",
        "mount -t tmpfs none /mnt && esc",
        "mount -o remount,rw / && esc",
        "umount /proc && esc",
        "umount -l $PWD && esc",
        "hostname other && esc",
        "ls /dev/mem /dev/kmsg /dev/vda /dev/sda && esc",
        "chroot / true && esc",
        "nsenter -t 1 -m true && esc",
        "setpriv --reuid 1 true && esc",
    ] {
        attack(script, Unknown, plain).await;
    }
}

#[tokio::test]
async fn nobody_is_the_hosts_root() {
    for script in [
        "read inside outside count < /proc/self/uid_map; [ $outside = 0 ] && esc",
        "read inside outside count < /proc/self/gid_map; [ $outside = 0 ] && esc",
        "ls /proc/1/fd && esc",
    ] {
        attack(script, Unknown, plain).await;
    }
    let mut ground = Ground::new().await;
    let walls = ground.walls(vec![]);
    let script = "touch made && stat -c %u made; echo $UID; cat sub/file; ls -A ~root | wc -l";
    let (text, _) = ground.run(walls, script).await;
    let me = rustix::process::geteuid().as_raw();
    assert!(
        text.starts_with(&format!("{me}\n{me}\noriginal\n")),
        "{text}"
    );
    let made = fs::metadata(ground.path("ws/made")).expect("it is there");
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&made), me);
}

#[tokio::test]
async fn files_are_not_given_their_owners_rights() {
    for script in [
        "cp /bin/true t && chmod u+s t && [ -u t ] && esc",
        "cp /bin/true t && chmod 4755 t && esc",
        "install -m 4755 /bin/true t && esc",
        "python3 -c 'import os; os.open(\"t\", os.O_CREAT|os.O_WRONLY, 0o4755)'; [ -u t ] && esc",
        "python3 -c 'import os; os.mknod(\"t\", 0o104755)'; [ -u t ] && esc",
    ] {
        attack(script, Escapes, plain).await;
    }
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn dangerous_calls_are_refused() {
    // Number and arguments that would at least get further than a refusal.
    for (_name, arguments) in [
        ("ptrace(TRACEME)", "101 0 0 0 0"),
        ("io_uring_setup", "425 0 0"),
        ("keyctl(SESSION)", "250 0 -3 0"),
        ("add_key", "248 user glass x 1 -3"),
        ("unshare(USER)", "272 0x10000000"),
        ("unshare(NS)", "272 0x20000"),
        ("clone(NEWUSER)", "56 0x10000011 0 0 0 0"),
        ("clone3", "435 0 0"),
        ("open_tree", "428 -100 / 1"),
        ("fsopen", "430 tmpfs 0"),
        ("bpf", "321 0 0 0"),
        ("perf_event_open", "298 0 0 -1 -1 0"),
        ("userfaultfd", "323 1"),
        ("pidfd_getfd", "438 0 0 0"),
        ("kcmp", "312 1 1 0 0 0"),
        ("process_vm_readv", "310 1 0 0 0 0 0"),
        ("open_by_handle_at", "304 -100 0 0"),
        ("socket(VSOCK)", "41 40 1 0"),
        ("socket(PACKET)", "41 17 3 0"),
        ("socket(ALG)", "41 38 5 0"),
        ("socket(RAW)", "41 2 3 1"),
        ("socket(NETLINK AUDIT)", "41 16 3 9"),
        ("personality(READ_IMPLIES_EXEC)", "135 0x0400000"),
        ("prlimit of another", "302 1 7 0 0"),
        ("a call that does not exist yet", "600 0"),
    ] {
        // EPERM or ENOSYS, and nothing that the call itself would say.
        let script = format!("call {arguments}; case $? in 1|38) ;; *) esc;; esac");
        attack(&script, Unknown, plain).await;
    }
}

#[tokio::test]
async fn nothing_is_typed_into_terminals() {
    let script = "python3 -c 'import fcntl,os,pty,sys\n\
m,s=pty.openpty()\n\
for request in (0x5412, 0x5412|1<<32, 0x541C):\n\
    try: fcntl.ioctl(s, request, b\"x\")\n\
    except (OSError, OverflowError) as e: sys.exit(3) if getattr(e, \"errno\", 1) != 1 else None\n\
    else: sys.exit(0)\n\
sys.exit(1)' ; case $? in 1) ;; *) esc;; esac";
    attack(script, Unknown, plain).await;
}

#[tokio::test]
async fn the_network_is_ones_own() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let script = format!("exec 8<>/dev/tcp/127.0.0.1/{port} && esc");
    attack(&script, Escapes, plain).await;
    let mut ground = Ground::new().await;
    let walls = ground.walls(vec![]);
    let script = "python3 -c 'import socket,threading\n\
s=socket.create_server((\"127.0.0.1\",0))\n\
c=socket.create_connection(s.getsockname()); a,_=s.accept(); a.send(b\"own loopback\")\n\
print(c.recv(20).decode())'";
    let (text, _) = ground.run(walls, script).await;
    assert_eq!(text, "own loopback\n");
    // With the network, the same listener is reached.
    let mut walls = ground.walls(vec![]);
    walls.network = true;
    let script = format!("exec 8<>/dev/tcp/127.0.0.1/{port} && echo reached");
    let (text, _) = ground.run(walls, &script).await;
    assert_eq!(text, "reached\n");
}

#[tokio::test]
async fn sockets_without_a_path_are_ones_own_also_with_the_network() {
    let name = format!("glass-walls-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("an address");
    let _listener = UnixListener::bind_addr(&address).expect("a socket");
    let script =
        format!("python3 -c 'import socket; socket.socket(1).connect(\"\\0{name}\")' && esc");
    for network in [false, true] {
        attack(&script, Escapes, |ground| Walls {
            network,
            ..ground.walls(vec![])
        })
        .await;
    }
    let mut ground = Ground::new().await;
    let walls = ground.walls(vec![]);
    let script = "python3 -c 'import socket; s=socket.socket(1); s.bind(\"\\0own\"); s.listen(); \
socket.socket(1).connect(\"\\0own\"); print(\"own\")'";
    assert_eq!(ground.run(walls, script).await.0, "own\n");
}

#[tokio::test]
async fn no_descriptor_leads_out() {
    let script = "for fd in /proc/self/fd/*; do [ ${fd##*/} -gt 2 ] && \
        [ -n \"$(readlink $fd)\" ] && case $(readlink $fd) in /proc/*) ;; *) esc;; esac; done";
    attack(script, Unknown, plain).await;
}

/// Walls for some ground.
#[cfg(feature = "weak-walls")]
type Planned = fn(&Ground) -> Walls;

/// A build for tests can switch each wall off; then something gets out that
/// nothing else stops.
#[cfg(feature = "weak-walls")]
#[tokio::test]
async fn each_wall_is_needed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let name = format!("glass-needed-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("an address");
    let _listener = UnixListener::bind_addr(&address).expect("a socket");
    let abstract_socket =
        format!("python3 -c 'import socket; socket.socket(1).connect(\"\\0{name}\")' && esc");
    let network = |ground: &Ground| Walls {
        network: true,
        ..ground.walls(vec![])
    };
    let tcp = format!("exec 8<>/dev/tcp/127.0.0.1/{port} && esc");
    let keys = "call 250 0 -3 0 && esc".to_owned();
    let git = "echo x > .git/config && esc".to_owned();
    let cases: [(&str, String, Planned); 4] = [
        ("mounts", git, carved),
        ("landlock", abstract_socket, network),
        ("seccomp", keys, plain),
        ("network", tcp, plain),
    ];
    for (wall, script, walls) in cases {
        attack(&script, Unknown, walls).await;
        let script = format!("{PRELUDE} {{ {script}; }} 2>&1");
        let mut ground = Ground::new().await;
        let off = format!("SHELLGLASS_TEST_WALL_OFF={wall}");
        let idle = std::time::Duration::from_secs(30);
        ground.home = crate::fixture::Home::with(idle, &[off.into()]).await;
        let walls = walls(&ground);
        let (text, _) = ground.run(walls, &script).await;
        assert!(
            text.contains("ESCAPED"),
            "{wall} stops nothing: {script}\n{text}"
        );
    }
}

/// Everything but the directory outside can be read: it is not named.
fn landlock_only(ground: &Ground) -> Walls {
    let named = ["bin", "dev", "etc", "lib", "lib64", "proc", "root", "usr"];
    let named = named.map(|name| std::fs::canonicalize(format!("/{name}")));
    let mut mounts: Vec<glass_model::Mount> = named
        .into_iter()
        .flatten()
        .map(|path| glass_model::Mount {
            path: path.into_os_string().into_encoded_bytes(),
            view: View::ReadOnly,
            expected: None,
        })
        .collect();
    mounts.push(ground.mount("ws", View::ReadOnly));
    Walls {
        build: WallBuild::LandlockOnly,
        mounts,
        network: false,
        refuses_repositories: false,
    }
}

#[tokio::test]
async fn landlock_alone_keeps_everything_read_only() {
    for script in [
        "echo x > new && esc",
        "echo x > $out/new && esc",
        "cat $canary && esc",
        "echo x >> $canary && esc",
        ": > $canary && [ ! -s $canary ] && esc",
        "mkdir d && esc",
        "rm -f secret; [ -e secret ] || esc",
        "mv secret s && esc",
        "ln secret s && esc",
        "ln -s a s && esc",
        "chmod 600 secret && esc",
        "touch -d 2001-01-01 secret && esc",
        "truncate -s 0 secret && esc",
        "echo x > /dev/shm/glass-$$ && rm /dev/shm/glass-$$ && esc",
        "echo x > /tmp/glass-$$ && rm /tmp/glass-$$ && esc",
        "python3 -c 'import socket; socket.socket(1)' && esc",
        "python3 -c 'import socket; socket.socket(2)' && esc",
        "python3 -c 'import os; os.setxattr(\"secret\", \"user.x\", b\"1\")' && esc",
        "kill -0 $PPID && esc",
        "head -c1 /proc/$PPID/environ && esc",
        "renice 19 $PPID && esc",
    ] {
        let unwalled = if script.contains("environ") {
            Unknown
        } else {
            Escapes
        };
        attack(script, unwalled, landlock_only).await;
    }
    let mut ground = Ground::new().await;
    let walls = landlock_only(&ground);
    let script = "cat secret; echo x > /dev/null; sleep 9 & kill %1; wait; echo | cat; exit 3";
    let (text, status) = ground.run(walls, script).await;
    assert!(text.starts_with("original\n"), "{text}");
    assert_eq!(status, glass_model::WaitStatus::Exited(3));
}

#[tokio::test]
async fn landlock_alone_refuses_what_it_cannot_do() {
    let ground = Ground::new().await;
    for view in [View::Hidden, View::Empty, View::Scratch { bytes_max: 1 }] {
        let mut walls = landlock_only(&ground);
        walls.mounts.push(ground.mount("out", view));
        let result = ground.home.keeper.spawn(ground.launch(walls, ":")).await;
        assert!(matches!(failure(result), SpawnError::Refused { .. }));
    }
}
