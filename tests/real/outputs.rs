//! What real tools print, and what a model reads of it.

use shellglass_tests::program;
use shellglass_tests::program::ran;
use std::path::Path;
use std::process::Command;

/// Those that need no network and little time.
const NAMES: [&str; 3] = ["curl", "wget", "git-log"];

/// How many of them must be there for this to mean anything.
const MADE_MIN: usize = 2;

/// The most that is left for a model, of half of them.
const SHARE_MAX: f64 = 0.25;

#[test]
fn a_model_reads_a_quarter_of_what_real_tools_print_and_sees_every_failure() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("python3");
    command
        .arg(root.join("scripts/outputs"))
        .arg(program())
        .arg(folder.path())
        .args(NAMES)
        .env("OUTPUTS_OFFLINE", "1");
    let table = ran(&mut command).out();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(2)
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() >= MADE_MIN, "{table}");
    let mut shares: Vec<f64> = Vec::new();
    for row in &rows {
        let [_, name, _, _, share, seen, _] = row.as_slice() else {
            panic!("no row: {row:?}");
        };
        shares.push(share.parse().expect("a number"));
        let (seen, all) = seen.split_once(" of ").expect("two numbers");
        assert_eq!(seen, all, "{name} hides a failure");
    }
    shares.sort_by(f64::total_cmp);
    assert!(shares[shares.len() / 2] <= SHARE_MAX, "{table}");
}
