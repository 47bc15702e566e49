//! Which shells can be told to forget the rest of a command.

use glass_model::ShellKind;

/// The signal that makes a warm shell give up `command` without executing
/// another word of it, and report it done; none where the shell has to be
/// killed and replaced.
///
/// The engine stops the whole tree, kills everything of the execution but the
/// shell, sends this signal, continues the shell, and kills it all the same
/// when the report does not come.
pub fn soft_cancel_signal(_kind: ShellKind, _command: &str) -> Option<i32> {
    None
}
