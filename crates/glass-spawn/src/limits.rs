//! Every bound of this crate, with its name and its unit.

use std::time::Duration;

/// The protocol that this build speaks.
pub const PROTOCOL_VERSION: u32 = 3;

/// The oldest protocol that this build can still speak. Two sides understand
/// each other when neither's version is below the other's oldest.
pub const PROTOCOL_OLDEST: u32 = 1;

/// The first protocol whose keepers build walls and set limits. An older one
/// would skip them without a word.
pub(crate) const PROTOCOL_WITH_WALLS: u32 = 2;

/// The first protocol whose keepers give a child its terminal.
pub(crate) const PROTOCOL_WITH_TERMINALS: u32 = 3;

/// Bytes that travel inside a packet; a longer message goes in a memory file,
/// because the kernel refuses packets of about 212 KB and more.
pub(crate) const INLINE_BYTES_MAX: usize = 64 * 1024;

/// Bytes of one message. The kernel accepts at most 6 MiB of arguments and
/// environment, so every possible launch fits.
pub(crate) const MESSAGE_BYTES_MAX: usize = 8 << 20;

/// Descriptors in one packet; the kernel's own limit.
pub(crate) const PACKET_FDS_MAX: usize = 253;

/// Descriptors that one request may bring, so that a memory file still fits.
pub(crate) const REQUEST_FDS_MAX: usize = PACKET_FDS_MAX - 1;

/// Launches that are remembered at once, ended ones included.
pub(crate) const LAUNCHES_MAX: usize = 16_384;

/// Launches in one page of a list.
pub(crate) const PAGE_LAUNCHES_MAX: usize = 256;

/// Descriptors that are held for one launch.
pub(crate) const HELD_PER_LAUNCH_MAX: usize = 128;

/// Bytes of a held descriptor's label.
pub(crate) const LABEL_BYTES_MAX: usize = 64;

/// Bytes of a launch's tag.
pub(crate) const TAG_BYTES_MAX: usize = 4096;

/// The number under which a launch is given its gate: a descriptor that the
/// child does not keep. Complete and ready, it waits there for a byte before
/// it becomes its program, and ends if none will come. A keeper that knows no
/// gates refuses the number, so none starts a child too early.
pub const GATE_FD: i32 = -1;

/// What lets a child pass its gate.
pub const GATE_WORD: &[u8] = b"\n";

/// The highest descriptor number that a child can be given.
pub(crate) const TARGET_FD_MAX: i32 = 255;

/// Bytes of a cgroup's name.
pub(crate) const CGROUP_NAME_BYTES_MAX: usize = 128;

/// Mounts of one launch's walls.
pub(crate) const MOUNTS_MAX: usize = 8192;

/// Bytes of a mount's path; the kernel's own limit, with its NUL.
pub(crate) const MOUNT_PATH_BYTES_MAX: usize = 4095;

/// Connections that have not said hello yet.
pub(crate) const GREETINGS_MAX: usize = 8;

/// Time for a new connection to say hello.
pub(crate) const GREETING_WAIT: Duration = Duration::from_secs(5);

/// Answers that wait for a daemon that does not read; beyond, it is cut off.
pub(crate) const OUTBOX_MAX: usize = 4096;

/// Requests read from the daemon before others get their turn.
pub(crate) const REQUESTS_PER_TURN_MAX: usize = 64;

/// Time between two attempts to kill orphans or to remove a cgroup.
pub(crate) const RETRY_WAIT: Duration = Duration::from_millis(50);

/// Attempts to remove a cgroup before it is left behind.
pub(crate) const CGROUP_REMOVALS_MAX: u32 = 200;

/// Time without children and without a daemon after which a keeper ends.
pub const KEEPER_IDLE: Duration = Duration::from_secs(60);

/// The same, while there are results that no daemon has taken.
pub const KEEPER_UNCLAIMED: Duration = Duration::from_secs(24 * 3600);

/// Time for the keeper to accept and greet a daemon.
pub(crate) const CONNECT_WAIT: Duration = Duration::from_secs(5);

/// Time for the keeper to answer anything but a launch.
pub(crate) const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// Time for a launch: entering its directory may hang on a dead network disk.
pub(crate) const LAUNCH_WAIT: Duration = Duration::from_secs(30);

/// Time between two attempts to reach a keeper that is coming up.
pub(crate) const CONNECT_RETRY_WAIT: Duration = Duration::from_millis(5);

/// Requests that wait to be sent to the keeper.
pub(crate) const REQUEST_QUEUE_MAX: usize = 256;

/// Events that wait for the daemon to take them.
pub(crate) const EVENT_QUEUE_MAX: usize = 8192;

/// The first version of Landlock that keeps signals and abstract sockets inside;
/// without namespaces, nothing older is a wall.
pub(crate) const LANDLOCK_WITH_SCOPES: u32 = 6;
