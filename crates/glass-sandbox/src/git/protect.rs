//! Puts masks on what git executes and believes.

use std::path::{Path, PathBuf};

use glass_model::View;

use super::config::{relevant, resolve};
use super::index;
use super::nested;
use super::repository::{Found, Repository, common_dir, is_git_dir};
use crate::draft::Draft;
use crate::ignored::Rules;
use crate::layout::Why;
use crate::{GitLevel, Place, Refusal};

/// How far object stores that borrow from each other are followed.
const ALTERNATES_DEPTH_MAX: usize = 5;

/// The most git directories below one (`modules`, `worktrees`).
const INNER_MAX: usize = 512;

/// How deep submodules nest in `modules`, whose names may have slashes.
const INNER_DEPTH_MAX: usize = 8;

/// A common directory that is the directory itself. It changes nothing for
/// git, and stands where a planted one would lead git elsewhere.
const SELF_COMMON: &[u8] = b".\n";

/// Protects every repository in a writable place.
pub(crate) fn protect(draft: &mut Draft<'_>, rules: Option<&Rules>) -> Result<(), Refusal> {
    let mut roots = draft.writable_directories();
    let workspace = draft.workspace.path().to_path_buf();
    if rules.is_some() && !roots.contains(&workspace) {
        roots.push(workspace);
    }
    for root in &roots {
        let found = nested::find(root, &draft.facts.repositories);
        draft.repositories.extend(found.dot_gits.iter().cloned());
        draft.repositories.extend(found.bare.iter().cloned());
        for dot_git in &found.dot_gits {
            match Repository::find(dot_git) {
                Found::Repository(repository) => {
                    one(draft, &repository, rules)?;
                }
                Found::Link if is_replaceable(draft, dot_git) => {
                    return Err(Refusal::Path {
                        path: dot_git.clone(),
                        why: "it is a symbolic link, which a sandbox cannot protect".to_owned(),
                    });
                }
                Found::Link | Found::Nothing => {}
            }
        }
        for bare in &found.bare {
            one(draft, &Repository::bare(bare), rules)?;
        }
    }
    reserve_root(draft, &roots);
    personal(draft);
    Ok(())
}

fn is_replaceable(draft: &Draft<'_>, dot_git: &Path) -> bool {
    draft.effective.git != GitLevel::None && draft.layout.is_writable(dot_git)
}

fn one(
    draft: &mut Draft<'_>,
    repository: &Repository,
    rules: Option<&Rules>,
) -> Result<(), Refusal> {
    match draft.effective.git {
        GitLevel::None => {}
        GitLevel::All => all(draft, repository),
        GitLevel::HooksAndConfig => {
            let at_root = repository.work_tree() == Some(draft.workspace.path());
            if at_root && repository.is_pointer() && draft.writes_workspace() {
                let belongs = repository.belongs_here();
                allow_commits(draft, repository, belongs);
            }
            hooks_and_config(draft, repository);
        }
    }
    if draft.effective.git != GitLevel::None {
        let tree = repository.work_tree().map(Path::to_path_buf);
        let configs = configs_of(repository);
        named_paths(
            draft,
            &configs,
            tree.as_deref().unwrap_or(&repository.git_dir),
        );
    }
    if let Some(rules) = rules {
        hide_objects(draft, repository, rules);
    }
    Ok(())
}

/// Everything that `.git` resolves to.
fn all(draft: &mut Draft<'_>, repository: &Repository) {
    if let Some(dot_git) = &repository.dot_git {
        draft.layout.protect(dot_git, Why::Git);
    }
    draft.protect_path(&repository.git_dir, Why::Git);
    draft.protect_path(&repository.common_dir, Why::Git);
    let mut queue: Vec<(PathBuf, usize)> = vec![];
    queue.extend(repository.alternates().into_iter().map(|path| (path, 1)));
    while let Some((objects, depth)) = queue.pop() {
        draft.protect_path(&objects, Why::Git);
        if depth < ALTERNATES_DEPTH_MAX
            && let Some(parent) = objects.parent()
        {
            let further = Repository::bare(parent).alternates();
            queue.extend(further.into_iter().map(|path| (path, depth + 1)));
        }
    }
}

/// A linked work tree and a submodule keep their state outside of the
/// workspace. Without writing there, nothing can be committed.
fn allow_commits(draft: &mut Draft<'_>, repository: &Repository, belongs: bool) {
    let tree = draft.workspace.path().display();
    if !belongs {
        draft.notes.push(format!(
            "{tree}/.git points to a repository that does not point back: commits are not possible"
        ));
        return;
    }
    let common = &repository.common_dir;
    let mut places = vec![repository.git_dir.clone()];
    if *common != repository.git_dir {
        places.extend(["objects", "refs", "logs"].map(|name| common.join(name)));
    }
    for path in places {
        if draft.layout.is_writable(&path) || draft.is_own(&path) {
            continue;
        }
        if let Ok(place) = Place::at(&path) {
            draft.layout.put(&place, View::Writable, Why::Commit);
        }
    }
}

/// What git executes or believes, and nothing that a commit writes.
fn hooks_and_config(draft: &mut Draft<'_>, repository: &Repository) {
    if let Some(dot_git) = &repository.dot_git {
        if dot_git.is_dir {
            draft.layout.pin_directory(dot_git);
        } else {
            draft.layout.protect(dot_git, Why::Git);
        }
    }
    guard(draft, &repository.git_dir);
    guard(draft, &repository.common_dir);
    for inner in inner_directories(&repository.common_dir) {
        guard(draft, &inner);
    }
}

/// Guards one git directory. Where something in it cannot be guarded alone,
/// the whole of it is read-only.
fn guard(draft: &mut Draft<'_>, git_dir: &Path) {
    if !draft.layout.is_writable(git_dir) || draft.layout.is_covered(git_dir) {
        return;
    }
    let Ok(place) = Place::at(git_dir) else {
        return;
    };
    if !place.is_dir || !is_git_dir(git_dir) {
        return;
    }
    draft.layout.pin_directory(&place);
    if !guard_parts(draft, git_dir) {
        draft.notes.push(format!(
            "{} is read-only: its hooks or configuration cannot be protected by themselves",
            git_dir.display()
        ));
        draft.layout.protect(&place, Why::Git);
    }
}

fn guard_parts(draft: &mut Draft<'_>, git_dir: &Path) -> bool {
    let linked = common_dir(git_dir) != git_dir;
    let mut done = true;
    if linked {
        done &= draft.reserve_file(&git_dir.join("commondir"), b"", Why::Git);
        done &= draft.reserve_file(&git_dir.join("gitdir"), b"", Why::Git);
    } else {
        done &= draft.reserve_file(&git_dir.join("config"), b"", Why::Git);
        done &= draft.reserve_directory(&git_dir.join("hooks"), Why::Git);
        done &= draft.reserve_file(&git_dir.join("commondir"), SELF_COMMON, Why::Git);
        // Git takes addresses from there that its configuration does not have.
        done &= draft.reserve_directory(&git_dir.join("remotes"), Why::Git);
        done &= draft.reserve_directory(&git_dir.join("branches"), Why::Git);
    }
    // Also where nothing reads it yet: the next `git sparse-checkout` outside
    // would have git believe it.
    done & draft.reserve_file(&git_dir.join("config.worktree"), b"", Why::Git)
}

/// Git directories that lie in another: of submodules and linked work trees.
fn inner_directories(common: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut queue = vec![(common.join("modules"), 0), (common.join("worktrees"), 0)];
    while let Some((directory, depth)) = queue.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries.flatten().take(INNER_MAX) {
            let path = entry.path();
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if is_git_dir(&path) {
                queue.push((path.join("modules"), depth + 1));
                queue.push((path.join("worktrees"), depth + 1));
                found.push(path);
            } else if depth < INNER_DEPTH_MAX {
                queue.push((path, depth + 1));
            }
            if found.len() >= INNER_MAX {
                return found;
            }
        }
    }
    found
}

/// A repository that is not there yet must not come to be where nothing of
/// git may be written.
fn reserve_root(draft: &mut Draft<'_>, roots: &[PathBuf]) {
    if draft.effective.git != GitLevel::All {
        return;
    }
    for root in roots {
        let dot_git = root.join(".git");
        if dot_git.symlink_metadata().is_err() {
            draft.reserve_directory(&dot_git, Why::Git);
        }
    }
}

/// Whether none may come to be anywhere else either. Mounts cannot see to that:
/// they need something to stand on.
pub(crate) fn refuses_new(draft: &Draft<'_>) -> bool {
    draft.effective.git == GitLevel::All && !draft.writable_directories().is_empty()
}

fn configs_of(repository: &Repository) -> Vec<PathBuf> {
    let mut configs = vec![
        repository.common_dir.join("config"),
        repository.git_dir.join("config.worktree"),
    ];
    let inner = inner_directories(&repository.common_dir);
    configs.extend(inner.into_iter().map(|path| path.join("config")));
    configs
}

/// The user's own and the system's configuration can name paths in the
/// workspace too.
fn personal(draft: &mut Draft<'_>) {
    if draft.effective.git == GitLevel::None {
        return;
    }
    let mut configs = vec![PathBuf::from("/etc/gitconfig")];
    if let Some(home) = draft.settings.home_place() {
        configs.push(home.join(".gitconfig"));
        configs.push(home.join(".config/git/config"));
    }
    let root = draft.workspace.path().to_path_buf();
    named_paths(draft, &configs, &root);
}

/// Protects the hooks directory and the included files that configurations
/// name, and remembers what they say.
fn named_paths(draft: &mut Draft<'_>, configs: &[PathBuf], work_tree: &Path) {
    let home = draft.settings.home_place();
    let mut queue: Vec<PathBuf> = configs.to_vec();
    let mut seen: Vec<PathBuf> = Vec::new();
    while let Some(config) = queue.pop() {
        if seen.contains(&config) || seen.len() > INNER_MAX {
            continue;
        }
        let found = relevant(&config);
        if let Some(value) = &found.hooks_path
            && let Some(path) = resolve(value, work_tree, home.as_deref())
        {
            hooks_path(draft, &path);
        }
        let base = config.parent().unwrap_or(Path::new("/")).to_path_buf();
        for value in &found.includes {
            if let Some(path) = resolve(value, &base, home.as_deref()) {
                draft.reserve_file(&path, b"", Why::Git);
                queue.push(path);
            }
        }
        draft.git_configs.push((config.clone(), found));
        seen.push(config);
    }
}

fn hooks_path(draft: &mut Draft<'_>, path: &Path) {
    // Husky's hooks live in `_` and execute what lies beside it.
    let path = match path.file_name().is_some_and(|name| name == "_") {
        true => path.parent().unwrap_or(path),
        false => path,
    };
    // A hooks path that is the whole workspace would make it read-only.
    let root = draft.workspace.path().to_path_buf();
    if path == Path::new("/dev/null") || root.starts_with(path) {
        return;
    }
    if path.symlink_metadata().is_ok() {
        draft.protect_path(path, Why::Git);
    } else {
        draft.reserve_directory(path, Why::Git);
    }
}

/// A tracked file can be read from git's objects, whatever hides its name.
fn hide_objects(draft: &mut Draft<'_>, repository: &Repository, rules: &Rules) {
    let Some(tree) = repository.work_tree().map(Path::to_path_buf) else {
        return;
    };
    let ignored = |name: &[u8]| {
        use std::os::unix::ffi::OsStrExt;
        let path = tree.join(std::ffi::OsStr::from_bytes(name));
        rules.matches_file_or_above(&path)
    };
    let tracked = index::any_tracked(&repository.git_dir.join("index"), ignored);
    if tracked == Some(false) {
        return;
    }
    let stores = [repository.common_dir.join("objects")];
    for store in stores.into_iter().chain(repository.alternates()) {
        if let Ok(place) = Place::at(&store) {
            draft.layout.hide(&place, Why::Ignored);
            draft.layout.clear_below(&store);
        }
    }
    // Without its list of files a repository would look as if it held none.
    draft.protect_path(&repository.git_dir.join("index"), Why::Git);
    draft.notes.push(format!(
        "{} holds versions of ignored files: git cannot read its objects here",
        repository.common_dir.display()
    ));
}
