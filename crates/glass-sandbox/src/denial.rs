//! What the walls refused, as far as a command's last words tell.
//!
//! A denial is claimed only where the plan denies it and ordinary permissions
//! would not have. A path that the plan leaves writable is never claimed.

mod words;

use std::path::{Path, PathBuf};

use glass_model::{View, WallBuild};
use rustix::fs::Access;

use crate::Plan;
use crate::layout::Why;
use words::{Complaint, Trouble};

/// How much of the end of standard error is looked at.
const TAIL_BYTES_MAX: usize = 64 * 1024;

/// The most sentences; more of the same help nobody.
const DENIALS_MAX: usize = 8;

/// The most paths that are looked up in the file system.
const PATHS_MAX: usize = 256;

/// Where permissions do not tell what the kernel would have said.
const KERNEL: &[&str] = &["/proc", "/sys", "/dev"];

/// Sentences about what the sandbox denied, each with what to ask for.
/// `cwd` is where the command ran.
pub fn denials(plan: &Plan, cwd: &Path, stderr_tail: &[u8], exit_code: Option<i32>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    // Who succeeds was not kept from anything that mattered.
    let Some(walls) = plan.walls.as_ref().filter(|_| exit_code != Some(0)) else {
        return found;
    };
    let start = stderr_tail.len().saturating_sub(TAIL_BYTES_MAX);
    let text = String::from_utf8_lossy(&stderr_tail[start..]);
    let mut looked_up = 0;
    for complaint in text.lines().filter_map(words::complaint) {
        let Complaint { trouble, subjects } = complaint;
        let sentence = match trouble {
            Trouble::Network if walls.network => None,
            Trouble::Network => network(subjects.first()),
            Trouble::Tasks => plan.tasks_max.map(tasks),
            _ => {
                looked_up += subjects.len();
                let mut paths = subjects.iter().map(|subject| cwd.join(subject));
                paths.find_map(|path| file(plan, &path, trouble))
            }
        };
        if let Some(sentence) = sentence
            && !found.contains(&sentence)
        {
            found.push(sentence);
        }
        if found.len() >= DENIALS_MAX || looked_up > PATHS_MAX {
            break;
        }
    }
    found
}

fn network(host: Option<&String>) -> Option<String> {
    let whom = host.map_or("the network".to_owned(), |host| {
        format!("the network ({host})")
    });
    if host.is_some_and(|host| is_loopback(host)) {
        return None;
    }
    Some(format!(
        "the sandbox denied reaching {whom}; ask for network_access"
    ))
}

fn tasks(most: u64) -> String {
    format!("the sandbox denied another process or thread: there were {most} (`sandbox.tasks_max`)")
}

fn is_loopback(host: &str) -> bool {
    let name = host.trim_matches(['[', ']']);
    let name = name.split(']').next().unwrap_or(name);
    name == "localhost"
        || name.starts_with("localhost:")
        || name.starts_with("127.")
        || name == "::1"
}

/// What is said about a file, if the sandbox is to blame.
fn file(plan: &Plan, path: &Path, trouble: Trouble) -> Option<String> {
    let path = known_part(path)?;
    if KERNEL.iter().any(|root| path.starts_with(root)) {
        return None;
    }
    if plan.layout.is_writable(&path) {
        if trouble == Trouble::ReadOnly && is_refused_name(plan, &path) {
            let path = path.display();
            return Some(format!(
                "the sandbox denied making {path}: no repository can be made here; ask without \
                 block_git_writes"
            ));
        }
        // A mount point in a writable place cannot be replaced or removed.
        let pinned = plan
            .layout
            .at(&path)
            .is_some_and(|entry| entry.why == Why::Pin);
        return (trouble == Trouble::Busy && pinned).then(|| {
            let path = path.display();
            format!("the sandbox denied moving or removing {path}: something in it is protected")
        });
    }
    let nearest = plan.layout.nearest(&path);
    let is_hidden = nearest.is_some_and(|(_, entry)| entry.view == View::Hidden);
    let only_landlock = plan
        .walls
        .as_ref()
        .is_some_and(|walls| walls.build == WallBuild::LandlockOnly);
    let blamed = match trouble {
        Trouble::ReadOnly => true,
        // Without mounts, a denied write is not told from other refusals, and
        // an ordinary refusal may be of another kind than writing.
        Trouble::Permission => is_hidden || (only_landlock && !path.is_file()),
        Trouble::Busy => nearest.is_some_and(|(at, _)| at == path),
        Trouble::Network | Trouble::Tasks => false,
    };
    if !blamed || !ordinarily_allowed(&path, is_hidden) {
        return None;
    }
    Some(sentence(
        &path,
        nearest.map(|(at, entry)| (at, entry.why)),
        is_hidden,
    ))
}

/// Whether a file may not be made because of its name.
fn is_refused_name(plan: &Plan, path: &Path) -> bool {
    let refuses = plan
        .walls
        .as_ref()
        .is_some_and(|walls| walls.refuses_repositories);
    let is_beside_head = path.with_file_name("HEAD").symlink_metadata().is_ok();
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    refuses
        && path.symlink_metadata().is_err()
        && glass_model::makes_repository(name, is_beside_head)
}

fn sentence(path: &Path, nearest: Option<(&Path, Why)>, is_hidden: bool) -> String {
    let shown = path.display();
    let ask = |field: &str| format!("; ask for {field} with {shown}");
    let is_tmp = nearest.is_some_and(|(at, _)| crate::system::is_tmp(at));
    let (why, ask) = match nearest.map(|(_, why)| why) {
        Some(Why::Git) => (
            "git's hooks, configuration or repository are protected",
            String::new(),
        ),
        Some(Why::Ignored) => ("it is to be ignored", String::new()),
        Some(Why::Reserved | Why::Own | Why::Shown) => ("it is Shellglass's own", String::new()),
        Some(Why::StartFile) => (
            "programs outside execute or believe it",
            "; a person can change it outside of the sandbox".to_owned(),
        ),
        Some(Why::Socket) => (
            "a process outside listens on it",
            ask("additional_readwrite_paths"),
        ),
        Some(Why::Secret) => ("it holds secrets", ask("additional_readonly_paths")),
        Some(Why::ExtraReadOnly) => (
            "it is one of the read-only paths",
            ask("additional_readwrite_paths"),
        ),
        Some(Why::Workspace) => (
            "the workspace is read-only",
            "; ask for TYPE_WORKSPACE_READWRITE".to_owned(),
        ),
        Some(Why::Private) if is_tmp => (
            "temporary files are turned off",
            "; ask without disable_tmp_write, or write in the workspace".to_owned(),
        ),
        _ => (
            "it lies outside of the workspace",
            ask("additional_readwrite_paths"),
        ),
    };
    let what = if is_hidden { "using" } else { "writing" };
    format!("the sandbox denied {what} {shown}: {why}{ask}")
}

/// Whether the file's own permissions would have allowed it, asked of the
/// kernel for the user that the command has as well.
fn ordinarily_allowed(path: &Path, is_hidden: bool) -> bool {
    let access = |path: &Path, wanted| rustix::fs::access(path, wanted).is_ok();
    if is_hidden {
        return access(path, Access::READ_OK);
    }
    match path.symlink_metadata() {
        Ok(_) => access(path, Access::WRITE_OK),
        Err(_) => path
            .parent()
            .is_some_and(|above| access(above, Access::WRITE_OK)),
    }
}

/// The path without symbolic links, if it or at least its directory exists.
fn known_part(path: &Path) -> Option<PathBuf> {
    if let Ok(found) = std::fs::canonicalize(path) {
        return Some(found);
    }
    let above = std::fs::canonicalize(path.parent()?).ok()?;
    Some(above.join(path.file_name()?))
}
