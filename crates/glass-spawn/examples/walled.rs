//! Runs a program behind walls that follow a small policy file, to try out
//! what gets through: `walled POLICY.json -- PROGRAM ARGUMENT…`. It knows just
//! enough of policies for that; what Shellglass does is decided elsewhere.
#![forbid(unsafe_code)]

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use glass_model::{LaunchPlan, Mount, Resources, View, WaitStatus, WallBuild, Walls};
use glass_spawn::keeper::{self, KeeperOptions};
use glass_spawn::tree::{self, Manner, Scope, TreeEnd};
use glass_spawn::{Keeper, KeeperEvent, Launch, start_keeper};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(20);
const TMP_BYTES: u64 = 64 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<_> = std::env::args_os().collect();
    if args.get(1).is_some_and(|arg| arg == "--keeper") {
        let mut options = KeeperOptions::new(PathBuf::from(&args[2]));
        options.idle = Duration::from_millis(10);
        options.unclaimed = options.idle;
        return Ok(keeper::run(options)?);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let code = runtime.block_on(run(&args))?;
    std::process::exit(code);
}

async fn run(args: &[std::ffi::OsString]) -> Result<i32, Box<dyn std::error::Error>> {
    let policy: Value = serde_json::from_slice(&std::fs::read(&args[1])?)?;
    let directory = tempfile::tempdir_in("/var/tmp")?;
    let socket = directory.path().join("run/k");
    let exe = std::env::current_exe()?;
    let (keeper, mut events) = start_keeper(
        &exe,
        &["--keeper".into(), socket.clone().into()],
        &socket,
        None,
        PATIENCE,
    )
    .await?;
    let argv: Vec<_> = args.iter().skip(3).map(|a| a.clone().into_vec()).collect();
    let program = find_program(Path::new(&args[3]));
    let plan = LaunchPlan {
        program: program.into_os_string().into_vec(),
        argv,
        env: std::env::vars_os()
            .filter(|(name, _)| name != "SBX_LEAK_CANARY" && name != "TMPDIR")
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
            .collect(),
        cwd: std::env::current_dir()?.into_os_string().into_vec(),
        cgroup: format!("walled-{}", std::process::id()),
        resources: resources(),
        walls: Some(walls(&policy)),
    };
    let child_fds = vec![
        (0, copy(std::io::stdin())?),
        (1, copy(std::io::stdout())?),
        (2, copy(std::io::stderr())?),
    ];
    let launch = Launch {
        plan,
        child_fds,
        held: Vec::new(),
        tag: Vec::new(),
        walls_control: None,
    };
    let code = wait(&keeper, &mut events, launch).await;
    Ok(code?)
}

async fn wait(
    keeper: &Keeper,
    events: &mut tokio::sync::mpsc::Receiver<KeeperEvent>,
    launch: Launch,
) -> Result<i32, glass_spawn::SpawnError> {
    let launched = keeper.spawn(launch).await?;
    let mut code = 1;
    while let Some(event) = events.recv().await {
        match event {
            KeeperEvent::Exited { status, .. } => {
                code = match status {
                    WaitStatus::Exited(code) => code,
                    WaitStatus::Signaled(signal) => 128 + signal,
                    WaitStatus::Unknown => 1,
                };
                let end = TreeEnd {
                    reaper: launched.reaper,
                    child: launched.child,
                    init: launched.init,
                    shell: None,
                    cgroup: launched.cgroup.clone(),
                    scope: Scope::Everything,
                    manner: Manner::Kill,
                    deadline: PATIENCE,
                };
                let _ = tokio::task::spawn_blocking(move || tree::end(&end)).await;
            }
            KeeperEvent::Emptied { .. } | KeeperEvent::Lost => break,
        }
    }
    let _ = keeper.forget(launched.id).await;
    Ok(code)
}

fn copy(stream: impl AsFd) -> std::io::Result<OwnedFd> {
    stream.as_fd().try_clone_to_owned()
}

fn find_program(name: &Path) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|directory| directory.join(name));
    found
        .find(|path| path.is_file())
        .unwrap_or_else(|| name.to_owned())
}

fn resources() -> Resources {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let grouped = std::env::var_os("WALLED_NO_GROUPS").is_none();
    Resources {
        open_files: number("NOFILE_MAX"),
        core_bytes: Some(0),
        processes: number("PIDS_MAX").filter(|_| grouped),
        memory_bytes: number("MEM_MAX_MB").filter(|_| grouped).map(|mb| mb << 20),
        ..Resources::default()
    }
}

fn walls(policy: &Value) -> Walls {
    let is = |name: &str| policy[name].as_bool().unwrap_or(false);
    let read_write = policy["type"] == "WORKSPACE_READWRITE";
    let scratch = || View::Scratch {
        bytes_max: TMP_BYTES,
    };
    let tmp = || {
        if is("disable_tmp_write") {
            View::Empty
        } else {
            scratch()
        }
    };
    let mut mounts = Vec::new();
    let mut add = |path: String, view: View| {
        let path = std::fs::canonicalize(&path).unwrap_or(path.into());
        if path.exists() {
            mounts.push(Mount {
                path: path.into_os_string().into_vec(),
                view,
                expected: None,
            });
        }
    };
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let below = |directory: &str, name: &str| format!("{}/{}", variable(directory), variable(name));
    add("/tmp".into(), tmp());
    add("/var/tmp".into(), tmp());
    if is("disable_tmp_write") {
        add("/dev/shm".into(), View::Empty);
    }
    add("/run".into(), View::Empty);
    add(format!("{}/run", variable("OUTSIDE")), View::Hidden);
    let workspace = variable("WORKSPACE");
    if read_write {
        add(workspace.clone(), View::Writable);
        for path in list(policy, "additional_readwrite_paths") {
            add(path, View::Writable);
        }
        for path in list(policy, "additional_readonly_paths") {
            add(path, View::ReadOnly);
        }
        if is("block_git_writes") {
            add(format!("{workspace}/.git"), View::ReadOnly);
            add(format!("{}/.git", variable("WT")), View::ReadOnly);
        }
        let config = below("WORKSPACE", "AGENT_WS_CONFIG");
        let config = Path::new(&config)
            .parent()
            .map(Path::to_owned)
            .unwrap_or_default();
        let _ = std::fs::create_dir_all(&config);
        add(config.to_string_lossy().into_owned(), View::ReadOnly);
        let config = below("WORKSPACE", "AGENT_WS_CONFIG2");
        let config = Path::new(&config)
            .parent()
            .map(Path::to_owned)
            .unwrap_or_default();
        add(config.to_string_lossy().into_owned(), View::ReadOnly);
    }
    if !policy["ignore_files"].is_null() {
        add(below("WORKSPACE", "IGNORED_FILE"), View::Hidden);
        if read_write {
            add(format!("{workspace}/.agentignore"), View::ReadOnly);
        }
    }
    Walls {
        build: match std::env::var_os("WALLED_LANDLOCK_ONLY") {
            Some(_) => WallBuild::LandlockOnly,
            None => WallBuild::Namespaces,
        },
        mounts,
        network: is("network_access"),
    }
}

/// Paths of the policy, in which `$NAME` is a variable's value.
fn list(policy: &Value, name: &str) -> Vec<String> {
    let items = policy[name].as_array().cloned().unwrap_or_default();
    let items = items.iter().filter_map(Value::as_str);
    items
        .map(|item| match item.strip_prefix('$') {
            Some(name) => std::env::var(name).unwrap_or_default(),
            None => item.to_owned(),
        })
        .collect()
}
