//! Reads what `/proc` says of a process. Everything may vanish between two
//! reads, so absence is an answer and never an error.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

/// Bytes read of a process's environment: what the kernel accepts for it.
const ENVIRON_BYTES_MAX: u64 = 8 << 20;

/// Bytes of a line of `/proc/PID/stat`: 52 numbers, and a name of at most 64.
const STAT_BYTES_MAX: usize = 2048;

/// Bytes read of a command line.
const COMMAND_LINE_BYTES_MAX: u64 = 4096;

/// The fields of `/proc/PID/stat` that we need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub state: u8,
    pub ppid: i32,
    pub threads: u32,
    pub start_ticks: u64,
}

impl Stat {
    /// Whether nothing of it will ever run again. A dead leader with living
    /// threads shows as a zombie too, and is none.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x') && self.threads <= 1
    }
}

/// Reads the line of `/proc/PID/stat`. Allocates nothing, because a process
/// between fork and exec calls it.
pub(crate) fn parse_stat(line: &[u8]) -> Option<Stat> {
    // The name in parentheses may hold anything, further parentheses included.
    let name_end = line.iter().rposition(|&b| b == b')')?;
    let rest = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let ppid = fields.next()?.parse().ok()?;
    // The parent is field 4, the threads are field 20, the start is field 22.
    let threads = fields.nth(15)?.parse().ok()?;
    let start_ticks = fields.nth(1)?.parse().ok()?;
    Some(Stat {
        state,
        ppid,
        threads,
        start_ticks,
    })
}

/// What the kernel says of a process, if there is one.
pub(crate) fn stat(pid: i32) -> Option<Stat> {
    // One read takes it all, where a reader that grows its buffer needs six.
    let mut line = [0; STAT_BYTES_MAX];
    let mut file = fs::File::open(format!("/proc/{pid}/stat")).ok()?;
    let count = file.read(&mut line).ok()?;
    parse_stat(line.get(..count)?)
}

/// Time that a process has had, and that those had that it waited for, in clock
/// ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub user: u64,
    pub system: u64,
    pub children_user: u64,
    pub children_system: u64,
}

/// The times in the line of `/proc/PID/stat`.
pub(crate) fn parse_times(line: &[u8]) -> Option<Times> {
    let name_end = line.iter().rposition(|&b| b == b')')?;
    let rest = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
    // The first of the four is field 14, and the state is field 3.
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let mut field = || fields.next()?.parse().ok();
    Some(Times {
        user: field()?,
        system: field()?,
        children_user: field()?,
        children_system: field()?,
    })
}

/// How long a process and those that it waited for have run.
pub(crate) fn times(pid: i32) -> Option<Times> {
    let mut line = [0; STAT_BYTES_MAX];
    let mut file = fs::File::open(format!("/proc/{pid}/stat")).ok()?;
    let count = file.read(&mut line).ok()?;
    parse_times(line.get(..count)?)
}

/// Bytes that a process and those that it waited for had from storage, and gave
/// to it.
pub(crate) fn storage(pid: i32) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    Some((
        number_of(&text, "read_bytes:")?,
        number_of(&text, "write_bytes:")?,
    ))
}

/// The most memory that a process has had resident, in bytes.
pub(crate) fn peak_memory_bytes(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(number_of(&text, "VmHWM:")?.saturating_mul(1024))
}

/// The number in the line that begins with a name.
fn number_of(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The words that a process was started with, as one line. Words are shown whole
/// or not at all: half a secret could not be told from other text.
pub(crate) fn command_line(pid: i32, chars_max: usize) -> Option<String> {
    let mut bytes = Vec::new();
    let file = fs::File::open(format!("/proc/{pid}/cmdline")).ok()?;
    file.take(COMMAND_LINE_BYTES_MAX)
        .read_to_end(&mut bytes)
        .ok()?;
    let is_cut = bytes.len() as u64 == COMMAND_LINE_BYTES_MAX;
    Some(join_words(&bytes, is_cut, chars_max))
}

fn join_words(bytes: &[u8], is_cut: bool, chars_max: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut words: Vec<&str> = text.trim_end_matches('\0').split('\0').collect();
    if is_cut {
        words.pop();
    }
    let (mut line, mut chars, mut left_out) = (String::new(), 0, is_cut);
    for (at, word) in words.iter().enumerate() {
        chars += word.chars().count() + usize::from(at > 0);
        if chars > chars_max {
            left_out = true;
            break;
        }
        if at > 0 {
            line.push(' ');
        }
        line.extend(word.chars().map(|c| if c.is_control() { ' ' } else { c }));
    }
    if left_out {
        line.push_str(" …");
    }
    line
}

/// The states of all threads of a process.
pub(crate) fn thread_states(pid: i32) -> Vec<u8> {
    task_paths(pid)
        .filter_map(|path| fs::read(format!("{path}/stat")).ok())
        .filter_map(|line| parse_stat(&line))
        .map(|stat| stat.state)
        .collect()
}

fn task_paths(pid: i32) -> impl Iterator<Item = String> {
    let directory = fs::read_dir(format!("/proc/{pid}/task"));
    directory
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .map(move |task| format!("/proc/{pid}/task/{task}"))
}

/// The children of a process as the kernel lists them, those of all threads.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    task_paths(pid)
        .filter_map(|path| fs::read_to_string(format!("{path}/children")).ok())
        .flat_map(|list| {
            list.split_ascii_whitespace()
                .filter_map(|p| p.parse().ok())
                .collect::<Vec<i32>>()
        })
        .collect()
}

/// Whether this kernel lists children at all.
pub(crate) fn lists_children() -> bool {
    static LISTS: OnceLock<bool> = OnceLock::new();
    *LISTS.get_or_init(|| fs::metadata("/proc/thread-self/children").is_ok())
}

/// Every process there is, for kernels that do not list children.
pub(crate) fn all() -> Vec<(i32, Stat)> {
    let directory = fs::read_dir("/proc");
    directory
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, stat(pid)?)))
        .collect()
}

/// A file's identity, whatever it is called.
pub(crate) type FileId = (u64, u64);

/// Which file this is, behind all of its links.
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Which file a process executes.
pub(crate) fn exe_id(pid: i32) -> Option<FileId> {
    file_id(Path::new(&format!("/proc/{pid}/exe")))
}

/// The file name of what a process executes; its own name for it where the
/// kernel does not show us the file.
pub(crate) fn exe_name(pid: i32) -> Option<String> {
    let by_file = fs::read_link(format!("/proc/{pid}/exe")).ok();
    let by_file = by_file.and_then(|p| p.file_name()?.to_str().map(str::to_owned));
    let name = by_file.or_else(|| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        Some(name.trim_end().to_owned())
    })?;
    Some(
        name.strip_suffix(" (deleted)")
            .map(str::to_owned)
            .unwrap_or(name),
    )
}

/// The value of a variable in the environment that a process began with.
pub(crate) fn environ_value(pid: i32, name: &str) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut environ = Vec::new();
    let file = fs::File::open(format!("/proc/{pid}/environ")).ok()?;
    file.take(ENVIRON_BYTES_MAX)
        .read_to_end(&mut environ)
        .ok()?;
    environ.split(|&b| b == 0).find_map(|entry| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(value.to_vec())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shown_whole_or_not_at_all() {
        assert_eq!(join_words(b"a\0b\nc\0", false, 5), "a b c");
        assert_eq!(join_words(b"a\0secret\0b\0", false, 7), "a …");
        assert_eq!(join_words(b"a\0secret", true, 99), "a …");
        assert_eq!(join_words(b"", false, 9), "");
    }

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_move_the_fields() {
        let line = b"42 (a) b) (c) S 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 987654 1 2\n";
        let expected = Stat {
            state: b'S',
            ppid: 7,
            threads: 3,
            start_ticks: 987_654,
        };
        assert_eq!(parse_stat(line), Some(expected));
        for end in 0..line.len() - 6 {
            let cut = parse_stat(&line[..end]);
            assert!(cut.is_none_or(|s| s.start_ticks < 987_654), "{end}");
        }
    }

    #[test]
    fn a_zombie_whose_threads_live_is_not_dead() {
        let stat = |state, threads| Stat {
            state,
            ppid: 1,
            threads,
            start_ticks: 1,
        };
        assert!(stat(b'Z', 1).is_dead());
        assert!(!stat(b'Z', 2).is_dead());
        assert!(!stat(b'T', 1).is_dead());
    }

    #[test]
    fn this_process_is_there() {
        let me = std::process::id().cast_signed();
        let stat = stat(me).expect("we exist");
        assert!(stat.start_ticks > 0 && !stat.is_dead());
        assert!(all().iter().any(|(pid, _)| *pid == me));
        assert_eq!(environ_value(me, "NO_SUCH_VARIABLE_HERE"), None);
        assert!(environ_value(me, "PATH").is_some());
    }
}
