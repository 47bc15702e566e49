//! From rights to mounts.

use std::path::{Path, PathBuf};

use glass_model::{SandboxKind, View, WallBuild, Walls};

use crate::defaults::SOCKET_VARIABLES;
use crate::draft::Draft;
use crate::ignored::{Mapping, Rules, Scan};
use crate::layout::{Layout, Why};
use crate::verify::Watch;
use crate::{Effective, EnvChanges, Place, Placeholder, Refusal, Settings, Workspace};
use crate::{git, landlock, sockets, system};

/// What only the caller knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Shellglass's own directories and sockets: always hidden.
    pub own: Vec<PathBuf>,
    /// The session's private directory for temporary files; what is put on
    /// `/tmp` and `/var/tmp`. It exists, is the caller's, and serves only
    /// shells with these rights.
    pub private_tmp: PathBuf,
    /// What is shown read-only although it lies in a hidden place: the
    /// session's control directory, its page in the terminals folder.
    pub shown: Vec<PathBuf>,
    /// The best walls that can be had here; none where there are no walls.
    pub build: Option<WallBuild>,
    /// Repositories that earlier plans found: the paths of their `.git`, or of
    /// themselves where they are bare.
    pub repositories: Vec<PathBuf>,
}

/// A sandbox, decided.
#[derive(Debug)]
pub struct Plan {
    /// The walls; none where no sandbox was asked for.
    pub walls: Option<Walls>,
    /// How the environment changes.
    pub env: EnvChanges,
    /// What was made so that masks have something to stand on.
    pub placeholders: Vec<Placeholder>,
    /// What people should know about this sandbox.
    pub notes: Vec<String>,
    /// The repositories in writable places, as [`Facts`] has them.
    pub repositories: Vec<PathBuf>,
    /// The directories that can be written, with what is below them.
    pub writable: Vec<PathBuf>,
    /// Processes and threads that there may be behind the walls.
    pub(crate) tasks_max: Option<u64>,
    pub(crate) layout: Layout,
    pub(crate) workspace: Workspace,
    pub(crate) watch: Watch,
}

/// Decides the walls for these rights. Looks at the file system, and makes
/// placeholders in it; none stays if there is no plan.
pub fn plan(
    effective: &Effective,
    workspace: &Workspace,
    facts: &Facts,
    settings: &Settings,
) -> Result<Plan, Refusal> {
    let mut draft = Draft {
        effective,
        workspace,
        facts,
        settings,
        layout: Layout::default(),
        placeholders: Vec::new(),
        notes: effective.narrowed.iter().cloned().collect(),
        git_configs: Vec::new(),
        repositories: Vec::new(),
    };
    let made = make(&mut draft);
    if made.is_err() {
        draft.placeholders.iter().for_each(Placeholder::remove);
    }
    let (walls, scan) = made?;
    let watch = Watch::new(&draft, scan);
    let writable = draft.writable_directories();
    Ok(Plan {
        env: match &walls {
            Some(walls) => changes(&draft, walls.build),
            None => EnvChanges::default(),
        },
        tasks_max: settings.resources.tasks.filter(|_| {
            let build = walls.as_ref().map(|walls| walls.build);
            build == Some(WallBuild::Namespaces)
        }),
        walls,
        workspace: workspace.clone(),
        watch,
        layout: draft.layout,
        placeholders: draft.placeholders,
        notes: draft.notes,
        repositories: draft.repositories,
        writable,
    })
}

fn make(draft: &mut Draft<'_>) -> Result<(Option<Walls>, Option<Scan>), Refusal> {
    if draft.effective.policy.kind == SandboxKind::InsecureNone {
        return Ok((None, None));
    }
    let network = draft.effective.policy.network_access == Some(true);
    let build = available(draft)?;
    if build == WallBuild::LandlockOnly {
        let walls = landlock::make(draft, network)?;
        return Ok((Some(walls), None));
    }
    system::cover_private(draft);
    system::show_asked(draft);
    system::hide_secrets(draft)?;
    system::protect_believed(draft)?;
    let rules = Rules::read(
        &Mapping::of_policy(&draft.effective.policy),
        draft.workspace,
    )?;
    let rules = (!rules.is_empty()).then_some(rules);
    git::protect(draft, rules.as_ref())?;
    let scan = rules.map(|rules| hide_ignored(draft, rules)).transpose()?;
    for socket in sockets::visible(&draft.layout)? {
        draft.layout.hide(&socket, Why::Socket);
    }
    system::hide_own(draft)?;
    system::make_stands(&mut draft.layout, &draft.facts.private_tmp)?;
    let walls = Walls {
        build,
        mounts: draft.layout.mounts()?,
        network,
        refuses_repositories: git::refuses_new(draft),
    };
    Ok((Some(walls), scan))
}

/// The walls to build, if they are good enough.
fn available(draft: &Draft<'_>) -> Result<WallBuild, Refusal> {
    let minimum = draft.settings.minimum_mode;
    let hint = "enable unprivileged user namespaces, or set `sandbox.minimum_mode` to \"landlock\"";
    match draft.facts.build {
        None => Err(Refusal::Unsupported {
            what: "a sandbox".to_owned(),
            hint: "see `shellglass doctor` for what is missing on this machine".to_owned(),
        }),
        Some(WallBuild::LandlockOnly) if minimum == WallBuild::Namespaces => {
            Err(Refusal::Unsupported {
                what: "the minimum mode of the configuration".to_owned(),
                hint: hint.to_owned(),
            })
        }
        Some(build) => Ok(build),
    }
}

fn hide_ignored(draft: &mut Draft<'_>, rules: Rules) -> Result<Scan, Refusal> {
    let (scan, found) = Scan::begin(rules)?;
    for place in &found {
        draft.layout.hide(place, Why::Ignored);
        draft.layout.clear_below(&place.path);
    }
    if scan.has_names_elsewhere() {
        draft.notes.push(
            "some ignored files have further names (hard links) outside of the directories that \
             were searched; under those they can be read"
                .to_owned(),
        );
    }
    Ok(scan)
}

/// How the environment changes: no secrets, no names of sockets that are
/// hidden, and a directory for temporary files that can be used.
fn changes(draft: &Draft<'_>, build: WallBuild) -> EnvChanges {
    let sockets = SOCKET_VARIABLES.iter().map(|name| (*name).to_owned());
    let mut writable = draft.writable_directories();
    let mut set = Vec::new();
    let tmp = match draft.effective.policy.disable_tmp_write == Some(true) {
        false if build == WallBuild::LandlockOnly => {
            writable.push(draft.facts.private_tmp.clone());
            Some(draft.facts.private_tmp.as_path())
        }
        false => {
            // A directory below `/tmp` that is there outside is not inside.
            None
        }
        // Compilers want one; the workspace is the one place that is left.
        true => draft.writes_workspace().then(|| draft.workspace.path()),
    };
    if let Some(tmp) = tmp {
        set.push(("TMPDIR".to_owned(), system::bytes(tmp)));
    }
    EnvChanges {
        unset: draft
            .settings
            .scrub
            .iter()
            .cloned()
            .chain(sockets)
            .collect(),
        set,
        writable,
    }
}

impl Plan {
    /// Shows one more directory as it is outside, on top of everything and
    /// writable: the room that a shell of this plan keeps its pipes in.
    pub fn show_writable(&mut self, directory: &Path, facts: &Facts) -> Result<(), Refusal> {
        let Some(walls) = &mut self.walls else {
            return Ok(());
        };
        let place = Place::resolve(directory).map_err(|source| Refusal::Read {
            path: directory.to_path_buf(),
            source,
        })?;
        self.layout.put(&place, View::Writable, Why::Shown);
        if walls.build == WallBuild::Namespaces {
            system::make_stands(&mut self.layout, &facts.private_tmp)?;
        }
        walls.mounts = self.layout.mounts()?;
        Ok(())
    }
}
