//! Where user namespaces cannot be had, Landlock and seccomp hold what they
//! can, and everything else is refused.

use super::desk::{Desk, none, ro, rw};
use super::probe;
use super::runner::{Asked, Field, judge_all};
use glass_proto::shellglass::v1::{Empty, SessionMode};
use shellglass_tests::Setup;

/// Executes what it is given where nobody gets a namespace: a seccomp filter
/// refuses `unshare`, `clone` with such a flag, and `setns`, and `clone3` is
/// not there.
const LAUNCHER: &str = r#"
import ctypes,os,struct,sys
def op(code,k,jt=0,jf=0): return struct.pack("<HBBI",code,jt,jf,k)
EPERM,ENOSYS,ALLOW=0x00050001,0x00050026,0x7fff0000
NAMESPACES=0x7e020080
program=[op(0x20,0),
  op(0x15,272,0,1),op(0x06,EPERM),
  op(0x15,308,0,1),op(0x06,EPERM),
  op(0x15,435,0,1),op(0x06,ENOSYS),
  op(0x15,56,0,3),op(0x20,16),op(0x45,NAMESPACES,0,1),op(0x06,EPERM),
  op(0x06,ALLOW)]
code=b"".join(program); buffer=ctypes.create_string_buffer(code,len(code))
class Filter(ctypes.Structure): _fields_=[("len",ctypes.c_ushort),("filter",ctypes.c_void_p)]
f=Filter(len(program),ctypes.cast(buffer,ctypes.c_void_p)); l=ctypes.CDLL(None,use_errno=True)
assert l.prctl(38,1,0,0,0)==0 and l.prctl(22,2,ctypes.byref(f),0,0)==0
os.execv(sys.argv[1],sys.argv[1:])
"#;

fn without_namespaces() -> Setup {
    let launcher = ["/usr/bin/env", "python3", "-c", LAUNCHER];
    Setup {
        // What nobody asks for must be possible here.
        config: "[sandbox]\ndefault = \"ro\"\n".to_owned(),
        launcher: launcher.map(str::to_owned).to_vec(),
        ..Setup::default()
    }
}

#[tokio::test]
async fn the_launcher_really_refuses_namespaces() {
    let desk = Desk::with(without_namespaces(), SessionMode::Pipe, &[]).await;
    let tried = desk.run(none(), "unshare -U true").await;
    assert_ne!(tried.code, Some(0), "{tried:#?}");
    assert_eq!(desk.works(none(), "echo goes on").await, "goes on\n");
}

#[tokio::test]
async fn walls_below_the_configured_minimum_are_refused() {
    let setup = Setup {
        config: "[sandbox]\ndefault = \"none\"\nminimum_mode = \"namespaces\"\n".to_owned(),
        ..without_namespaces()
    };
    let desk = Desk::with(setup, SessionMode::Pipe, &[]).await;
    let tried = desk.run(ro(), "true").await;
    let why = tried.refused.unwrap_or_default();
    assert!(why.contains("no sandbox can be built"), "{why}");
    assert_eq!(desk.works(none(), "echo goes on").await, "goes on\n");
}

#[tokio::test]
async fn a_socket_that_somebody_binds_costs_no_shell_its_state() {
    let desk = Desk::with(without_namespaces(), SessionMode::Pipe, &[]).await;
    desk.works(ro(), "kept=yes").await;
    let _listener = std::os::unix::net::UnixListener::bind(desk.outside("late.sock")).unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    assert_eq!(desk.works(ro(), "echo $kept").await, "yes\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_script_is_held_or_refused() {
    let field = Field::open(without_namespaces()).await;
    let probes: Vec<_> = probe::given().into_iter().chain(probe::own()).collect();
    let verdicts = judge_all(field, probes, Asked::ByTheScript).await;
    let is_refused = |said: &str| matches!(said, "REFUSED" | "DENIED" | "NOT STARTED");
    let wrong: Vec<String> = verdicts
        .iter()
        .filter(|verdict| !verdict.is_right() && !is_refused(&verdict.said))
        .map(|v| {
            format!(
                "{}: {:?}, not {:?}: {}",
                v.name, v.said, v.expect, v.remarks
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Read-only policies are what this mode claims.
    let held = verdicts
        .iter()
        .filter(|verdict| verdict.said == verdict.expect);
    let held = held.count();
    assert!(held >= 16, "only {held} were run at all");
}

#[tokio::test]
async fn a_writable_workspace_is_refused_with_a_reason() {
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let desk = Desk::with(without_namespaces(), mode, &[]).await;
        let tried = desk.run(rw(), "touch ran").await;
        let why = tried.refused.clone().unwrap_or_default();
        assert!(why.contains("namespace"), "{mode:?}: {tried:#?}");
        assert!(!desk.inside("ran").exists(), "{mode:?}");
        // What can be enforced is.
        let read = desk.run(ro(), "cat tracked.txt; touch ran").await;
        assert_eq!(read.stdout, "tracked\n", "{mode:?}: {read:#?}");
        assert!(!desk.inside("ran").exists(), "{mode:?}");
    }
}

#[tokio::test]
async fn a_session_whose_default_cannot_be_had_is_refused() {
    let mut setup = without_namespaces();
    setup.config.clear();
    let field = Field::open(setup).await;
    let stage = field.stage(&[]);
    let made = field.session(&stage, SessionMode::Pipe, None).await;
    let status = made.map(|session| session.id).unwrap_err();
    assert!(status.message().contains("namespace"), "{status:?}");
}

#[tokio::test]
async fn the_capabilities_say_what_stands() {
    let weak = Desk::with(without_namespaces(), SessionMode::Pipe, &[]).await;
    let full = Desk::open(SessionMode::Pipe).await;
    let mut client = full.session.client.clone();
    let full = client
        .get_capabilities(Empty {})
        .await
        .unwrap()
        .into_inner();
    assert!(full.raw_sandbox_supported, "{full:?}");
    for feature in ["mount_ns", "pid_ns", "net_ns", "seccomp"] {
        assert!(
            full.sandbox_features.iter().any(|f| f == feature),
            "{full:?}"
        );
    }
    let mut client = weak.session.client.clone();
    let weak = client
        .get_capabilities(Empty {})
        .await
        .unwrap()
        .into_inner();
    assert!(!weak.raw_sandbox_supported, "{weak:?}");
    assert!(
        !weak.sandbox_features.iter().any(|f| f.ends_with("_ns")),
        "{weak:?}"
    );
    assert!(
        weak.sandbox_features
            .iter()
            .any(|f| f.starts_with("landlock:")),
        "{weak:?}"
    );
}
