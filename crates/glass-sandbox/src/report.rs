//! A plan as text, for debugging.

use glass_model::{Mount, SandboxKind, View, WallBuild};
use serde_json::{Value, json};

use crate::{Effective, GitLevel, Plan};

/// The plan as JSON, with the versions in force as the caller knows them.
pub fn debug_report(effective: &Effective, plan: &Plan, versions: &[(String, String)]) -> String {
    let policy = &effective.policy;
    let walls = plan.walls.as_ref();
    let build = walls.map(|walls| match walls.build {
        WallBuild::Namespaces => "namespaces",
        WallBuild::LandlockOnly => "landlock",
    });
    let mounts = walls.iter().flat_map(|walls| &walls.mounts);
    let placeholders = plan.placeholders.iter();
    let report = json!({
        "policy": {
            "type": kind(policy.kind),
            "networkAccess": policy.network_access,
            "additionalReadwritePaths": policy.readwrite_paths,
            "additionalReadonlyPaths": policy.readonly_paths,
            "blockGitWrites": policy.block_git_writes,
            "disableTmpWrite": policy.disable_tmp_write,
            "ignoreMappingJson": policy.ignore_mapping_json,
        },
        "git": git(effective.git),
        "narrowed": effective.narrowed,
        "workspace": plan.workspace.path().to_string_lossy(),
        "walls": build,
        "network": walls.map(|walls| walls.network),
        "refusesRepositories": walls.map(|walls| walls.refuses_repositories),
        "tasksMax": plan.tasks_max,
        "mounts": mounts.map(mount).collect::<Vec<Value>>(),
        "environment": {
            "unset": plan.env.unset,
            "set": plan.env.set.iter().map(|(name, _)| name).collect::<Vec<&String>>(),
        },
        "placeholders": placeholders.map(|p| p.path.to_string_lossy()).collect::<Vec<_>>(),
        "notes": plan.notes,
        "versions": versions.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
    });
    let mut text = format!("{report:#}");
    text.push('\n');
    text
}

/// What was denied to one command, as one line of JSON to add to a report.
pub fn debug_denials(command: &str, exit_code: Option<i32>, denials: &[String]) -> String {
    let line = json!({"command": command, "exitCode": exit_code, "denials": denials});
    format!("{line}\n")
}

fn mount(mount: &Mount) -> Value {
    let view = match &mount.view {
        View::Writable => "writable",
        View::ReadOnly => "read-only",
        View::Hidden => "hidden",
        View::Empty => "empty",
        View::Scratch { .. } => "scratch",
        View::Other { .. } => "private",
    };
    json!({"path": String::from_utf8_lossy(&mount.path), "view": view})
}

fn kind(kind: SandboxKind) -> &'static str {
    match kind {
        SandboxKind::Unspecified => "TYPE_UNSPECIFIED",
        SandboxKind::InsecureNone => "TYPE_INSECURE_NONE",
        SandboxKind::WorkspaceReadWrite => "TYPE_WORKSPACE_READWRITE",
        SandboxKind::WorkspaceReadOnly => "TYPE_WORKSPACE_READONLY",
    }
}

fn git(level: GitLevel) -> &'static str {
    match level {
        GitLevel::None => "none",
        GitLevel::HooksAndConfig => "hooks-and-config",
        GitLevel::All => "all",
    }
}
