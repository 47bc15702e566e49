//! The third wall: which system calls there are. Pure: it makes a program for
//! the kernel's filter out of lists, and can run it itself, for tests.
//!
//! A call is allowed unless a list names it; one that is newer than the lists
//! does not exist. What is always allowed or always refused is decided by its
//! number alone, and the kernel then remembers the answer and runs no filter.

use super::wall_is_off;
use crate::sys::kernel::Instruction;

mod lists;
#[cfg(test)]
mod tests;

use lists::{ARCHITECTURE, DENIED, LAST_KNOWN, MISSING, READ_ONLY_DENIED};

/// What a filter depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// Whether mounts protect the file system. Without, what Landlock does not
    /// decide about is refused here.
    pub namespaces: bool,
    /// Whether the host's network may be used.
    pub network: bool,
    /// Whether files are made as the host's root.
    pub root: bool,
    /// What somebody is there to be asked about.
    pub supervised: Supervised,
}

/// What the filter does not decide by itself, because it sees numbers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Supervised {
    /// Everything is decided here.
    Nothing,
    /// Files in memory, which are made such that they cannot be executed.
    Memory,
    /// Those, and under which names files are made.
    MemoryAndNames,
}

// Instructions, as the kernel numbers them.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_GREATER: u16 = 0x25;
const JUMP_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

// Answers.
const ALLOW: u32 = 0x7fff_0000;
const REFUSE: u32 = 0x0005_0000;
const NOT_PERMITTED: u32 = REFUSE | libc::EPERM.cast_unsigned();
const NO_SUCH_CALL: u32 = REFUSE | libc::ENOSYS.cast_unsigned();
const DENIED_ACCESS: u32 = REFUSE | libc::EACCES.cast_unsigned();
const ASK: u32 = 0x7fc0_0000;

// Where the kernel puts what is asked.
const CALL: u32 = 0;
const ARCH: u32 = 4;

/// The lower half of an argument, which is all that calls with 32-bit
/// arguments look at: so a number cannot be hidden in the upper half.
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

/// Calls of the x32 kind have this in their number.
const X32: u32 = 0x4000_0000;

/// Flags of clone and unshare that make namespaces.
const NEW_NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();

/// The flag that only unshare takes; in clone the bit is of the signal.
const NEW_TIME: u32 = 0x80;

/// Bits of a mode under which a file gives its owner's rights to whoever
/// executes it.
const SET_USER: u32 = libc::S_ISUID;
const SET_GROUP: u32 = libc::S_ISGID;

/// Flags of open under which it has a mode: it makes a file.
const MAKES_FILE: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)).cast_unsigned();

/// Flags of a file in memory: it can never be executed; it can.
const NEVER_EXECUTABLE: u32 = 8;
const EXECUTABLE: u32 = 16;

/// Requests to terminals that act in others' names, or load code.
const TERMINAL_REQUESTS: [u32; 4] = [
    0x5412, // TIOCSTI: types into it.
    0x541C, // TIOCLINUX: pastes into a console.
    0x541D, // TIOCCONS: takes the console's output.
    0x5423, // TIOCSETD: changes what drives it.
];

/// Personalities that weaken nothing: the usual one, without a random layout,
/// and asking which it is.
const PERSONALITIES: [u32; 3] = [0, 0x0004_0000, 0xffff_ffff];

/// The program for these facts.
pub(super) fn program(facts: Facts) -> Vec<Instruction> {
    if wall_is_off("seccomp") {
        return vec![give(ALLOW)];
    }
    whole(facts)
}

/// The program, whatever a test leaves out: what the machine can do is another
/// question.
pub(super) fn whole(facts: Facts) -> Vec<Instruction> {
    let mut program = vec![
        load(ARCH),
        skip_if(JUMP_EQUAL, ARCHITECTURE, 1),
        give(NOT_PERMITTED),
    ];
    program.push(load(CALL));
    program.extend([skip_unless(JUMP_ANY_BIT, X32, 1), give(NO_SUCH_CALL)]);
    for (call, rule) in conditional(facts) {
        program.push(skip_unless(JUMP_EQUAL, call, rule.len()));
        program.extend(rule);
    }
    for call in denied(facts) {
        program.extend([skip_unless(JUMP_EQUAL, call, 1), give(NOT_PERMITTED)]);
    }
    for call in MISSING.map(number) {
        program.extend([skip_unless(JUMP_EQUAL, call, 1), give(NO_SUCH_CALL)]);
    }
    program.extend([skip_unless(JUMP_GREATER, LAST_KNOWN, 1), give(NO_SUCH_CALL)]);
    program.push(give(ALLOW));
    program
}

fn denied(facts: Facts) -> Vec<u32> {
    let more = if facts.namespaces {
        &[]
    } else {
        READ_ONLY_DENIED
    };
    DENIED.iter().chain(more).copied().map(number).collect()
}

/// Calls that depend on their arguments, the most frequent ones first, each
/// with instructions that all end in an answer.
fn conditional(facts: Facts) -> Vec<(u32, Vec<Instruction>)> {
    let modes = if facts.root {
        SET_USER | SET_GROUP
    } else {
        SET_USER
    };
    let names = facts.supervised == Supervised::MemoryAndNames;
    let mut rules = vec![
        (libc::SYS_openat, makes_file(2, 3, modes, names)),
        (libc::SYS_ioctl, ioctl(facts)),
        (libc::SYS_clone, refuse_bits(0, NEW_NAMESPACES)),
        (libc::SYS_socket, socket(facts)),
        (
            libc::SYS_socketpair,
            only(0, &[libc::AF_UNIX.cast_unsigned()]),
        ),
        (libc::SYS_prlimit64, only(0, &[0])),
        (libc::SYS_unshare, refuse_bits(0, NEW_NAMESPACES | NEW_TIME)),
        (libc::SYS_personality, only(0, &PERSONALITIES)),
        (libc::SYS_mknodat, make_node(2, modes, names)),
        (libc::SYS_memfd_create, memory_file(facts.supervised)),
    ];
    if names {
        let named = lists::NAMING.iter();
        rules.extend(named.map(|call| (*call, vec![give(ASK)])));
    }
    if facts.namespaces {
        rules.push((libc::SYS_fchmodat, refuse_bits(2, modes)));
        rules.push((libc::SYS_fchmod, refuse_bits(1, modes)));
        rules.push((lists::FCHMODAT2, refuse_bits(2, modes)));
    } else {
        rules.push((libc::SYS_setpriority, only(1, &[0])));
    }
    rules.extend(lists::older(facts.namespaces, modes, names));
    rules
        .into_iter()
        .map(|(call, rule)| (number(call), rule))
        .collect()
}

fn ioctl(facts: Facts) -> Vec<Instruction> {
    let mut rule = vec![load(argument(1))];
    for request in TERMINAL_REQUESTS {
        rule.extend([skip_unless(JUMP_EQUAL, request, 1), give(NOT_PERMITTED)]);
    }
    if !facts.namespaces {
        rule.extend(refuse_changing_requests());
    }
    rule.push(give(ALLOW));
    rule
}

/// Some file systems change a file that was only opened for reading when they
/// are asked in their own way. Refuses requests that write to the kernel and
/// are of those kinds, but for copies into files that are open for writing.
fn refuse_changing_requests() -> Vec<Instruction> {
    const WRITES: u32 = 0x4000_0000;
    const KIND: u32 = 0xff00;
    const COPY: u32 = 0x4004_9409;
    const COPY_RANGE: u32 = 0x4020_940d;
    let kinds = [b'f', b'v', b'X', 0x94].map(|kind| u32::from(kind) << 8);
    let mut rule = Vec::new();
    for copy in [COPY, COPY_RANGE] {
        rule.extend([skip_unless(JUMP_EQUAL, copy, 1), give(ALLOW)]);
    }
    rule.extend([skip_if(JUMP_ANY_BIT, WRITES, 1), give(ALLOW)]);
    rule.push(Instruction {
        code: AND,
        if_true: 0,
        if_false: 0,
        value: KIND,
    });
    for kind in kinds {
        rule.extend([skip_unless(JUMP_EQUAL, kind, 1), give(NOT_PERMITTED)]);
    }
    rule
}

/// Of families only those that reach no further than the walls allow, and no
/// raw packets. Of netlink only what tells of interfaces and routes.
fn socket(facts: Facts) -> Vec<Instruction> {
    const KIND: u32 = 0xf;
    let mut families = Vec::new();
    if facts.namespaces {
        families.push(libc::AF_UNIX.cast_unsigned());
    }
    if facts.namespaces || facts.network {
        families.extend([
            libc::AF_INET.cast_unsigned(),
            libc::AF_INET6.cast_unsigned(),
        ]);
    }
    let kinds = [libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_SEQPACKET];
    let mut by_kind = vec![
        load(argument(1)),
        Instruction {
            code: AND,
            if_true: 0,
            if_false: 0,
            value: KIND,
        },
    ];
    by_kind.extend(among(&kinds.map(i32::cast_unsigned)));
    let netlink = only(2, &[libc::NETLINK_ROUTE.cast_unsigned()]);
    let mut rule = vec![load(argument(0))];
    rule.push(skip_unless(
        JUMP_EQUAL,
        libc::AF_NETLINK.cast_unsigned(),
        netlink.len(),
    ));
    rule.extend(netlink);
    for (at, family) in families.iter().enumerate() {
        // To the kinds, which come after the refusal.
        let left = families.len() - at;
        rule.push(skip_if(JUMP_EQUAL, *family, left));
    }
    rule.push(give(NOT_PERMITTED));
    rule.extend(by_kind);
    rule
}

/// Refuses a file that is made with these bits in its mode. Otherwise there
/// is no mode, and what is in its place means nothing.
fn makes_file(flags: u32, mode: u32, bits: u32, asks: bool) -> Vec<Instruction> {
    let mut rule = vec![
        load(argument(flags)),
        skip_if(JUMP_ANY_BIT, MAKES_FILE, 1),
        give(ALLOW),
    ];
    rule.extend(refuse_or(mode, bits, if asks { ASK } else { ALLOW }));
    rule
}

/// A file in memory that can be executed leaves no trace in any file system.
/// One that does not say whether it can is made by who is asked, as one that
/// cannot; where nobody is, programs do without it, as on an older kernel.
fn memory_file(supervised: Supervised) -> Vec<Instruction> {
    let otherwise = match supervised {
        Supervised::Nothing => NO_SUCH_CALL,
        Supervised::Memory | Supervised::MemoryAndNames => ASK,
    };
    vec![
        load(argument(1)),
        skip_unless(JUMP_ANY_BIT, EXECUTABLE, 1),
        give(DENIED_ACCESS),
        skip_unless(JUMP_ANY_BIT, NEVER_EXECUTABLE, 1),
        give(ALLOW),
        give(otherwise),
    ]
}

/// Refuses devices, and these bits in the mode of anything else.
fn make_node(mode: u32, bits: u32, asks: bool) -> Vec<Instruction> {
    let mut rule = vec![
        load(argument(mode)),
        Instruction {
            code: AND,
            if_true: 0,
            if_false: 0,
            value: libc::S_IFMT,
        },
    ];
    for kind in [libc::S_IFCHR, libc::S_IFBLK] {
        rule.extend([skip_unless(JUMP_EQUAL, kind, 1), give(NOT_PERMITTED)]);
    }
    rule.extend(refuse_or(mode, bits, if asks { ASK } else { ALLOW }));
    rule
}

/// Refuses an argument with any of these bits.
fn refuse_bits(index: u32, bits: u32) -> Vec<Instruction> {
    refuse_or(index, bits, ALLOW)
}

/// The same; any other argument has this answer.
fn refuse_or(index: u32, bits: u32, otherwise: u32) -> Vec<Instruction> {
    vec![
        load(argument(index)),
        skip_unless(JUMP_ANY_BIT, bits, 1),
        give(NOT_PERMITTED),
        give(otherwise),
    ]
}

/// Allows only these values of an argument.
fn only(index: u32, values: &[u32]) -> Vec<Instruction> {
    let mut rule = vec![load(argument(index))];
    rule.extend(among(values));
    rule
}

/// Allows only these values of what is loaded.
fn among(values: &[u32]) -> Vec<Instruction> {
    let mut rule = Vec::new();
    for value in values {
        rule.extend([skip_unless(JUMP_EQUAL, *value, 1), give(ALLOW)]);
    }
    rule.push(give(NOT_PERMITTED));
    rule
}

fn load(value: u32) -> Instruction {
    Instruction {
        code: LOAD,
        if_true: 0,
        if_false: 0,
        value,
    }
}

fn give(value: u32) -> Instruction {
    Instruction {
        code: RETURN,
        if_true: 0,
        if_false: 0,
        value,
    }
}

/// Skips instructions when something holds of what is loaded.
fn skip_if(code: u16, value: u32, skipped: usize) -> Instruction {
    Instruction {
        code,
        if_true: distance(skipped),
        if_false: 0,
        value,
    }
}

/// Skips instructions unless it holds.
fn skip_unless(code: u16, value: u32, skipped: usize) -> Instruction {
    Instruction {
        code,
        if_true: 0,
        if_false: distance(skipped),
        value,
    }
}

fn distance(skipped: usize) -> u8 {
    u8::try_from(skipped).expect("no rule here has that many instructions")
}

/// A call's number as filters see it.
fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).expect("numbers of calls are small")
}
