//! The example in Rust, compiled as it stands.

#[path = "../../../examples/rust/run.rs"]
mod run;

use shellglass_tests::Daemon;

#[tokio::test]
async fn the_rust_example_runs_a_command() {
    let daemon = Daemon::start("");
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let command = "echo from Rust; echo beside >&2; exit 3";
    let code = run::run(&daemon.socket(), command, &mut out, &mut err).await;
    assert_eq!(code.unwrap(), 3);
    assert_eq!((&*out, &*err), (&b"from Rust\n"[..], &b"beside\n"[..]));
}
