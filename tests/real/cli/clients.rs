//! Clients that are not ours. `make test` runs them by themselves as well.

use shellglass_tests::program;
use shellglass_tests::program::ran;
use std::path::Path;
use std::process::Command;

#[test]
fn a_client_made_from_the_contract_alone_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let python = root.join(".tools/venv/bin/python");
    if !python.exists() {
        // `scripts/deps test` makes it.
        return;
    }
    let mut command = Command::new(python);
    command.arg(root.join("tests/clients/run.py"));
    let ran = ran(command.env("SHELLGLASS_BIN", program()));
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.out().ends_with(" passed, 0 failed\n"), "{ran:?}");
}
