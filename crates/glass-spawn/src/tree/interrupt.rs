//! What Ctrl+C is where there is no terminal.

use super::descendants;
use crate::process::ProcessRef;

/// Sends SIGINT to everything below `root`, children before their parents, so
/// that a shell finds its command interrupted. The first process of a namespace
/// is spared: it is ours. Says how many have it.
pub fn interrupt(root: &ProcessRef, init: Option<&ProcessRef>) -> usize {
    let tree = descendants(root);
    let meant = tree.iter().rev().filter(|process| {
        let is_ours = init.is_some_and(|init| init.pid == process.pid);
        !process.dead && !is_ours
    });
    meant
        .filter(|process| {
            let sent = process.as_ref().signal(libc::SIGINT);
            matches!(sent, Ok(crate::process::Delivery::Sent))
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    #[test]
    fn what_is_below_is_interrupted_and_the_root_is_not() {
        let inner = "trap 'echo caught; exit 5' INT; echo up; while :; do sleep 0.01; done";
        let mut holder = Command::new("bash")
            .args(["-c", "bash -c \"$1\"; echo code $?", "bash", inner])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let root = ProcessRef::of(holder.id().cast_signed()).expect("it runs");
        let mut output = holder.stdout.take().expect("piped");
        let mut first = [0; 3];
        output.read_exact(&mut first).expect("it comes up");
        assert!(interrupt(&root, None) >= 1);
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("it ends");
        assert_eq!(rest, "caught\ncode 5\n");
        holder.wait().expect("it ended");
    }
}
