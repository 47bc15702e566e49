//! Chores of this repository: `cargo xtask tidy` checks what compilers and
//! linters do not.
#![forbid(unsafe_code)]

mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["tidy"] => report(&tidy::check(&root())),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The repository's root: the folder above this package.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package
        .parent()
        .expect("this package lies below the root")
        .to_path_buf()
}

fn report(findings: &[tidy::Finding]) -> ExitCode {
    for finding in findings {
        eprintln!("{finding}");
    }
    if findings.is_empty() {
        eprintln!("tidy: nothing to complain about");
        ExitCode::SUCCESS
    } else {
        eprintln!("tidy: {} to put right", findings.len());
        ExitCode::FAILURE
    }
}
