//! Walls that a test switches off, to show that each is needed.

/// The variable that names them, separated by commas.
const VARIABLE: &str = "SHELLGLASS_TEST_WALL_OFF";

/// Whether the wall of this name is switched off: `mounts`, `landlock`,
/// `seccomp`, `network` or `git`.
pub fn wall_is_off(name: &str) -> bool {
    std::env::var(VARIABLE).is_ok_and(|off| off.split(',').any(|wall| wall == name))
}
