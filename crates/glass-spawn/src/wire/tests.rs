use glass_model::{FileId, Mount, Resources, Usage, View, WaitStatus, WallBuild, Walls};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;

use super::*;

fn labels() -> impl Strategy<Value = Vec<String>> {
    vec(".{0,12}", 0..5)
}

fn blob() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..40)
}

fn hello() -> impl Strategy<Value = Hello> {
    (any::<u32>(), any::<u32>()).prop_map(|(version, oldest)| Hello { version, oldest })
}

fn launch() -> impl Strategy<Value = Launch> {
    let plan = (
        blob(),
        vec(blob(), 0..5),
        vec(blob(), 0..5),
        blob(),
        ".{0,20}",
    );
    let walls = (any::<bool>(), proptest::option::of(walls()), resources());
    let fds = (vec(any::<i32>(), 0..6), labels(), blob(), walls);
    (plan, fds).prop_map(
        |((program, argv, env, cwd, cgroup), (targets, labels, tag, walls))| Launch {
            program,
            argv,
            env,
            cwd,
            cgroup,
            targets,
            labels,
            tag,
            has_control: walls.0,
            takes_terminal: walls.0,
            walls: walls.1.map(Into::into),
            resources: Some(walls.2.into()),
        },
    )
}

fn resources() -> impl Strategy<Value = Resources> {
    proptest::array::uniform8(proptest::option::of(any::<u64>())).prop_map(
        |[files, cpu, file, core, address, memory, processes, tasks]| Resources {
            open_files: files,
            cpu_seconds: cpu,
            file_bytes: file,
            core_bytes: core,
            address_bytes: address,
            memory_bytes: memory,
            processes,
            tasks,
        },
    )
}

fn walls() -> impl Strategy<Value = Walls> {
    let view = prop_oneof![
        Just(View::Writable),
        Just(View::ReadOnly),
        Just(View::Hidden),
        Just(View::Empty),
        any::<u64>().prop_map(|bytes_max| View::Scratch { bytes_max }),
        blob().prop_map(|source| View::Other { source }),
    ];
    let id = (any::<u64>(), any::<u64>()).prop_map(|(device, inode)| FileId { device, inode });
    let mount = (blob(), view, proptest::option::of(id)).prop_map(|(path, view, expected)| Mount {
        path,
        view,
        expected,
    });
    let build = prop_oneof![
        Just((WallBuild::Namespaces, false)),
        Just((WallBuild::Namespaces, true)),
        Just((WallBuild::LandlockOnly, false)),
    ];
    (build, vec(mount, 0..4), any::<bool>()).prop_map(|((build, refuses), mounts, network)| Walls {
        build,
        mounts,
        network,
        refuses_repositories: refuses,
    })
}

fn ask() -> impl Strategy<Value = Ask> {
    let held = || (any::<u64>(), labels()).prop_map(|(id, labels)| Labels { id, labels });
    prop_oneof![
        hello().prop_map(Ask::Hello),
        launch().prop_map(|launch| Ask::Launch(Box::new(launch))),
        any::<u64>().prop_map(|after| Ask::List(List { after })),
        any::<u64>().prop_map(|id| Ask::Adopt(Named { id })),
        held().prop_map(Ask::Hold),
        held().prop_map(Ask::Unhold),
        any::<u64>().prop_map(|id| Ask::Forget(Named { id })),
    ]
}

fn status() -> impl Strategy<Value = WaitStatus> {
    prop_oneof![
        any::<i32>().prop_map(WaitStatus::Exited),
        any::<i32>().prop_map(WaitStatus::Signaled),
        Just(WaitStatus::Unknown),
    ]
}

fn child_of(id: u64) -> Option<Process> {
    id.is_multiple_of(2).then_some(Process {
        pid: 7,
        start_ticks: id,
    })
}

fn info() -> impl Strategy<Value = Info> {
    let process = || {
        proptest::option::of((any::<i32>(), any::<u64>()))
            .prop_map(|p| p.map(|(pid, start_ticks)| Process { pid, start_ticks }))
    };
    let ids = (any::<u64>(), process(), process());
    let rest = (
        blob(),
        blob(),
        proptest::option::of(status()),
        labels(),
        any::<bool>(),
    );
    (ids, rest).prop_map(
        |((id, child, reaper), (cgroup, tag, status, labels, emptied))| Info {
            id,
            child,
            reaper,
            cgroup,
            tag,
            status: status.map(Status::from),
            labels,
            emptied,
            init: child_of(id),
            memory: Vec::new(),
        },
    )
}

fn say() -> impl Strategy<Value = Say> {
    prop_oneof![
        hello().prop_map(Say::Welcome),
        info().prop_map(Say::Launched),
        (any::<u32>(), any::<i32>()).prop_map(|(stage, errno)| Say::Failed(Failed {
            stage,
            errno,
            detail: 1
        })),
        (vec(info(), 0..4), any::<bool>())
            .prop_map(|(launches, more)| Say::Page(Page { launches, more })),
        (any::<u64>(), labels()).prop_map(|(id, labels)| Say::Held(Labels { id, labels })),
        Just(Say::Done(Done {})),
        (".{0,20}", any::<bool>()).prop_map(|(reason, unknown_launch)| Say::Refused(Refused {
            reason,
            unknown_launch
        })),
        (any::<u64>(), status(), any::<[u64; 2]>()).prop_map(
            |(id, s, [user_us, written_bytes])| {
                let usage = Usage {
                    user_us,
                    written_bytes,
                    ..Usage::default()
                };
                Say::Exited(Exited {
                    id,
                    status: Some(s.into()),
                    usage: Some(usage.into()),
                })
            }
        ),
        any::<u64>().prop_map(|id| Say::Emptied(Named { id })),
    ]
}

proptest! {
    #[test]
    fn walls_and_limits_come_back_as_they_were(walls in walls(), resources in resources()) {
        let message = WallsMessage::from(walls.clone());
        let read = decode::<WallsMessage>(&message.encode_to_vec()).expect("decodes");
        prop_assert_eq!(read.understood(), Some(walls));
        let message = ResourcesMessage::from(resources.clone());
        let read = decode::<ResourcesMessage>(&message.encode_to_vec()).expect("decodes");
        prop_assert_eq!(Resources::from(read), resources);
    }

    #[test]
    fn a_request_comes_back_as_it_was(seq in any::<u64>(), ask in proptest::option::of(ask())) {
        let request = Request { seq, ask };
        prop_assert_eq!(decode::<Request>(&request.encode_to_vec()).expect("decodes"), request);
    }

    #[test]
    fn an_answer_comes_back_as_it_was(seq in any::<u64>(), say in proptest::option::of(say())) {
        let answer = Answer { seq, say };
        prop_assert_eq!(decode::<Answer>(&answer.encode_to_vec()).expect("decodes"), answer);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..2000)) {
        let _ = decode::<Request>(&bytes);
        let _ = decode::<Answer>(&bytes);
    }

    #[test]
    fn a_damaged_message_never_panics(
        request in ask(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = Request { seq: 1, ask: Some(request) }.encode_to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = decode::<Request>(&bytes);
        let _ = decode::<Request>(&bytes[..at]);
    }

    #[test]
    fn a_wait_status_comes_back_as_it_was(status in status()) {
        prop_assert_eq!(WaitStatus::from(Status::from(status)), status);
    }
}

#[test]
fn a_request_of_the_future_is_an_empty_one() {
    // Field 99, a string: what an older keeper sees of a newer daemon.
    let bytes = [0x08, 0x07, 0x9a, 0x06, 0x01, b'x'];
    let request = decode::<Request>(&bytes).expect("unknown fields are skipped");
    assert_eq!(request, Request { seq: 7, ask: None });
}

#[test]
fn too_long_a_message_is_refused_unread() {
    let bytes = vec![0; MESSAGE_BYTES_MAX + 1];
    assert!(matches!(
        decode::<Request>(&bytes),
        Err(DecodeError::TooLong { .. })
    ));
}

#[test]
fn versions_meet_where_neither_is_too_old_for_the_other() {
    let hello = |version, oldest| Hello { version, oldest };
    assert!(compatible(&hello(1, 1), &hello(1, 1)));
    assert!(compatible(&hello(3, 1), &hello(2, 2)));
    assert!(!compatible(&hello(3, 3), &hello(2, 1)));
    assert!(!compatible(&hello(1, 1), &hello(4, 2)));
}
