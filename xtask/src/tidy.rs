//! The checks, one module for each. Every check is a pure function over the
//! repository's files and returns what it found; none of them stops another.

mod behaviours;
mod contract;
mod edges;
mod purity;
mod shape;
mod source;
mod tree;
mod words;

use std::fmt;
use std::path::Path;

pub(crate) use tree::{File, Tree};

/// One thing to put right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file, relative to the root.
    pub path: String,
    /// The line, from 1 on; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.path, self.message)
        } else {
            write!(f, "{}:{}: {}", self.path, self.line, self.message)
        }
    }
}

/// Runs every check over the repository at `root`.
pub(crate) fn check(root: &Path) -> Vec<Finding> {
    let tree = match Tree::read(root) {
        Ok(tree) => tree,
        Err(error) => return vec![Finding::new(".", 0, format!("cannot be read: {error}"))],
    };
    let mut findings = Vec::new();
    findings.extend(edges::check(&tree));
    findings.extend(purity::check(&tree));
    findings.extend(shape::check(&tree));
    findings.extend(words::check(&tree));
    findings.extend(behaviours::check(&tree));
    findings.extend(contract::check(&tree));
    findings.sort();
    findings
}
