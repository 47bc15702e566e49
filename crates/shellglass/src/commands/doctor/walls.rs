//! Which walls can be built here, and whether they stand.

use super::check::{Check, Verdict};
use super::patient::{Patient, text};
use super::tries::{code, judge};
use crate::client::Context;
use crate::config::KindName;
use glass_proto::agent::v1::shell_result::Result as Kind;
use glass_proto::agent::v1::{SandboxPolicy, sandbox_policy::Type};
use glass_proto::shellglass::v1::SessionMode;
use glass_spawn::{Support, start_keeper};
use std::net::TcpListener;
use std::time::Duration;

/// Time for a keeper to come up.
const KEEPER_WITHIN: Duration = Duration::from_secs(5);

/// What lets ordinary users have namespaces, where a distribution forbids them.
const USER_NS_FIX: &str = "sysctl kernel.apparmor_restrict_unprivileged_userns=0, \
                           or user.max_user_namespaces=10000, or run outside of a container";

/// Tries what walls are made of, each by itself.
pub(super) async fn features(patient: &Patient, checks: &mut Vec<Check>) {
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let settings = &patient.settings.sandbox;
    let socket = patient.home.join("probe.sock");
    let arguments = ["keeper", "--idle-seconds", "1", "--socket"].map(Into::into);
    let arguments: Vec<_> = arguments
        .into_iter()
        .chain([socket.clone().into()])
        .collect();
    let keeper = start_keeper(&program, &arguments, &socket, None, KEEPER_WITHIN).await;
    let features = match keeper {
        Ok((keeper, _events)) => keeper.probe().await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let features = match features {
        Ok(features) => features,
        Err(why) => {
            let fix = "`shellglass serve` in another terminal shows what it has to say";
            return checks.push(Check::broken("keeper", "starts", why, fix));
        }
    };
    checks.push(Check::good("keeper", "starts", "and answers"));
    let if_needed = |is_needed| match is_needed {
        true => Verdict::Broken,
        false => Verdict::Missing,
    };
    let namespaces = if_needed(settings.needs_namespaces());
    let parts = [
        (
            "user namespaces",
            &features.user_ns,
            USER_NS_FIX,
            namespaces,
        ),
        (
            "mount namespaces",
            &features.mount_ns,
            USER_NS_FIX,
            namespaces,
        ),
        (
            "process namespaces",
            &features.pid_ns,
            USER_NS_FIX,
            namespaces,
        ),
        (
            "network namespaces",
            &features.net_ns,
            USER_NS_FIX,
            namespaces,
        ),
        (
            "seccomp",
            &features.seccomp,
            "use a kernel with CONFIG_SECCOMP_FILTER",
            Verdict::Missing,
        ),
        (
            "mapped users",
            &features.idmap,
            "only used by a daemon of root's, on newer kernels",
            Verdict::Missing,
        ),
        (
            "memory limits",
            &features.cgroup_memory,
            "delegate the memory controller of cgroups (systemd: Delegate=yes)",
            if_needed(settings.memory_bytes_max > 0),
        ),
        (
            "process limits",
            &features.cgroup_pids,
            "delegate the pids controller of cgroups (systemd: Delegate=yes)",
            if_needed(settings.processes_max > 0),
        ),
    ];
    for (name, support, fix, verdict) in parts {
        let group = match name.ends_with("limits") {
            true => "cgroups",
            false => "sandbox parts",
        };
        checks.push(match support {
            Support::Works => Check::good(group, name, "tried, works"),
            Support::Fails { why } => Check::bad(group, name, verdict, why.clone(), fix),
        });
    }
    checks.push(match features.landlock_abi {
        Some(abi) => Check::good("sandbox parts", "Landlock", format!("version {abi}")),
        None => {
            let fix = "use a kernel with Landlock, and `lsm=landlock,…` on its command line";
            Check::bad(
                "sandbox parts",
                "Landlock",
                Verdict::Missing,
                "not there",
                fix,
            )
        }
    });
}

/// Tries what commands can do under each policy.
pub(super) async fn policies(context: &Context, patient: &mut Patient, checks: &mut Vec<Check>) {
    let needed = match context.loaded.settings.sandbox.default {
        KindName::None => None,
        KindName::Rw => Some(Type::WorkspaceReadwrite),
        KindName::Ro => Some(Type::WorkspaceReadonly),
    };
    let listener = TcpListener::bind("127.0.0.1:0");
    let port = listener.as_ref().ok().and_then(|l| l.local_addr().ok());
    let port = port.map_or(9, |address| address.port());
    let outside = patient.home.join("outside");
    let outside = text(&outside);
    let connect = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null");
    let tries = [
        (
            "writable workspace",
            Type::WorkspaceReadwrite,
            false,
            format!("echo x > inside && ! (echo x > '{outside}') 2>/dev/null && ! {connect}"),
        ),
        (
            "read-only workspace",
            Type::WorkspaceReadonly,
            false,
            format!("! (echo x > inside2) 2>/dev/null && ! (echo x > '{outside}') 2>/dev/null"),
        ),
        (
            "network on request",
            Type::WorkspaceReadwrite,
            true,
            connect.clone(),
        ),
    ];
    for (name, kind, network, command) in tries {
        let policy = SandboxPolicy {
            r#type: kind.into(),
            network_access: Some(network),
            ..SandboxPolicy::default()
        };
        let result = patient
            .run("bash", SessionMode::Pipe, policy, &command)
            .await;
        let mut check = match &result {
            Ok(answer) if matches!(answer.result, Some(Kind::PermissionDenied(_))) => {
                judge("sandbox", name, result, |_| false)
            }
            _ => judge("sandbox", name, result, |answer| code(answer) == Some(0)),
        };
        if check.verdict == Verdict::Broken {
            if needed != Some(kind) {
                check.verdict = Verdict::Missing;
            }
            check.fix = Some(format!("see the sandbox parts above; {USER_NS_FIX}"));
        }
        checks.push(check);
    }
}
