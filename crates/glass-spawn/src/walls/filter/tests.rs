use super::*;

/// Runs a program as the kernel would.
fn run(program: &[Instruction], arch: u32, call: u32, arguments: [u64; 6]) -> u32 {
    let word = |offset: u32| match offset {
        CALL => call,
        ARCH => arch,
        _ => {
            let at = (offset - 16) / 8;
            let argument = arguments[at as usize];
            if (offset - 16).is_multiple_of(8) {
                argument as u32
            } else {
                (argument >> 32) as u32
            }
        }
    };
    let mut loaded = 0;
    let mut next = 0;
    loop {
        let step = program[next];
        next += 1;
        let holds = match step.code {
            LOAD => {
                loaded = word(step.value);
                continue;
            }
            AND => {
                loaded &= step.value;
                continue;
            }
            RETURN => return step.value,
            JUMP_EQUAL => loaded == step.value,
            JUMP_GREATER => loaded > step.value,
            JUMP_ANY_BIT => loaded & step.value != 0,
            code => panic!("unknown instruction {code}"),
        };
        next += usize::from(if holds { step.if_true } else { step.if_false });
    }
}

const NAMESPACES: Facts = Facts {
    namespaces: true,
    network: false,
    root: false,
    supervised: Supervised::Memory,
};
const ALONE: Facts = Facts {
    namespaces: false,
    supervised: Supervised::Nothing,
    ..NAMESPACES
};

fn ask(facts: Facts, call: libc::c_long, arguments: &[u64]) -> u32 {
    let mut all = [0xdead_beef_0000_0000; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    run(&program(facts), ARCHITECTURE, number(call), all)
}

fn allows(facts: Facts, call: libc::c_long, arguments: &[u64]) -> bool {
    ask(facts, call, arguments) == ALLOW
}

#[test]
fn ordinary_calls_are_allowed() {
    for call in [
        libc::SYS_read,
        libc::SYS_execve,
        libc::SYS_kill,
        libc::SYS_prctl,
        libc::SYS_landlock_create_ruleset,
        libc::SYS_pidfd_open,
        libc::SYS_unlinkat,
        libc::SYS_connect,
    ] {
        assert!(allows(NAMESPACES, call, &[]), "{call}");
        assert!(allows(ALONE, call, &[]), "{call}");
    }
    assert!(allows(NAMESPACES, libc::SYS_fchown, &[]));
    assert!(!allows(ALONE, libc::SYS_fchown, &[]));
}

#[test]
fn listed_calls_are_refused_and_unknown_ones_do_not_exist() {
    for call in DENIED {
        assert_eq!(ask(NAMESPACES, *call, &[]), NOT_PERMITTED, "{call}");
    }
    for call in READ_ONLY_DENIED {
        assert_eq!(ask(ALONE, *call, &[]), NOT_PERMITTED, "{call}");
    }
    for call in [libc::SYS_clone3, libc::SYS_openat2, 470, 1000, 100_000] {
        assert_eq!(ask(NAMESPACES, call, &[]), NO_SUCH_CALL, "{call}");
    }
}

#[test]
fn other_kinds_of_calls_are_refused() {
    let program = program(NAMESPACES);
    let i386 = 0x4000_0003;
    assert_eq!(run(&program, i386, 4, [0; 6]), NOT_PERMITTED);
    assert_eq!(run(&program, ARCHITECTURE, X32 | 1, [0; 6]), NO_SUCH_CALL);
    assert_eq!(run(&program, ARCHITECTURE, u32::MAX, [0; 6]), NO_SUCH_CALL);
}

#[test]
fn requests_are_compared_in_their_lower_half() {
    for high in [0, 1, u64::from(u32::MAX)] {
        for request in TERMINAL_REQUESTS {
            let request = high << 32 | u64::from(request);
            assert!(!allows(NAMESPACES, libc::SYS_ioctl, &[0, request]));
        }
    }
    assert!(allows(NAMESPACES, libc::SYS_ioctl, &[0, 0x5401]));
    // FS_IOC_SETFLAGS changes a file that was opened for reading.
    assert!(!allows(ALONE, libc::SYS_ioctl, &[0, 0x4008_6602]));
    assert!(allows(ALONE, libc::SYS_ioctl, &[0, 0x8008_6601]));
    assert!(allows(ALONE, libc::SYS_ioctl, &[0, 0x4004_9409]));
    assert!(allows(ALONE, libc::SYS_ioctl, &[0, 0x5413]));
    assert!(allows(NAMESPACES, libc::SYS_ioctl, &[0, 0x4008_6602]));
}

#[test]
fn no_namespace_is_made() {
    let thread = 0x003d_0f00;
    assert!(allows(NAMESPACES, libc::SYS_clone, &[thread]));
    assert!(allows(NAMESPACES, libc::SYS_clone, &[17]));
    assert!(allows(NAMESPACES, libc::SYS_unshare, &[0x200]));
    for flag in [
        0x0002_0000_u64,
        0x0200_0000,
        0x0400_0000,
        0x0800_0000,
        0x1000_0000,
        0x2000_0000,
        0x4000_0000,
    ] {
        assert!(!allows(NAMESPACES, libc::SYS_clone, &[flag | 17]));
        assert!(!allows(NAMESPACES, libc::SYS_unshare, &[flag]));
    }
    assert!(!allows(NAMESPACES, libc::SYS_unshare, &[0x80]));
}

#[test]
fn sockets_are_of_few_kinds() {
    let network = Facts {
        network: true,
        ..ALONE
    };
    let socket =
        |facts, family, kind, protocol| allows(facts, libc::SYS_socket, &[family, kind, protocol]);
    let close_on_exec = 0o2_000_000;
    for family in [1, 2, 10] {
        assert!(socket(NAMESPACES, family, 1 | close_on_exec, 0));
        assert!(socket(NAMESPACES, family, 2, 0));
        assert!(!socket(NAMESPACES, family, 3, 0));
        assert!(!socket(ALONE, family, 1, 0));
    }
    assert!(socket(network, 2, 1, 0) && socket(network, 10, 2, 0));
    assert!(!socket(network, 1, 1, 0));
    for family in [0, 3, 15, 17, 38, 40, 44] {
        assert!(!socket(NAMESPACES, family, 1, 0), "{family}");
    }
    assert!(socket(NAMESPACES, 16, 3, 0));
    assert!(!socket(NAMESPACES, 16, 3, 9));
    assert!(allows(ALONE, libc::SYS_socketpair, &[1]));
    assert!(!allows(ALONE, libc::SYS_socketpair, &[30]));
}

#[test]
fn nothing_is_given_its_owners_rights() {
    let root = Facts {
        root: true,
        ..NAMESPACES
    };
    let creating = u64::from(MAKES_FILE);
    assert!(!allows(NAMESPACES, libc::SYS_fchmodat, &[0, 0, 0o4755]));
    assert!(allows(NAMESPACES, libc::SYS_fchmodat, &[0, 0, 0o2755]));
    assert!(!allows(root, libc::SYS_fchmodat, &[0, 0, 0o2755]));
    assert!(!allows(NAMESPACES, libc::SYS_fchmod, &[0, 0o4755]));
    assert!(!allows(NAMESPACES, 452, &[0, 0, 0o4755]));
    assert!(!allows(
        NAMESPACES,
        libc::SYS_openat,
        &[0, 0, creating, 0o4755]
    ));
    assert!(allows(
        NAMESPACES,
        libc::SYS_openat,
        &[0, 0, creating, 0o644]
    ));
    // Without a file to make, the mode is whatever was in the register.
    assert!(allows(NAMESPACES, libc::SYS_openat, &[0, 0, 0, 0o4755]));
    assert!(!allows(NAMESPACES, libc::SYS_mknodat, &[0, 0, 0o104_755]));
    assert!(!allows(NAMESPACES, libc::SYS_mknodat, &[0, 0, 0o020_644]));
    assert!(allows(NAMESPACES, libc::SYS_mknodat, &[0, 0, 0o010_644]));
}

#[test]
fn limits_and_personality_are_ones_own() {
    assert!(allows(NAMESPACES, libc::SYS_prlimit64, &[0]));
    assert!(!allows(NAMESPACES, libc::SYS_prlimit64, &[77]));
    assert!(allows(NAMESPACES, libc::SYS_personality, &[0xffff_ffff]));
    assert!(!allows(NAMESPACES, libc::SYS_personality, &[0x0040_0000]));
}

#[test]
fn what_depends_on_no_argument_loads_none() {
    // Otherwise the kernel could not remember its answer.
    let program = program(NAMESPACES);
    let mut next = 0;
    let (arch, call) = (ARCHITECTURE, number(libc::SYS_read));
    let mut loaded = 0;
    loop {
        let step = program[next];
        next += 1;
        let holds = match step.code {
            LOAD => {
                assert!(step.value <= ARCH);
                loaded = if step.value == ARCH { arch } else { call };
                continue;
            }
            RETURN => return,
            JUMP_EQUAL => loaded == step.value,
            JUMP_GREATER => loaded > step.value,
            JUMP_ANY_BIT => loaded & step.value != 0,
            code => panic!("unknown instruction {code}"),
        };
        next += usize::from(if holds { step.if_true } else { step.if_false });
    }
}

#[test]
fn files_in_memory_cannot_be_executed() {
    let make = |facts, flags| ask(facts, libc::SYS_memfd_create, &[0, flags]);
    for facts in [NAMESPACES, ALONE] {
        assert_eq!(make(facts, 8), ALLOW);
        assert_eq!(make(facts, 1 | 8), ALLOW);
        assert_eq!(make(facts, 16), DENIED_ACCESS);
        assert_eq!(make(facts, 8 | 16), DENIED_ACCESS);
    }
    assert_eq!(make(NAMESPACES, 0), ASK);
    assert_eq!(make(NAMESPACES, 3), ASK);
    assert_eq!(make(ALONE, 0), NO_SUCH_CALL);
}

#[test]
fn names_are_asked_about_only_where_they_count() {
    let names = Facts {
        supervised: Supervised::MemoryAndNames,
        ..NAMESPACES
    };
    let creating = u64::from(libc::O_CREAT.cast_unsigned());
    for (facts, expected) in [(names, ASK), (NAMESPACES, ALLOW)] {
        for call in lists::NAMING {
            assert_eq!(ask(facts, *call, &[]), expected, "{call}");
        }
        assert_eq!(
            ask(facts, libc::SYS_openat, &[0, 0, creating, 0o644]),
            expected
        );
        assert_eq!(ask(facts, libc::SYS_mknodat, &[0, 0, 0o010_644]), expected);
        assert_eq!(ask(facts, libc::SYS_openat, &[0, 0, 0, 0]), ALLOW);
        let set_user = ask(facts, libc::SYS_openat, &[0, 0, creating, 0o4755]);
        assert_eq!(set_user, NOT_PERMITTED);
    }
}
