//! Which rights a command has: what was asked for, laid over what its session
//! asked for, laid over the default; within what the caller may have.

use std::path::{Path, PathBuf};

use glass_model::{Role, SandboxKind, SandboxPolicy};

use crate::ignored::Mapping;
use crate::place::absolute;
use crate::wider::beyond;
use crate::workspace::why_unwritable;
use crate::{GitLevel, Place, Refusal, Settings, Workspace};

/// Places whose writing would be the system's end, whoever asks.
const NEVER_WRITABLE: &[&str] = &["/proc", "/sys", "/dev"];

/// The most further paths that a policy may have.
const EXTRA_PATHS_MAX: usize = 256;

/// The rights that are in force. Every field of the policy has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// The policy with nothing left open and every path resolved.
    pub policy: SandboxPolicy,
    /// How much of git is protected.
    pub git: GitLevel,
    /// The further places that may be written.
    pub readwrite: Vec<Place>,
    /// The further places that may be read.
    pub readonly: Vec<Place>,
    /// What the workspace is.
    pub(crate) workspace: PathBuf,
    /// Those further places that would be hidden if nobody had asked.
    pub(crate) revealed: Vec<PathBuf>,
    /// Why the rights are fewer than the default's, where they are.
    pub narrowed: Option<String>,
}

impl Effective {
    /// Whether a command with these rights may begin in this directory. One that
    /// cannot be found is left to its shell to complain about.
    pub fn admits(&self, cwd: &Path) -> Result<(), Refusal> {
        let private = ["/tmp", "/var/tmp"];
        if private.iter().any(|tmp| cwd.starts_with(tmp)) && !cwd.starts_with(&self.workspace) {
            // Inside, that is a directory of the session's own.
            return Ok(());
        }
        let Ok(resolved) = std::fs::canonicalize(cwd) else {
            return Ok(());
        };
        let mut places = self.readwrite.iter().chain(&self.readonly);
        let is_extra = places.any(|place| resolved.starts_with(&place.path));
        if self.policy.kind == SandboxKind::InsecureNone
            || resolved.starts_with(&self.workspace)
            || is_extra
        {
            return Ok(());
        }
        Err(Refusal::Directory {
            cwd: cwd.to_path_buf(),
            workspace: self.workspace.clone(),
        })
    }
}

/// Decides which rights a command has.
pub fn resolve(
    request: Option<&SandboxPolicy>,
    session: Option<&SandboxPolicy>,
    settings: &Settings,
    role: Role,
    workspace: &Workspace,
) -> Result<Effective, Refusal> {
    let asked = lay(request, session, settings)?;
    let mut effective = settle(&asked, settings, workspace)?;
    narrow(&mut effective, request, session, workspace)?;
    if role == Role::Agent {
        check_grant(&effective, settings, workspace)?;
        if let Some(what) = report_outside(&effective, workspace) {
            return Err(Refusal::NeedsApproval { what });
        }
    }
    Ok(effective)
}

/// Refuses what goes beyond both the grant and the default: the default is
/// what everybody gets who asks for nothing.
fn check_grant(
    effective: &Effective,
    settings: &Settings,
    workspace: &Workspace,
) -> Result<(), Refusal> {
    let granted = settle_grant(settings, workspace);
    let Some(what) = beyond(effective, &granted) else {
        return Ok(());
    };
    let default = lay(None, None, settings).and_then(|p| settle(&p, settings, workspace));
    match default {
        Ok(default) if beyond(effective, &default).is_none() => Ok(()),
        _ => Err(Refusal::NeedsApproval { what }),
    }
}

/// One policy out of three. The nearest layer that says something about a
/// field decides it; restrictions add up.
fn lay(
    request: Option<&SandboxPolicy>,
    session: Option<&SandboxPolicy>,
    settings: &Settings,
) -> Result<SandboxPolicy, Refusal> {
    let default = &settings.default;
    let layers: Vec<&SandboxPolicy> = request
        .into_iter()
        .chain(session)
        .chain([default])
        .collect();
    let kind = layers
        .iter()
        .map(|layer| layer.kind)
        .find(|kind| *kind != SandboxKind::Unspecified);
    let flag = |field: fn(&SandboxPolicy) -> Option<bool>| layers.iter().find_map(|l| field(l));
    // Who names a kind says everything about what may be written; a path that
    // an outer layer made writable must not outlive that.
    let mut readwrite = Vec::new();
    for layer in &layers {
        readwrite.extend(layer.readwrite_paths.iter().cloned());
        if layer.kind != SandboxKind::Unspecified {
            break;
        }
    }
    let readonly: Vec<String> = layers
        .iter()
        .flat_map(|l| l.readonly_paths.clone())
        .collect();
    if readwrite.len() + readonly.len() > EXTRA_PATHS_MAX {
        return Err(Refusal::TooMany {
            what: "further paths",
            max: EXTRA_PATHS_MAX,
        });
    }
    let mut mapping = Mapping::default();
    for text in layers
        .iter()
        .filter_map(|l| l.ignore_mapping_json.as_deref())
    {
        mapping.add(text)?;
    }
    Ok(SandboxPolicy {
        kind: kind.unwrap_or(SandboxKind::WorkspaceReadWrite),
        network_access: flag(|layer| layer.network_access),
        readwrite_paths: readwrite,
        readonly_paths: readonly,
        debug_output_dir: layers.iter().find_map(|l| l.debug_output_dir.clone()),
        block_git_writes: flag(|layer| layer.block_git_writes),
        disable_tmp_write: flag(|layer| layer.disable_tmp_write),
        ignore_mapping_json: Some(mapping.to_json()),
    })
}

/// Resolves every path and leaves nothing open.
fn settle(
    asked: &SandboxPolicy,
    settings: &Settings,
    workspace: &Workspace,
) -> Result<Effective, Refusal> {
    if asked.kind == SandboxKind::InsecureNone {
        return Ok(unlimited(asked, workspace));
    }
    let readwrite = places(&asked.readwrite_paths, settings, workspace)?;
    let readonly = places(&asked.readonly_paths, settings, workspace)?;
    for place in &readwrite {
        let system = NEVER_WRITABLE
            .iter()
            .any(|entry| place.path.starts_with(entry));
        let why = system.then(|| "it belongs to the kernel".to_owned());
        let why = why.or_else(|| match place.is_dir {
            true => why_too_broad(&place.path, settings),
            false => None,
        });
        if let Some(why) = why {
            let path = place.path.clone();
            return Err(Refusal::Path { path, why });
        }
    }
    let reports = asked.debug_output_dir.as_ref();
    let reports = reports
        .map(|path| one(path, settings, workspace))
        .transpose()?;
    if let Some(place) = reports.as_ref().filter(|place| !place.is_dir) {
        return Err(Refusal::Path {
            path: place.path.clone(),
            why: "reports need a directory".to_owned(),
        });
    }
    let revealed = revealed(readwrite.iter().chain(&readonly), settings);
    let git = git_level(asked.block_git_writes, settings.git);
    Ok(Effective {
        policy: SandboxPolicy {
            network_access: Some(asked.network_access.unwrap_or(false)),
            block_git_writes: Some(git == GitLevel::All),
            disable_tmp_write: Some(asked.disable_tmp_write.unwrap_or(false)),
            readwrite_paths: names(&readwrite),
            readonly_paths: names(&readonly),
            debug_output_dir: names(reports.as_slice()).pop(),
            ..asked.clone()
        },
        git,
        readwrite,
        readonly,
        workspace: workspace.path().to_path_buf(),
        revealed,
        narrowed: None,
    })
}

/// Those places that would be hidden if nobody had asked. Looking for what is
/// hidden takes time, so that is done only if there is something to compare.
fn revealed<'a>(
    extras: impl Iterator<Item = &'a Place> + Clone,
    settings: &Settings,
) -> Vec<PathBuf> {
    if extras.clone().next().is_none() {
        return Vec::new();
    }
    let hidden = settings.hidden_places();
    extras
        .filter(|extra| hidden.iter().any(|h| extra.path.starts_with(&h.path)))
        .map(|extra| extra.path.clone())
        .collect()
}

/// The level that a request stands for. Not to block writes to git is not to
/// ask for hooks: those are writable only where the configuration says so.
fn git_level(block: Option<bool>, configured: GitLevel) -> GitLevel {
    match block {
        Some(true) => GitLevel::All,
        Some(false) => configured.min(GitLevel::HooksAndConfig),
        None => configured,
    }
}

fn unlimited(asked: &SandboxPolicy, workspace: &Workspace) -> Effective {
    Effective {
        policy: SandboxPolicy {
            kind: SandboxKind::InsecureNone,
            network_access: Some(true),
            block_git_writes: Some(false),
            disable_tmp_write: Some(false),
            debug_output_dir: asked.debug_output_dir.clone(),
            ignore_mapping_json: Some(Mapping::default().to_json()),
            ..SandboxPolicy::default()
        },
        git: GitLevel::None,
        readwrite: Vec::new(),
        readonly: Vec::new(),
        workspace: workspace.path().to_path_buf(),
        revealed: Vec::new(),
        narrowed: None,
    }
}

/// What agents were granted. A path of the grant that does not exist grants
/// nothing, and must not stop those who do not ask for it.
fn settle_grant(settings: &Settings, workspace: &Workspace) -> Effective {
    let mut grant = settings.grant.clone();
    let exists = |path: &String| one(path, settings, workspace).is_ok();
    grant.readwrite_paths.retain(exists);
    grant.readonly_paths.retain(exists);
    if grant.kind == SandboxKind::Unspecified {
        grant.kind = settings.default.kind;
    }
    settle(&grant, settings, workspace).unwrap_or_else(|_| nothing(workspace))
}

/// The fewest rights that there are: what a grant that makes no sense grants.
fn nothing(workspace: &Workspace) -> Effective {
    let policy = SandboxPolicy {
        kind: SandboxKind::WorkspaceReadOnly,
        network_access: Some(false),
        disable_tmp_write: Some(true),
        block_git_writes: Some(true),
        ..SandboxPolicy::default()
    };
    Effective {
        policy,
        git: GitLevel::All,
        readwrite: Vec::new(),
        readonly: Vec::new(),
        workspace: workspace.path().to_path_buf(),
        revealed: Vec::new(),
        narrowed: None,
    }
}

/// A workspace that may not be written is read instead, unless somebody asked
/// for writing in so many words.
fn narrow(
    effective: &mut Effective,
    request: Option<&SandboxPolicy>,
    session: Option<&SandboxPolicy>,
    workspace: &Workspace,
) -> Result<(), Refusal> {
    if effective.policy.kind != SandboxKind::WorkspaceReadWrite {
        return Ok(());
    }
    let Some(why) = &workspace.unwritable else {
        return Ok(());
    };
    let mut asked = request.into_iter().chain(session);
    if asked.any(|layer| layer.kind == SandboxKind::WorkspaceReadWrite) {
        return Err(Refusal::Workspace {
            path: workspace.path().to_path_buf(),
            why: why.clone(),
        });
    }
    effective.policy.kind = SandboxKind::WorkspaceReadOnly;
    let path = workspace.path().display();
    effective.narrowed = Some(format!("{path} is read-only here: {why}"));
    Ok(())
}

/// Where a report would be written by us although the command could not.
fn report_outside(effective: &Effective, workspace: &Workspace) -> Option<String> {
    let given = Path::new(effective.policy.debug_output_dir.as_deref()?);
    let inside = |path: &Path| {
        let root = effective.policy.kind == SandboxKind::WorkspaceReadWrite;
        let mut writable = effective.readwrite.iter();
        (root && workspace.contains(path)) || writable.any(|place| path.starts_with(&place.path))
    };
    (!inside(given)).then(|| format!("a report in {}", given.display()))
}

fn places(
    paths: &[String],
    settings: &Settings,
    workspace: &Workspace,
) -> Result<Vec<Place>, Refusal> {
    let mut found: Vec<Place> = Vec::new();
    for path in paths {
        let place = one(path, settings, workspace)?;
        if !found.contains(&place) {
            found.push(place);
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn one(path: &str, settings: &Settings, workspace: &Workspace) -> Result<Place, Refusal> {
    let home = settings.home_place();
    let full = absolute(path, workspace.path(), home.as_deref());
    if path.is_empty() || path.contains('\0') {
        return Err(Refusal::Path {
            path: PathBuf::from(path),
            why: "it is no path".to_owned(),
        });
    }
    Place::resolve(&full).map_err(|error| Refusal::Path {
        path: full,
        why: error.to_string(),
    })
}

/// Why a further path is too much to be written, if it is. Below the system's
/// own directories a person may know better; the whole of them is a mistake.
fn why_too_broad(path: &Path, settings: &Settings) -> Option<String> {
    let root = path == Path::new("/");
    let home = settings.home_place();
    let home = home.is_some_and(|home| home.starts_with(path));
    (root || home)
        .then(|| why_unwritable(path, settings))
        .flatten()
}

fn names(places: &[Place]) -> Vec<String> {
    let names = places.iter();
    names
        .map(|place| place.path.to_string_lossy().into_owned())
        .collect()
}
